//! Spans from now or from a day: "in 3 days", "a week from friday", "in an hour and a half", "two days before the 5th".

use jiff::civil::Date;
use jiff::{Span, ToSpan};

use crate::due::{Moment, days_after};
use crate::names::{number, since_monday};
use crate::tokens::{Cursor, Kind, tokens};
use crate::{Here, WhenError, calendar};

pub(crate) const YEARS_AHEAD: i64 = 10;

pub(crate) enum Ahead {
    Day(Date),
    Moment(Moment),
}

/// From which day a span counts, and in which direction.
struct From {
    day: Date,
    back: bool,
}

pub(crate) fn ahead(cursor: &mut Cursor<'_>, here: &Here<'_>) -> Result<Option<Ahead>, WhenError> {
    let start = cursor.at;
    let said_in = cursor.eat_any(&["in", "within"]);
    if said_in {
        cursor.eat_all(&["the", "next"]);
        cursor.eat_any(&["about", "around"]);
    }
    let Some((halves, unit)) = span(cursor, said_in)? else {
        cursor.at = start;
        return Ok(None);
    };
    let from = if said_in {
        cursor.eat("time");
        cursor.eat_all(&["from", "now"]);
        Some(From { day: here.today(), back: false })
    } else {
        from(cursor, here, unit)?
    };
    let Some(from) = from else {
        cursor.at = start;
        return Ok(None);
    };
    let late = || WhenError::OutOfRange(cursor.between(start, cursor.at));
    // Far beyond any bound, and below what a span can hold.
    if halves > 20_000_000 {
        return Err(late());
    }
    if let Unit::Minute = unit {
        let at = here.now.checked_add((halves * 30).seconds()).ok();
        let at = at.filter(|_| halves * 30 <= YEARS_AHEAD * 366 * 86_400).ok_or_else(late)?;
        let whole = jiff::Timestamp::from_second(at.as_second()).map_err(|_| late())?;
        let is_from_now = from.day == here.today() && !from.back;
        let moment = Moment::new(whole, here.zone.to_offset(whole));
        return if is_from_now { Ok(Some(Ahead::Moment(moment))) } else { Err(late()) };
    }
    if halves % 2 != 0 {
        let text = cursor.between(start, cursor.at);
        return Err(WhenError::Ambiguous { text, readings: "more than one day".into() });
    }
    let count = if from.back { -halves / 2 } else { halves / 2 };
    let day = from.day;
    let date = match unit {
        Unit::Minute => None,
        Unit::Day => days_after(day, count),
        Unit::WorkingDay => working_days_after(day, count),
        Unit::Week => days_after(day, count * 7),
        Unit::Fortnight => days_after(day, count * 14),
        Unit::Month => Span::new().try_months(count).ok().and_then(|span| day.checked_add(span).ok()),
        Unit::Year => Span::new().try_years(count).ok().and_then(|span| day.checked_add(span).ok()),
    };
    date.map(|date| Some(Ahead::Day(date))).ok_or_else(late)
}

/// A length of time alone, in days and minutes: "two more days", "by an hour", "another week". Whether it is forward or
/// back is not its matter; months have no length.
pub fn length(text: &str) -> Option<(i64, i64)> {
    const BESIDE: [&str; 16] = [
        "by", "more", "extra", "further", "later", "earlier", "sooner", "back", "forward", "out", "for",
        "please", "up", "just", "of", "the",
    ];
    let mut tokens = tokens(text);
    tokens.retain(|token| token.word().is_none_or(|word| !BESIDE.contains(&word)));
    for token in &mut tokens {
        if token.word() == Some("another") {
            token.kind = Kind::Word("a".to_owned());
        }
    }
    let mut cursor = Cursor { text, tokens: &tokens, at: 0 };
    let (halves, unit) = span(&mut cursor, false).ok()??;
    let days = |each: i64| (halves % 2 == 0 && halves < 8_000).then_some((halves / 2 * each, 0));
    if cursor.at < tokens.len() {
        return None;
    }
    match unit {
        Unit::Minute => (halves < 200_000).then_some((0, halves / 2)),
        Unit::Day => days(1),
        Unit::Week => days(7),
        Unit::Fortnight => days(14),
        Unit::WorkingDay | Unit::Month | Unit::Year => None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Minute,
    Day,
    WorkingDay,
    Week,
    Fortnight,
    Month,
    Year,
}

/// A length of time in halves of its unit; hours count as minutes.
fn span(cursor: &mut Cursor<'_>, said_in: bool) -> Result<Option<(i64, Unit)>, WhenError> {
    let start = cursor.at;
    if cursor.eat_all(&["half", "an", "hour"]) || cursor.eat_all(&["a", "half", "hour"]) {
        return Ok(Some((60, Unit::Minute)));
    }
    // Nobody can tell how many "a few" are.
    if said_in && (cursor.eat_all(&["a", "few"]) || cursor.eat_any(&["some", "several"])) {
        if cursor.eat_known(unit).is_none() {
            return Ok(None);
        }
        let text = cursor.between(start, cursor.at);
        return Err(WhenError::Ambiguous { text, readings: "more than one day or time".into() });
    }
    let Some(mut halves) = amount(cursor) else { return Ok(None) };
    if cursor.eat_all(&["and", "a", "half"]) {
        halves += 1;
    }
    let Some((unit, each)) = cursor.eat_known(unit) else { return Ok(working_days(cursor, halves)) };
    let mut total = halves.saturating_mul(each);
    if unit == Unit::Minute && each > 1 {
        if cursor.eat_all(&["and", "a", "half"]) {
            total += each;
        } else {
            total = total.saturating_add(minutes_too(cursor));
        }
    }
    Ok(Some((total, unit)))
}

/// "in 3 working days".
fn working_days(cursor: &mut Cursor<'_>, halves: i64) -> Option<(i64, Unit)> {
    let is_working = cursor.eat_any(&["working", "business", "work"]) && cursor.eat_any(&["day", "days"]);
    is_working.then_some((halves, Unit::WorkingDay))
}

/// "… and 20 minutes", in halves of a minute.
fn minutes_too(cursor: &mut Cursor<'_>) -> i64 {
    let start = cursor.at;
    cursor.eat("and");
    let more = amount(cursor);
    match (more, cursor.eat_known(unit)) {
        (Some(more), Some((Unit::Minute, 1))) => more,
        _ => {
            cursor.at = start;
            0
        }
    }
}

/// Twice the number that is said: "three" is 6, "1.5" is 3.
fn amount(cursor: &mut Cursor<'_>) -> Option<i64> {
    let start = cursor.at;
    cursor.eat("a");
    if cursor.eat("couple") {
        cursor.eat("of");
        return Some(4);
    }
    cursor.at = start;
    if let Some(whole) = number(cursor, 9) {
        let tenth = cursor.tokens.get(cursor.at + 1).map(|token| &token.kind);
        if let (Some(Kind::Sign('.')), Some(Kind::Number(5, 1))) = (cursor.peek(), tenth) {
            cursor.at += 2;
            return Some(i64::from(whole) * 2 + 1);
        }
        return Some(i64::from(whole) * 2);
    }
    cursor.eat_any(&["a", "an"]).then_some(2)
}

/// A unit, and how many of its kind it has.
fn unit(word: &str) -> Option<(Unit, i64)> {
    Some(match word {
        "minute" | "minutes" | "min" | "mins" => (Unit::Minute, 1),
        "hour" | "hours" | "hr" | "hrs" | "h" => (Unit::Minute, 60),
        "day" | "days" => (Unit::Day, 1),
        "week" | "weeks" | "wk" | "wks" => (Unit::Week, 1),
        "fortnight" | "fortnights" => (Unit::Fortnight, 1),
        "month" | "months" => (Unit::Month, 1),
        "year" | "years" | "yr" | "yrs" => (Unit::Year, 1),
        _ => return None,
    })
}

/// "from now", "from friday", "before the 5th", "a week on monday", "a week tomorrow".
fn from(cursor: &mut Cursor<'_>, here: &Here<'_>, unit: Unit) -> Result<Option<From>, WhenError> {
    let here_and_now = || Some(From { day: here.today(), back: false });
    if cursor.eat_all(&["from", "now"]) || cursor.eat("hence") {
        return Ok(here_and_now());
    }
    let back = cursor.eat("before");
    let joined = back || cursor.eat_any(&["from", "after"]) || unit == Unit::Week && cursor.eat("on");
    let is_near =
        unit == Unit::Week && cursor.peek_word().is_some_and(|word| ["today", "tomorrow"].contains(&word));
    if unit == Unit::Minute || !joined && !is_near {
        return Ok(None);
    }
    Ok(calendar::day(cursor, here)?.map(|day| From { day: day.date, back }))
}

/// A day some days on from which no Saturday or Sunday counts.
fn working_days_after(day: Date, count: i64) -> Option<Date> {
    let step = count.signum();
    let mut found = days_after(day, count / 5 * 7)?;
    for _ in 0..(count % 5).abs() {
        found = days_after(found, step)?;
        while since_monday(found) > 4 {
            found = days_after(found, step)?;
        }
    }
    Some(found)
}
