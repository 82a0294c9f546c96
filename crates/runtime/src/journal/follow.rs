//! Following the journal: what started or ended since a position, oldest first.

use std::{
    collections::HashMap,
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

use jiff::{Timestamp, ToSpan};
use uuid::Uuid;

use super::{
    Execution, JournalError, Page, Query, Reader, files,
    reader::{Filter, PAGE_BYTES},
    row::{Head, Kind},
    scan::{self, Backward, Forward, Place, Position, Rest},
};

impl Reader {
    /// The cursor behind all that is written now, to follow from.
    pub fn tail(&self) -> Result<String, JournalError> {
        let days = files::list(&self.dir)?;
        let Some((date, shards)) = days.last_key_value() else {
            return Ok(Position { date: files::date_of(Timestamp::now()), offsets: Vec::new() }.to_string());
        };
        let mut position = Position { date: *date, offsets: Vec::new() };
        for (shard, path) in shards {
            position.set(*shard, scan::open(path)?.1);
        }
        Ok(position.to_string())
    }

    /// Whether a text can be followed from.
    pub fn is_cursor(text: &str) -> bool {
        text.parse::<Position>().is_ok()
    }

    pub(super) fn follow(&self, query: &Query, from: Position) -> Result<Page, JournalError> {
        let days = files::list(&self.dir)?;
        let filter = self.filter(query);
        let mut page = Page::default();
        let mut position = from.clone();
        for (date, shards) in days.range(from.date..) {
            if page.rows.len() >= query.limit {
                break;
            }
            if *date != position.date {
                position = Position { date: *date, offsets: Vec::new() };
            }
            let yesterday = days.get(&date.saturating_sub(1.day()));
            // Each shard may fill what is left of the page, so that a page can be a little over the limit.
            let room = (query.limit - page.rows.len()).div_ceil(shards.len()).max(1);
            let mut more_in_day = false;
            for (shard, path) in shards {
                let mut news = News::open(path, position.offset(*shard))?;
                more_in_day |= news.read(room, &mut page.skipped)?;
                news.find_starts(before(yesterday, *shard))?;
                position.set(*shard, news.lines.position);
                page.rows.extend(news.rows(&filter, &mut page.skipped)?);
            }
            if more_in_day {
                break;
            }
        }
        page.rows.sort_by_key(|row| (row.ended_at.unwrap_or(row.started_at), row.execution_id));
        page.cursor = Some(position.to_string());
        Ok(page)
    }
}

fn before(yesterday: Option<&Vec<(usize, PathBuf)>>, shard: usize) -> Option<&PathBuf> {
    yesterday?.iter().find(|(number, _)| *number == shard).map(|(_, path)| path)
}

/// What one shard holds behind a position.
struct News {
    file: Arc<File>,
    from: u64,
    lines: Forward,
    /// In the order in which they were met.
    ids: Vec<Uuid>,
    touched: HashMap<Uuid, Touched>,
}

#[derive(Default)]
struct Touched {
    start: Option<Place>,
    rest: Rest,
}

impl News {
    fn open(path: &Path, offset: u64) -> Result<Self, JournalError> {
        let (file, length) = scan::open(path)?;
        let from = offset.min(length);
        let lines = Forward::new(Arc::clone(&file), from);
        Ok(Self { file, from, lines, ids: Vec::new(), touched: HashMap::new() })
    }

    /// Reads on until this many executions were found; returns whether it stopped for that.
    fn read(&mut self, room: usize, skipped: &mut usize) -> Result<bool, JournalError> {
        let mut size = 0;
        while let Some(line) = self.lines.next()? {
            let Some((head, record, offset)) = scan::record(&line, skipped) else { continue };
            if head.kind == Kind::Run {
                continue;
            }
            size += record.len();
            let place = Place { file: Arc::clone(&self.file), offset, length: record.len() };
            let touched = self.touched.entry(head.id).or_insert_with(|| {
                self.ids.push(head.id);
                Touched::default()
            });
            touched.note(&head, place);
            if self.ids.len() >= room || size > PAGE_BYTES {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Goes back for the starts of what ended since; most are near.
    fn find_starts(&mut self, yesterday: Option<&PathBuf>) -> Result<(), JournalError> {
        let mut missing = self.touched.values().filter(|touched| touched.start.is_none()).count();
        let mut sources = vec![(Arc::clone(&self.file), self.from)];
        if missing > 0
            && let Some(path) = yesterday
        {
            sources.push(scan::open(path)?);
        }
        for (file, length) in sources {
            let mut lines = Backward::new(Arc::clone(&file), length);
            while missing > 0
                && let Some(line) = lines.next()?
            {
                let Some((head, record, offset)) = scan::record(&line, &mut 0) else { continue };
                let Some(touched) = self.touched.get_mut(&head.id) else { continue };
                let had_start = touched.start.is_some();
                touched.note(&head, Place { file: Arc::clone(&file), offset, length: record.len() });
                missing -= usize::from(!had_start && touched.start.is_some());
            }
        }
        Ok(())
    }

    fn rows(mut self, filter: &Filter, skipped: &mut usize) -> Result<Vec<Execution>, JournalError> {
        let mut rows = Vec::new();
        for id in self.ids {
            let Some(Touched { start: Some(start), rest }) = self.touched.remove(&id) else { continue };
            let record = start.read()?;
            if let Some(head) = Head::of(&record) {
                rows.extend(filter.row(&head, &record, skipped, || Ok(rest))?);
            }
        }
        Ok(rows)
    }
}

impl Touched {
    fn note(&mut self, head: &Head<'_>, place: Place) {
        match head.kind {
            Kind::Start | Kind::Call => self.start = Some(place),
            kind => self.rest.note(kind, place),
        }
    }
}
