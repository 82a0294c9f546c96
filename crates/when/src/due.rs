//! The stored form of a due date, and its conversions.

use std::fmt;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, Timestamp};

/// A due date: a day on the calendar, or a point in time. It stays what it was given as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Due {
    /// A day, wherever one is.
    Date(Date),
    /// A point in time.
    Instant(Moment),
}

/// A point in time, to the microsecond, with the offset that it was given in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    at: Timestamp,
    offset: Offset,
}

impl Moment {
    /// An offset that RFC 3339 cannot write (one with seconds) is replaced by UTC.
    pub fn new(at: Timestamp, offset: Offset) -> Self {
        let offset = if offset.seconds() % 60 == 0 { offset } else { Offset::UTC };
        Self { at: Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at), offset }
    }

    /// The point in time.
    pub fn at(self) -> Timestamp {
        self.at
    }

    /// The offset that it was given in.
    pub fn offset(self) -> Offset {
        self.offset
    }

    /// What a wall clock in a zone shows; of two equal times the first, of a skipped time the one after the gap.
    pub(crate) fn in_zone(wall: DateTime, zone: &TimeZone) -> Option<Self> {
        let at = zone.to_ambiguous_timestamp(wall).compatible().ok()?;
        Some(Self::new(at, zone.to_offset(at)))
    }

    fn wall(self) -> DateTime {
        self.offset.to_datetime(self.at)
    }
}

impl Due {
    /// The day of the due date in a zone.
    pub fn date_in(&self, zone: &TimeZone) -> Date {
        match self {
            Self::Date(date) => *date,
            Self::Instant(moment) => zone.to_datetime(moment.at).date(),
        }
    }

    /// The due date as an instant with the offset of a zone; a day ends at 23:59:59 there.
    pub fn instant_in(&self, zone: &TimeZone) -> Moment {
        match self {
            Self::Date(date) => {
                let end = date.at(23, 59, 59, 0);
                // The last two days of the calendar have no instant in some zones; the last instant stands in.
                Moment::in_zone(end, zone).unwrap_or_else(|| Moment::new(Timestamp::MAX, Offset::UTC))
            }
            Self::Instant(moment) => Moment::new(moment.at, zone.to_offset(moment.at)),
        }
    }

    /// The due date for people: weekday, date, and for an instant its time, zone and offset.
    pub(crate) fn echo(&self, zone: &TimeZone) -> String {
        match self {
            Self::Date(date) => format!("{} {date}", weekday(*date)),
            Self::Instant(moment) => {
                let wall = moment.wall();
                let time = wall.time();
                let seconds =
                    if time.second() == 0 { String::new() } else { format!(":{:02}", time.second()) };
                let here = zone.to_offset(moment.at) == moment.offset;
                let name =
                    zone.iana_name().filter(|_| here).map(|name| format!("{name}, ")).unwrap_or_default();
                format!(
                    "{} {} {:02}:{:02}{seconds} ({name}UTC{})",
                    weekday(wall.date()),
                    wall.date(),
                    time.hour(),
                    time.minute(),
                    OffsetText(moment.offset, "+00:00"),
                )
            }
        }
    }
}

impl fmt::Display for Due {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Date(date) => write!(f, "{date}"),
            Self::Instant(moment) => moment.fmt(f),
        }
    }
}

/// RFC 3339, in the moment's own offset.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.wall(), OffsetText(self.offset, "Z"))
    }
}

struct OffsetText(Offset, &'static str);

impl fmt::Display for OffsetText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = self.0.seconds() / 60;
        if minutes == 0 {
            return f.write_str(self.1);
        }
        let sign = if minutes < 0 { '-' } else { '+' };
        write!(f, "{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
    }
}

fn weekday(date: Date) -> &'static str {
    use jiff::civil::Weekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};
    match date.weekday() {
        Monday => "Monday",
        Tuesday => "Tuesday",
        Wednesday => "Wednesday",
        Thursday => "Thursday",
        Friday => "Friday",
        Saturday => "Saturday",
        Sunday => "Sunday",
    }
}

/// A day some days after another, if the calendar has it.
pub(crate) fn days_after(date: Date, days: i64) -> Option<Date> {
    date.checked_add(Span::new().try_days(days).ok()?).ok()
}

/// The wall clock's next showing of a time, strictly after now.
pub(crate) fn next_showing(time: Time, now: Timestamp, zone: &TimeZone) -> Option<Moment> {
    let today = zone.to_datetime(now).date();
    (0..=2)
        .filter_map(|days| Moment::in_zone(days_after(today, days)?.to_datetime(time), zone))
        .find(|m| m.at > now)
}
