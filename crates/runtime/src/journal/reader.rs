//! Pages of executions: the reader goes through the days from one end and stops when a page is full.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

use jiff::{Timestamp, ToSpan, civil::Date};
use toolroom_contract::ids::{ExecutionId, RunId};
use uuid::Uuid;

use super::{
    Execution, JournalError, Status, files, json,
    row::{Head, Kind, StartLine},
    scan::{self, Backward, Forward, Place, Position, Rest, Rests},
};

/// Which executions are wanted. Times are those of the start: from `since`, before `until`.
#[derive(Clone, Debug)]
pub struct Query {
    pub tool: Option<String>,
    pub user: Option<String>,
    pub status: Option<Status>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub id: Option<ExecutionId>,
    pub limit: usize,
    pub newest_first: bool,
    /// The cursor of the page before, for the same query.
    pub cursor: Option<String>,
    /// A cursor of [`Reader::tail`] or of the page before: what started or ended since, oldest first.
    pub after: Option<String>,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            tool: None,
            user: None,
            status: None,
            since: None,
            until: None,
            id: None,
            limit: 50,
            newest_first: true,
            cursor: None,
            after: None,
        }
    }
}

#[derive(Debug, Default)]
pub struct Page {
    pub rows: Vec<Execution>,
    /// Where to go on; `None` on the last page. Always there for [`Query::after`].
    pub cursor: Option<String>,
    /// Lines that were read and are no whole records.
    pub skipped: usize,
}

/// Reads the journal's files; blocking, and without any state between pages.
#[derive(Clone, Debug)]
pub struct Reader {
    pub(super) dir: PathBuf,
    live: Option<RunId>,
}

impl Reader {
    /// `live` is the run whose unended calls are running; those of all others were interrupted.
    pub fn new(dir: &Path, live: Option<RunId>) -> Self {
        Self { dir: dir.to_owned(), live }
    }

    pub fn page(&self, query: &Query) -> Result<Page, JournalError> {
        if let Some(after) = &query.after {
            return self.follow(query, after.parse()?);
        }
        let days = files::list(&self.dir)?;
        let from: Option<Position> = query.cursor.as_deref().map(str::parse).transpose()?;
        let filter = Filter::new(query, self.live);
        let mut page = Page::default();
        let mut rests = HashMap::new();
        for (nth, date) in dates(&days, query, from.as_ref()).into_iter().enumerate() {
            let from = from.as_ref().filter(|from| from.date == date);
            let mut day = DayPager::open(&days, date, from, query.newest_first, nth == 0, rests)?;
            while let Some((shard, row, next)) = day.next_row(&filter, &mut page.skipped)? {
                if page.rows.len() == query.limit {
                    page.cursor = Some(day.position.to_string());
                    return Ok(page);
                }
                day.position.set(shard, next);
                page.rows.push(row);
            }
            rests = day.into_rests();
        }
        Ok(page)
    }

    /// One execution with its lines.
    pub fn get(&self, id: ExecutionId) -> Result<Option<Execution>, JournalError> {
        let page = self.page(&Query { id: Some(id), limit: 1, ..Query::default() })?;
        Ok(page.rows.into_iter().next())
    }

    pub(super) fn filter(&self, query: &Query) -> Filter {
        Filter::new(query, self.live)
    }
}

/// The days that can hold rows of the query, in the order of reading.
fn dates(days: &BTreeMap<Date, Vec<(usize, PathBuf)>>, query: &Query, from: Option<&Position>) -> Vec<Date> {
    let day_before = |date: Date| date.saturating_sub(1.day());
    let day_after = |date: Date| date.saturating_add(1.day());
    let (mut first, mut last) = (Date::MIN, Date::MAX);
    if let Some(since) = query.since {
        first = first.max(files::date_of(since));
    }
    if let Some(until) = query.until {
        // A record that was timed before midnight may stand in the file after it.
        last = last.min(day_after(files::date_of(until)));
    }
    let made = query.id.and_then(|id| id.0.get_timestamp()).and_then(|made| {
        let (seconds, _) = made.to_unix();
        Timestamp::from_second(i64::try_from(seconds).ok()?).ok()
    });
    if let Some(date) = made.map(files::date_of) {
        first = first.max(day_before(date));
        last = last.min(day_after(date));
    }
    match from {
        Some(from) if query.newest_first => last = last.min(from.date),
        Some(from) => first = first.max(from.date),
        None => {}
    }
    let wanted = days.keys().copied().filter(|date| (first..=last).contains(date));
    if query.newest_first { wanted.rev().collect() } else { wanted.collect() }
}

/// The conditions of a query, ready to be compared with records.
pub(super) struct Filter {
    query: Query,
    live: Option<RunId>,
    since: Option<Vec<u8>>,
    until: Option<Vec<u8>>,
}

impl Filter {
    fn new(query: &Query, live: Option<RunId>) -> Self {
        let text = |at: Timestamp| {
            let mut text = Vec::new();
            json::Clockface::new().write(&mut text, at);
            text
        };
        Self { query: query.clone(), live, since: query.since.map(text), until: query.until.map(text) }
    }

    fn may_name(&self, id: Uuid) -> bool {
        self.query.id.is_none_or(|wanted| wanted.0 == id)
    }

    /// Whether a record can be the start of a wanted row, as far as its head tells.
    fn may_start(&self, head: &Head<'_>) -> bool {
        self.may_name(head.id)
            && self.since.as_ref().is_none_or(|since| head.at >= since.as_slice())
            && self.until.as_ref().is_none_or(|until| head.at < until.as_slice())
    }

    fn wants(&self, start: &StartLine<'_>) -> bool {
        self.query.tool.as_ref().is_none_or(|tool| *tool == start.tool)
            && self.query.user.as_ref().is_none_or(|user| *user == start.user)
    }

    /// The merged row of a start, if it is wanted. The rest is looked up only then.
    pub(super) fn row(
        &self,
        head: &Head<'_>,
        record: &[u8],
        skipped: &mut usize,
        rest: impl FnOnce() -> Result<Rest, JournalError>,
    ) -> Result<Option<Execution>, JournalError> {
        if !self.may_start(head) {
            return Ok(None);
        }
        let Ok(start) = serde_json::from_slice::<StartLine<'_>>(record) else {
            *skipped += 1;
            return Ok(None);
        };
        if !self.wants(&start) {
            return Ok(None);
        }
        let mut rest = rest()?;
        let end_record = match &rest.end {
            _ if head.kind == Kind::Call => Some(record.to_vec()),
            Some(place) => Some(place.read()?),
            None => None,
        };
        let end = end_record.as_deref().and_then(scan::parse_end);
        *skipped += usize::from(end.is_none() && end_record.is_some());
        let status = end.as_ref().map_or_else(|| start.open_status(self.live), |end| end.status.into());
        if self.query.status.is_some_and(|wanted| wanted != status) {
            return Ok(None);
        }
        Ok(Some(start.merge(end, self.live, rest.read_lines()?)))
    }
}

/// The rows of one day, merged from its shards by the time of their start.
struct DayPager {
    shards: Vec<ShardPager>,
    newest_first: bool,
    /// Behind the last row that was taken from each shard.
    position: Position,
}

impl DayPager {
    fn open(
        days: &BTreeMap<Date, Vec<(usize, PathBuf)>>,
        date: Date,
        from: Option<&Position>,
        newest_first: bool,
        first: bool,
        mut rests: HashMap<usize, Rests>,
    ) -> Result<Self, JournalError> {
        let mut position = Position { date, offsets: Vec::new() };
        let mut shards = Vec::new();
        let next_day = days.get(&date.saturating_add(1.day()));
        for (shard, path) in days.get(&date).into_iter().flatten() {
            let (file, length) = scan::open(path)?;
            let whole = if newest_first { length } else { 0 };
            let offset = from.map_or(whole, |from| from.offset(*shard).min(length));
            position.set(*shard, offset);
            // Going back, whatever is later than the first position was read on the way.
            let mut ahead = Vec::new();
            if first || !newest_first {
                let next = next_day.into_iter().flatten().find(|(number, _)| number == shard);
                if let Some((_, path)) = next {
                    ahead.push(Forward::new(scan::open(path)?.0, 0));
                }
                ahead.push(Forward::new(Arc::clone(&file), offset));
            }
            let lines = if newest_first {
                Lines::Back(Backward::new(Arc::clone(&file), offset))
            } else {
                Lines::Forth(Forward::new(Arc::clone(&file), offset))
            };
            let rests = rests.remove(shard).unwrap_or_default();
            let lookahead = Lookahead { ahead, rests };
            shards.push(ShardPager { shard: *shard, file, lines, lookahead, peeked: None });
        }
        Ok(Self { shards, newest_first, position })
    }

    /// The next row with its shard and the offset behind it. Whoever takes it moves `position`.
    fn next_row(
        &mut self,
        filter: &Filter,
        skipped: &mut usize,
    ) -> Result<Option<(usize, Execution, u64)>, JournalError> {
        for shard in &mut self.shards {
            if shard.peeked.is_none() {
                shard.peeked = shard.find(filter, skipped)?;
            }
        }
        let started = |pager: &&mut ShardPager| {
            pager.peeked.as_ref().map(|(row, _)| (row.started_at, row.execution_id))
        };
        let waiting = self.shards.iter_mut().filter(|pager| pager.peeked.is_some());
        let best = if self.newest_first { waiting.max_by_key(started) } else { waiting.min_by_key(started) };
        Ok(best.and_then(|pager| pager.peeked.take().map(|(row, next)| (pager.shard, row, next))))
    }

    fn into_rests(self) -> HashMap<usize, Rests> {
        self.shards.into_iter().map(|pager| (pager.shard, pager.lookahead.rests)).collect()
    }
}

struct ShardPager {
    shard: usize,
    file: Arc<File>,
    lines: Lines,
    lookahead: Lookahead,
    peeked: Option<(Execution, u64)>,
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
    ) -> Result<Option<(Execution, u64)>, JournalError> {
        loop {
            let (line, back) = match &mut self.lines {
                Lines::Back(lines) => (lines.next()?, true),
                Lines::Forth(lines) => (lines.next()?, false),
            };
            let Some(line) = line else { return Ok(None) };
            let next = if back { line.offset } else { line.offset + line.text.len() as u64 + 1 };
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
        }
    }
}

/// Ends and lines that stand later than the start that is being read.
struct Lookahead {
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
