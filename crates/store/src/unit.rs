//! A unit of work: the one transaction in which a closure reads and writes.

use std::time::Instant;

use jiff::Timestamp;

use crate::StoreError;
use crate::engine::{Arg, Row, Sql};

/// What a closure works with. The operations on it are the functions of [`crate::users`], [`crate::keys`],
/// [`crate::pending`], [`crate::idempotency`], [`crate::settings`], [`crate::tasks`] and [`crate::conversations`].
pub struct Unit<'a> {
    /// The time at which this unit happens, in whole microseconds, as it is stored.
    pub now: Timestamp,
    sql: &'a mut dyn Sql,
    failure: Option<StoreError>,
    /// No statement begins after this.
    pub(crate) deadline: Option<Instant>,
    /// Sent along with the commit, in the same round trip; it takes no arguments.
    pub(crate) last_statement: String,
}

impl<'a> Unit<'a> {
    pub(crate) fn new(sql: &'a mut dyn Sql) -> Self {
        Self { now: now(), sql, failure: None, deadline: None, last_statement: String::new() }
    }

    pub(crate) fn execute(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<u64, StoreError> {
        self.check(args)?;
        let result = self.sql.execute(sql, args);
        self.note(result)
    }

    pub(crate) fn query(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<Vec<Row>, StoreError> {
        self.check(args)?;
        let result = self.sql.query(sql, args);
        self.note(result)
    }

    /// Runs an `INSERT` of one row into a table that numbers its rows itself, and returns the new `id`.
    pub(crate) fn insert(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<i64, StoreError> {
        self.check(args)?;
        let result = self.sql.insert(sql, args);
        self.note(result)
    }

    /// The first row, if there is one.
    pub(crate) fn query_first(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<Option<Row>, StoreError> {
        Ok(self.query(sql, args)?.into_iter().next())
    }

    /// The only row of a statement that always has one.
    pub(crate) fn query_one(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<Row, StoreError> {
        let row = self.query_first(sql, args)?;
        row.ok_or_else(|| StoreError::Engine { cause: "a statement gave no row".to_owned() })
    }

    /// The database's own time in microseconds, as an expression: for leases, which processes with other clocks read.
    pub(crate) fn clock(&self) -> &'static str {
        self.sql.clock()
    }

    /// The error of a statement that failed in this unit, whatever the closure made of it.
    pub(crate) fn take_failure(&mut self) -> Option<StoreError> {
        self.failure.take()
    }

    /// The same, left in its place.
    pub(crate) fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref()
    }

    fn check(&mut self, args: &[Arg<'_>]) -> Result<(), StoreError> {
        check_texts(args)?;
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return self.note(Err(StoreError::Late));
        }
        Ok(())
    }

    fn note<T>(&mut self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(error) = &result {
            self.failure.get_or_insert_with(|| error.clone());
        }
        result
    }
}

/// The engines disagree on U+0000 in texts, so it is refused before either sees it.
fn check_texts(args: &[Arg<'_>]) -> Result<(), StoreError> {
    let has_nul = |arg: &Arg<'_>| matches!(arg, Arg::Text(text) if text.as_bytes().contains(&0));
    if args.iter().any(has_nul) { Err(StoreError::InvalidText) } else { Ok(()) }
}

fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
}
