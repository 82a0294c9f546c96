//! Due dates: a civil date, an instant, or a phrase in the user's zone ("next friday 3pm").

mod ahead;
mod calendar;
mod choice;
mod clock;
mod due;
mod explicit;
mod extract;
mod names;
mod near;
mod phrase;
mod tokens;
mod zone;

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

pub use ahead::length;
pub use due::{Due, Moment};
pub use extract::{Mention, extract, mentions};

/// A phrase this long is a sentence, not a date.
const MAX_BYTES: usize = 200;

/// A due date and how to say it back to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The due date, as it is stored.
    pub due: Due,
    /// The same with its weekday, its time and the zone, for people.
    pub echo: String,
}

/// Why a text was not taken for a due date.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhenError {
    /// The text, or the part quoted, is not a date or time that this module knows.
    #[error("did not understand {0:?} as a date; {EXAMPLES}")]
    NotUnderstood(String),
    /// The text can be read in two ways.
    #[error("{text:?} could mean {readings}; {EXAMPLES}")]
    Ambiguous {
        /// The part that has two readings.
        text: String,
        /// The readings, in words.
        readings: String,
    },
    /// The text names a day or time that does not exist, such as February 30.
    #[error("{0:?} does not exist; {EXAMPLES}")]
    NoSuchDate(String),
    /// The text names two dates or times that cannot both hold, such as "tomorrow friday".
    #[error("{0:?} says two things at once; {EXAMPLES}")]
    Contradiction(String),
    /// The text names a time zone that is not known here, or that several places call theirs.
    #[error(
        "{0:?} is not one time zone beyond doubt; name a place, such as \"3pm London time\", or an offset, such as UTC+2"
    )]
    UnknownZone(String),
    /// The date is before 1970, after 9999, or in a phrase more than ten years ahead.
    #[error("{0:?} is out of range: dates run from 1970 to 9999, phrases to ten years from now")]
    OutOfRange(String),
}

const EXAMPLES: &str = "use a form such as 2026-12-31, 2026-12-31T15:00:00+01:00, \"tomorrow 3pm\", \"next friday\", \
                        \"june 5\", \"in 3 days\" or \"end of month\"";

/// When it is, and where: what phrases are resolved against.
#[derive(Clone, Copy, Debug)]
struct Here<'a> {
    now: Timestamp,
    zone: &'a TimeZone,
}

impl Here<'_> {
    fn today(&self) -> Date {
        self.zone.to_datetime(self.now).date()
    }
}

/// Resolves a due date. The whole text must be understood, or it is refused.
///
/// Weeks start on Monday. "Friday" and "this Friday" are the next one to come, today excluded; "next Friday" is
/// that of the following week. A time without a date is the next such time to come; a month and day without a
/// year, the next such day, today included. Times that a clock change skips or repeats are read the usual way:
/// after the gap, and the first of the two. A time may have its zone behind it ("3pm EST", "9:00 Tokyo time"); the due
/// date is said back in the user's.
pub fn parse(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Resolved, WhenError> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_BYTES {
        return Err(WhenError::NotUnderstood(shortened(text)));
    }
    let here = Here { now, zone };
    let due = match explicit::parse(text, zone) {
        Some(found) => found?,
        None => phrase::parse(text, &here)?,
    };
    Ok(Resolved { due, echo: due.echo(zone) })
}

fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}
