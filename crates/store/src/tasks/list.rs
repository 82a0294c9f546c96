//! Lists of tasks: filtered, sorted, paged by a cursor that stands on a task, not on a number.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::Date;
use toolroom_contract::ids::{TaskId, UserId};

use super::model::{COLUMN_COUNT, COLUMNS, Priority, Task, task};
use crate::engine::{Arg, Row, Value};
use crate::like;
use crate::named::named;
use crate::{StoreError, Unit};

/// SQLite refuses longer patterns; no task has a text of this length.
const LONGEST_SEARCH: usize = 20_000;

/// Which tasks to list, and how.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub completed: Option<bool>,
    pub priority: Option<Priority>,
    /// Tasks that carry all of these.
    pub tags: Vec<String>,
    /// Due at this time or later.
    pub due_from: Option<Bound>,
    /// Due before this time.
    pub due_before: Option<Bound>,
    /// In the title or the description, ignoring case.
    pub text: Option<String>,
    pub sort: Sort,
    pub order: Order,
    pub cursor: Option<Cursor>,
    /// `None` lists them all.
    pub limit: Option<u32>,
}

/// A bound on due dates in both of their forms: the day, and the moment at which it counts for instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    pub date: Date,
    pub at: Timestamp,
}

named!(
    /// What a list is sorted by. Ties go by the id, in the same direction.
    #[derive(Default)]
    Sort {
        #[default]
        CreatedAt = "createdAt",
        UpdatedAt = "updatedAt",
        /// Tasks without a due date come last in both directions.
        Due = "due",
        Priority = "priority",
        Title = "title",
    }
);

named!(
    /// The direction of a list.
    #[derive(Default)]
    Order {
        Asc = "asc",
        #[default]
        Desc = "desc",
    }
);

/// A part of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub tasks: Vec<Task>,
    /// Of all tasks that match the filter, on this page or not.
    pub total: u64,
    /// Where the next page begins, if there is one.
    pub next: Option<Cursor>,
}

/// The place behind a task in a sorted list; it holds even when that task is changed or deleted.
#[derive(Clone, Debug, PartialEq)]
pub struct Cursor {
    sort: Sort,
    order: Order,
    id: TaskId,
    value: Position,
}

#[derive(Clone, Debug, PartialEq)]
enum Position {
    Number(i64),
    Text(String),
}

/// The tasks of a user that a query asks for.
pub fn list(unit: &mut Unit<'_>, user: UserId, query: &Query) -> Result<Page, StoreError> {
    let mut filter = Filter::of(user, query);
    let total: i64 =
        unit.query_one(&format!("SELECT count(*) FROM tasks{}", filter.sql), &filter.args)?.take(0)?;
    let key = sort_key(query.sort, query.order);
    let (direction, beyond) = match query.order {
        Order::Asc => ("ASC", ">"),
        Order::Desc => ("DESC", "<"),
    };
    if let Some(cursor) = &query.cursor {
        if (cursor.sort, cursor.order) != (query.sort, query.order) {
            return Err(StoreError::InvalidCursor);
        }
        let value = match &cursor.value {
            Position::Number(number) => filter.arg(*number),
            Position::Text(text) => filter.arg(text.clone()),
        };
        let id = filter.arg(cursor.id);
        filter.and(&format!("({key}, id) {beyond} ({value}, {id})"));
    }
    let order = format!("ORDER BY {key} {direction}, id {direction}");
    let conditions = filter.sql.clone();
    let sql = match query.limit {
        None => format!("SELECT {COLUMNS}, {key} FROM tasks{conditions} {order}"),
        Some(limit) => {
            // One more than asked for shows whether there is a next page. The index is enough to find them.
            let limit = filter.arg(i64::from(limit) + 1);
            let chosen = format!("SELECT id FROM tasks{conditions} {order} LIMIT {limit}");
            format!("SELECT {COLUMNS}, {key} FROM tasks WHERE id IN ({chosen}) {order}")
        }
    };
    let rows = unit.query(&sql, &filter.args)?;
    page(rows, query, total.unsigned_abs())
}

fn page(mut rows: Vec<Row>, query: &Query, total: u64) -> Result<Page, StoreError> {
    let limit = query.limit.map_or(usize::MAX, |limit| limit as usize);
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = match rows.last_mut() {
        Some(last) if more => Some(Cursor::behind(last, query)?),
        _ => None,
    };
    let tasks = rows.iter_mut().map(task).collect::<Result<_, _>>()?;
    Ok(Page { tasks, total, next })
}

/// The conditions of a list with their arguments.
struct Filter<'a> {
    sql: String,
    args: Vec<Arg<'a>>,
}

impl<'a> Filter<'a> {
    fn of(user: UserId, query: &'a Query) -> Self {
        let mut filter =
            Self { sql: " WHERE user_id = $1 AND deleted_at IS NULL".to_owned(), args: vec![user.into()] };
        if let Some(completed) = query.completed {
            let value = filter.arg(completed);
            filter.and(&format!("completed = {value}"));
        }
        if let Some(priority) = query.priority {
            let value = filter.arg(priority);
            filter.and(&format!("priority = {value}"));
        }
        for tag in &query.tags {
            let value = filter.arg(tag);
            filter
                .and(&format!("id IN (SELECT task_id FROM task_tags WHERE user_id = $1 AND tag = {value})"));
        }
        for (bound, operator) in [(query.due_from, ">="), (query.due_before, "<")] {
            if let Some(bound) = bound {
                let (date, at) = (filter.arg(bound.date), filter.arg(bound.at));
                filter.and(&format!("(due_date {operator} {date} OR due_at {operator} {at})"));
            }
        }
        match &query.text {
            Some(text) if text.len() > LONGEST_SEARCH => filter.and("1 = 0"),
            Some(text) => {
                let pattern = filter.arg(like::contains(text));
                filter.and(&format!("search_text LIKE {pattern} ESCAPE '!'"));
            }
            None => {}
        }
        filter
    }

    /// Adds an argument and returns its placeholder.
    fn arg(&mut self, value: impl Into<Arg<'a>>) -> String {
        self.args.push(value.into());
        format!("${}", self.args.len())
    }

    fn and(&mut self, condition: &str) {
        self.sql += " AND ";
        self.sql += condition;
    }
}

/// Tasks without a due date come last, whatever the direction.
fn sort_key(sort: Sort, order: Order) -> &'static str {
    match (sort, order) {
        (Sort::CreatedAt, _) => "created_at",
        (Sort::UpdatedAt, _) => "updated_at",
        (Sort::Due, Order::Asc) => "coalesce(due_sort, 9223372036854775807)",
        (Sort::Due, Order::Desc) => "coalesce(due_sort, -9223372036854775807)",
        (Sort::Priority, _) => {
            "CAST(CASE priority WHEN 'high' THEN 3 WHEN 'medium' THEN 2 ELSE 1 END AS BIGINT)"
        }
        (Sort::Title, _) => "title_sort",
    }
}

impl Cursor {
    fn behind(row: &mut Row, query: &Query) -> Result<Self, StoreError> {
        let decode = StoreError::Decode { column: COLUMN_COUNT, expected: "a sort key" };
        let value = match row.0.get(COLUMN_COUNT) {
            Some(Value::Int(number)) => Position::Number(*number),
            Some(Value::Text(text)) => Position::Text(text.clone()),
            _ => return Err(decode),
        };
        let Some(Value::Int(id)) = row.0.first() else { return Err(decode) };
        Ok(Self { sort: query.sort, order: query.order, id: TaskId(*id), value })
    }
}

/// `sort:order:id:value`; the value comes last because a title may contain anything.
impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}:", self.sort.as_str(), self.order.as_str(), self.id)?;
        match &self.value {
            Position::Number(number) => number.fmt(f),
            Position::Text(text) => f.write_str(text),
        }
    }
}

impl std::str::FromStr for Cursor {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        Self::parse(text).ok_or(StoreError::InvalidCursor)
    }
}

impl Cursor {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, ':');
        let sort = Sort::parse(parts.next()?)?;
        let order = Order::parse(parts.next()?)?;
        let id = TaskId(parts.next()?.parse().ok()?);
        let value = parts.next()?;
        let value = match sort {
            Sort::Title => Position::Text(value.to_owned()),
            _ => Position::Number(value.parse().ok()?),
        };
        Some(Self { sort, order, id, value })
    }
}
