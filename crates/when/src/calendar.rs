//! Days by their date: "5th of june", "june the fifth", "the first monday of december", and days in figures. `near`
//! reads those that are named from today.

use jiff::civil::Date;

use crate::due::days_after;
use crate::names::{holiday, month, ordinal, since_monday, weekday};
use crate::near::near;
use crate::tokens::{Cursor, Kind};
use crate::{Here, WhenError};

/// A day of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Day {
    pub(crate) date: Date,
    pub(crate) said_year: bool,
    /// Whether only a weekday was said: a date beside it says which one.
    pub(crate) is_weekday: bool,
    /// Whether it was a name such as "christmas", which titles have too.
    pub(crate) is_holiday: bool,
}

impl Day {
    pub(crate) fn plain(date: Date) -> Self {
        Self { date, said_year: false, is_weekday: false, is_holiday: false }
    }

    /// The day that two names of it mean, "monday" and "december 7"; `None` if they are two days.
    pub(crate) fn and(self, other: Self) -> Option<Self> {
        let fits =
            |weekday: Self, date: Self| weekday.is_weekday && weekday.date.weekday() == date.date.weekday();
        if self.date == other.date || fits(self, other) {
            return Some(Self { said_year: self.said_year || other.said_year, ..other });
        }
        fits(other, self).then_some(self)
    }
}

/// Reads a day. `Ok(None)`: what stands here is not a day.
pub(crate) fn day(cursor: &mut Cursor<'_>, here: &Here<'_>) -> Result<Option<Day>, WhenError> {
    let start = cursor.at;
    for reader in [in_figures, in_a_month, month_then_day, day_then_month, by_holiday] {
        cursor.at = start;
        if let Some(found) = reader(cursor, here)? {
            return Ok(Some(found));
        }
    }
    cursor.at = start;
    if let Some((found, is_weekday)) = near(cursor, here.today()) {
        let missing = || WhenError::OutOfRange(cursor.between(start, cursor.at));
        return found.ok_or_else(missing).map(|date| Some(Day { is_weekday, ..Day::plain(date) }));
    }
    cursor.at = start;
    Ok(None)
}

fn by_holiday(cursor: &mut Cursor<'_>, here: &Here<'_>) -> Result<Option<Day>, WhenError> {
    let start = cursor.at;
    let Some((month, day)) = holiday(cursor) else { return Ok(None) };
    let said = cursor.between(start, cursor.at);
    let date = coming(Some(month), day, here, said)?;
    Ok(Some(Day { is_holiday: true, ..Day::plain(date) }))
}

/// "the first monday of december", "the 15th of next month", "the last friday of the month".
fn in_a_month(cursor: &mut Cursor<'_>, here: &Here<'_>) -> Result<Option<Day>, WhenError> {
    let start = cursor.at;
    cursor.eat("the");
    let is_last = cursor.eat("last");
    let place = if is_last { None } else { ordinal(cursor).map(|(place, _)| place) };
    let wanted = cursor.eat_known(weekday);
    if place.is_none() && (!is_last || wanted.is_none()) {
        return Ok(None);
    }
    let is_joined = cursor.eat_any(&["of", "in"]);
    let is_near = cursor.peek_word().is_some_and(|word| ["next", "this"].contains(&word));
    if !is_joined && (wanted.is_some() || !is_near) {
        return Ok(None);
    }
    let today = here.today();
    let next = cursor.eat("next");
    if !next {
        cursor.eat_any(&["the", "this"]);
    }
    let months = match cursor.eat_known(month) {
        Some(_) if wanted.is_none() || next => return Ok(None),
        Some(month) => (i64::from(month) - i64::from(today.month())).rem_euclid(12),
        None if cursor.eat("month") => i64::from(next),
        None => return Ok(None),
    };
    let said = cursor.between(start, cursor.at);
    let in_month = |months: i64| -> Option<Date> {
        let span = jiff::Span::new().try_months(months).ok()?;
        let first = today.first_of_month().checked_add(span).ok()?;
        let date = match (wanted, place) {
            (None, Some(place)) => days_after(first, i64::from(place) - 1)?,
            (Some(wanted), Some(place)) => {
                let ahead = (wanted - since_monday(first)).rem_euclid(7);
                days_after(first, ahead + 7 * (i64::from(place) - 1))?
            }
            (Some(wanted), None) => {
                let last = first.last_of_month();
                days_after(last, -(since_monday(last) - wanted).rem_euclid(7))?
            }
            (None, None) => return None,
        };
        (date.first_of_month() == first).then_some(date)
    };
    let found = in_month(months).ok_or_else(|| WhenError::NoSuchDate(said.clone()))?;
    // One that has passed is that of the next month, or of next year.
    let later =
        if cursor.tokens.get(cursor.at - 1).and_then(|token| token.word()) == Some("month") { 1 } else { 12 };
    let date =
        if found < today { in_month(months + later).ok_or(WhenError::NoSuchDate(said))? } else { found };
    Ok(Some(Day::plain(date)))
}

fn month_then_day(cursor: &mut Cursor<'_>, here: &Here<'_>) -> Result<Option<Day>, WhenError> {
    let start = cursor.at;
    let Some(month) = cursor.eat_known(month) else { return Ok(None) };
    if !cursor.eat_sign('.') {
        cursor.eat_sign('-');
    }
    cursor.eat("the");
    let Some(day) = ordinal(cursor).map(|(day, _)| day).or_else(|| cursor.eat_number(2)) else {
        return Ok(None);
    };
    dated(cursor, start, Some(month), day, here)
}

fn day_then_month(cursor: &mut Cursor<'_>, here: &Here<'_>) -> Result<Option<Day>, WhenError> {
    let start = cursor.at;
    // "by 3rd" says no more than "by the 3rd".
    let before = start.checked_sub(1).and_then(|at| cursor.tokens.get(at)?.word());
    let article = cursor.eat("the") || before.is_some_and(|word| ["on", "by", "due"].contains(&word));
    let (day, in_figures) = match ordinal(cursor) {
        Some((day, in_figures)) => (day, in_figures),
        None => match cursor.eat_number(2) {
            Some(day) => (day, false),
            None => return Ok(None),
        },
    };
    let after_day = cursor.at;
    if !cursor.eat("of") {
        cursor.eat_sign('-');
    }
    match cursor.eat_known(month) {
        Some(month) => {
            let year = cursor.tokens.get(cursor.at + 1).map(|token| &token.kind);
            if !cursor.eat_sign('.') && matches!(year, Some(Kind::Number(_, 4))) {
                cursor.eat_sign('-');
            }
            dated(cursor, start, Some(month), day, here)
        }
        None if article && in_figures => {
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
    let ends = cursor.eat_sign(sign);
    // "26.11. 17:45" has no year.
    let is_time = matches!(cursor.tokens.get(cursor.at + 1).map(|token| &token.kind), Some(Kind::Sign(':')));
    let behind = cursor.at;
    let mut third = if ends && !is_time { cursor.eat_number(4) } else { None };
    // "8.12., 10 o'clock": what stands apart from a date is no year of two figures.
    if sign == '.'
        && third.is_some_and(|year| year < 1000)
        && cursor.between(start, cursor.at).contains([' ', ','])
    {
        (third, cursor.at) = (None, behind);
    }
    // "26.11." is written by those who put the day first; "5.10." may be a price at the end of a sentence.
    let goes_on = match cursor.peek() {
        Some(Kind::Number(..)) => true,
        Some(Kind::Word(word)) => word == "at",
        _ => false,
    };
    let is_day = (13..=31).contains(&first) || goes_on && (1..=12).contains(&first);
    if let ('.', true, None, true, 1..=12) = (sign, ends, third, is_day, second) {
        let said = cursor.between(start, cursor.at);
        return coming(Some(second), first, here, said).map(|date| Some(Day::plain(date)));
    }
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
        None => coming(Some(month), day, here, said).map(|date| Some(Day::plain(date))),
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
        _ => coming(month, day, here, said).map(|date| Some(Day::plain(date))),
    }
}

fn exact(year: u32, month: u32, day: u32, said: String) -> Result<Day, WhenError> {
    if !(1970..=9999).contains(&year) {
        return Err(WhenError::OutOfRange(said));
    }
    civil(i64::from(year), month, day)
        .map(|date| Day { said_year: true, ..Day::plain(date) })
        .ok_or(WhenError::NoSuchDate(said))
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
