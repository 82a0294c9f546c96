//! Times of day: "3pm", "15:30", "at 9", "noon", "in the evening".

use jiff::civil::Time;

use crate::WhenError;
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
    cursor.eat_all(&["in", "the"]);
    let part = cursor.eat_known(|word| match word {
        "morning" => Some(DayPart::Morning),
        "afternoon" => Some(DayPart::Afternoon),
        "evening" => Some(DayPart::Evening),
        "night" => Some(DayPart::Night),
        _ => None,
    });
    if part.is_none() {
        cursor.at = start;
    }
    part
}

pub(crate) fn clock(cursor: &mut Cursor<'_>) -> Result<Option<Clock>, WhenError> {
    let start = cursor.at;
    let said_at = cursor.eat("at");
    if cursor.eat_any(&["noon", "midday"]) {
        return Ok(Some(Clock::Sure(Time::constant(12, 0, 0, 0))));
    }
    if cursor.eat("midnight") {
        return Ok(Some(Clock::Midnight));
    }
    if let Some(time) = spoken(cursor) {
        return Ok(Some(Clock::Hour(time)));
    }
    let found = figures(cursor, said_at);
    let Some((hour, minute, second, half)) = found else {
        cursor.at = start;
        return Ok(None);
    };
    let missing = || WhenError::NoSuchDate(cursor.between(start, cursor.at));
    let in_day = match half {
        Some(_) if !(1..=12).contains(&hour) => return Err(missing()),
        Some(Half::Before) => hour % 12,
        Some(Half::After) => hour % 12 + 12,
        None => hour,
    };
    let narrow = |value: u32| i8::try_from(value).unwrap_or(i8::MAX);
    let time =
        Time::new(narrow(in_day), narrow(minute.unwrap_or(0)), narrow(second), 0).map_err(|_| missing())?;
    Ok(Some(match (half, minute) {
        (Some(_), _) => Clock::Sure(time),
        (None, Some(_)) => Clock::Minutes(time),
        (None, None) => Clock::Hour(time),
    }))
}

/// "half past six", "quarter to 9".
fn spoken(cursor: &mut Cursor<'_>) -> Option<Time> {
    let start = cursor.at;
    cursor.eat("a");
    let minutes = if cursor.eat_all(&["half", "past"]) {
        30
    } else if cursor.eat_all(&["quarter", "past"]) {
        15
    } else if cursor.eat_all(&["quarter", "to"]) {
        -15
    } else {
        cursor.at = start;
        return None;
    };
    let hour = cursor
        .eat_number(2)
        .or_else(|| cursor.eat_known(|word| Some(HOURS.iter().position(|name| *name == word)? as u32 + 1)));
    let time = hour.filter(|hour| (1..=12).contains(hour)).and_then(|hour| {
        let total = i8::try_from(hour).ok()? as i16 * 60 + minutes;
        Time::new(i8::try_from(total / 60).ok()?, i8::try_from(total % 60).ok()?, 0, 0).ok()
    });
    if time.is_none() {
        cursor.at = start;
    }
    time
}

/// The numbers from one to twelve.
pub(crate) const HOURS: [&str; 12] =
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

#[derive(Clone, Copy)]
enum Half {
    Before,
    After,
}

/// Hour, minute, second and half of the day; an hour alone only after "at" or before "o'clock".
fn figures(cursor: &mut Cursor<'_>, said_at: bool) -> Option<(u32, Option<u32>, u32, Option<Half>)> {
    let hour = cursor.eat_number(2)?;
    let (mut minute, mut second) = (None, 0);
    if let (Some(Kind::Sign(':')), Some(Kind::Number(value, 2))) =
        (cursor.peek(), cursor.tokens.get(cursor.at + 1).map(|token| &token.kind))
    {
        cursor.at += 2;
        minute = Some(*value);
        if cursor.eat_sign(':') {
            second = cursor.eat_number(2)?;
        }
    }
    let on_the_hour = minute.is_none() && cursor.eat("oclock");
    let half = half(cursor);
    (minute.is_some() || half.is_some() || said_at || on_the_hour).then_some((hour, minute, second, half))
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
