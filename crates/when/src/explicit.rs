//! Dates in figures: `2026-12-31`, RFC 3339 with an offset, and a date and time without one.

use jiff::civil::{Date, Time};
use jiff::tz::{Offset, TimeZone};

use crate::due::{Due, Moment};
use crate::{WhenError, shortened};

/// `None` if the text does not have this shape at all.
pub(crate) fn parse(text: &str, zone: &TimeZone) -> Option<Result<Due, WhenError>> {
    let mut rest = Figures(text.as_bytes());
    let year = rest.number(4)?;
    rest.one_of(b"-")?;
    let month = rest.number(2)?;
    rest.one_of(b"-")?;
    let day = rest.number(2)?;
    let date = Date::new(year as i16, month as i8, day as i8).ok();
    if rest.0.is_empty() {
        return Some(date.ok_or_else(|| WhenError::NoSuchDate(shortened(text))).and_then(|date| {
            if (1970..=9999).contains(&year) {
                Ok(Due::Date(date))
            } else {
                Err(WhenError::OutOfRange(shortened(text)))
            }
        }));
    }
    rest.one_of(b"Tt ")?;
    let time = rest.time()?;
    let offset = if rest.0.is_empty() { None } else { Some(rest.offset()?) };
    if !rest.0.is_empty() {
        return None;
    }
    let (Some(date), Some(time), true) = (date, time, offset.is_none_or(|offset| offset.is_some())) else {
        return Some(Err(WhenError::NoSuchDate(shortened(text))));
    };
    let wall = date.to_datetime(time);
    let moment = match offset.flatten() {
        Some(offset) => offset.to_timestamp(wall).ok().map(|at| Moment::new(at, offset)),
        None => Moment::in_zone(wall, zone),
    };
    let moment = moment.filter(|_| (1970..=9999).contains(&year));
    Some(moment.map(Due::Instant).ok_or_else(|| WhenError::OutOfRange(shortened(text))))
}

struct Figures<'a>(&'a [u8]);

impl Figures<'_> {
    fn one_of(&mut self, wanted: &[u8]) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        if !wanted.contains(&first) {
            return None;
        }
        self.0 = rest;
        Some(first)
    }

    fn number(&mut self, digits: usize) -> Option<u32> {
        let (figures, rest) = self.0.split_at_checked(digits)?;
        let mut value = 0;
        for figure in figures {
            value = value * 10 + char::from(*figure).to_digit(10)?;
        }
        self.0 = rest;
        Some(value)
    }

    /// Outer `None`: not the shape of a time. Inner: no such time.
    fn time(&mut self) -> Option<Option<Time>> {
        let hour = self.number(2)?;
        self.one_of(b":")?;
        let minute = self.number(2)?;
        let (mut second, mut nanoseconds) = (0, 0);
        if self.one_of(b":").is_some() {
            second = self.number(2)?;
            if self.one_of(b".,").is_some() {
                let mut unit = 100_000_000;
                nanoseconds = self.number(1)? * unit;
                while let Some(figure) = self.number(1) {
                    unit /= 10;
                    nanoseconds += figure * unit;
                }
            }
        }
        // A leap second is the second before it: no clock here counts it.
        let second = if second == 60 { 59 } else { second };
        Some(Time::new(hour as i8, minute as i8, second as i8, nanoseconds as i32).ok())
    }

    /// Outer `None`: not the shape of an offset. Inner: no such offset.
    fn offset(&mut self) -> Option<Option<Offset>> {
        let sign = match self.one_of(b"Zz+-")? {
            b'+' => 1,
            b'-' => -1,
            _ => return Some(Some(Offset::UTC)),
        };
        let hours = self.number(2)?;
        self.one_of(b":")?;
        let minutes = self.number(2)?;
        if hours > 23 || minutes > 59 {
            return Some(None);
        }
        Some(Offset::from_seconds(sign * (hours * 3600 + minutes * 60) as i32).ok())
    }
}
