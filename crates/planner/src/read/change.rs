//! Wishes to change a task: title, priority, date, description, labels.

use super::create::unsigned;
use super::{Here, priority, slots, target};
use crate::text::{Kind, Word, begins, begins_any, ends, find, find_any, raw};
use crate::wish::{Change, Heard, Priority, Strength, Target, Wish};
use crate::words::patterns;

pub(super) const VERBS: &str = "change|update|edit|modify|set|make|move|reschedule|postpone|push|delay|shift|bump|adjust|correct|fix|turn|put|mark|flag|give|switch|alter|bring|defer|extend|schedule|prioritise|prioritize|label|amend|revise";

/// A change whose field is named.
pub(super) fn named(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    cleared(text, words, here)
        .or_else(|| labelled(text, words, here))
        .or_else(|| described(text, words, here))
        .or_else(|| noted(text, words, here))
        .or_else(|| renamed(text, words, here))
        .or_else(|| shifted(text, words, here))
        .or_else(|| ranked(text, words, here))
}

pub(super) fn update(target: Target, change: Change) -> Option<Heard> {
    Some(Heard { wish: Wish::Update(target, change), strength: Strength::Strong })
}

pub(super) fn object(text: &str, words: &[Word], here: &Here<'_>) -> Target {
    match target::read(text, words, here) {
        Target::Missing => Target::It,
        found => found,
    }
}

/// "remove the due date from task 3", "clear its tags".
fn cleared(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let verb = begins(
        words,
        "remove|clear|delete|drop|erase|unset|take|strip|cancel|wipe|lose|forget|get rid|off|of? the|its|any|all|of*",
    )?;
    let rest = words.get(verb..)?;
    let (length, change) =
        if let Some(length) = begins(rest, "due date|dates?").or_else(|| begins(rest, "deadline|due|date")) {
            (length, Change { due: Some(None), ..Change::default() })
        } else if let Some(length) = begins(rest, "description|details|notes|note|comment") {
            (length, Change { description: Some(None), ..Change::default() })
        } else if let Some(length) = begins(rest, "tags|labels") {
            (length, Change { clears_tags: true, ..Change::default() })
        } else if let Some(length) = begins(rest, "tag|label") {
            let name = rest.get(length)?;
            let named = text.get(name.inner.clone())?.trim_start_matches('#').to_owned();
            (length + 1, Change { remove_tags: vec![named], ..Change::default() })
        } else if let Some(length) = begins(rest, "priority") {
            (length, Change { priority: Some(Priority::Medium), ..Change::default() })
        } else if let Some(found) = named_tag(text, rest) {
            found
        } else {
            return owned_cleared(text, rest, here);
        };
    let behind = rest.get(length..)?;
    let joint = begins(behind, "from|of|on|off|for|in").unwrap_or(0);
    if joint == 0 && !behind.is_empty() && !behind.iter().all(Word::is_sign) {
        return None;
    }
    update(object(text, behind.get(joint..)?, here), change)
}

/// "remove the work tag from task 3".
fn named_tag(text: &str, rest: &[Word]) -> Option<(usize, Change)> {
    let [name, noun, ..] = rest else { return None };
    if !noun.is_any("tag|label") {
        return None;
    }
    let named = text.get(name.inner.clone())?.trim_start_matches('#').to_owned();
    Some((2, Change { remove_tags: vec![named], ..Change::default() }))
}

/// "remove task 3's due date", "clear task 3 due date".
fn owned_cleared(text: &str, rest: &[Word], here: &Here<'_>) -> Option<Heard> {
    let fields: [(&str, Change); 3] = [
        ("due date", Change { due: Some(None), ..Change::default() }),
        ("deadline", Change { due: Some(None), ..Change::default() }),
        ("description|notes|details", Change { description: Some(None), ..Change::default() }),
    ];
    fields.into_iter().find_map(|(pattern, change)| {
        let start = ends(target::trimmed(rest), pattern).filter(|start| *start > 0)?;
        let owner = owner(text, rest.get(..start)?, here)?;
        update(owner, change)
    })
}

/// The owner of a field: "task 3's", "the milk task's", "its".
pub(super) fn owner(text: &str, words: &[Word], here: &Here<'_>) -> Option<Target> {
    if words.len() == 1 && words.first()?.is_any("its|the|it") {
        return Some(Target::It);
    }
    let mut words = words.to_vec();
    if let Some(last) = words.last_mut() {
        // "3's" has lost its apostrophe in `low`, not in the text.
        let said = text.get(last.place.clone())?;
        if let Some(stem) = said.strip_suffix("'s").or_else(|| said.strip_suffix("\u{2019}s")) {
            last.low = stem.to_lowercase();
            last.place = last.place.start..last.place.start + stem.len();
            last.inner = last.place.clone();
        }
    }
    match target::read(text, &words, here) {
        Target::Missing => None,
        found => Some(found),
    }
}

/// "tag task 3 as work", "add the tag work to task 3", "label it urgent" (which is a priority).
fn labelled(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let named = |words: &[Word]| -> Vec<String> {
        let names = words
            .iter()
            .filter(|word| !word.is_sign() && !word.is_any("and|&|the|tag|tags|label|labels|as|with"));
        names
            .filter_map(|word| Some(text.get(word.inner.clone())?.trim_start_matches('#').to_owned()))
            .collect()
    };
    if let Some(verb) =
        begins(words, "add|put|give|attach|apply|use the|a|another* new? tag|tags|label|labels")
    {
        let rest = words.get(verb..)?;
        let joint = find(rest, "to|on|for|onto")?;
        let add_tags = named(rest.get(..joint.start)?);
        let change = Change { add_tags, ..Change::default() };
        return (!change.is_empty())
            .then(|| update(object(text, rest.get(joint.end..).unwrap_or_default(), here), change))
            .flatten();
    }
    let verb = begins(words, "tag|label")?;
    let rest = words.get(verb..)?;
    let joint = find_any(rest, &["as", "with", "to"]);
    let (what, value) = match joint {
        Some(joint) => (rest.get(..joint.start)?, rest.get(joint.end..)?),
        None => (rest.get(..1)?, rest.get(1..)?),
    };
    if let Some(priority) = priority::alone(value) {
        return update(object(text, what, here), Change { priority: Some(priority), ..Change::default() });
    }
    let add_tags = named(target::trimmed(value));
    if add_tags.is_empty() || add_tags.len() > 5 {
        return None;
    }
    update(object(text, what, here), Change { add_tags, ..Change::default() })
}

/// "add a note to task 3: bring cash", "set the description of task 3 to …".
fn described(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let noun = "description|note|notes|details|detail|comment|remark";
    let verb = begins(
        words,
        &format!(
            "add|put|write|attach|append|set|change|update|edit|give|make|replace the|a|an|its|new|this|following|some|more* {noun}"
        ),
    )?;
    let adds = begins(words, "add|attach|append|put|write").is_some();
    let rest = words.get(verb..)?;
    if let [value, tail @ ..] = rest
        && value.kind == Kind::Quoted
        && let Some(joint) = begins(tail, "to|of|for|on")
    {
        let description = Some(Some(text.get(value.inner.clone())?.to_owned()));
        return update(
            object(text, tail.get(joint..)?, here),
            Change { description, appends: adds, ..Change::default() },
        );
    }
    // "add a note: buy milk" makes a task, and so does a note to oneself.
    if begins(rest, "to self|myself|me").is_some() {
        return None;
    }
    let joint = begins(rest, "to|of|for|on|in")?;
    let rest = rest.get(joint..)?;
    let part = find_any(rest, &["saying|that|says|to|with|as|into|reading"]).filter(|place| place.start > 0);
    let colon = rest.iter().position(|word| {
        matches!(word.kind, Kind::Sign(':' | '-' | '\u{2014}')) || word.kind == Kind::Quoted
    });
    let (what, value) = match (part, colon) {
        (_, Some(colon)) => (rest.get(..colon)?, rest.get(colon..)?),
        (Some(part), None) => (rest.get(..part.start)?, rest.get(part.end..)?),
        (None, None) => (rest, rest.get(rest.len()..)?),
    };
    let value = unquoted(text, unsigned(value));
    let what = what.get(
        ..what.len() - usize::from(what.last().is_some_and(|word| word.is_any("saying|that|to|as|with"))),
    )?;
    let found = object(text, what, here);
    let description = (!value.is_empty()).then_some(Some(value));
    update(found, Change { description, appends: adds, ..Change::default() })
}

/// "add bring ID to the visa task's notes".
fn noted(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let verb = begins(words, "add|put|write|append")?;
    let rest = target::trimmed(words.get(verb..)?);
    let start = ends(rest, "notes|note|description|details|comments").filter(|start| *start > 1)?;
    let joint = (1..start).rev().find(|at| rest.get(*at).is_some_and(|word| word.is_any("to|in|into")))?;
    let what = rest.get(joint + 1..start)?;
    let owner =
        if begins(what, "the").is_some() && what.len() == 1 { Target::It } else { owner(text, what, here)? };
    let value = unquoted(text, rest.get(..joint)?);
    update(owner, Change { description: Some(Some(value)), appends: true, ..Change::default() })
}

/// The words as they were written; a single quotation without its marks.
pub(crate) fn unquoted(text: &str, words: &[Word]) -> String {
    match target::trimmed(words) {
        [one] if one.kind == Kind::Quoted => {
            text.get(one.inner.clone()).unwrap_or_default().trim().to_owned()
        }
        _ => raw(text, words).trim().trim_end_matches(['.', '!']).to_owned(),
    }
}

/// "rename task 3 to oat milk", "change the title of task 3 to …", "call it … instead".
fn renamed(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let (what, value) = if let Some(verb) = begins(words, "rename|retitle|reword") {
        let rest = words.get(verb..)?;
        match find_any(rest, &["to|as|into"]).filter(|place| place.start > 0) {
            Some(joint) => (rest.get(..joint.start)?, rest.get(joint.end..)?),
            None => match rest.iter().position(|word| word.kind == Kind::Quoted).filter(|at| *at > 0) {
                Some(at) => (rest.get(..at)?, rest.get(at..)?),
                None if begins(rest, "it|that|this").is_some() => (rest.get(..1)?, rest.get(1..)?),
                None => (rest, rest.get(rest.len()..)?),
            },
        }
    } else if let Some(verb) =
        begins(words, "change|set|update|edit|replace|make|modify the|its* title|name|wording of|for|on?")
    {
        let rest = words.get(verb..)?;
        let joint = find_any(rest, &["to|as|with|into|be"])?;
        (rest.get(..joint.start)?, rest.get(joint.end..)?)
    } else if let Some(verb) = begins(words, "call|name it|that|this|task") {
        let id = words
            .get(verb)
            .and_then(Word::number)
            .filter(|_| words.get(verb - 1).is_some_and(|word| word.is("task")));
        let start = verb + usize::from(id.is_some());
        (words.get(1..start)?, words.get(start..)?)
    } else {
        return None;
    };
    let found = object(text, what, here);
    let end = ends(value, "instead").unwrap_or(value.len());
    let title = unquoted(text, unsigned(value.get(..end)?));
    let is_quoted = value.iter().any(|word| word.kind == Kind::Quoted);
    let title = if is_quoted { title } else { slots::capital(&slots::tidy(&title)) };
    // An empty title is one that must be asked for.
    update(found, Change { title: Some(title), ..Change::default() })
}

/// "postpone task 3 by two days", "push it back a week".
fn shifted(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let verb =
        begins(words, "postpone|delay|push|move|shift|bump|extend|defer|put|reschedule|advance|bring off?")?;
    let rest = target::trimmed(words.get(verb..)?);
    let amounts = "a|an|one|1 two|2 three|3 four|4 five|5 six|6 seven|7 eight|8 nine|9 ten|10";
    let (count, unit, place) = (0..rest.len()).find_map(|at| {
        let tail = rest.get(at..)?;
        let count = amounts.split(' ').position(|names| begins(tail, names).is_some())? + 1;
        let unit = tail.get(1)?;
        let days = match () {
            () if unit.is_any("day|days") => 1,
            () if unit.is_any("week|weeks") => 7,
            () => return None,
        };
        // "in three days" is a date.
        let before = at.checked_sub(1).and_then(|at| rest.get(at));
        (!before.is_some_and(|word| word.is_any("in|to"))
            && at
                + 2
                + usize::from(tail.get(2).is_some_and(|word| word.is_any("back|later|forward|earlier")))
                >= rest.len())
        .then_some((i64::try_from(count).ok()?, days, at))
    })?;
    let earlier = find_any(words, &["forward|earlier|advance"]).is_some() && begins(words, "push").is_none();
    let what = rest.get(..place)?;
    let what = what.get(
        ..what
            .iter()
            .rposition(|word| !word.is_any("by|back|forward|for|another|out|off"))
            .map_or(0, |at| at + 1),
    )?;
    let days = count * unit * if earlier { -1 } else { 1 };
    update(object(text, what, here), Change { days: Some(days), ..Change::default() })
}

/// "raise the priority of task 3", "prioritize the report", "bump task 3 up".
fn ranked(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let rises = begins_any(words, patterns("raises the priority"));
    let falls = begins_any(words, patterns("lowers the priority"));
    let (length, priority) = match (rises, falls) {
        (Some(length), _) => (length, Priority::High),
        (_, Some(length)) => (length, Priority::Low),
        _ => return bumped(text, words, here),
    };
    let rest = words.get(length..)?;
    let joint = find_any(rest, &["to"])
        .filter(|joint| rest.get(joint.end..).is_some_and(|value| priority::alone(value).is_some()));
    let (what, priority) = match joint {
        Some(joint) => {
            (rest.get(..joint.start)?, rest.get(joint.end..).and_then(priority::alone).unwrap_or(priority))
        }
        None => (rest, priority),
    };
    update(object(text, what, here), Change { priority: Some(priority), ..Change::default() })
}

fn bumped(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let verb = begins(words, "bump|move")?;
    let rest = target::trimmed(words.get(verb..)?);
    // "bump up the passport"
    if let Some(length) = begins(rest, "up").filter(|length| *length < rest.len()) {
        let change = Change { priority: Some(Priority::High), ..Change::default() };
        return update(object(text, rest.get(length..)?, here), change);
    }
    let (start, priority) = match (ends(rest, "up"), ends(rest, "down")) {
        (Some(start), _) => (start, Priority::High),
        (_, Some(start)) => (start, Priority::Low),
        _ => return None,
    };
    update(object(text, rest.get(..start)?, here), Change { priority: Some(priority), ..Change::default() })
}
