//! What holds a wish back, or cannot be done with it: a condition, a retraction, a recurrence. None of them is lost in
//! silence.

use std::ops::Range;

use super::Utterance;
use super::courtesy::unsigned;
use crate::text::{Kind, Word, begins, begins_any, find_any, raw};
use crate::words::patterns;

/// A part of a message that was found, and the message without it.
pub(crate) struct Apart {
    pub said: String,
    pub rest: String,
}

const WHO: &str = "i|we|he|she|they|it|the|my|our|his|her|their|a|an|this|that|there|everyone|everybody|somebody|someone|nobody|ive|im|hes|shes|its|weve|theyve|theres|things|all|both";
const I: &str = "i|we|he|she|they|it|ive|im|weve|theyve|everyone|someone|somebody";
/// Words before "if" that make it a question within a wish: "ask Tom if he comes".
const ASKING: &str = "ask|check|see|know|decide|wonder|out|sure|confirm|verify|tell|even|as|what|say|says|remember|whether|determine|only|and|or";
const CONDITIONS: &str =
    "once|unless|assuming|supposing|whenever|if|when|provided|providing|as|in|after|until|till|before";
/// What a command begins with, behind a condition without a comma.
const COMMANDS: &str = "add|create|delete|remove|mark|complete|finish|remind|move|rename|set|put|tick|reopen|restore|change|cancel|make|show|list";
const DAY: &str = "day|days|week|weeks|month|months|year|years|hour|hours|minute|minutes|morning|evening|night|afternoon|weekday|weekdays|weekend|weekends|quarter|monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tue|wed|thu|fri|sat|sun";
const PLURAL_DAYS: &str = "mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekdays|weekends";

/// "once I get paid", "if it rains": what nobody here can watch for.
pub(crate) fn condition(said: &Utterance<'_>) -> Option<Apart> {
    let words = said.words.as_slice();
    let start = (0..words.len()).find(|at| is_condition(said, *at))?;
    let behind = words.get(start + 2..)?;
    let leads = unsigned(words.get(..start)?).is_empty();
    let ends = |(at, word): (usize, &Word)| {
        let parts = matches!(
            word.kind,
            Kind::Sign(',' | '.' | ';' | '!' | '?' | '\n' | '-' | ':' | '\u{2013}' | '\u{2014}')
        );
        parts || leads && at > 0 && word.is_any(COMMANDS)
    };
    let length = behind.iter().enumerate().position(ends).unwrap_or(behind.len());
    apart(said, start..start + 2 + length)
}

fn is_condition(said: &Utterance<'_>, at: usize) -> bool {
    let words = said.words.as_slice();
    let Some(rest) = words.get(at..) else { return false };
    let Some(first) = rest.first().filter(|word| word.is_any(CONDITIONS)) else { return false };
    let patterns = [
        format!("once|unless|assuming|supposing|whenever|if|when {WHO}"),
        format!("provided|providing that? {WHO}"),
        format!("as soon|long as {WHO}"),
        format!("in case {WHO}"),
        format!("after|until|till|before {I}"),
    ];
    let is_name = |word: &Word| {
        let said = text_of(said, word);
        word.kind == Kind::Plain && said.starts_with(char::is_uppercase)
    };
    // Whatever follows "unless", it is never part of the wish.
    let named = first.is_any("unless") || first.is_any("once|if|when") && rest.get(1).is_some_and(is_name);
    let length = patterns.iter().find_map(|pattern| begins(rest, pattern)).or(named.then_some(2));
    let near = words.get(at.saturating_sub(4)..at).unwrap_or_default();
    let is_asked = near.last().is_some_and(|word| word.is_any(ASKING))
        || near.iter().any(|word| word.is_any("ask|check|know|see"));
    length.is_some_and(|length| rest.len() > length) && !is_asked
}

fn text_of<'a>(said: &Utterance<'a>, word: &Word) -> &'a str {
    said.text.get(word.place.clone()).unwrap_or_default()
}

/// "… actually no, don't": what came before it is taken back; the rest is what comes behind.
pub(crate) fn retraction(said: &Utterance<'_>) -> Option<Apart> {
    let words = said.words.as_slice();
    let found = (1..words.len()).find_map(|at| {
        let length = begins_any(words.get(at..)?, patterns("second thoughts"))?;
        let is_parted = words.get(at - 1).is_some_and(Word::is_sign);
        let tail = unsigned(words.get(at + length..)?);
        let ends = tail.iter().all(|word| {
            word.is_sign()
                || word.is_any(
                    "it|that|dont|do|leave|forget|please|then|sorry|ok|thanks|as|is|be|alone|about|all|them",
                )
        });
        let counts = words.get(..at)?.iter().filter(|word| !word.is_sign()).count() > 1;
        ((is_parted || ends) && counts).then(|| (at..at + length, ends))
    });
    let (place, ends) = found?;
    let tail = words.get(place.end..)?;
    let rest = if ends { String::new() } else { raw(said.text, unsigned(tail)).to_owned() };
    Some(Apart { said: raw(said.text, words.get(place)?).to_owned(), rest })
}

/// "every monday", "twice a week", "daily" at an end of the message.
pub(crate) fn recurrence(said: &Utterance<'_>) -> Option<Apart> {
    let words = said.words.as_slice();
    let any = [
        format!("every|each other|single|second|third|few|two|three|four|2|3|4|5|6|7|10|14|30? {DAY}"),
        format!("on {PLURAL_DAYS}"),
        "once|twice a|per day|week|month|year".to_owned(),
    ];
    let patterns: Vec<&str> = any.iter().map(String::as_str).collect();
    let place = find_any(words, &patterns).or_else(|| {
        let at = words.iter().rposition(|word| !word.is_sign())?;
        let first = words.iter().position(|word| !word.is_sign())?;
        let adverb = |at: usize| {
            words
                .get(at)?
                .is_any("daily|weekly|monthly|yearly|annually|biweekly|fortnightly|nightly")
                .then_some(at..at + 1)
        };
        adverb(at).filter(|_| at > first)
    })?;
    apart(said, place)
}

/// What a recurrence says of the first time: "monday" of "every monday".
pub(crate) fn first_time(recurrence: &str) -> Option<&str> {
    let (_, day) = recurrence.split_once(' ')?;
    let is_day = day.to_lowercase().ends_with("day") && !day.contains(' ');
    (is_day && !matches!(day.to_lowercase().as_str(), "day" | "weekday")).then_some(day)
}

fn apart(said: &Utterance<'_>, place: Range<usize>) -> Option<Apart> {
    let part = said.words.get(place)?;
    let (first, last) = (part.first()?, part.last()?);
    let before = said.text.get(..first.place.start)?.trim_end_matches([' ', ',', '-']);
    let after = said.text.get(last.place.end..)?.trim_start_matches([' ', ',', '-']);
    let rest = format!("{before} {after}");
    Some(Apart { said: raw(said.text, part).to_owned(), rest: rest.trim().to_owned() })
}
