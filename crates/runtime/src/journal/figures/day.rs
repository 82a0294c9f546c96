//! The calls of one day, added up by the minute, and by the hour once the day is well over.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::super::JournalError;
use super::super::record::{Edge, EndStatus};
use super::super::row::{Head, Kind};
use super::super::scan::{self, Forward};
use super::{Names, OTHER, Sum};

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;
/// More kinds of calls than these in one day are told apart by user and profile alone.
const MOST_SUMS: usize = 50_000;
/// Calls whose start and end are not in one file, or that have not ended.
const MOST_BETWEEN: usize = 100_000;

/// A day of the log, as far as it was read.
#[derive(Default)]
pub(super) struct Day {
    /// How far each shard was read.
    offsets: HashMap<usize, u64>,
    hourly: bool,
    sums: HashMap<Key, Sum>,
}

/// What is added up together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// In minutes since the epoch.
    minute: u32,
    hourly: bool,
    pub(super) tool: u32,
    pub(super) user: u32,
    pub(super) profile: u32,
    pub(super) agent: u32,
    pub(super) edge: u32,
    pub(super) code: u32,
}

impl Key {
    /// When it begins, in seconds since the epoch.
    pub(super) fn second(&self) -> i64 {
        i64::from(self.minute) * MINUTE
    }

    /// How long it is.
    pub(super) fn seconds(&self) -> i64 {
        if self.hourly { HOUR } else { MINUTE }
    }

    fn by_the_hour(self) -> Self {
        Self { minute: self.minute - self.minute % 60, hourly: true, ..self }
    }
}

/// Halves of calls whose other half was not read yet.
#[derive(Default)]
pub(super) struct Between {
    starts: HashMap<Uuid, Key>,
    ends: HashMap<Uuid, Ended>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Start<'a> {
    #[serde(borrow, default)]
    tool: Cow<'a, str>,
    #[serde(borrow, default)]
    profile: Cow<'a, str>,
    #[serde(borrow, default)]
    user: Cow<'a, str>,
    #[serde(borrow, default)]
    agent_id: Cow<'a, str>,
    #[serde(borrow, default)]
    edge: Cow<'a, str>,
}

#[derive(Deserialize)]
struct End<'a> {
    status: EndStatus,
    #[serde(borrow, default)]
    code: Cow<'a, str>,
    ms: f64,
    #[serde(default)]
    cached: bool,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
}

/// How a call ended.
struct Ended {
    code: u32,
    sum: Sum,
}

impl Day {
    pub(super) fn sums(&self) -> impl Iterator<Item = (&Key, &Sum)> {
        self.sums.iter()
    }

    /// Reads on in every shard, as long as there is budget.
    pub(super) fn read(
        &mut self,
        shards: &[(usize, PathBuf)],
        names: &mut Names,
        between: &mut Between,
        budget: &mut u64,
    ) -> Result<(), JournalError> {
        for (shard, path) in shards {
            let (file, length) = scan::open(path)?;
            let from = self.offsets.get(shard).copied().unwrap_or(0);
            let mut lines = Forward::new(file, from.min(length));
            while *budget > 0
                && let Some(line) = lines.next()?
            {
                *budget = budget.saturating_sub(line.text.len() as u64 + 1);
                if let Some((head, record, _)) = scan::record(&line, &mut 0) {
                    self.note(&head, record, names, between);
                }
            }
            self.offsets.insert(*shard, lines.position);
        }
        Ok(())
    }

    /// Forgets the minutes.
    pub(super) fn by_the_hour(&mut self) {
        if !std::mem::replace(&mut self.hourly, true) {
            for (key, sum) in std::mem::take(&mut self.sums) {
                self.sums.entry(key.by_the_hour()).or_default().add(&sum);
            }
        }
    }

    fn note(&mut self, head: &Head<'_>, record: &[u8], names: &mut Names, between: &mut Between) {
        match head.kind {
            Kind::Start => {
                let Some(key) = key(head, record, names) else { return };
                match between.ends.remove(&head.id) {
                    Some(ended) => self.add(key, &ended, names),
                    None if between.starts.len() < MOST_BETWEEN => drop(between.starts.insert(head.id, key)),
                    None => {}
                }
            }
            Kind::End => {
                let Some(ended) = ended(record, names) else { return };
                match between.starts.remove(&head.id) {
                    Some(key) => self.add(key, &ended, names),
                    None if between.ends.len() < MOST_BETWEEN => drop(between.ends.insert(head.id, ended)),
                    None => {}
                }
            }
            Kind::Call => {
                if let (Some(key), Some(ended)) = (key(head, record, names), ended(record, names)) {
                    self.add(key, &ended, names);
                }
            }
            Kind::Line | Kind::Run => {}
        }
    }

    fn add(&mut self, key: Key, ended: &Ended, names: &mut Names) {
        let mut key = Key { code: ended.code, ..key };
        if self.hourly {
            key = key.by_the_hour();
        }
        if self.sums.len() >= MOST_SUMS && !self.sums.contains_key(&key) {
            let other = names.number(OTHER);
            key = Key { tool: other, agent: other, ..key.by_the_hour() };
        }
        self.sums.entry(key).or_default().add(&ended.sum);
    }
}

fn key(head: &Head<'_>, record: &[u8], names: &mut Names) -> Option<Key> {
    let start: Start<'_> = serde_json::from_slice(record).ok()?;
    if start.edge == Edge::System.as_str() {
        return None;
    }
    let at: Timestamp = std::str::from_utf8(head.at).ok()?.parse().ok()?;
    Some(Key {
        minute: u32::try_from(at.as_second().div_euclid(MINUTE)).ok()?,
        hourly: false,
        tool: names.number(&start.tool),
        user: names.number(&start.user),
        profile: names.number(&start.profile),
        agent: names.number(&start.agent_id),
        edge: names.number(&start.edge),
        code: 0,
    })
}

fn ended(record: &[u8], names: &mut Names) -> Option<Ended> {
    let end: End<'_> = serde_json::from_slice(record).ok()?;
    let mut sum = Sum {
        calls: 1,
        errors: u64::from(matches!(end.status, EndStatus::Error | EndStatus::Timeout)),
        held: u64::from(end.status == EndStatus::Pending),
        cached: u64::from(end.cached),
        bytes: end.output.map_or(0, |output| output.get().len() as u64),
        ..Sum::default()
    };
    sum.note_time(end.ms);
    Some(Ended { code: names.number(&end.code), sum })
}
