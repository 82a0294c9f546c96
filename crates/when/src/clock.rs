//! Times of day: "3pm", "15:30", "at 9", "noon", "in the evening", "half past six", "seven thirty pm".

use jiff::civil::Time;

use crate::WhenError;
use crate::names::{cardinal, number, weekday};
use crate::tokens::{Cursor, Kind};

/// A part of the day, as a time or to tell which nine o'clock is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DayPart {
    Morning,
    Afternoon,
    Evening,
    Night,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Beyond doubt: "3pm", "noon".
    Sure(Time),
    /// With minutes: on the 24-hour clock unless a part of the day says otherwise.
    Minutes(Time),
    /// An hour alone: "at 9".
    Hour(Time),
    /// The midnight that ends a day.
    Midnight,
}

impl DayPart {
    pub(crate) fn time(self) -> Time {
        match self {
            Self::Morning => Time::constant(9, 0, 0, 0),
            Self::Afternoon => Time::constant(15, 0, 0, 0),
            Self::Evening => Time::constant(18, 0, 0, 0),
            Self::Night => Time::constant(20, 0, 0, 0),
        }
    }
}

pub(crate) fn day_part(cursor: &mut Cursor<'_>) -> Option<DayPart> {
    let start = cursor.at;
    if cursor.eat_all(&["first", "thing"]) {
        let after = cursor.at;
        if !cursor.eat_all(&["in", "the", "morning"]) {
            cursor.at = after;
        }
        return Some(DayPart::Morning);
    }
    if cursor.eat_all(&["at", "night"]) {
        return Some(DayPart::Night);
    }
    if !cursor.eat_all(&["in", "the"]) {
        cursor.eat_all(&["during", "the"]);
    }
    let part = cursor.eat_known(|word| match word {
        "morning" | "mornin" => Some(DayPart::Morning),
        "afternoon" | "arvo" => Some(DayPart::Afternoon),
        "evening" => Some(DayPart::Evening),
        "night" | "nite" => Some(DayPart::Night),
        _ => None,
    });
    if part.is_none() {
        cursor.at = start;
    }
    part
}

/// "friday pm", "tomorrow a.m.".
pub(crate) fn half_of_day(cursor: &mut Cursor<'_>) -> Option<DayPart> {
    half(cursor).map(|half| match half {
        Half::Before => DayPart::Morning,
        Half::After => DayPart::Afternoon,
    })
}

pub(crate) fn clock(cursor: &mut Cursor<'_>) -> Result<Option<Clock>, WhenError> {
    let start = cursor.at;
    let mut said_at = cursor.eat("at");
    let is_about = cursor.eat_any(&[
        "around",
        "about",
        "roughly",
        "approx",
        "approximately",
        "circa",
        "like",
        "exactly",
    ]);
    let found = named(cursor).map(Ok).or_else(|| {
        let begun = cursor.at;
        spoken(cursor, said_at).map(Ok).or_else(|| {
            cursor.at = begun;
            figures(cursor, &mut said_at)
        })
    });
    match found {
        // "about 5" may be five of anything.
        Some(Ok(Clock::Hour(_))) if is_about && !said_at => {}
        Some(found) => {
            cursor.eat_any(&["sharp", "exactly"]);
            return found.map(Some);
        }
        None => {}
    }
    cursor.at = start;
    Ok(None)
}

fn named(cursor: &mut Cursor<'_>) -> Option<Clock> {
    let start = cursor.at;
    if number(cursor, 2) != Some(12) {
        cursor.at = start;
    }
    if cursor.eat_any(&["noon", "midday", "lunchtime"]) {
        return Some(Clock::Sure(Time::constant(12, 0, 0, 0)));
    }
    if cursor.eat("midnight") {
        return Some(Clock::Midnight);
    }
    cursor.at = start;
    None
}

/// "half past six", "quarter to 9", "ten past eight am", "seven thirty pm".
fn spoken(cursor: &mut Cursor<'_>, said_at: bool) -> Option<Clock> {
    let start = cursor.at;
    let passed = past(cursor);
    let is_round = passed.is_some_and(|(_, is_round)| is_round);
    let (hour, minute) = match passed {
        Some((minutes, _)) => {
            let hour = number(cursor, 2).filter(|hour| (1..=12).contains(hour))?;
            let total = i32::try_from(hour).ok()? * 60 + minutes;
            (u32::try_from(total / 60).ok()?, u32::try_from(total % 60).ok()?)
        }
        None => {
            cursor.at = start;
            let hour = cardinal(cursor).filter(|hour| *hour <= 12)?;
            (hour, minutes_in_words(cursor))
        }
    };
    // A quarter to one is in the hour of twelve.
    let hour = if hour == 0 { 12 } else { hour };
    let on_the_hour = cursor.eat("oclock");
    let half = half(cursor);
    let is_time =
        is_round || half.is_some() || on_the_hour || precedes_part(cursor) || said_at && ends(cursor);
    let in_day = match half.filter(|_| is_time) {
        Some(Half::Before) => hour % 12,
        Some(Half::After) => hour % 12 + 12,
        None => hour,
    };
    let time = Time::new(i8::try_from(in_day).ok()?, i8::try_from(minute).ok()?, 0, 0).ok()?;
    is_time.then_some(if half.is_some() { Clock::Sure(time) } else { Clock::Hour(time) })
}

/// "half past", "a quarter to", "twenty past": the minutes, and whether that can be nothing but a time.
fn past(cursor: &mut Cursor<'_>) -> Option<(i32, bool)> {
    cursor.eat("a");
    let is_half = cursor.eat("half");
    let is_quarter = !is_half && cursor.eat("quarter");
    let minutes = if is_half {
        30
    } else if is_quarter {
        15
    } else {
        let in_figures = matches!(cursor.peek(), Some(Kind::Number(..)));
        let minutes = number(cursor, 2).filter(|minutes| (1..30).contains(minutes))?;
        let is_marked = cursor.eat_any(&["minutes", "mins"]);
        // "10 to 5" is from ten to five.
        if in_figures && !is_marked && cursor.peek_word() == Some("to") {
            return None;
        }
        i32::try_from(minutes).ok()?
    };
    let is_round = is_half || is_quarter;
    if cursor.eat_any(&["past", "after"]) {
        return Some((minutes, is_round));
    }
    if !is_half && cursor.eat_any(&["to", "till", "before"]) {
        return Some((-minutes, is_round));
    }
    None
}

/// The minutes behind an hour in words: "thirty", "fifteen", "oh five".
fn minutes_in_words(cursor: &mut Cursor<'_>) -> u32 {
    let start = cursor.at;
    let is_oh = cursor.eat("oh");
    let minutes =
        cardinal(cursor).filter(|minutes| if is_oh { *minutes < 10 } else { (10..60).contains(minutes) });
    if minutes.is_none() {
        cursor.at = start;
    }
    minutes.unwrap_or(0)
}

fn precedes_part(cursor: &Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    day_part(&mut ahead).is_some()
}

/// Whether an hour in words ends here: "at eight", and not "at eight places".
fn ends(cursor: &Cursor<'_>) -> bool {
    const BEHIND: [&str; 19] = [
        "on", "in", "today", "tomorrow", "tonight", "this", "next", "sharp", "please", "thanks", "and",
        "but", "then", "with", "for", "by", "about", "to", "every",
    ];
    match cursor.peek() {
        Some(Kind::Word(word)) => BEHIND.contains(&word.as_str()) || weekday(word).is_some(),
        Some(Kind::Number(..)) => false,
        Some(Kind::Sign(_)) | None => true,
    }
}

#[derive(Clone, Copy)]
enum Half {
    Before,
    After,
}

/// "3pm", "15:30", "5.30pm", "17h30", "at 1730"; an hour alone only after "at" or before "o'clock".
fn figures(cursor: &mut Cursor<'_>, said_at: &mut bool) -> Option<Result<Clock, WhenError>> {
    let start = cursor.at;
    let (mut minute, mut second) = (None, 0);
    let mut needs_mark = false;
    let hour = match military(cursor, *said_at) {
        Some((hour, minutes)) => {
            minute = Some(minutes);
            hour
        }
        None => {
            let hour = cursor.eat_number(2)?;
            let behind = cursor.tokens.get(cursor.at + 1).map(|token| &token.kind);
            match (cursor.peek(), behind) {
                (Some(Kind::Sign(':')), Some(Kind::Number(value, 2))) => {
                    cursor.at += 2;
                    minute = Some(*value);
                    if cursor.eat_sign(':') {
                        second = cursor.eat_number(2)?;
                    }
                }
                // "5.30" may be a price.
                (Some(Kind::Sign('.')), Some(Kind::Number(value, 2))) if *value < 60 => {
                    cursor.at += 2;
                    minute = Some(*value);
                    needs_mark = true;
                }
                (Some(Kind::Word(word)), Some(Kind::Number(value, 2))) if word == "h" => {
                    cursor.at += 2;
                    minute = Some(*value);
                }
                (Some(Kind::Word(word)), _) if word == "h" && *said_at => cursor.at += 1,
                _ => {}
            }
            hour
        }
    };
    let on_the_hour = minute.is_none() && cursor.eat("oclock");
    let half = half(cursor);
    let is_ish = ish(cursor);
    let is_time = minute.is_some() && !needs_mark
        || half.is_some()
        || *said_at
        || on_the_hour
        || is_ish
        || cursor.peek_word() == Some("in") && precedes_part(cursor);
    if !is_time {
        return None;
    }
    *said_at = true;
    let missing = || WhenError::NoSuchDate(cursor.between(start, cursor.at));
    let in_day = match half {
        Some(_) if !(1..=12).contains(&hour) => return Some(Err(missing())),
        Some(Half::Before) => hour % 12,
        Some(Half::After) => hour % 12 + 12,
        None => hour,
    };
    let narrow = |value: u32| i8::try_from(value).unwrap_or(i8::MAX);
    let Ok(time) = Time::new(narrow(in_day), narrow(minute.unwrap_or(0)), narrow(second), 0) else {
        return Some(Err(missing()));
    };
    Some(Ok(match (half, minute) {
        (Some(_), _) => Clock::Sure(time),
        (None, Some(_)) => Clock::Minutes(time),
        (None, None) => Clock::Hour(time),
    }))
}

/// "at 1730", "0900 hours". A number that could be a year is one.
fn military(cursor: &mut Cursor<'_>, said_at: bool) -> Option<(u32, u32)> {
    let Some(&Kind::Number(value, 4)) = cursor.peek() else { return None };
    let (hour, minute) = (value / 100, value % 100);
    let behind = cursor.tokens.get(cursor.at + 1).and_then(|token| token.word());
    let is_marked = behind.is_some_and(|word| ["hours", "hrs", "h"].contains(&word));
    let is_year = (1900..2100).contains(&value);
    if hour > 23 || minute > 59 || !is_marked && (!said_at || is_year) {
        return None;
    }
    cursor.at += 1 + usize::from(is_marked);
    Some((hour, minute))
}

fn ish(cursor: &mut Cursor<'_>) -> bool {
    let start = cursor.at;
    cursor.eat_sign('-');
    let found = cursor.eat("ish");
    if !found {
        cursor.at = start;
    }
    found
}

fn half(cursor: &mut Cursor<'_>) -> Option<Half> {
    let named = |word: &str| match word {
        "am" | "a" => Some(Half::Before),
        "pm" | "p" => Some(Half::After),
        _ => None,
    };
    let start = cursor.at;
    let is_short = cursor.peek_word().is_some_and(|word| word.len() == 1);
    let half = cursor.eat_known(named)?;
    if is_short && !(cursor.eat_sign('.') && cursor.eat("m")) {
        cursor.at = start;
        return None;
    }
    cursor.eat_sign('.');
    Some(half)
}
