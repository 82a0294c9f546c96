//! Figures over the journal: how many calls, how long, how many failed. Each record of the log is read once, when
//! somebody first asks for its day; the calling path knows nothing of it.

mod day;
mod sum;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::{Timestamp, ToSpan, civil::Date};

use self::day::{Between, Day};
use super::{JournalError, PERMISSION_DENIED, files};
pub use sum::Sum;
use toolroom_contract::ErrorCode;

/// How much of the log is read for one question. What is left is read for the next ones.
const READ_AT_ONCE: u64 = 256 << 20;

/// Figures of the journal in a folder.
pub struct Figures {
    dir: PathBuf,
    read: Mutex<Read>,
}

/// What was read so far.
#[derive(Default)]
struct Read {
    days: BTreeMap<Date, Day>,
    names: Names,
    between: Between,
    bytes: u64,
}

/// Which calls are wanted: those that began from `since` on, before `until`.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub since: Timestamp,
    pub until: Timestamp,
    /// The length of a step, in seconds.
    pub step: i64,
    /// Only those of this user, told as that user may know them.
    pub user: Option<String>,
    /// Only calls under one of these profiles.
    pub profiles: Option<Vec<String>>,
}

/// What is told apart about calls.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    pub tool: &'a str,
    pub user: &'a str,
    pub profile: &'a str,
    pub agent: &'a str,
    /// Empty for calls that went well.
    pub code: &'a str,
    pub edge: &'a str,
}

/// The answer to a question.
#[derive(Debug)]
pub struct Counted {
    /// When the first step begins.
    pub from: Timestamp,
    /// One for each step.
    pub steps: Vec<Sum>,
    pub groups: HashMap<String, Sum>,
    /// Some of the log is still to be read: ask again.
    pub incomplete: bool,
}

impl Figures {
    /// Figures of the journal in this folder.
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), read: Mutex::default() }
    }

    /// How much of the log was read, for tests that it is read once.
    pub fn bytes_read(&self) -> u64 {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    /// Counts. Blocking: it reads what was written since the last question.
    pub fn count(&self, wanted: &Wanted, by: impl Fn(Group<'_>) -> String) -> Result<Counted, JournalError> {
        let step = wanted.step.max(1);
        let first = wanted.since.as_second().div_euclid(step) * step;
        let last = wanted.until.as_second().max(first);
        let length = usize::try_from((last - first - 1).max(0) / step + 1).unwrap_or(1);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let complete = read.catch_up(&self.dir, wanted)?;
        let mut counted = Counted {
            from: Timestamp::from_second(first).unwrap_or(wanted.since),
            steps: vec![Sum::default(); length],
            groups: HashMap::new(),
            incomplete: !complete,
        };
        let Read { days, names, .. } = &*read;
        let dates = dates(wanted);
        for (key, sum) in days.range(dates.0..=dates.1).flat_map(|(_, day)| day.sums()) {
            let at = key.second();
            let (user, profile) = (names.text(key.user), names.text(key.profile));
            // A day that is over is counted by the hour: an hour belongs to the time in which it began.
            let in_time =
                at + key.seconds() > wanted.since.as_second() && at >= first && at < last.max(first + 1);
            let allowed = wanted.user.as_ref().is_none_or(|wanted| wanted == user)
                && wanted.profiles.as_ref().is_none_or(|some| some.iter().any(|one| one == profile));
            if !in_time || !allowed {
                continue;
            }
            let code = match names.text(key.code) {
                PERMISSION_DENIED if wanted.user.is_some() => ErrorCode::ToolNotFound.as_str(),
                code => code,
            };
            let step = usize::try_from((at - first) / step).unwrap_or(0);
            if let Some(step) = counted.steps.get_mut(step) {
                step.add(sum);
            }
            let group = Group {
                tool: names.text(key.tool),
                user,
                profile,
                agent: names.text(key.agent),
                code,
                edge: names.text(key.edge),
            };
            counted.groups.entry(by(group)).or_default().add(sum);
        }
        Ok(counted)
    }
}

/// The days whose files can have what is wanted: a record that was timed before midnight may stand in the next.
fn dates(wanted: &Wanted) -> (Date, Date) {
    let last = files::date_of(wanted.until).saturating_add(1.day());
    (files::date_of(wanted.since), last.max(files::date_of(wanted.since)))
}

impl Read {
    /// Reads on, the newest day first; `false` if there is more than is read at once.
    fn catch_up(&mut self, dir: &Path, wanted: &Wanted) -> Result<bool, JournalError> {
        let there = files::list(dir)?;
        self.days.retain(|date, _| there.contains_key(date));
        let yesterday = files::date_of(Timestamp::now()).saturating_sub(1.day());
        let (first, last) = dates(wanted);
        let mut budget = READ_AT_ONCE;
        for (date, shards) in there.range(first..=last).rev() {
            let day = self.days.entry(*date).or_default();
            let before = budget;
            day.read(shards, &mut self.names, &mut self.between, &mut budget)?;
            self.bytes += before - budget;
            if budget == 0 {
                return Ok(false);
            }
            if *date < yesterday {
                day.by_the_hour();
            }
        }
        Ok(true)
    }
}

/// Names, each kept once.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, u32>,
    texts: Vec<String>,
}

/// More names than these are one: "other".
const MOST_NAMES: usize = 50_000;
const OTHER: &str = "other";

impl Names {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        if self.texts.len() >= MOST_NAMES && text != OTHER {
            return self.number(OTHER);
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or(OTHER, String::as_str)
    }
}
