//! Names of days, months and numbers, with the slips of the pen that people make in them.

use jiff::civil::Date;

use crate::tokens::Cursor;

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// Short names, and slips of more than one letter.
const SHORT_WEEKDAYS: [(&str, i64); 16] = [
    ("mon", 0),
    ("tue", 1),
    ("tues", 1),
    ("wed", 2),
    ("weds", 2),
    ("thu", 3),
    ("thur", 3),
    ("thurs", 3),
    ("fri", 4),
    ("sat", 5),
    ("sun", 6),
    ("wensday", 2),
    ("wendsday", 2),
    ("wensdey", 2),
    ("thirsday", 3),
    ("satday", 5),
];
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
/// Words that are one letter away from a day or a month and are neither.
const OTHER_WORDS: [&str; 8] =
    ["sundry", "sundae", "frida", "midday", "tomorrows", "augusta", "auguste", "augusts"];
const SMALL: [&str; 19] = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [(&str, u32); 4] = [("twenty", 20), ("thirty", 30), ("forty", 40), ("fifty", 50)];
const ORDINALS: [&str; 20] = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
];

/// Days from Monday.
pub(crate) fn weekday(word: &str) -> Option<i64> {
    let short = SHORT_WEEKDAYS.iter().find(|(name, _)| *name == word).map(|(_, day)| *day);
    short.or_else(|| WEEKDAYS.iter().position(|name| is_meant(word, name)).map(|place| place as i64))
}

/// The number of a month.
pub(crate) fn month(word: &str) -> Option<u32> {
    let is_name =
        |name: &str| name == word || name.get(..3) == Some(word) || name.len() > 5 && is_meant(word, name);
    let place = MONTHS.iter().position(|name| is_name(name));
    place.or((word == "sept").then_some(8)).map(|place| place as u32 + 1)
}

pub(crate) fn is_tomorrow(word: &str) -> bool {
    matches!(word, "tmr" | "tmrw" | "tmw" | "tmrrw" | "tmro" | "tomoz" | "tomorro" | "tommorrow" | "tommorow")
        || is_meant(word, "tomorrow")
}

/// Whether a word is a name, or one letter beside it: left out, doubled, another, or swapped with its neighbour.
fn is_meant(word: &str, name: &str) -> bool {
    if word == name {
        return true;
    }
    // Most words are out by their first letter or length, which costs nothing.
    if word.get(..1) != name.get(..1) || word.len().abs_diff(name.len()) > 1 || word.len() < 5 {
        return false;
    }
    // "mondays" is every one of them.
    if OTHER_WORDS.contains(&word) || word.strip_suffix('s') == Some(name) {
        return false;
    }
    toolroom_work::step(name.len());
    let (a, b) = (word.as_bytes(), name.as_bytes());
    let front = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let most = a.len().min(b.len()) - front;
    let back = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(x, y)| x == y).count();
    let (rest, wanted) = (&a[front..a.len() - back], &b[front..b.len() - back]);
    match (rest, wanted) {
        ([], [_]) | ([_], [] | [_]) => true,
        ([x, y], [v, w]) => x == w && y == v,
        _ => false,
    }
}

/// "twelve", "twenty five", "forty-five", "12": a number of at most this many digits.
pub(crate) fn number(cursor: &mut Cursor<'_>, digits: usize) -> Option<u32> {
    cursor.eat_number(digits).or_else(|| cardinal(cursor))
}

pub(crate) fn cardinal(cursor: &mut Cursor<'_>) -> Option<u32> {
    let small = |word: &str| SMALL.iter().position(|name| *name == word).map(|place| place as u32 + 1);
    if let Some(tens) =
        cursor.eat_known(|word| TENS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value))
    {
        let after = cursor.at;
        cursor.eat_sign('-');
        let more = cursor.eat_known(|word| small(word).filter(|value| *value < 10));
        if more.is_none() {
            cursor.at = after;
        }
        return Some(tens + more.unwrap_or(0));
    }
    cursor.eat_known(small)
}

/// "3rd", "third", "twenty-first": a place in a row, and whether it was in figures.
pub(crate) fn ordinal(cursor: &mut Cursor<'_>) -> Option<(u32, bool)> {
    let start = cursor.at;
    if let Some(value) = cursor.eat_number(2) {
        if cursor.eat_any(&["st", "nd", "rd", "th"]) {
            return Some((value, true));
        }
        cursor.at = start;
        return None;
    }
    let place = |word: &str| ORDINALS.iter().position(|name| *name == word).map(|place| place as u32 + 1);
    if let Some(tens) = cursor.eat_known(|word| match word {
        "twenty" => Some(20),
        "thirty" => Some(30),
        _ => None,
    }) {
        cursor.eat_sign('-');
        let more = cursor.eat_known(|word| place(word).filter(|value| *value < 10));
        if more.is_none() {
            cursor.at = start;
        }
        return more.map(|more| (tens + more, false));
    }
    if cursor.eat("thirtieth") {
        return Some((30, false));
    }
    cursor.eat_known(place).map(|value| (value, false))
}

/// Days of the year that have a name and always the same date.
pub(crate) fn holiday(cursor: &mut Cursor<'_>) -> Option<(u32, u32)> {
    let start = cursor.at;
    let found = if cursor.eat_any(&["christmas", "xmas"]) {
        let eve = cursor.eat("eve");
        cursor.eat("day");
        Some((12, if eve { 24 } else { 25 }))
    } else if cursor.eat_all(&["new", "years"]) {
        if cursor.eat("eve") { Some((12, 31)) } else { cursor.eat("day").then_some((1, 1)) }
    } else if cursor.eat("nye") {
        Some((12, 31))
    } else if cursor.eat_all(&["boxing", "day"]) {
        Some((12, 26))
    } else if cursor.eat("halloween") {
        Some((10, 31))
    } else if cursor.eat_any(&["valentines", "valentine"]) {
        cursor.eat("day").then_some((2, 14))
    } else {
        None
    };
    if found.is_none() {
        cursor.at = start;
    }
    found
}

/// Days from Monday, of a date.
pub(crate) fn since_monday(date: Date) -> i64 {
    i64::from(date.weekday().to_monday_zero_offset())
}
