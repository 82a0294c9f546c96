//! Finds date phrases inside a sentence, for a planner that has only the sentence.

use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::tokens::{Cursor, Token, tokens};
use crate::{Here, Resolved, WhenError, choice, explicit, phrase};

/// Longer texts are not searched.
const MAX_SENTENCE_BYTES: usize = 10_000;
/// The longest phrase in words, in tokens; without a bound every "by" would look at all that follow it.
const MAX_PHRASE_TOKENS: usize = 40;
/// The longest date and time in figures, in bytes.
const MAX_FIGURES_BYTES: usize = 64;

/// A date phrase in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Where it stands, in bytes.
    pub place: Range<usize>,
    /// What it means; an error if it is clearly meant for a date and is none ("feb 30", "at 3", "in 40 years").
    pub meaning: Result<Resolved, WhenError>,
}

/// The longest date phrase in a text, with its place in bytes; of equals the first.
pub fn extract(text: &str, now: Timestamp, zone: &TimeZone) -> Option<(Range<usize>, Resolved)> {
    let found = mentions(text, now, zone);
    let resolved = found.into_iter().filter_map(|one| Some((one.place, one.meaning.ok()?)));
    resolved.reduce(|best, next| if next.0.len() > best.0.len() { next } else { best })
}

/// Every date phrase in a text, from left to right; none overlaps another.
///
/// Short names of weekdays and bare parts of the day are left alone ("sun cream", "morning run") unless a word
/// before or after shows that a date is meant.
pub fn mentions(text: &str, now: Timestamp, zone: &TimeZone) -> Vec<Mention> {
    let mut found = Vec::new();
    if text.len() > MAX_SENTENCE_BYTES {
        return found;
    }
    let here = Here { now, zone };
    let tokens = tokens(text);
    let mut start = 0;
    while let Some(token) = tokens.get(start) {
        let mention =
            in_figures(text, token.place.start, zone).or_else(|| in_words(text, &tokens, start, &here));
        match mention {
            Some(mention) => {
                start += tokens
                    .get(start..)
                    .unwrap_or_default()
                    .iter()
                    .take_while(|t| t.place.start < mention.place.end)
                    .count();
                found.push(mention);
            }
            None => start += 1,
        }
    }
    found
}

fn in_words(text: &str, tokens: &[Token], start: usize, here: &Here<'_>) -> Option<Mention> {
    let tokens = tokens.get(..tokens.len().min(start + MAX_PHRASE_TOKENS))?;
    let mut cursor = Cursor { text, tokens, at: start };
    let (draft, end, error) = phrase::read(&mut cursor, here);
    if choice::may_begin(tokens, start, end)
        && let Some(mention) = chosen(text, tokens, start, here)
    {
        return Some(mention);
    }
    let said = tokens.get(start..end).filter(|said| !said.is_empty());
    let Some(said) = said else {
        // What stopped it at its very beginning may be a date that does not exist.
        let end = cursor.at.min(tokens.len());
        let said = tokens.get(start..end).filter(|said| said.len() > 1)?;
        let place = said.first()?.place.start..said.last()?.place.end;
        let error = error.filter(|error| !matches!(error, WhenError::NotUnderstood(_)))?;
        // A fraction is seldom a day.
        let is_fraction = said.len() <= 3 && text.get(place.clone())?.contains('/');
        return (!is_fraction).then_some(Mention { place, meaning: Err(error) });
    };
    let place = said.first()?.place.start..said.last()?.place.end;
    // Without its zone the time would be another one.
    if let Some(error @ WhenError::UnknownZone(_)) = error {
        let end = tokens.get(cursor.at.saturating_sub(1)).map_or(place.end, |token| token.place.end);
        return Some(Mention { place: place.start..end.max(place.end), meaning: Err(error) });
    }
    let is_led = said.first().and_then(Token::word).is_some_and(|word| ["by", "due", "on"].contains(&word));
    if draft.is_loose() && (said.len() == 1 || draft.has_day() && !is_led)
        || said.len() == 1 && said[0].word().is_some_and(is_short)
    {
        return None;
    }
    if said.len() == 3 && text.get(place.clone())?.contains('/') {
        return None;
    }
    match draft.resolve(text.get(place.clone())?, here) {
        Ok(due) => Some(Mention { place, meaning: Ok(Resolved { due, echo: due.echo(here.zone) }) }),
        Err(WhenError::NotUnderstood(_)) => None,
        Err(error) => Some(Mention { place, meaning: Err(error) }),
    }
}

/// A choice of dates, which is meant for one and is none.
fn chosen(text: &str, tokens: &[Token], start: usize, here: &Here<'_>) -> Option<Mention> {
    let end = choice::of(tokens, text, start, here, true)?;
    let said = tokens.get(start..end)?;
    let place = said.first()?.place.start..said.last()?.place.end;
    Some(Mention { place: place.clone(), meaning: Err(choice::doubt(text.get(place)?)) })
}

/// A date or date-time in figures that stands by itself.
fn in_figures(text: &str, start: usize, zone: &TimeZone) -> Option<Mention> {
    let rest = text.get(start..)?;
    let near = rest.get(..rest.floor_char_boundary(MAX_FIGURES_BYTES))?;
    toolroom_work::step(1);
    if !near.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    toolroom_work::step(near.len());
    let chunk = near.split_whitespace().next()?;
    // What goes on beyond the bound is not a date, and its beginning must not be taken for one.
    if chunk.len() == near.len() && rest.len() > near.len() {
        return None;
    }
    let chunk = chunk.trim_end_matches([',', ';', '.', ')', '!', '?']);
    // A date alone may have its time in words behind it; that is the phrase's part.
    if chunk.len() <= "2026-12-31".len() || text[..start].ends_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let due = explicit::parse(chunk, zone)?.ok()?;
    Some(Mention { place: start..start + chunk.len(), meaning: Ok(Resolved { due, echo: due.echo(zone) }) })
}

fn is_short(word: &str) -> bool {
    word.len() <= 3
}
