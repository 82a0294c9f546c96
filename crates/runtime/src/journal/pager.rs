//! The rows of one day, in either direction: shards are merged, ends are looked up ahead of their starts.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    path::PathBuf,
    sync::Arc,
};

use jiff::{Timestamp, ToSpan, civil::Date};

use super::{
    Execution, JournalError,
    reader::Filter,
    row::{Head, Kind},
    scan::{self, Backward, Forward, Place, Position, Rest, Rests},
};

/// The rows of one day, merged from its shards by the time of their start.
pub(super) struct DayPager {
    shards: Vec<ShardPager>,
    newest_first: bool,
    /// Behind the last row that was taken from each shard.
    pub(super) position: Position,
    /// How many bytes may still be looked at.
    pub(super) budget: u64,
    /// The time of the record at which it ran out.
    pub(super) stopped_at: Option<Timestamp>,
}

impl DayPager {
    pub(super) fn open(
        days: &BTreeMap<Date, Vec<(usize, PathBuf)>>,
        date: Date,
        from: Option<&Position>,
        newest_first: bool,
        first: bool,
        mut lookaheads: HashMap<usize, Lookahead>,
    ) -> Result<Self, JournalError> {
        let mut position = Position { date, offsets: Vec::new() };
        let mut shards = Vec::new();
        let next_day = days.get(&date.saturating_add(1.day()));
        for (shard, path) in days.get(&date).into_iter().flatten() {
            let (file, length) = scan::open(path)?;
            let whole = if newest_first { length } else { 0 };
            let offset = from.map_or(whole, |from| from.offset(*shard).min(length));
            position.set(*shard, offset);
            // Going back, what is later than the first position is known to the lookahead of that day.
            let mut lookahead = lookaheads.remove(shard).unwrap_or_default();
            if first || !newest_first {
                let next = next_day.into_iter().flatten().find(|(number, _)| number == shard);
                if let Some((_, path)) = next {
                    lookahead.ahead.push(Forward::new(scan::open(path)?.0, 0));
                }
                lookahead.ahead.push(Forward::new(Arc::clone(&file), offset));
            }
            let lines = if newest_first {
                Lines::Back(Backward::new(Arc::clone(&file), offset))
            } else {
                Lines::Forth(Forward::new(Arc::clone(&file), offset))
            };
            let (peeked, stopped_at) = (None, None);
            shards.push(ShardPager {
                shard: *shard,
                file,
                lines,
                lookahead,
                peeked,
                searched: offset,
                stopped_at,
            });
        }
        Ok(Self { shards, newest_first, position, budget: u64::MAX, stopped_at: None })
    }

    /// The next row with its shard and the offset behind it. The caller moves `position`, unless the budget ran out:
    /// then it is where the search goes on.
    pub(super) fn next_row(
        &mut self,
        filter: &Filter,
        skipped: &mut usize,
    ) -> Result<Option<(usize, Execution, u64)>, JournalError> {
        for shard in self.shards.iter_mut().filter(|shard| shard.peeked.is_none()) {
            shard.peeked = shard.find(filter, skipped, &mut self.budget)?;
            self.stopped_at = shard.stopped_at.take();
            if self.stopped_at.is_some() {
                break;
            }
        }
        if self.stopped_at.is_some() {
            for shard in &self.shards {
                self.position.set(shard.shard, shard.searched);
            }
            return Ok(None);
        }
        let started = |pager: &&mut ShardPager| {
            pager.peeked.as_ref().map(|(row, _)| (row.started_at, row.execution_id))
        };
        let waiting = self.shards.iter_mut().filter(|pager| pager.peeked.is_some());
        let best = if self.newest_first { waiting.max_by_key(started) } else { waiting.min_by_key(started) };
        Ok(best.and_then(|pager| {
            let (row, next) = pager.peeked.take()?;
            pager.searched = next;
            Some((pager.shard, row, next))
        }))
    }

    pub(super) fn into_lookaheads(self) -> HashMap<usize, Lookahead> {
        self.shards.into_iter().map(|pager| (pager.shard, pager.lookahead)).collect()
    }
}

struct ShardPager {
    shard: usize,
    file: Arc<File>,
    lines: Lines,
    lookahead: Lookahead,
    peeked: Option<(Execution, u64)>,
    /// Behind the last record that was looked at and is not peeked.
    searched: u64,
    /// The time of the record at which the budget ran out.
    stopped_at: Option<Timestamp>,
}

enum Lines {
    Back(Backward),
    Forth(Forward),
}

impl ShardPager {
    /// The next wanted row of the shard and the offset behind it, in the direction of reading.
    fn find(
        &mut self,
        filter: &Filter,
        skipped: &mut usize,
        budget: &mut u64,
    ) -> Result<Option<(Execution, u64)>, JournalError> {
        loop {
            let (line, back) = match &mut self.lines {
                Lines::Back(lines) => (lines.next()?, true),
                Lines::Forth(lines) => (lines.next()?, false),
            };
            let Some(line) = line else { return Ok(None) };
            filter.check_cancelled()?;
            let next = if back { line.offset } else { line.offset + line.text.len() as u64 + 1 };
            *budget = budget.saturating_sub(line.text.len() as u64 + 1);
            let Some((head, record, offset)) = scan::record(&line, skipped) else { continue };
            match head.kind {
                Kind::Start | Kind::Call => {
                    let lookahead = &mut self.lookahead;
                    let found = filter.row(&head, record, skipped, || lookahead.take(&head))?;
                    if let Some(row) = found {
                        return Ok(Some((row, next)));
                    }
                    self.lookahead.rests.remove(&head.id);
                }
                Kind::End | Kind::Line if back && filter.may_name(head.id) => {
                    let place = Place { file: Arc::clone(&self.file), offset, length: record.len() };
                    self.lookahead.rests.entry(head.id).or_default().note(head.kind, place);
                }
                Kind::End | Kind::Line | Kind::Run => {}
            }
            self.searched = next;
            if *budget == 0 {
                self.stopped_at = std::str::from_utf8(head.at).ok().and_then(|at| at.parse().ok());
                if self.stopped_at.is_some() {
                    return Ok(None);
                }
            }
        }
    }
}

/// Ends and lines that stand later than the start that is being read.
#[derive(Default)]
pub(super) struct Lookahead {
    /// What is still unread; the next is last.
    ahead: Vec<Forward>,
    rests: Rests,
}

impl Lookahead {
    fn take(&mut self, head: &Head<'_>) -> Result<Rest, JournalError> {
        let known = |rests: &Rests| rests.get(&head.id).is_some_and(|rest| rest.end.is_some());
        while head.kind == Kind::Start && !known(&self.rests) {
            let Some(lines) = self.ahead.last_mut() else { break };
            let file = lines.file();
            let Some(line) = lines.next()? else {
                self.ahead.pop();
                continue;
            };
            // What is broken is counted where the line itself is read.
            let Some((found, record, offset)) = scan::record(&line, &mut 0) else { continue };
            if matches!(found.kind, Kind::End | Kind::Line) {
                let place = Place { file, offset, length: record.len() };
                self.rests.entry(found.id).or_default().note(found.kind, place);
            }
        }
        Ok(self.rests.remove(&head.id).unwrap_or_default())
    }
}
