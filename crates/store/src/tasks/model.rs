//! What a task is, and what can be asked of it.

use jiff::Timestamp;
use jiff::civil::Date;
use toolroom_contract::ids::{TaskId, UserId};

use crate::StoreError;
use crate::engine::Row;
use crate::named::named;

pub(super) const COLUMNS: &str = "id, user_id, title, description, priority, due_date, due_at, completed, \
                                  completed_at, tags, version, created_at, updated_at, deleted_at";
/// How many columns that is: a query may add its own behind them.
pub(super) const COLUMN_COUNT: usize = 14;

/// A task of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub id: TaskId,
    pub user: UserId,
    pub title: String,
    pub description: Option<String>,
    pub priority: Priority,
    pub due: Option<Due>,
    pub completed: bool,
    pub completed_at: Option<Timestamp>,
    pub tags: Vec<String>,
    /// 1 at first, one more with every change.
    pub version: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Set on a task that was deleted and can still be restored.
    pub deleted_at: Option<Timestamp>,
}

/// A due date stays what it was: a day, or a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    Date(Date),
    Instant(Timestamp),
}

impl Due {
    pub(super) fn date(self) -> Option<Date> {
        if let Self::Date(date) = self { Some(date) } else { None }
    }

    pub(super) fn instant(self) -> Option<Timestamp> {
        if let Self::Instant(at) = self { Some(at) } else { None }
    }

    /// A date counts as the end of its day in UTC: the order of lists must not depend on a zone that may change.
    pub(super) fn sort_key(self) -> i64 {
        match self {
            Self::Instant(at) => at.as_microsecond(),
            Self::Date(date) => {
                let end = date.at(23, 59, 59, 999_999_000).to_zoned(jiff::tz::TimeZone::UTC);
                let beyond = if date.year() < 0 { i64::MIN + 2 } else { i64::MAX - 1 };
                end.map_or(beyond, |end| end.timestamp().as_microsecond())
            }
        }
    }
}

named!(
    /// How important a task is.
    Priority {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
);

named!(
    /// A field of a task that a patch can change.
    Field {
        Title = "title",
        Description = "description",
        Priority = "priority",
        Due = "due",
        Tags = "tags",
        Completed = "completed",
    }
);

/// A task to create. Texts are already trimmed and checked for their length.
#[derive(Clone, Debug)]
pub struct NewTask {
    pub title: String,
    pub description: Option<String>,
    pub priority: Priority,
    pub due: Option<Due>,
    pub tags: Vec<String>,
    /// Done already when it is noted.
    pub completed: bool,
}

/// What to change. `None` leaves a field, `Some(None)` clears it.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    pub title: Option<String>,
    pub description: Option<Option<String>>,
    pub priority: Option<Priority>,
    pub due: Option<Option<Due>>,
    pub tags: Option<Vec<String>>,
    pub completed: Option<bool>,
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Changed {
    /// The task as it is now (or was when it was deleted), and the fields that differ.
    Applied { task: Task, fields: Vec<Field> },
    /// Everything was so already; the version stays.
    NoChange(Task),
    /// No task of this id, or somebody else's, or one that was deleted.
    NotFound,
    /// The task has another version than was expected; nothing was changed.
    Conflict { current: Task },
}

/// The title of a task, for an index of titles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    pub id: TaskId,
    pub title: String,
    pub version: i64,
}

/// How many tasks a user has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub open: u64,
    pub completed: u64,
}

pub(super) fn task(row: &mut Row) -> Result<Task, StoreError> {
    let date: Option<Date> = row.take(5)?;
    let instant: Option<Timestamp> = row.take(6)?;
    let tags: String = row.take(9)?;
    let tags = serde_json::from_str(&tags)
        .map_err(|_| StoreError::Decode { column: 9, expected: "a list of texts" })?;
    Ok(Task {
        id: row.take(0)?,
        user: row.take(1)?,
        title: row.take(2)?,
        description: row.take(3)?,
        priority: row.take(4)?,
        due: date.map(Due::Date).or(instant.map(Due::Instant)),
        completed: row.take(7)?,
        completed_at: row.take(8)?,
        tags,
        version: row.take(10)?,
        created_at: row.take(11)?,
        updated_at: row.take(12)?,
        deleted_at: row.take(13)?,
    })
}
