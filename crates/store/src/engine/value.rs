//! What goes into a statement and what comes out of it.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use toolroom_contract::ids::{
    CardId, ChatRunId, ConversationId, DeckId, KeyId, PendingId, RunId, SessionId, TaskId, UserId,
};

use crate::StoreError;

/// An argument of a statement.
#[derive(Clone)]
pub(crate) enum Arg<'a> {
    Null,
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(Cow<'a, str>),
    Bytes(&'a [u8]),
}

/// The arguments of a statement, each by its `From`.
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::engine::Arg::from($value)),*] };
}
pub(crate) use args;

// Drivers log their arguments; contents stay out of logs.
impl fmt::Debug for Arg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Bool(_) => "bool",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
        })
    }
}

/// A column of a row that came back.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Bytes(Vec<u8>),
}

/// A row that came back.
#[derive(Debug)]
pub(crate) struct Row(pub Vec<Value>);

impl Row {
    /// Moves a column out. Taking it twice, or as another type than it has, is an error.
    pub fn take<T: FromValue>(&mut self, column: usize) -> Result<T, StoreError> {
        let value = self.0.get_mut(column).map(|slot| std::mem::replace(slot, Value::Null));
        value.and_then(T::from_value).ok_or(StoreError::Decode { column, expected: T::EXPECTED })
    }
}

/// A type that a column can be read as.
pub(crate) trait FromValue: Sized {
    const EXPECTED: &'static str;
    fn from_value(value: Value) -> Option<Self>;
}

macro_rules! conversions {
    ($($type:ty, $expected:literal,
       $value:pat => $read:expr,
       $arg:ident => $write:expr;)+) => {$(
        impl FromValue for $type {
            const EXPECTED: &'static str = $expected;
            fn from_value(value: Value) -> Option<Self> {
                match value {
                    $value => $read,
                    _ => None,
                }
            }
        }

        impl From<$type> for Arg<'_> {
            fn from($arg: $type) -> Self {
                $write
            }
        }
    )+};
}

conversions! {
    i64, "an integer", Value::Int(n) => Some(n), n => Arg::Int(n);
    f64, "a number", Value::Float(x) => Some(x), x => Arg::Float(x);
    String, "a text", Value::Text(text) => Some(text), text => Arg::Text(Cow::Owned(text));
    Timestamp, "a time", Value::Int(n) => Some(from_microsecond(n)), at => Arg::Int(at.as_microsecond());
    jiff::civil::Date, "a date", Value::Text(text) => text.parse().ok(), date => Arg::Text(date.to_string().into());
    UserId, "a user's id", Value::Int(n) => Some(UserId(n)), id => Arg::Int(id.0);
    KeyId, "a key's id", Value::Int(n) => Some(KeyId(n)), id => Arg::Int(id.0);
    TaskId, "a task's id", Value::Int(n) => Some(TaskId(n)), id => Arg::Int(id.0);
    CardId, "a card's id", Value::Int(n) => Some(CardId(n)), id => Arg::Int(id.0);
    DeckId, "a deck's id", Value::Int(n) => Some(DeckId(n)), id => Arg::Int(id.0);
    PendingId, "an id", Value::Text(text) => text.parse().ok(), id => Arg::Text(id.to_string().into());
    RunId, "an id", Value::Text(text) => text.parse().ok(), id => Arg::Text(id.to_string().into());
    ConversationId, "an id", Value::Text(text) => text.parse().ok(), id => Arg::Text(id.to_string().into());
    SessionId, "an id", Value::Text(text) => text.parse().ok(), id => Arg::Text(id.to_string().into());
    ChatRunId, "an id", Value::Text(text) => text.parse().ok(), id => Arg::Text(id.to_string().into());
    serde_json::Value, "JSON", Value::Text(text) => serde_json::from_str(&text).ok(),
        json => Arg::Text(json.to_string().into());
}

/// The last microsecond that a time can have is not quite readable again; no such row may spoil a list.
fn from_microsecond(n: i64) -> Timestamp {
    let farthest = if n < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_microsecond(n).unwrap_or(farthest)
}

impl FromValue for Vec<u8> {
    const EXPECTED: &'static str = "bytes";
    fn from_value(value: Value) -> Option<Self> {
        if let Value::Bytes(bytes) = value { Some(bytes) } else { None }
    }
}

// SQLite has no booleans and answers 0 or 1.
impl FromValue for bool {
    const EXPECTED: &'static str = "a boolean";
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Bool(truth) => Some(truth),
            Value::Int(0) => Some(false),
            Value::Int(1) => Some(true),
            _ => None,
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl From<bool> for Arg<'_> {
    fn from(truth: bool) -> Self {
        Arg::Bool(truth)
    }
}

impl From<Duration> for Arg<'_> {
    fn from(length: Duration) -> Self {
        Arg::Int(i64::try_from(length.as_micros()).unwrap_or(i64::MAX))
    }
}

impl<'a> From<&'a str> for Arg<'a> {
    fn from(text: &'a str) -> Self {
        Arg::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a String> for Arg<'a> {
    fn from(text: &'a String) -> Self {
        Arg::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a [u8]> for Arg<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Arg::Bytes(bytes)
    }
}

impl<'a> From<&serde_json::Value> for Arg<'a> {
    fn from(json: &serde_json::Value) -> Self {
        Arg::Text(json.to_string().into())
    }
}

impl<'a, T: Into<Arg<'a>>> From<Option<T>> for Arg<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Arg::Null, Into::into)
    }
}
