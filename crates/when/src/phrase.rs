//! Puts a phrase together: a day, a time, or both in either order, or a span from now.

use jiff::ToSpan;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use crate::ahead::{Ahead, YEARS_AHEAD, ahead};
use crate::calendar::{self, Day};
use crate::clock::{self, Clock, DayPart};
use crate::due::{Due, Moment, days_after, next_showing};
use crate::names::weekday;
use crate::tokens::{Cursor, tokens};
use crate::{Here, WhenError, choice, shortened, zone};

/// What a phrase has said so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    day: Option<Day>,
    clock: Option<Clock>,
    part: Option<DayPart>,
    moment: Option<Moment>,
    ends_day: bool,
    is_tonight: bool,
    /// The zone of the clock, if it is not the user's.
    zone: Option<TimeZone>,
}

/// Resolves a text that must be a phrase from end to end.
pub(crate) fn parse(text: &str, here: &Here<'_>) -> Result<Due, WhenError> {
    let tokens = tokens(text);
    let mut cursor = Cursor { text, tokens: &tokens, at: 0 };
    let (draft, end, error) = read(&mut cursor, here);
    if let Some(error) = error {
        return Err(error);
    }
    if end < tokens.len() {
        if choice::of(&tokens, text, 0, here, false) == Some(tokens.len()) {
            return Err(choice::doubt(text));
        }
        return Err(WhenError::NotUnderstood(cursor.between(end, tokens.len())));
    }
    draft.resolve(text, here)
}

/// Reads as far as it can: what was said, where it ends, and what stopped it if that was a mistake.
pub(crate) fn read(cursor: &mut Cursor<'_>, here: &Here<'_>) -> (Draft, usize, Option<WhenError>) {
    let mut draft = Draft::default();
    let mut end = cursor.at;
    loop {
        while cursor.eat_any(&["by", "due", "on"]) {}
        let start = cursor.at;
        let before = draft.clone();
        match draft.add(cursor, here) {
            Ok(Some(())) => end = cursor.at,
            Ok(None) => return (before, end, None),
            Err(error) => return (before, end, Some(error)),
        }
        let days = match (before.day, draft.day) {
            (Some(old), Some(new)) if old != new => old.and(new),
            (_, new) => new,
        };
        let twice = (days.is_none() && draft.day.is_some())
            || (before.clock.is_some() && before.clock != draft.clock)
            || (before.part.is_some() && before.part != draft.part)
            || (before.moment.is_some());
        if twice {
            let error = WhenError::Contradiction(cursor.between(0, cursor.at));
            return (before, start, Some(error));
        }
        draft.day = days;
    }
}

impl Draft {
    pub(crate) fn has_day(&self) -> bool {
        self.day.is_some() || self.moment.is_some()
    }

    /// Whether it is no more than a part of the day or a named hour, as in "morning run".
    pub(crate) fn is_loose(&self) -> bool {
        self.day.is_some_and(|day| day.is_holiday)
            || !self.has_day()
                && !matches!(self.clock, Some(Clock::Sure(_) | Clock::Minutes(_) | Clock::Hour(_)))
    }

    fn add(&mut self, cursor: &mut Cursor<'_>, here: &Here<'_>) -> Result<Option<()>, WhenError> {
        let start = cursor.at;
        cursor.eat("later");
        if cursor.eat_any(&["tonight", "tonite"]) {
            self.day = Some(Day::plain(here.today()));
            self.part = Some(DayPart::Night);
            self.is_tonight = true;
            return Ok(Some(()));
        }
        cursor.at = start;
        if cursor.eat("this")
            && let Some(part) = clock::day_part(cursor)
        {
            self.day = Some(Day::plain(here.today()));
            self.part = Some(part);
            return Ok(Some(()));
        }
        cursor.at = start;
        if ends_day(cursor) {
            self.ends_day = true;
            return Ok(Some(()));
        }
        if let Some(ahead) = ahead(cursor, here)? {
            match ahead {
                Ahead::Day(date) => self.day = Some(Day::plain(date)),
                Ahead::Moment(moment) => self.moment = Some(moment),
            }
            return Ok(Some(()));
        }
        let part = clock::day_part(cursor);
        let halves = self.day.is_some() && self.clock.is_none() && part.is_none();
        if let Some(part) = part.or_else(|| clock::half_of_day(cursor).filter(|_| halves)) {
            self.part = Some(part);
            return Ok(Some(()));
        }
        cursor.at = start;
        if let Some(day) = calendar::day(cursor, here)? {
            self.day = Some(day);
            return Ok(Some(()));
        }
        if self.clock.is_some()
            && self.zone.is_none()
            && let Some(zone) = zone::zone(cursor)?
        {
            self.zone = Some(zone);
            return Ok(Some(()));
        }
        let clock = clock::clock(cursor)?;
        self.clock = clock.or(self.clock);
        Ok(clock.map(|_| ()))
    }

    /// The due date that the phrase means; `text` is what errors quote.
    pub(crate) fn resolve(&self, text: &str, here: &Here<'_>) -> Result<Due, WhenError> {
        let contradiction = || WhenError::Contradiction(shortened(text));
        let zone = self.zone.as_ref().unwrap_or(here.zone);
        let at_home =
            |moment: Moment| Due::Instant(Moment::new(moment.at(), here.zone.to_offset(moment.at())));
        let time = self.time(text, here)?;
        let late = || WhenError::OutOfRange(shortened(text));
        if let Some(moment) = self.moment {
            let alone = self.day.is_none() && time.is_none() && !self.ends_day;
            return if alone { Ok(Due::Instant(moment)) } else { Err(contradiction()) };
        }
        if self.ends_day && time.is_some() {
            return Err(contradiction());
        }
        let Some(Day { date, said_year, .. }) = self.day else {
            return match time {
                Some(time) => next_showing(time, here.now, zone).map(at_home).ok_or_else(late),
                None if self.ends_day => Ok(Due::Date(here.today())),
                None => Err(WhenError::NotUnderstood(shortened(text))),
            };
        };
        let last = here.today().checked_add(YEARS_AHEAD.years()).unwrap_or(Date::MAX);
        if date.year() < 1970 || (!said_year && date > last) {
            return Err(late());
        }
        let Some(time) = time else { return Ok(Due::Date(date)) };
        // Midnight is the end of the day that was named: "today at midnight" has not passed.
        let days = i64::from(self.clock == Some(Clock::Midnight));
        let wall = days_after(date, days).ok_or_else(late)?.to_datetime(time);
        Moment::in_zone(wall, zone).map(at_home).ok_or_else(late)
    }

    fn time(&self, text: &str, here: &Here<'_>) -> Result<Option<Time>, WhenError> {
        let (time, is_sure) = match (self.clock, self.part) {
            (None, None) => return Ok(None),
            (None, Some(part)) => {
                let over = self.is_tonight && here.zone.to_datetime(here.now).time() >= part.time();
                return Ok(Some(if over { Time::constant(23, 59, 59, 0) } else { part.time() }));
            }
            (Some(Clock::Midnight), None | Some(DayPart::Night)) => return Ok(Some(Time::midnight())),
            (Some(Clock::Midnight), Some(_)) => return Err(WhenError::Contradiction(shortened(text))),
            (Some(Clock::Hour(time)), None) if (1..=6).contains(&time.hour()) => {
                let hour = match time.minute() {
                    0 => time.hour().to_string(),
                    minute => format!("{}:{minute:02}", time.hour()),
                };
                let readings = format!("{hour}am or {hour}pm");
                return Err(WhenError::Ambiguous { text: shortened(text), readings });
            }
            (Some(Clock::Hour(time) | Clock::Minutes(time)), _) => (time, false),
            (Some(Clock::Sure(time)), _) => (time, true),
        };
        let Some(part) = self.part else { return Ok(Some(time)) };
        let is_morning = part == DayPart::Morning;
        if !is_morning && !is_sure && (1..12).contains(&time.hour()) {
            return Ok(time.checked_add(12.hours()).ok());
        }
        if is_morning == (time.hour() < 12) {
            Ok(Some(time))
        } else {
            Err(WhenError::Contradiction(shortened(text)))
        }
    }
}

/// "end of the day", "close of business", "the end of friday".
fn ends_day(cursor: &mut Cursor<'_>) -> bool {
    let start = cursor.at;
    if cursor.eat_any(&["eod", "cob", "eob"]) {
        return true;
    }
    cursor.eat("the");
    let is_close = cursor.eat_all(&["close", "of"]);
    if !is_close && !cursor.eat_all(&["end", "of"]) {
        cursor.at = start;
        return false;
    }
    cursor.eat("the");
    let names_day = |word: &str| ["today", "tomorrow"].contains(&word) || weekday(word).is_some();
    let is_named = !is_close && cursor.peek_word().is_some_and(names_day);
    let is_business = cursor.eat_any(&["business", "play", "work"]);
    let found = is_named || cursor.eat("day") && !is_close || is_business;
    if !found {
        cursor.at = start;
    }
    found
}
