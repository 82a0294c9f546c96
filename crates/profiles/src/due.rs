//! Times and due dates between their stored and their published forms.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::Value;

/// A real calendar date, written `YYYY-MM-DD` and in no other way.
pub(crate) fn date(text: &str) -> Option<Date> {
    let shaped = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if shaped { text.parse().ok() } else { None }
}

/// An instant, written as a date-time with an offset.
pub(crate) fn instant(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// A stored time in whole seconds of UTC.
pub(crate) fn time(stored: &Value) -> Value {
    read_instant(stored).map_or(Value::Null, |instant| whole_seconds(instant).into())
}

/// A stored due date as a civil date; an instant gives its date in the zone.
pub(crate) fn as_date(stored: &Value, zone: &TimeZone) -> Value {
    if let Some(date) = read_date(stored) {
        return date.to_string().into();
    }
    read_instant(stored)
        .map_or(Value::Null, |instant| instant.to_zoned(zone.clone()).date().to_string().into())
}

/// A stored due date as a date-time with an offset; a date gives its last second in the zone.
pub(crate) fn as_date_time(stored: &Value, zone: &TimeZone) -> Value {
    match read_date(stored) {
        Some(date) => last_second(date, zone).into(),
        // As it was given, with its fraction of a second.
        None => read_instant(stored).map_or(Value::Null, |instant| instant.to_string().into()),
    }
}

fn last_second(date: Date, zone: &TimeZone) -> String {
    let Ok(end) = date.at(23, 59, 59, 0).to_zoned(zone.clone()) else {
        // Only the last day that can be represented has no instant in some zones.
        return format!("{date}T23:59:59Z");
    };
    let offset = end.offset().seconds();
    if offset == 0 || offset % 60 != 0 {
        // RFC 3339 has no seconds in offsets, which local mean time had.
        return whole_seconds(end.timestamp());
    }
    end.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

fn whole_seconds(instant: Timestamp) -> String {
    instant.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn read_date(stored: &Value) -> Option<Date> {
    date(stored.as_str()?)
}

fn read_instant(stored: &Value) -> Option<Timestamp> {
    instant(stored.as_str()?)
}
