//! Zones behind a time: "3pm EST", "9:00 CET", "noon London time", "15:00 UTC+2". What names a zone and is not known is
//! refused, so that no time is taken for another.

use jiff::tz::{Offset, TimeZone};

use crate::WhenError;
use crate::tokens::{Cursor, Kind};

/// Abbreviations that mean one thing, with their offset in minutes.
const FIXED: &[(&str, i32)] = &[
    ("utc", 0),
    ("gmt", 0),
    ("est", -300),
    ("edt", -240),
    ("cdt", -300),
    ("mst", -420),
    ("mdt", -360),
    ("pst", -480),
    ("pdt", -420),
    ("akst", -540),
    ("akdt", -480),
    ("hst", -600),
    ("brt", -180),
    ("wet", 0),
    ("west", 60),
    ("cet", 60),
    ("cest", 120),
    ("eet", 120),
    ("eest", 180),
    ("msk", 180),
    ("pkt", 300),
    ("sgt", 480),
    ("hkt", 480),
    ("awst", 480),
    ("jst", 540),
    ("kst", 540),
    ("aest", 600),
    ("aedt", 660),
    ("nzst", 720),
    ("nzdt", 780),
];

/// Abbreviations that several zones share.
const SHARED: &[&str] = &["cst", "ist", "bst", "ast", "gst", "sst"];

/// Those that are words, too: they name a zone only in capitals.
const ALSO_WORDS: &[&str] = &["wet", "west"];

/// Places whose clocks are named: "9am Tokyo time".
const PLACES: &[(&str, &str)] = &[
    ("eastern", "America/New_York"),
    ("central", "America/Chicago"),
    ("mountain", "America/Denver"),
    ("pacific", "America/Los_Angeles"),
    ("new york", "America/New_York"),
    ("boston", "America/New_York"),
    ("toronto", "America/Toronto"),
    ("chicago", "America/Chicago"),
    ("denver", "America/Denver"),
    ("los angeles", "America/Los_Angeles"),
    ("san francisco", "America/Los_Angeles"),
    ("seattle", "America/Los_Angeles"),
    ("mexico city", "America/Mexico_City"),
    ("sao paulo", "America/Sao_Paulo"),
    ("london", "Europe/London"),
    ("uk", "Europe/London"),
    ("british", "Europe/London"),
    ("dublin", "Europe/Dublin"),
    ("irish", "Europe/Dublin"),
    ("lisbon", "Europe/Lisbon"),
    ("madrid", "Europe/Madrid"),
    ("paris", "Europe/Paris"),
    ("brussels", "Europe/Brussels"),
    ("amsterdam", "Europe/Amsterdam"),
    ("zurich", "Europe/Zurich"),
    ("berlin", "Europe/Berlin"),
    ("german", "Europe/Berlin"),
    ("vienna", "Europe/Vienna"),
    ("rome", "Europe/Rome"),
    ("stockholm", "Europe/Stockholm"),
    ("oslo", "Europe/Oslo"),
    ("copenhagen", "Europe/Copenhagen"),
    ("warsaw", "Europe/Warsaw"),
    ("athens", "Europe/Athens"),
    ("helsinki", "Europe/Helsinki"),
    ("kyiv", "Europe/Kyiv"),
    ("istanbul", "Europe/Istanbul"),
    ("moscow", "Europe/Moscow"),
    ("cairo", "Africa/Cairo"),
    ("lagos", "Africa/Lagos"),
    ("nairobi", "Africa/Nairobi"),
    ("tel aviv", "Asia/Jerusalem"),
    ("israel", "Asia/Jerusalem"),
    ("dubai", "Asia/Dubai"),
    ("india", "Asia/Kolkata"),
    ("indian", "Asia/Kolkata"),
    ("delhi", "Asia/Kolkata"),
    ("mumbai", "Asia/Kolkata"),
    ("bangkok", "Asia/Bangkok"),
    ("singapore", "Asia/Singapore"),
    ("hong kong", "Asia/Hong_Kong"),
    ("beijing", "Asia/Shanghai"),
    ("shanghai", "Asia/Shanghai"),
    ("china", "Asia/Shanghai"),
    ("tokyo", "Asia/Tokyo"),
    ("japan", "Asia/Tokyo"),
    ("seoul", "Asia/Seoul"),
    ("sydney", "Australia/Sydney"),
    ("melbourne", "Australia/Melbourne"),
    ("auckland", "Pacific/Auckland"),
];

/// Reads a zone, if one stands here.
pub(crate) fn zone(cursor: &mut Cursor<'_>) -> Result<Option<TimeZone>, WhenError> {
    let start = cursor.at;
    let unknown = |cursor: &Cursor<'_>| WhenError::UnknownZone(cursor.between(start, cursor.at));
    let Some(word) = cursor.peek_word() else { return Ok(None) };
    let is_loud = cursor.tokens.get(start).and_then(|token| cursor.text.get(token.place.clone()));
    let is_loud = is_loud.is_some_and(|said| said.chars().all(char::is_uppercase));
    if is_loud || !ALSO_WORDS.contains(&word) {
        if let Some((_, minutes)) = FIXED.iter().find(|(name, _)| *name == word) {
            cursor.at += 1;
            let ahead = if *minutes == 0 { offset(cursor) } else { None };
            return fixed(ahead.unwrap_or(*minutes)).map(Some).ok_or_else(|| unknown(cursor));
        }
        if SHARED.contains(&word) {
            cursor.at += 1;
            return Err(unknown(cursor));
        }
    }
    for (name, zone) in PLACES {
        let words: Vec<&str> = name.split(' ').collect();
        if cursor.eat_all(&words) {
            cursor.eat_any(&["standard", "daylight"]);
            if cursor.eat("time") {
                return TimeZone::get(zone).map(Some).map_err(|_| unknown(cursor));
            }
            cursor.at = start;
        }
    }
    // "at 9am Springfield time"
    let is_name = cursor.tokens.get(start).and_then(|token| cursor.text.get(token.place.clone()));
    let is_name = is_name.is_some_and(|said| said.starts_with(char::is_uppercase));
    cursor.at += 1;
    if is_name && cursor.eat("time") {
        return Err(unknown(cursor));
    }
    cursor.at = start;
    Ok(None)
}

/// "+2", "-5:30" behind UTC, in minutes.
fn offset(cursor: &mut Cursor<'_>) -> Option<i32> {
    let start = cursor.at;
    let sign = match cursor.peek() {
        Some(Kind::Sign('+')) => 1,
        Some(Kind::Sign('-' | '\u{2212}')) => -1,
        _ => return None,
    };
    cursor.at += 1;
    let Some(hours) = cursor.eat_number(2) else {
        cursor.at = start;
        return None;
    };
    let minutes = if cursor.eat_sign(':') { cursor.eat_number(2).unwrap_or(0) } else { 0 };
    i32::try_from(hours * 60 + minutes).ok().map(|minutes| sign * minutes)
}

fn fixed(minutes: i32) -> Option<TimeZone> {
    Offset::from_seconds(minutes * 60).ok().map(TimeZone::fixed)
}
