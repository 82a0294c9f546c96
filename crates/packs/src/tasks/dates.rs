//! Due dates and date ranges from parameters: a civil date, an instant, or a phrase in the user's zone.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use serde_json::{Value, json};
use toolroom_contract::{ErrorCode, FieldError, ToolContext, ToolError};
use toolroom_store::tasks::{Bound, Due, Task};
use toolroom_when::{self as when, Resolved};

/// A due date that was understood.
#[derive(Clone, Debug)]
pub(super) struct DueRead {
    pub due: Due,
    /// The date for people.
    pub echo: String,
    /// What was taken for granted, if it was given in words.
    pub assumption: Option<String>,
}

/// Reads the parameter at `/field`.
pub(super) fn due(field: &str, text: &str, now: Timestamp, zone: &TimeZone) -> Result<DueRead, ToolError> {
    let resolved = resolve(field, text, now, zone)?;
    let text = text.trim();
    let is_explicit = text.parse::<Timestamp>().is_ok() || text.parse::<Date>().is_ok();
    let assumption = (!is_explicit).then(|| format!("'{text}' was read as {}.", resolved.echo));
    Ok(DueRead { due: stored(resolved.due), echo: resolved.echo, assumption })
}

/// A due date as the store keeps it, without its offset.
fn stored(due: when::Due) -> Due {
    match due {
        when::Due::Date(date) => Due::Date(date),
        when::Due::Instant(moment) => Due::Instant(moment.at()),
    }
}

/// When a stored due date is over: a day ends with its last second in the zone.
pub(super) fn end_of(due: Due, zone: &TimeZone) -> Timestamp {
    match due {
        Due::Date(date) => when::Due::Date(date).instant_in(zone).at(),
        Due::Instant(at) => at,
    }
}

type ReadBound = fn(&str, Timestamp, &TimeZone) -> Result<Bound, ToolError>;

/// The bound of tasks due at this time or later.
pub(super) fn due_from(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Bound, ToolError> {
    match resolve("dueFrom", text, now, zone)?.due {
        when::Due::Date(date) => Ok(Bound { date, at: start_of(date, zone) }),
        when::Due::Instant(moment) => Ok(Bound { date: date_in(moment.at(), zone), at: moment.at() }),
    }
}

/// The bound of tasks due at this time or earlier. A day counts as due at its last second.
pub(super) fn due_to(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Bound, ToolError> {
    let due = resolve("dueTo", text, now, zone)?.due;
    let day = due.date_in(zone);
    let last_second = when::Due::Date(day).instant_in(zone).at();
    let after = day.checked_add(1.day()).unwrap_or(Date::MAX);
    match due {
        when::Due::Date(_) => Ok(Bound { date: after, at: start_of(after, zone) }),
        when::Due::Instant(moment) => {
            let date = if moment.at() >= last_second { after } else { day };
            let just_after = moment.at().checked_add(SignedDuration::from_micros(1));
            Ok(Bound { date, at: just_after.unwrap_or(Timestamp::MAX) })
        }
    }
}

/// Whether a task is open and past its day or moment.
pub(super) fn is_overdue(task: &Task, now: Timestamp, zone: &TimeZone) -> bool {
    !task.completed
        && match task.due {
            None => false,
            Some(Due::Date(date)) => date < date_in(now, zone),
            Some(Due::Instant(at)) => at < now,
        }
}

/// The parameters as the cache compares them: ranges resolved, and bound to the caller's day, because what is
/// overdue changes with it.
pub(super) fn compared(params: &Value, context: &ToolContext) -> Option<Value> {
    let (now, zone) = (context.timestamp, &context.time_zone);
    let mut compared = params.as_object()?.clone();
    for (name, read) in [("dueFrom", due_from as ReadBound), ("dueTo", due_to)] {
        if let Some(Ok(bound)) = params.get(name).and_then(Value::as_str).map(|text| read(text, now, zone)) {
            compared.insert(name.to_owned(), json!([bound.date, bound.at]));
        }
    }
    compared.insert("today".to_owned(), json!(date_in(now, zone)));
    Some(Value::Object(compared))
}

/// How the dates in these parameters are read.
pub(super) fn echoes(params: &Value, context: &ToolContext, fields: &[&str]) -> Vec<(String, String)> {
    let echo = |field: &&str| {
        let text = params.get(field)?.as_str()?;
        let resolved = resolve(field, text, context.timestamp, &context.time_zone).ok()?;
        Some((format!("/{field}"), resolved.echo))
    };
    fields.iter().filter_map(echo).collect()
}

fn resolve(field: &str, text: &str, now: Timestamp, zone: &TimeZone) -> Result<Resolved, ToolError> {
    when::parse(text, now, zone).map_err(|error| {
        let pointer = format!("/{field}");
        let message = error.to_string();
        ToolError::new(ErrorCode::InvalidInput, format!("{pointer}: {message}")).with_detail(FieldError {
            pointer,
            message,
            expected: Some(
                "a civil date, an RFC 3339 instant, or a phrase such as \"tomorrow 3pm\"".to_owned(),
            ),
            example: Some("tomorrow 3pm".into()),
        })
    })
}

fn date_in(at: Timestamp, zone: &TimeZone) -> Date {
    zone.to_datetime(at).date()
}

fn start_of(date: Date, zone: &TimeZone) -> Timestamp {
    zone.to_timestamp(date.at(0, 0, 0, 0)).unwrap_or(Timestamp::MAX)
}
