//! One user's titles in flat memory: a row of heads to scan and one text that holds all normal forms.

use std::collections::{BTreeMap, HashMap};

use toolroom_contract::ids::TaskId;

use super::normal::masks;
use super::score::{Key, Query, Title};
use super::{Verdict, rank_titles};

/// Changes that may wait for an earlier one before the titles is dropped.
const MAX_WAITING: usize = 64;
/// Dead text below this is not worth a rebuild.
const MIN_DEAD_BYTES: usize = 16 * 1024;

/// What a write did to one title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The task was made, restored or given this title.
    Put(TaskId, String),
    /// The task is gone.
    Remove(TaskId),
}

/// A change came that cannot be fitted in: the titles held can no longer be trusted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LostTrack;

#[derive(Debug)]
pub(super) struct UserTitles {
    generation: i64,
    heads: Vec<Head>,
    places: HashMap<TaskId, usize>,
    text: String,
    dead_bytes: usize,
    waiting: BTreeMap<i64, (i64, Vec<Change>)>,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    id: TaskId,
    letters: u64,
    firsts: u64,
    start: usize,
    len: u32,
    is_raw: bool,
}

impl UserTitles {
    pub(super) fn new<T: AsRef<str>>(generation: i64, titles: impl IntoIterator<Item = (TaskId, T)>) -> Self {
        let mut user_titles = Self {
            generation,
            heads: Vec::new(),
            places: HashMap::new(),
            text: String::new(),
            dead_bytes: 0,
            waiting: BTreeMap::new(),
        };
        for (id, title) in titles {
            user_titles.put(id, title.as_ref());
        }
        user_titles
    }

    pub(super) fn generation(&self) -> i64 {
        self.generation
    }

    pub(super) fn len(&self) -> usize {
        self.heads.len()
    }

    pub(super) fn rank(&self, query: &Query, threshold: f64) -> Verdict {
        let titles = self.heads.iter().map(|head| {
            let text = self.text.get(head.start..head.start + head.len as usize).unwrap_or_default();
            let &Head { letters, firsts, is_raw, .. } = head;
            (head.id, Title { text, is_raw, letters, firsts })
        });
        rank_titles(query, threshold, titles)
    }

    /// Applies the changes of the write that moved the user from one generation to the next.
    pub(super) fn apply(&mut self, before: i64, after: i64, changes: Vec<Change>) -> Result<(), LostTrack> {
        if after <= self.generation {
            return Ok(());
        }
        if before < self.generation {
            return Err(LostTrack);
        }
        self.waiting.insert(before, (after, changes));
        self.catch_up();
        if self.waiting.len() > MAX_WAITING { Err(LostTrack) } else { Ok(()) }
    }

    /// Takes over the changes that an older set of the same user still held back.
    pub(super) fn inherit(&mut self, older: &mut UserTitles) {
        self.waiting.append(&mut older.waiting);
        self.waiting.retain(|&before, _| before >= self.generation);
        self.catch_up();
    }

    fn catch_up(&mut self) {
        while let Some((after, changes)) = self.waiting.remove(&self.generation) {
            for change in changes {
                match change {
                    Change::Put(id, title) => self.put(id, &title),
                    Change::Remove(id) => self.remove(id),
                }
            }
            self.generation = after;
        }
    }

    fn put(&mut self, id: TaskId, title: &str) {
        let key = Key::new(title);
        let (letters, firsts) = masks(&key.text);
        let head = Head {
            id,
            letters,
            firsts,
            start: self.text.len(),
            len: u32::try_from(key.text.len()).unwrap_or_default(),
            is_raw: key.is_raw,
        };
        self.text.push_str(&key.text);
        match self.places.get(&id).and_then(|&place| self.heads.get_mut(place)) {
            Some(old) => {
                self.dead_bytes += old.len as usize;
                *old = head;
            }
            None => {
                self.places.insert(id, self.heads.len());
                self.heads.push(head);
            }
        }
        self.sweep();
    }

    fn remove(&mut self, id: TaskId) {
        let Some(place) = self.places.remove(&id) else { return };
        let gone = self.heads.swap_remove(place);
        self.dead_bytes += gone.len as usize;
        if let Some(moved) = self.heads.get(place) {
            self.places.insert(moved.id, place);
        }
        self.sweep();
    }

    fn sweep(&mut self) {
        if self.dead_bytes < MIN_DEAD_BYTES || self.dead_bytes * 2 < self.text.len() {
            return;
        }
        let mut text = String::with_capacity(self.text.len() - self.dead_bytes);
        for head in &mut self.heads {
            let kept = self.text.get(head.start..head.start + head.len as usize).unwrap_or_default();
            head.start = text.len();
            text.push_str(kept);
        }
        self.text = text;
        self.dead_bytes = 0;
    }
}
