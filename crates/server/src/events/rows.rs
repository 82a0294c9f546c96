//! New rows of the execution log for one watcher, read from its files: where the watcher is in them is all that is kept.

use std::collections::VecDeque;

use serde::Serialize;
use toolroom_contract::Principal;
use toolroom_runtime::journal::{self, Execution, JournalError, Reader};

/// The most rows of one event; of more than these the newest are of use.
const MOST: usize = 200;
/// Pages that are read for one event. Who is further behind goes on at the end.
const PAGES: usize = 10;

#[derive(Clone)]
pub(super) struct Rows {
    reader: Reader,
    query: journal::Query,
    sees_all: bool,
    /// Where the watcher is.
    pub(super) cursor: String,
}

#[derive(Default, Serialize)]
pub(super) struct Batch {
    /// Oldest first.
    pub(super) rows: VecDeque<Execution>,
    /// How many more there were, at least.
    pub(super) skipped: usize,
}

impl Rows {
    /// The rows that the caller may see, from the cursor on, or from the end where it is not one.
    pub(super) fn new(
        reader: Reader,
        caller: &Principal,
        cursor: Option<&str>,
    ) -> Result<Self, JournalError> {
        let sees_all = caller.grants.hold("executions", "read");
        let query = journal::Query {
            user: (!sees_all).then(|| caller.user.key.to_string()),
            profiles: caller.profiles.clone(),
            limit: MOST,
            ..journal::Query::default()
        };
        let mut rows = Self { reader, query, sees_all, cursor: cursor.unwrap_or_default().to_owned() };
        if cursor.is_none_or(|cursor| !Reader::is_cursor(cursor)) {
            rows.cursor = rows.reader.tail()?;
        }
        Ok(rows)
    }

    /// What is new.
    pub(super) fn read(&mut self) -> Result<Batch, JournalError> {
        let mut batch = Batch::default();
        for _ in 0..PAGES {
            let after = Some(self.cursor.clone());
            let page = self.reader.page(&journal::Query { after, ..self.query.clone() })?;
            // A call that began on one page and ended on the next is one row.
            batch.rows.retain(|row| page.rows.iter().all(|newer| newer.execution_id != row.execution_id));
            let rows = page.rows.into_iter();
            batch.rows.extend(
                rows.map(|row| if self.sees_all { row } else { row.for_its_caller() })
                    .map(Execution::in_brief),
            );
            let surplus = batch.rows.len().saturating_sub(MOST);
            batch.rows.drain(..surplus);
            batch.skipped += surplus;
            let next = page.cursor.unwrap_or_default();
            if next == self.cursor {
                return Ok(batch);
            }
            self.cursor = next;
        }
        self.cursor = self.reader.tail()?;
        batch.skipped += 1;
        Ok(batch)
    }
}
