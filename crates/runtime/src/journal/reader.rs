//! Pages of executions: the reader goes through the days from one end and stops when a page is full.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use arc_swap::ArcSwap;
use jiff::{Timestamp, ToSpan, civil::Date};
use toolroom_contract::TraceId;
use toolroom_contract::ids::{ExecutionId, RunId};
use uuid::Uuid;

use super::{
    Edge, Execution, JournalError, Status, files, json,
    pager::DayPager,
    row::{Head, Kind, StartLine},
    scan::{self, Position, Rest},
};

/// Which executions are wanted. Times are those of the start: from `since`, before `until`.
#[derive(Clone, Debug)]
pub struct Query {
    /// `*` stands for any characters.
    pub tool: Option<String>,
    /// `*` stands for any characters.
    pub agent: Option<String>,
    /// `*` stands for any characters.
    pub code: Option<String>,
    pub edge: Option<Edge>,
    pub profile: Option<String>,
    /// Only calls that took as long, in milliseconds.
    pub min_ms: Option<f64>,
    /// Only what was answered from the cache, or only what was not.
    pub cached: Option<bool>,
    /// Only calls that failed or timed out, or only the others.
    pub failed: Option<bool>,
    /// Only what the figures count, or only the rest.
    pub counted: Option<bool>,
    /// Words that stand somewhere in what is shown of the call, in whatever case.
    pub words: Vec<String>,
    /// The rows are for the caller of each, who may know less of it than its owner.
    pub for_caller: bool,
    /// Only calls of this user, or made by them for another.
    pub user: Option<String>,
    /// Only calls under one of these profiles.
    pub profiles: Option<Vec<String>>,
    pub status: Option<Status>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub id: Option<ExecutionId>,
    /// In any of its forms.
    pub trace_id: Option<TraceId>,
    /// Rows of a page at most. Large rows make it shorter: its cursor says whether there are more.
    pub limit: usize,
    pub newest_first: bool,
    /// The cursor of the page before, for the same query.
    pub cursor: Option<String>,
    /// How many bytes of the log may be searched for a page; one that ends for that may be short or empty.
    pub most_bytes: u64,
    /// A cursor of [`Reader::tail`] or of the page before: what started or ended since, oldest first.
    pub after: Option<String>,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            tool: None,
            agent: None,
            code: None,
            edge: None,
            profile: None,
            min_ms: None,
            cached: None,
            failed: None,
            counted: None,
            words: Vec::new(),
            for_caller: false,
            user: None,
            profiles: None,
            status: None,
            since: None,
            until: None,
            id: None,
            trace_id: None,
            limit: 50,
            newest_first: true,
            cursor: None,
            most_bytes: u64::MAX,
            after: None,
        }
    }
}

/// A page ends before it is larger than this, unless one row alone is.
pub(super) const PAGE_BYTES: usize = 8 << 20;

#[derive(Debug, Default)]
pub struct Page {
    pub rows: Vec<Execution>,
    /// Where the next page starts; `None` on the last page. Always there for [`Query::after`].
    pub cursor: Option<String>,
    /// Where the search ended because of [`Query::most_bytes`].
    pub searched_to: Option<Timestamp>,
    /// Lines that were read and are not whole records.
    pub skipped: usize,
}

/// Reads the journal's files; blocking, and without any state between pages.
#[derive(Clone, Debug)]
pub struct Reader {
    pub(super) dir: PathBuf,
    live: LiveRuns,
    cancelled: Arc<AtomicBool>,
}

/// The runs whose unended calls are running; those of all others were interrupted.
pub(super) type LiveRuns = Arc<ArcSwap<Vec<RunId>>>;

impl Reader {
    /// Reads the log of one process after the other; `live` is the one that runs.
    pub fn new(dir: &Path, live: Option<RunId>) -> Self {
        Self::of_runs(dir, Arc::new(ArcSwap::from_pointee(live.into_iter().collect())))
    }

    pub(super) fn of_runs(dir: &Path, live: LiveRuns) -> Self {
        Self { dir: dir.to_owned(), live, cancelled: Arc::default() }
    }

    /// The same, which gives up when this becomes true.
    #[must_use]
    pub fn cancelled_by(self, cancelled: Arc<AtomicBool>) -> Self {
        Self { cancelled, ..self }
    }

    pub fn page(&self, query: &Query) -> Result<Page, JournalError> {
        if let Some(after) = &query.after {
            return self.follow(query, after.parse()?);
        }
        let days = files::list(&self.dir)?;
        let from: Option<Position> = query.cursor.as_deref().map(str::parse).transpose()?;
        let filter = self.filter(query);
        let mut page = Page::default();
        let mut size = 0;
        let (mut lookaheads, mut budget) = (HashMap::new(), query.most_bytes);
        for (nth, date) in dates(&days, query, from.as_ref()).into_iter().enumerate() {
            let from = from.as_ref().filter(|from| from.date == date);
            let mut day = DayPager::open(&days, date, from, query.newest_first, nth == 0, lookaheads)?;
            day.budget = budget;
            while let Some((shard, row, next)) = day.next_row(&filter, &mut page.skipped)? {
                size += row.size();
                if page.rows.len() == query.limit || (size > PAGE_BYTES && !page.rows.is_empty()) {
                    page.cursor = Some(day.position.to_string());
                    return Ok(page);
                }
                day.position.set(shard, next);
                page.rows.push(row);
            }
            budget = day.budget;
            if day.stopped_at.is_some() {
                (page.cursor, page.searched_to) = (Some(day.position.to_string()), day.stopped_at);
                return Ok(page);
            }
            // Going forth, each day looks ahead for itself.
            lookaheads = if query.newest_first { day.into_lookaheads() } else { HashMap::new() };
        }
        Ok(page)
    }

    /// One execution with its lines.
    pub fn get(&self, id: ExecutionId) -> Result<Option<Execution>, JournalError> {
        let page = self.page(&Query { id: Some(id), limit: 1, ..Query::default() })?;
        Ok(page.rows.into_iter().next())
    }

    pub(super) fn filter(&self, query: &Query) -> Filter {
        Filter::new(query, self.live.load_full(), Arc::clone(&self.cancelled))
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
    live: Arc<Vec<RunId>>,
    cancelled: Arc<AtomicBool>,
    since: Option<Vec<u8>>,
    until: Option<Vec<u8>>,
}

impl Filter {
    fn new(query: &Query, live: Arc<Vec<RunId>>, cancelled: Arc<AtomicBool>) -> Self {
        let text = |at: Timestamp| {
            let mut text = Vec::new();
            json::Clockface::new().write(&mut text, at);
            text
        };
        let (since, until) = (query.since.map(text), query.until.map(text));
        Self { query: query.clone(), live, cancelled, since, until }
    }

    pub(super) fn check_cancelled(&self) -> Result<(), JournalError> {
        if self.cancelled.load(Ordering::Relaxed) { Err(JournalError::Cancelled) } else { Ok(()) }
    }

    pub(super) fn may_name(&self, id: Uuid) -> bool {
        self.query.id.is_none_or(|wanted| wanted.0 == id)
    }

    /// Whether a record can be the start of a wanted row, as far as its head tells.
    fn may_start(&self, head: &Head<'_>) -> bool {
        self.may_name(head.id)
            && self.since.as_ref().is_none_or(|since| head.at >= since.as_slice())
            && self.until.as_ref().is_none_or(|until| head.at < until.as_slice())
    }

    fn wants(&self, start: &StartLine<'_>) -> bool {
        self.query.tool.as_ref().is_none_or(|tool| fits(tool, &start.tool))
            && self.query.agent.as_ref().is_none_or(|agent| fits(agent, &start.agent_id))
            && self.query.edge.is_none_or(|edge| edge == start.edge)
            && self.query.profile.as_ref().is_none_or(|profile| *profile == start.profile)
            && self.query.user.as_ref().is_none_or(|user| start.concerns(user))
            && self
                .query
                .trace_id
                .is_none_or(|wanted| start.trace_id.parse().is_ok_and(|id: TraceId| id == wanted))
            && self.query.profiles.as_ref().is_none_or(|some| some.contains(&start.profile))
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
        let status = end.as_ref().map_or_else(|| start.open_status(&self.live), |end| end.status.into());
        if self.query.status.is_some_and(|wanted| wanted != status) {
            return Ok(None);
        }
        let row = start.merge(end, &self.live, rest.read_lines()?);
        // What is not shown must not be found either.
        let row = if self.query.for_caller { row.for_its_caller() } else { row };
        Ok(Some(row).filter(|row| self.shows(row)))
    }

    /// Whether a row is wanted, as far as only the whole row tells.
    fn shows(&self, row: &Execution) -> bool {
        let query = &self.query;
        query.min_ms.is_none_or(|least| row.duration_ms.is_some_and(|ms| ms >= least))
            && query.cached.is_none_or(|cached| cached == row.cached)
            && query.failed.is_none_or(|failed| failed == row.failed())
            && query.counted.is_none_or(|counted| counted == row.counted())
            && query.code.as_ref().is_none_or(|code| fits(code, row.code.as_deref().unwrap_or_default()))
            && (query.words.is_empty() || {
                let text = serde_json::to_string(row).unwrap_or_default().to_lowercase();
                query.words.iter().all(|word| text.contains(word.as_str()))
            })
    }
}

/// Whether a text is what a pattern says: `*` stands for any characters, everything else for itself.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return text.ends_with(part);
        }
        // The first place leaves most for what follows.
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    true
}
