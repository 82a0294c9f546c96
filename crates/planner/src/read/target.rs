//! Which task some words mean: a number, a place in a list, "it", all of a kind, or words of a title.

use super::filter;
use crate::text::{Kind, Word, begins, begins_any, ends, raw};
use crate::wish::Target;
use crate::words::patterns;

pub(crate) const TASK_NOUNS: &str =
    "task|tasks|todo|todos|reminder|reminders|item|items|entry|entries|chore|chores";

/// Cuts away what stands behind the object.
pub(crate) fn trimmed(words: &[Word]) -> &[Word] {
    let mut words = words;
    loop {
        while let Some((last, rest)) = words.split_last() {
            if !last.is_sign() {
                break;
            }
            words = rest;
        }
        while let Some((first, rest)) = words.split_first() {
            if !first.is_sign() {
                break;
            }
            words = rest;
        }
        let Some(start) = patterns("behind an object")
            .iter()
            .find_map(|pattern| ends(words, pattern).filter(|start| *start > 0))
        else {
            return words;
        };
        words = words.get(..start).unwrap_or_default();
    }
}

/// Without signs at either end.
pub(crate) fn trimmed_of_signs(words: &[Word]) -> &[Word] {
    let start = words.iter().position(|word| !word.is_sign()).unwrap_or(words.len());
    let end = words.iter().rposition(|word| !word.is_sign()).map_or(start, |at| at + 1);
    words.get(start..end).unwrap_or_default()
}

/// Reads the object of a command.
pub(crate) fn read(text: &str, words: &[Word], when: &super::Here<'_>) -> Target {
    let words = trimmed(words);
    if words.is_empty() {
        return Target::Missing;
    }
    if let Some(ids) = ids(words) {
        return Target::Ids(ids);
    }
    if let Some(pointed) = pointed(words) {
        return pointed;
    }
    if let Some(filter) = filter::all(text, words, when) {
        return Target::All(filter);
    }
    named(text, words)
}

/// "task 3", "#3", "tasks 1, 2 and 4", "1-3", "number 7", "task id 5".
pub(crate) fn ids(words: &[Word]) -> Option<Vec<i64>> {
    let lead = begins(
        words,
        "the|my? task|tasks|todo|todos|item|items|reminder|reminders|number|numbers|no|nr|id|ids* with? id|ids|number|numbers|no|nr*",
    );
    let mut found = Vec::new();
    let mut until = false;
    let from = lead.unwrap_or(0);
    for word in words.get(from..)? {
        match (&word.kind, word.low.as_str()) {
            (Kind::Sign(',' | '.' | '!' | '?' | ':' | '(' | ')'), _) => {}
            (Kind::Sign('-' | '\u{2013}'), _) | (Kind::Plain, "to" | "through" | "thru" | "until") => {
                until = true
            }
            (
                Kind::Plain,
                "and" | "&" | "or" | "plus" | "task" | "tasks" | "number" | "todo" | "id" | "also" | "then",
            ) => {}
            (Kind::Plain, low) => {
                let (first, last) = match low.split_once(['-', '\u{2013}']) {
                    Some((first, last)) => (first.parse::<i64>().ok()?, last.parse::<i64>().ok()?),
                    None => word.number().map(|id| (id, id))?,
                };
                let start = if until {
                    found.last().map_or(first, |before: &i64| before.saturating_add(1))
                } else {
                    first
                };
                until = false;
                if last.saturating_sub(start) > 200 || found.len() > 200 {
                    return None;
                }
                found.extend(start..=last);
            }
            _ => return None,
        }
    }
    found.dedup();
    (!found.is_empty() && found.len() <= 200 && !until).then_some(found)
}

/// Pronouns and places in the list that was shown.
fn pointed(words: &[Word]) -> Option<Target> {
    let whole = |pattern: &str| begins(words, pattern) == Some(words.len());
    let it = patterns("it");
    if it.iter().any(|pattern| whole(pattern)) {
        return Some(Target::It);
    }
    let them = patterns("them");
    if them.iter().any(|pattern| whole(pattern)) {
        return Some(Target::Them);
    }
    if ["the? other one|task|todo|item?", "another one", "the? other"].iter().any(|pattern| whole(pattern)) {
        return Some(Target::Other);
    }
    places(words)
}

const ORDINALS: &str = "first|1st|former second|2nd third|3rd fourth|4th fifth|5th sixth|6th seventh|7th eighth|8th ninth|9th tenth|10th";

/// "the first one", "the second and third", "the last task", "the first two".
pub(crate) fn places(words: &[Word]) -> Option<Target> {
    let noun = "one|ones|task|tasks|todo|todos|item|items|entry|option|of?";
    let mut rest = words.get(begins(words, "number|option|choice|the|my*").unwrap_or(0)..)?;
    if let Some(length) = begins(rest, "last|latest|newest|latter|final") {
        let behind = rest.get(length..)?;
        let all = behind.is_empty() || begins(behind, noun) == Some(behind.len()) || in_list(behind);
        return all.then_some(Target::Last);
    }
    if let Some(length) = begins(rest, "first two|three|four|five|2|3|4|5") {
        let count = match rest.get(length - 1)?.low.as_str() {
            "two" | "2" => 2,
            "three" | "3" => 3,
            "four" | "4" => 4,
            _ => 5,
        };
        let behind = rest.get(length..)?;
        let all = behind.is_empty() || begins(behind, noun) == Some(behind.len()) || in_list(behind);
        return all.then(|| Target::Places((0..count).collect()));
    }
    let mut found = Vec::new();
    while let Some((first, behind)) = rest.split_first() {
        let place = ORDINALS.split(' ').position(|names| first.is_any(names));
        match place {
            Some(place) => found.push(place),
            None if found.is_empty() => return None,
            None if first.is_sign()
                || first.is_any("and|the|&|one|ones|task|tasks|todo|item|items|option") => {}
            None if in_list(rest) => break,
            None => return None,
        }
        rest = behind;
    }
    (!found.is_empty()).then_some(Target::Places(found))
}

fn in_list(words: &[Word]) -> bool {
    begins(words, "one|task|item? on|in|of|from the|my|that|this list") == Some(words.len())
}

/// A task by the words of its title.
fn named(text: &str, words: &[Word]) -> Target {
    let mut words = words;
    let undecided = patterns("undecided");
    if begins_any(words, undecided).is_some() {
        return Target::Missing;
    }
    if let [only] = words
        && only.kind == Kind::Quoted
    {
        return Target::Words(text.get(only.inner.clone()).unwrap_or_default().trim().to_owned());
    }
    let lead = patterns("before the name of a task");
    if let Some(length) = begins_any(words, lead).filter(|length| *length < words.len()) {
        words = words.get(length..).unwrap_or_default();
    }
    words = trimmed(words);
    if let Some(length) = begins(words, "the|my|a|an|our").filter(|length| *length < words.len()) {
        words = words.get(length..).unwrap_or_default();
    }
    let quoted: Vec<&Word> = words.iter().filter(|word| word.kind == Kind::Quoted).collect();
    if let [only] = quoted.as_slice() {
        return Target::Words(text.get(only.inner.clone()).unwrap_or_default().trim().to_owned());
    }
    let tail = ["task|todo|reminder|item|entry|one|thing|chore|ones|tasks|todos|reminders"];
    if let Some(start) = tail.iter().find_map(|pattern| ends(words, pattern)).filter(|start| *start > 0) {
        words = words.get(..start).unwrap_or_default();
    }
    let said = raw(text, trimmed(words)).trim().trim_end_matches("'s").trim_end_matches("\u{2019}s");
    if said.is_empty() || words.iter().all(|word| word.is_any(VAGUE) || word.is_sign()) {
        return Target::Missing;
    }
    Target::Words(said.to_owned())
}

/// Words that name nothing.
const VAGUE: &str = "task|tasks|todo|todos|item|items|one|ones|something|anything|stuff|thing|things|some|a|an|the|my|reminder|entry|list|any|of|certain|old|few|several";

/// Whether the words speak of tasks beyond doubt.
pub(super) fn speaks_of_tasks(words: &[Word]) -> bool {
    let named = trimmed(words);
    let the_one =
        begins(named, "the|my|that").is_some() && named.last().is_some_and(|word| word.is_any("one|ones"));
    the_one || words.iter().any(|word| word.is_any(TASK_NOUNS) || word.is_hash_number() || word.is("list"))
}
