//! PostgreSQL: one connection, its statements cached, errors put into our words.

mod threads;
pub(crate) mod tls;

use std::collections::HashMap;
use std::time::Duration;

use postgres::config::SslMode;
use postgres::error::{Severity, SqlState};
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, NoTls, Statement};

use super::{Arg, Row, Sql, Value};
use crate::StoreError;
use crate::backup::{BackupError, Scan};
use crate::url::PostgresServer;
pub(crate) use threads::start;

/// Texts built for list filters could be many; the map is emptied rather than let grow.
const MOST_PREPARED: usize = 256;

/// A statement that takes longer is ended.
const LONGEST_STATEMENT: Duration = Duration::from_secs(30);

pub(crate) struct Connection {
    client: Client,
    prepared: HashMap<String, Statement>,
    /// The first error of this transaction that a retry may fix.
    fault: Option<Fault>,
    scope: Scope,
}

/// What the statements of a unit run in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Transaction,
    /// One statement that reads needs no transaction around it: it is one by itself.
    OneRead,
    /// One statement of any kind.
    One,
    /// That statement was made.
    Spent,
    /// Another one was asked for, which may not see another state of the database.
    NeedsTransaction,
}

/// An error that says nothing about the unit itself.
pub(crate) enum Fault {
    /// The connection is gone, and with it the transaction.
    Lost(StoreError),
    /// A deadlock or a failure to serialize: the server rolled the transaction back.
    Clash,
}

impl Connection {
    pub fn open(PostgresServer { config, tls }: &PostgresServer) -> Result<Self, StoreError> {
        let connected = match config.get_ssl_mode() {
            SslMode::Disable => config.connect(NoTls),
            _ => config.connect(tls::Connector::new(tls)?),
        };
        let mut client = connected.map_err(|error| away(&error))?;
        // A statement that hangs must not block a thread of the store forever.
        let longest = LONGEST_STATEMENT.as_millis();
        let limits =
            format!("SET statement_timeout = {longest}; SET idle_in_transaction_session_timeout = '60s'");
        client.batch_execute(&limits).map_err(|error| away(&error))?;
        Ok(Self { client, prepared: HashMap::new(), fault: None, scope: Scope::Transaction })
    }

    /// Runs what reads by one statement without a transaction; `None` if it needs one, and was not run.
    pub fn read_alone<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.run_in(Scope::OneRead, run)
    }

    /// Runs one statement of any kind without a transaction; `None` if more than one was asked for.
    pub fn once<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.run_in(Scope::One, run)
    }

    fn run_in<T>(&mut self, scope: Scope, run: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.scope = scope;
        let done = run(self);
        let scope = std::mem::replace(&mut self.scope, Scope::Transaction);
        (scope != Scope::NeedsTransaction).then_some(done)
    }

    /// Whether this statement may run in the present scope.
    fn enter(&mut self, reads: bool) -> Result<(), StoreError> {
        self.scope = match self.scope {
            Scope::Transaction => return Ok(()),
            Scope::OneRead if reads => Scope::Spent,
            Scope::One => Scope::Spent,
            _ => Scope::NeedsTransaction,
        };
        match self.scope {
            Scope::Spent => Ok(()),
            _ => Err(StoreError::Engine { cause: "a second statement needs a transaction".to_owned() }),
        }
    }

    /// Runs a statement that steers the transaction, and returns the fault if there was one.
    pub fn control(&mut self, sql: &str) -> Result<(), (StoreError, Option<Fault>)> {
        self.client.batch_execute(sql).map_err(|error| (our_error(&error), fault(&error)))
    }

    /// Gives everything that is notified on a channel; nothing when it has begun to listen, and whenever nothing came for
    /// so long. Returns when the connection has broken, or when `heard` says that nobody wants to know any more.
    pub fn listen(
        &mut self,
        channel: &str,
        pause: Duration,
        heard: &mut dyn FnMut(Option<&str>) -> bool,
    ) -> Result<(), StoreError> {
        self.client.batch_execute(&format!("LISTEN {channel}")).map_err(|error| our_error(&error))?;
        let mut goes_on = heard(None);
        while goes_on && !self.client.is_closed() {
            let mut notified = self.client.notifications();
            let next = notified.timeout_iter(pause).next().map_err(|error| our_error(&error))?;
            goes_on = heard(next.as_ref().map(|next| next.payload()));
        }
        Ok(())
    }

    pub fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }

    fn statement(&mut self, sql: &str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).map_err(|error| self.note(&error))?;
        if self.prepared.len() >= MOST_PREPARED {
            self.prepared.clear();
        }
        self.prepared.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn note(&mut self, error: &postgres::Error) -> StoreError {
        if self.fault.is_none() {
            self.fault = fault(error);
        }
        our_error(error)
    }
}

impl Sql for Connection {
    fn execute(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<u64, StoreError> {
        self.enter(false)?;
        let statement = self.statement(sql)?;
        self.client.execute(&statement, &references(args)).map_err(|error| self.note(&error))
    }

    fn query(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<Vec<Row>, StoreError> {
        self.enter(sql.starts_with("SELECT"))?;
        let statement = self.statement(sql)?;
        let rows = self.client.query(&statement, &references(args)).map_err(|error| self.note(&error))?;
        rows.iter().map(row).collect()
    }

    fn insert(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<i64, StoreError> {
        let rows = self.query(&format!("{sql} RETURNING id"), args)?;
        let id = rows.into_iter().next().map(|mut row| row.take(0));
        id.unwrap_or_else(|| Err(StoreError::Engine { cause: "an insert gave no id".to_owned() }))
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        self.enter(false)?;
        self.client.batch_execute(sql).map_err(|error| self.note(&error))
    }

    fn clock(&self) -> &'static str {
        "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
    }
}

impl Scan for Connection {
    fn scan(
        &mut self,
        sql: &str,
        columns: &mut dyn FnMut(&[&str]) -> Result<(), BackupError>,
        found: &mut dyn FnMut(Row) -> Result<(), BackupError>,
    ) -> Result<(), BackupError> {
        let statement = self.statement(sql)?;
        columns(&statement.columns().iter().map(|column| column.name()).collect::<Vec<_>>())?;
        let none: [&(dyn ToSql + Sync); 0] = [];
        let mut rows = self.client.query_raw(&statement, none).map_err(|error| our_error(&error))?;
        while let Some(next) = rows.next().map_err(|error| our_error(&error))? {
            found(row(&next)?)?;
        }
        Ok(())
    }
}

fn references<'a>(args: &'a [Arg<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    args.iter().map(|arg| arg as &(dyn ToSql + Sync)).collect()
}

impl ToSql for Arg<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Arg::Null => Ok(IsNull::Yes),
            // SQLite has no booleans: a backup of it has numbers.
            Arg::Int(n) if *ty == Type::BOOL => (*n != 0).to_sql(ty, out),
            Arg::Int(n) if *ty == Type::INT4 => i32::try_from(*n)?.to_sql(ty, out),
            Arg::Int(n) => n.to_sql(ty, out),
            Arg::Float(x) => x.to_sql(ty, out),
            Arg::Bool(truth) => truth.to_sql(ty, out),
            Arg::Text(text) => text.as_ref().to_sql(ty, out),
            Arg::Bytes(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn row(row: &postgres::Row) -> Result<Row, StoreError> {
    (0..row.len()).map(|column| value(row, column)).collect::<Result<_, _>>().map(Row)
}

fn value(row: &postgres::Row, column: usize) -> Result<Value, StoreError> {
    let value = match *row.columns()[column].type_() {
        Type::INT8 => row.try_get::<_, Option<i64>>(column).map(|n| n.map(Value::Int)),
        Type::INT4 => row.try_get::<_, Option<i32>>(column).map(|n| n.map(|n| Value::Int(n.into()))),
        Type::FLOAT8 => row.try_get::<_, Option<f64>>(column).map(|x| x.map(Value::Float)),
        Type::BOOL => row.try_get::<_, Option<bool>>(column).map(|truth| truth.map(Value::Bool)),
        Type::TEXT | Type::VARCHAR => {
            row.try_get::<_, Option<String>>(column).map(|text| text.map(Value::Text))
        }
        Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(column).map(|bytes| bytes.map(Value::Bytes)),
        _ => return Err(StoreError::Decode { column, expected: "a supported type" }),
    };
    Ok(value.map_err(|error| our_error(&error))?.unwrap_or(Value::Null))
}

fn fault(error: &postgres::Error) -> Option<Fault> {
    let Some(refusal) = error.as_db_error() else {
        let by_network =
            error.is_closed() || std::error::Error::source(error).is_some_and(|e| e.is::<std::io::Error>());
        return by_network.then(|| Fault::Lost(away(error)));
    };
    match refusal.parsed_severity() {
        Some(Severity::Fatal | Severity::Panic) => Some(Fault::Lost(away(error))),
        _ if [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED]
            .contains(refusal.code()) =>
        {
            Some(Fault::Clash)
        }
        _ => None,
    }
}

fn our_error(error: &postgres::Error) -> StoreError {
    let Some(state) = error.code().map(SqlState::code) else {
        return match fault(error) {
            Some(Fault::Lost(error)) => error,
            _ => StoreError::Engine { cause: describe(error) },
        };
    };
    let cause = describe(error);
    match (state, &state[..2]) {
        ("25006", _) => StoreError::ReadOnly,
        ("22021", _) => StoreError::InvalidText,
        (_, "23") => StoreError::Constraint { cause },
        // Damaged, or what the migrations have made is gone.
        ("XX001" | "XX002" | "42P01", _) => StoreError::Corrupt { cause },
        // Connection trouble, too few resources, and the operator at work.
        (_, "08" | "53" | "57" | "58") => StoreError::Unavailable { cause },
        _ => StoreError::Engine { cause },
    }
}

fn away(error: &postgres::Error) -> StoreError {
    StoreError::Unavailable { cause: describe(error) }
}

/// Code and message only: the detail of a refusal quotes the values of the row.
fn describe(error: &postgres::Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(refusal), _) => format!("{} ({})", refusal.message(), refusal.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}
