//! Two dates or times where one is needed: "thursday or friday", "3-5pm", "between 2 and 4". Neither is taken.

use crate::tokens::{Cursor, Kind, Token};
use crate::{Here, WhenError, phrase, shortened};

/// Whether a choice may begin here, where a phrase that ends at `end` was read; saves a closer look at most words.
pub(crate) fn may_begin(tokens: &[Token], start: usize, end: usize) -> bool {
    let word = |at: usize| tokens.get(at).and_then(Token::word);
    let is_number = |at: usize| matches!(tokens.get(at).map(|token| &token.kind), Some(Kind::Number(..)));
    let is_joint = |at: usize| match tokens.get(at).map(|token| &token.kind) {
        Some(Kind::Sign(sign)) => ['-', '\u{2013}', '\u{2014}'].contains(sign),
        Some(Kind::Word(word)) => ["or", "to", "till", "until"].contains(&word.as_str()),
        _ => false,
    };
    let led = start + usize::from(word(start).is_some_and(|word| ["by", "due", "on", "at"].contains(&word)));
    end > start && is_joint(end) || is_number(led) && is_joint(led + 1) || word(led) == Some("between")
}

/// Where a choice that begins here ends; `None` if there is none. Whether "monday to friday" is one depends on what
/// stands around it: `spans` says so.
pub(crate) fn of(tokens: &[Token], text: &str, start: usize, here: &Here<'_>, spans: bool) -> Option<usize> {
    let mut cursor = Cursor { text, tokens, at: start };
    while cursor.eat_any(&["by", "due", "on", "at"]) {}
    let between = cursor.eat("between");
    let before = start.checked_sub(1).and_then(|at| tokens.get(at)?.word());
    // "from 2 to 4pm" may move something.
    let moves = !spans || before == Some("from") || cursor.eat("from");
    let first = cursor.at;
    let in_figures = cursor.eat_number(2).is_some();
    let is_first = in_figures && is_joint(&cursor, between, moves) || {
        cursor.at = first;
        reads(&mut cursor, here)
    };
    if !is_first || !is_joint(&cursor, between, moves) || is_parted(&cursor) {
        return None;
    }
    cursor.at += 1;
    let second = cursor.at;
    // "task 4 to next friday" has one date.
    if in_figures && !matches!(cursor.peek(), Some(Kind::Number(..))) && second == first + 2 {
        return None;
    }
    if reads(&mut cursor, here) {
        return Some(cursor.at);
    }
    cursor.at = second;
    // "between 2 and 4"
    (between && cursor.eat_number(2).is_some()).then_some(cursor.at)
}

/// What is in doubt about a choice.
pub(crate) fn doubt(text: &str) -> WhenError {
    WhenError::Ambiguous { text: shortened(text.trim()), readings: "more than one date or time".into() }
}

/// Reads a phrase, and says whether it is one.
fn reads(cursor: &mut Cursor<'_>, here: &Here<'_>) -> bool {
    let start = cursor.at;
    let (draft, end, _) = phrase::read(cursor, here);
    cursor.at = end;
    end > start && !draft.is_loose()
}

fn is_joint(cursor: &Cursor<'_>, between: bool, moves: bool) -> bool {
    match cursor.peek() {
        Some(Kind::Sign('-' | '\u{2013}' | '\u{2014}')) => true,
        Some(Kind::Word(word)) => match word.as_str() {
            "or" => true,
            "and" => between,
            "to" | "till" | "until" => !moves && !between,
            _ => false,
        },
        _ => false,
    }
}

/// Whether a comma stands before the joint: then what follows is something else.
fn is_parted(cursor: &Cursor<'_>) -> bool {
    let place = |at: usize| cursor.tokens.get(at).map(|token| token.place.clone());
    let gap = cursor.at.checked_sub(1).and_then(place).zip(place(cursor.at));
    let gap = gap.and_then(|(before, after)| cursor.text.get(before.end..after.start));
    gap.is_some_and(|gap| gap.contains(','))
}
