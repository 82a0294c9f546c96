//! Days in words: "tomorrow", "next friday", "5th of june", "end of month", and days in figures.

use jiff::civil::Date;

use crate::due::days_after;
use crate::tokens::{Cursor, Kind};
use crate::{Here, WhenError};

/// A day, and whether its year was said.
pub(crate) type Day = (Date, bool);

/// Reads a day. `Ok(None)`: what stands here is not a day.
pub(crate) fn day(cursor: &mut Cursor<'_>, here: &Here<'_>) -> Result<Option<Day>, WhenError> {
    let start = cursor.at;
    if let Some(found) = near(cursor, here) {
        let missing = || WhenError::OutOfRange(cursor.between(start, cursor.at));
        return found.ok_or_else(missing).map(|date| Some((date, false)));
    }
    for reader in [in_figures, month_then_day, day_then_month] {
        cursor.at = start;
        if let Some(found) = reader(cursor, here)? {
            return Ok(Some(found));
        }
    }
    cursor.at = start;
    Ok(None)
}

/// Days named by where they stand from today; the inner `None` is beyond the calendar.
fn near(cursor: &mut Cursor<'_>, here: &Here<'_>) -> Option<Option<Date>> {
    let today = here.today();
    let start = cursor.at;
    if cursor.eat("today") {
        return Some(Some(today));
    }
    if cursor.eat_known(|word| is_tomorrow(word).then_some(())).is_some() {
        return Some(days_after(today, 1));
    }
    if cursor.eat("yesterday") {
        return Some(days_after(today, -1));
    }
    cursor.eat("the");
    if cursor.eat_all(&["day", "after"]) && cursor.eat_known(|word| is_tomorrow(word).then_some(())).is_some()
    {
        return Some(days_after(today, 2));
    }
    cursor.at = start;
    if cursor.eat_all(&["the", "weekend"]) {
        return Some(weekend(today, 0));
    }
    cursor.at = start;
    end_of(cursor, today).or_else(|| {
        cursor.at = start;
        in_week(cursor, today)
    })
}

fn in_week(cursor: &mut Cursor<'_>, today: Date) -> Option<Option<Date>> {
    let monday = days_after(today, -i64::from(today.weekday().to_monday_zero_offset()))?;
    let following = |weekday: i64| days_after(monday, 7 + weekday);
    if cursor.eat("next") {
        if cursor.eat("week") {
            cursor.eat("on");
            return Some(following(cursor.eat_known(weekday).unwrap_or(0)));
        }
        if cursor.eat("weekend") {
            return Some(weekend(today, 7));
        }
        if cursor.eat("month") {
            return Some(days_after(today.last_of_month(), 1));
        }
        if cursor.eat("year") {
            return Some(days_after(today.last_of_year(), 1));
        }
        return cursor.eat_known(weekday).map(following);
    }
    let this = cursor.eat("this");
    cursor.eat("coming");
    if this && cursor.eat("weekend") {
        return Some(weekend(today, 0));
    }
    let wanted = cursor.eat_known(weekday)?;
    if cursor.eat_all(&["next", "week"]) {
        return Some(following(wanted));
    }
    let ahead = (wanted - i64::from(today.weekday().to_monday_zero_offset()) + 6).rem_euclid(7) + 1;
    Some(days_after(today, ahead))
}

/// The Saturday of this week, or of one some days on; today if this weekend has begun.
fn weekend(today: Date, days: i64) -> Option<Date> {
    let since_monday = i64::from(today.weekday().to_monday_zero_offset());
    days_after(today, if days == 0 { (5 - since_monday).max(0) } else { 5 - since_monday + days })
}

fn end_of(cursor: &mut Cursor<'_>, today: Date) -> Option<Option<Date>> {
    let short = cursor.eat_known(|word| match word {
        "eow" => Some("week"),
        "eom" => Some("month"),
        "eoy" => Some("year"),
        _ => None,
    });
    let mut from = today;
    let unit = match short {
        Some(unit) => unit,
        None => {
            cursor.eat("the");
            if !cursor.eat_all(&["end", "of"]) {
                return None;
            }
            let next = cursor.eat("next");
            if !next {
                cursor.eat_any(&["the", "this"]);
            }
            let unit =
                cursor.eat_known(|word| ["week", "month", "year"].into_iter().find(|unit| *unit == word))?;
            if next {
                from = match unit {
                    "week" => days_after(today, 7)?,
                    "month" => days_after(today.last_of_month(), 1)?,
                    _ => days_after(today.last_of_year(), 1)?,
                };
            }
            unit
        }
    };
    Some(match unit {
        "week" => days_after(from, 6 - i64::from(from.weekday().to_monday_zero_offset())),
        "month" => Some(from.last_of_month()),
        _ => Some(from.last_of_year()),
    })
}

fn month_then_day(cursor: &mut Cursor<'_>, here: &Here<'_>) -> Result<Option<Day>, WhenError> {
    let start = cursor.at;
    let Some(month) = cursor.eat_known(month) else { return Ok(None) };
    cursor.eat_sign('.');
    cursor.eat("the");
    let Some(day) = cursor.eat_number(2) else { return Ok(None) };
    eat_ordinal(cursor);
    dated(cursor, start, Some(month), day, here)
}

fn day_then_month(cursor: &mut Cursor<'_>, here: &Here<'_>) -> Result<Option<Day>, WhenError> {
    let start = cursor.at;
    let article = cursor.eat("the");
    let Some(day) = cursor.eat_number(2) else { return Ok(None) };
    let ordinal = eat_ordinal(cursor);
    let after_day = cursor.at;
    cursor.eat("of");
    match cursor.eat_known(month) {
        Some(month) => {
            cursor.eat_sign('.');
            dated(cursor, start, Some(month), day, here)
        }
        None if article && ordinal => {
            cursor.at = after_day;
            dated(cursor, start, None, day, here)
        }
        None => Ok(None),
    }
}

/// `2026/12/31`, `31.12.2026`, `12/31/2026`, `31/12`: taken only if there is one reading.
fn in_figures(cursor: &mut Cursor<'_>, here: &Here<'_>) -> Result<Option<Day>, WhenError> {
    let start = cursor.at;
    let Some(first) = cursor.eat_number(4) else { return Ok(None) };
    let Some(&Kind::Sign(sign @ ('/' | '.' | '-'))) = cursor.peek() else { return Ok(None) };
    cursor.at += 1;
    let Some(second) = cursor.eat_number(2) else { return Ok(None) };
    let third = if cursor.eat_sign(sign) { cursor.eat_number(4) } else { None };
    let said = cursor.between(start, cursor.at);
    let (month, day, year) = match third {
        Some(day) if first >= 1000 => (second, day, Some(first)),
        None if sign != '/' || first >= 1000 => return Ok(None),
        year => {
            if year.is_some_and(|year| year < 1000) {
                return Err(WhenError::Ambiguous { text: said, readings: "more than one year".into() });
            }
            let (month, day) = month_and_day(first, second, said.clone())?;
            (month, day, year)
        }
    };
    match year {
        Some(year) => exact(year, month, day, said).map(Some),
        None => coming(Some(month), day, here, said).map(|date| Some((date, false))),
    }
}

fn month_and_day(first: u32, second: u32, said: String) -> Result<(u32, u32), WhenError> {
    match (first, second) {
        (1..=12, 1..=12) if first != second => Err(WhenError::Ambiguous {
            text: said,
            readings: format!("day {second} of month {first} or day {first} of month {second}"),
        }),
        (1..=12, _) => Ok((first, second)),
        _ => Ok((second, first)),
    }
}

fn dated(
    cursor: &mut Cursor<'_>,
    start: usize,
    month: Option<u32>,
    day: u32,
    here: &Here<'_>,
) -> Result<Option<Day>, WhenError> {
    let is_year = month.is_some() && matches!(cursor.peek(), Some(Kind::Number(_, 4)));
    let year = if is_year { cursor.eat_number(4) } else { None };
    let said = cursor.between(start, cursor.at);
    match (year, month) {
        (Some(year), Some(month)) => exact(year, month, day, said).map(Some),
        _ => coming(month, day, here, said).map(|date| Some((date, false))),
    }
}

fn exact(year: u32, month: u32, day: u32, said: String) -> Result<Day, WhenError> {
    if !(1970..=9999).contains(&year) {
        return Err(WhenError::OutOfRange(said));
    }
    civil(i64::from(year), month, day).map(|date| (date, true)).ok_or(WhenError::NoSuchDate(said))
}

/// The next day of that name, today included; without a month, the next month that has it.
fn coming(month: Option<u32>, day: u32, here: &Here<'_>, said: String) -> Result<Date, WhenError> {
    let today = here.today();
    let this_month = i64::from(today.month()) - 1;
    // Leap days are at most eight years apart.
    (0..=8 * 12)
        .map(|months| this_month + months)
        .map(|months| (i64::from(today.year()) + months / 12, (months % 12 + 1) as u32))
        .chain(std::iter::once((i64::from(today.year()) + 9, month.unwrap_or(1))))
        .filter(|&(_, candidate)| month.is_none_or(|month| month == candidate))
        .filter_map(|(year, month)| civil(year, month, day))
        .find(|&date| date >= today)
        .ok_or(WhenError::NoSuchDate(said))
}

fn civil(year: i64, month: u32, day: u32) -> Option<Date> {
    Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn eat_ordinal(cursor: &mut Cursor<'_>) -> bool {
    cursor.eat_any(&["st", "nd", "rd", "th"])
}

/// Days from Monday.
fn weekday(word: &str) -> Option<i64> {
    Some(match word {
        "monday" | "mon" | "munday" | "moday" | "mondy" => 0,
        "tuesday" | "tue" | "tues" | "teusday" | "tuseday" | "tuesay" => 1,
        "wednesday" | "wed" | "weds" | "wensday" | "wednsday" | "wednesay" | "wendesday" => 2,
        "thursday" | "thu" | "thur" | "thurs" | "thrusday" | "thursay" | "thurday" => 3,
        "friday" | "fri" | "firday" | "fridy" | "frday" => 4,
        "saturday" | "sat" | "saterday" | "satuday" | "saturdy" => 5,
        "sunday" | "sun" | "sundy" | "suday" => 6,
        _ => return None,
    })
}

/// The word with its usual slips of the pen, none of which is another word.
fn is_tomorrow(word: &str) -> bool {
    matches!(
        word,
        "tomorrow"
            | "tmr"
            | "tmrw"
            | "tmw"
            | "tomorow"
            | "tommorow"
            | "tommorrow"
            | "tomorrrow"
            | "tomorrw"
            | "tomrrow"
    )
}

fn month(word: &str) -> Option<u32> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let place = MONTHS.iter().position(|name| *name == word || name.get(..3) == Some(word));
    place.or((word == "sept").then_some(8)).map(|place| place as u32 + 1)
}
