//! The engines beneath the store: each only executes SQL that both understand, with `$1..$n` placeholders.

pub(crate) mod postgres;
pub(crate) mod sqlite;
mod value;

use crate::StoreError;
pub(crate) use value::{Arg, FromValue, Row, Value, args};

/// Which database is beneath the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A file, written by one thread.
    Sqlite,
    /// A server, reached through a few connections.
    Postgres,
}

/// A connection inside a transaction.
pub(crate) trait Sql {
    /// Runs a statement and returns the number of rows that it changed.
    fn execute(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<u64, StoreError>;
    /// Runs a statement and returns its rows.
    fn query(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<Vec<Row>, StoreError>;
    /// Runs an `INSERT` of one row into a table that numbers its rows itself, and returns the new `id`.
    fn insert(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<i64, StoreError>;
    /// Runs several statements that take no arguments.
    fn script(&mut self, sql: &str) -> Result<(), StoreError>;
    /// The database's own time in microseconds, as an expression.
    fn clock(&self) -> &'static str;
}
