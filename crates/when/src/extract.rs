//! Finds a date phrase inside a sentence, for a planner that has only the sentence.

use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::tokens::{Cursor, tokens};
use crate::{Here, Resolved, explicit, phrase};

/// Longer texts are not searched.
const MAX_SENTENCE_BYTES: usize = 10_000;

/// The longest date phrase in a text, with its place in bytes; of equals the first.
///
/// Short names of weekdays and bare parts of the day are left alone ("sun cream", "morning run") unless a word
/// before or after shows that a date is meant.
pub fn extract(text: &str, now: Timestamp, zone: &TimeZone) -> Option<(Range<usize>, Resolved)> {
    if text.len() > MAX_SENTENCE_BYTES {
        return None;
    }
    let here = Here { now, zone };
    let tokens = tokens(text);
    let mut best: Option<(Range<usize>, Resolved)> = None;
    for start in 0..tokens.len() {
        let mut cursor = Cursor { text, tokens: &tokens, at: start };
        let found = in_figures(text, tokens[start].place.start, zone).or_else(|| {
            let (draft, end, _) = phrase::read(&mut cursor, &here);
            let said = tokens.get(start..end)?;
            let place = said.first()?.place.start..said.last()?.place.end;
            if draft.is_loose() && said.len() == 1 || said.len() == 1 && said[0].word().is_some_and(is_short)
            {
                return None;
            }
            // A fraction is seldom a day.
            if said.len() == 3 && text.get(place.clone())?.contains('/') {
                return None;
            }
            let due = draft.resolve(text.get(place.clone())?, &here).ok()?;
            Some((place, Resolved { due, echo: due.echo(zone) }))
        });
        if let Some((place, resolved)) = found
            && best.as_ref().is_none_or(|(longest, _)| place.len() > longest.len())
        {
            best = Some((place, resolved));
        }
    }
    best
}

/// A date or date-time in figures that stands by itself.
fn in_figures(text: &str, start: usize, zone: &TimeZone) -> Option<(Range<usize>, Resolved)> {
    let rest = text.get(start..)?;
    let chunk = rest.split_whitespace().next()?.trim_end_matches([',', ';', '.', ')', '!', '?']);
    // A date alone may have its time in words behind it; that is the phrase's part.
    if chunk.len() <= "2026-12-31".len() || text[..start].ends_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let due = explicit::parse(chunk, zone)?.ok()?;
    Some((start..start + chunk.len(), Resolved { due, echo: due.echo(zone) }))
}

fn is_short(word: &str) -> bool {
    word.len() <= 3
}
