//! Days named by where they stand from today: "tomorrow", "next friday", "end of the month", "a week from monday".

use jiff::civil::Date;

use crate::due::days_after;
use crate::names::{self, since_monday, weekday};
use crate::tokens::Cursor;

/// A day that was found; the inner `None` is beyond the calendar.
type Found = Option<Option<Date>>;

/// Reads a day, and says whether it is any weekday of its name.
pub(crate) fn near(cursor: &mut Cursor<'_>, today: Date) -> Option<(Option<Date>, bool)> {
    let start = cursor.at;
    for reader in [by_name, end_of, start_of, in_week, in_month] {
        cursor.at = start;
        if let Some(found) = reader(cursor, today) {
            return Some((found, false));
        }
    }
    cursor.at = start;
    let this = cursor.eat_any(&["this", "the"]);
    let coming = cursor.eat_any(&["coming", "upcoming"]);
    let wanted = cursor.eat_known(weekday).filter(|_| coming || !this || is_this(cursor, start));
    let Some(wanted) = wanted else {
        cursor.at = start;
        return None;
    };
    if !(this || coming) {
        cursor.eat("coming");
    }
    let found = days_after(today, (wanted - since_monday(today) + 6).rem_euclid(7) + 1);
    // "friday week" is the one after it.
    if !this && !coming && cursor.eat("week") {
        return Some((found.and_then(|date| days_after(date, 7)), false));
    }
    Some((found, !(this || coming)))
}

/// "this friday", and not "the friday report".
fn is_this(cursor: &Cursor<'_>, start: usize) -> bool {
    cursor.tokens.get(start).and_then(|token| token.word()) == Some("this")
}

fn by_name(cursor: &mut Cursor<'_>, today: Date) -> Found {
    let start = cursor.at;
    if cursor.eat_any(&["sometime", "later"]) || cursor.eat_all(&["some", "time"]) {
        // "later today", "sometime tomorrow".
        let day = cursor.eat("today").then_some(0).or_else(|| tomorrow(cursor).then_some(1));
        return day.map(|days| days_after(today, days));
    }
    if cursor.eat_any(&["today", "2day"]) {
        return Some(if cursor.eat("week") { days_after(today, 7) } else { Some(today) });
    }
    if tomorrow(cursor) {
        return Some(days_after(today, if cursor.eat("week") { 8 } else { 1 }));
    }
    if cursor.eat("yesterday") {
        return Some(days_after(today, -1));
    }
    cursor.eat("the");
    if cursor.eat_all(&["day", "after"]) && tomorrow(cursor) {
        return Some(days_after(today, 2));
    }
    cursor.at = start;
    cursor.eat_any(&["over", "at"]);
    if cursor.eat_all(&["the", "weekend"]) {
        return Some(weekend(today, 0));
    }
    cursor.at = start;
    if cursor.eat("midweek") {
        return Some(days_after(today, (2 - since_monday(today) + 6).rem_euclid(7) + 1));
    }
    None
}

/// "tomorrow", "2morrow".
fn tomorrow(cursor: &mut Cursor<'_>) -> bool {
    if cursor.eat_known(|word| names::is_tomorrow(word).then_some(())).is_some() {
        return true;
    }
    let start = cursor.at;
    let found = cursor.eat_number(1) == Some(2) && cursor.eat_any(&["moro", "morrow", "morow", "mrw", "moz"]);
    if !found {
        cursor.at = start;
    }
    found
}

fn in_week(cursor: &mut Cursor<'_>, today: Date) -> Found {
    let monday = days_after(today, -since_monday(today))?;
    let in_weeks = |weeks: i64, weekday: i64| days_after(monday, 7 * weeks + weekday);
    let start = cursor.at;
    cursor.eat("the");
    if cursor.eat_all(&["week", "after", "next"]) {
        cursor.eat("on");
        return Some(in_weeks(2, cursor.eat_known(weekday).unwrap_or(0)));
    }
    cursor.at = start;
    if !cursor.eat_all(&["some", "time"]) {
        cursor.eat_any(&["sometime", "anytime"]);
    }
    if cursor.eat("this") {
        if cursor.eat("week") {
            cursor.eat("on");
            // What is due within a week is due at its end.
            return Some(match cursor.eat_known(weekday) {
                Some(wanted) => in_weeks(0, wanted),
                None => in_weeks(0, 6),
            });
        }
        cursor.eat("coming");
        return cursor.eat("weekend").then(|| weekend(today, 0));
    }
    if cursor.eat("next") {
        if cursor.eat_any(&["week", "weeks"]) {
            cursor.eat("on");
            return Some(in_weeks(1, cursor.eat_known(weekday).unwrap_or(0)));
        }
        if cursor.eat("weekend") {
            return Some(weekend(today, 7));
        }
        return cursor.eat_known(weekday).map(|wanted| in_weeks(1, wanted));
    }
    let wanted = cursor.eat_known(weekday)?;
    cursor.eat("of");
    if cursor.eat_all(&["next", "week"]) {
        return Some(in_weeks(1, wanted));
    }
    if cursor.eat_all(&["this", "week"]) {
        return Some(in_weeks(0, wanted));
    }
    None
}

fn in_month(cursor: &mut Cursor<'_>, today: Date) -> Found {
    if cursor.eat_all(&["this", "month"]) {
        return Some(Some(today.last_of_month()));
    }
    if !cursor.eat("next") {
        return None;
    }
    if cursor.eat("month") {
        let first = days_after(today.last_of_month(), 1);
        // "next month on the 3rd"
        let after = cursor.at;
        cursor.eat("on");
        let day = if cursor.eat("the") { names::ordinal(cursor) } else { None };
        let Some((day, _)) = day else {
            cursor.at = after;
            return Some(first);
        };
        return Some(first.and_then(|first| first.with().day(i8::try_from(day).ok()?).build().ok()));
    }
    cursor.eat("year").then(|| days_after(today.last_of_year(), 1))
}

/// The Saturday of this week, or of one some days on; today if this weekend has begun.
fn weekend(today: Date, days: i64) -> Option<Date> {
    let gone = since_monday(today);
    days_after(today, if days == 0 { (5 - gone).max(0) } else { 5 - gone + days })
}

/// A stretch of time that a day is the beginning, the middle or the end of.
enum Stretch {
    Week,
    Month,
    Quarter,
    Year,
}

/// The stretch that is named, and a day in it.
fn stretch(cursor: &mut Cursor<'_>, today: Date) -> Option<(Stretch, Option<Date>)> {
    let next = cursor.eat("next");
    if !next {
        cursor.eat_any(&["the", "this"]);
    }
    if let Some(month) = cursor.eat_known(names::month).filter(|_| !next) {
        let months = (i64::from(month) - i64::from(today.month())).rem_euclid(12);
        return Some((Stretch::Month, months_after(today, months)));
    }
    let stretch = cursor.eat_known(|word| match word {
        "week" => Some(Stretch::Week),
        "month" => Some(Stretch::Month),
        "quarter" => Some(Stretch::Quarter),
        "year" => Some(Stretch::Year),
        _ => None,
    })?;
    let day = match stretch {
        _ if !next => Some(today),
        Stretch::Week => days_after(today, 7),
        Stretch::Month => months_after(today, 1),
        Stretch::Quarter => months_after(today, 3),
        Stretch::Year => months_after(today, 12),
    };
    Some((stretch, day))
}

/// The first of the month some months on.
fn months_after(today: Date, months: i64) -> Option<Date> {
    today.first_of_month().checked_add(jiff::Span::new().try_months(months).ok()?).ok()
}

fn end_of(cursor: &mut Cursor<'_>, today: Date) -> Found {
    let short = cursor.eat_known(|word| match word {
        "eow" => Some(Stretch::Week),
        "eom" => Some(Stretch::Month),
        "eoq" => Some(Stretch::Quarter),
        "eoy" => Some(Stretch::Year),
        _ => None,
    });
    let (stretch, from) = match short {
        Some(stretch) => (stretch, Some(today)),
        None if cursor.eat_all(&["month", "end"]) => (Stretch::Month, Some(today)),
        None if cursor.eat_all(&["year", "end"]) => (Stretch::Year, Some(today)),
        None => {
            cursor.eat("the");
            if !cursor.eat_all(&["end", "of"]) && !cursor.eat_all(&["last", "day", "of"]) {
                return None;
            }
            stretch(cursor, today)?
        }
    };
    let Some(from) = from else { return Some(None) };
    Some(match stretch {
        Stretch::Week => days_after(from, 6 - since_monday(from)),
        Stretch::Month => Some(from.last_of_month()),
        Stretch::Quarter => {
            let months = 2 - (i64::from(from.month()) - 1) % 3;
            months_after(from, months).map(Date::last_of_month)
        }
        Stretch::Year => Some(from.last_of_year()),
    })
}

/// "the beginning of next week", "mid december".
fn start_of(cursor: &mut Cursor<'_>, today: Date) -> Found {
    let start = cursor.at;
    cursor.eat("the");
    let middle = if cursor.eat("mid") {
        cursor.eat_sign('-');
        true
    } else if cursor.eat_all(&["middle", "of"]) {
        true
    } else if cursor.eat_all(&["start", "of"]) || cursor.eat_all(&["beginning", "of"]) {
        false
    } else {
        cursor.at = start;
        return None;
    };
    let (stretch, from) = stretch(cursor, today)?;
    let Some(from) = from else { return Some(None) };
    let day = match (&stretch, middle) {
        (Stretch::Week, true) => days_after(from, 2 - since_monday(from)),
        (Stretch::Week, false) => days_after(from, -since_monday(from)),
        (Stretch::Month, true) => days_after(from.first_of_month(), 14),
        (Stretch::Month, false) => Some(from.first_of_month()),
        (Stretch::Year, false) => Some(from.first_of_year()),
        (Stretch::Quarter, _) | (Stretch::Year, true) => return None,
    };
    // One that has passed is that of the next stretch.
    Some(match (day, stretch) {
        (Some(day), Stretch::Week) if day < today => days_after(day, 7),
        (Some(day), Stretch::Month) if day < today => {
            months_after(day, 1).and_then(|first| days_after(first, i64::from(day.day()) - 1))
        }
        (Some(day), Stretch::Year) if day < today => days_after(today.last_of_year(), 1),
        (day, _) => day,
    })
}
