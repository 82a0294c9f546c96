//! Parts a message into clauses, and strips them of courtesy.

use std::ops::Range;

use super::target::speaks_of_tasks;
use crate::text::{Kind, Word, begins, begins_any, ends, find_any};
use crate::words::patterns;

/// Verbs that a command about tasks or tools begins with.
pub(crate) const VERBS: &str = "add|create|make|delete|remove|complete|finish|mark|show|list|display|update|change|rename|edit|restore|undelete|remind|reschedule|postpone|find|search|check|tick|cross|set|move|cancel|clear|erase|run|execute|google|schedule|put|tell|give|read|see|view|get|drop|discard|trash|scrap|reopen|uncheck|unmark|prioritize|prioritise|tag|label|note|jot|close|open|look|bring|recover|undo|push|delay|raise|lower|log|record|track|write|save|remember|ask|calculate|compute|modify|purge|wipe|bump|shift|throw|take|retitle|untag|flag|know|keep|print|review|count|extend|have";

/// The clause without the courtesy around it.
pub(crate) fn stripped(words: &[Word]) -> &[Word] {
    let mut words = words;
    loop {
        let length = words.len();
        while words.first().is_some_and(Word::is_sign) {
            words = words.get(1..).unwrap_or_default();
        }
        // "don't" and "never" are not courtesy: what follows is not to be done.
        if let Some(taken) = begins_any(words, patterns("courtesy before a command"))
            .filter(|taken| *taken < words.len() || is_all_courtesy(words))
        {
            words = words.get(taken..).unwrap_or_default();
        }
        if let Some(taken) = begins_any(words, patterns("courtesy where a command follows"))
            && words.get(taken..).is_some_and(is_command)
        {
            words = words.get(taken..).unwrap_or_default();
        }
        while words.last().is_some_and(|word| {
            word.is_sign() && word.kind != Kind::Sign('\n') || word.kind == Kind::Sign('\n')
        }) {
            words = words.get(..words.len() - 1).unwrap_or_default();
        }
        if let Some(start) = patterns("courtesy behind a command")
            .iter()
            .find_map(|pattern| ends(words, pattern))
            .filter(|start| *start > 0)
        {
            words = words.get(..start).unwrap_or_default();
        }
        if words.len() == length {
            return words;
        }
    }
}

fn is_all_courtesy(words: &[Word]) -> bool {
    words.iter().all(|word| {
        word.is_sign()
            || begins_any(std::slice::from_ref(word), patterns("courtesy before a command")).is_some()
    })
}

fn is_command(words: &[Word]) -> bool {
    words.first().is_some_and(|word| {
        word.is_any(VERBS)
            && !word.is_any("get|make|take|finish|write|check|read|open|run|move|tell|give|call|clear|review|look|have|know|close|keep|bring|throw|print|ask|push|save")
    }) || words.first().is_some_and(|word| word.is_any(VERBS)) && speaks_of_tasks(words)
        || words.first().is_some_and(|word| word.is_any("see|know|check|view"))
            && find_any(words, &["my|what|which|the"]).is_some()
}

/// The clauses of a message, as ranges of its words.
pub(super) fn split(words: &[Word]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < words.len() {
        let end = match words.get(at).map(|word| (word.kind, word)) {
            Some((Kind::Sign('.' | '!' | '?' | ';' | '\n' | '\u{2026}'), _))
                if !is_abbreviation(words, at) =>
            {
                Some(at + 1)
            }
            Some((Kind::Sign(',' | '-' | '\u{2013}' | '\u{2014}' | ':'), _))
                if starts_wish(words, start, at, at + 1) =>
            {
                Some(at + 1)
            }
            Some((Kind::Plain, word))
                if word.is_any("and|then|also|plus|but|&|so|afterwards")
                    && at > start
                    && starts_wish(words, start, at, at + 1) =>
            {
                Some(at + 1)
            }
            _ => None,
        };
        match end {
            Some(end) => {
                let last = if words.get(end - 1).is_some_and(|word| word.kind == Kind::Sign('?')) {
                    end
                } else {
                    end - 1
                };
                if last > start {
                    found.push(start..last);
                }
                start = end;
                at = end;
            }
            None => at += 1,
        }
    }
    if start < words.len() {
        found.push(start..words.len());
    }
    found.retain(|range| {
        words.get(range.clone()).is_some_and(|words| words.iter().any(|word| !word.is_sign()))
    });
    found
}

fn is_abbreviation(words: &[Word], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|at| words.get(at)) else { return false };
    let dot = words.get(at).is_some_and(|word| word.kind == Kind::Sign('.'));
    let near = words.get(at).is_some_and(|dot| before.place.end == dot.place.start);
    let short = before.is_any(
        "p.m|a.m|mr|mrs|ms|dr|prof|st|vs|etc|e.g|i.e|approx|jan|feb|mar|apr|aug|sept|sep|oct|nov|dec",
    );
    dot && near && short && at + 1 < words.len()
}

/// Words behind a joint that are looked at to tell what begins there.
const LOOKED_AHEAD: usize = 48;

/// Whether a new wish begins behind a joint, given what comes before it.
fn starts_wish(words: &[Word], start: usize, joint: usize, behind: usize) -> bool {
    let end = words.len().min(behind + LOOKED_AHEAD);
    let (Some(before), Some(after)) = (words.get(start..joint), words.get(behind..end)) else { return false };
    let after = after
        .get(begins(after, "and|then|also|plus|but|please|so|just|finally|next|after that*").unwrap_or(0)..)
        .unwrap_or_default();
    let is_but = words.get(joint).is_some_and(|word| word.is("but"))
        || words.get(behind).is_some_and(|word| word.is("but"));
    let forbids = begins_any(after, &["dont|never|do not?"]).is_some()
        && begins(after, "do").is_none_or(|_| begins(after, "do not").is_some());
    if forbids && (is_but || words.get(joint).is_some_and(Word::is_sign)) {
        return true;
    }
    let acts = begins_any(stripped(before), &["delete|remove|restore|complete|finish|mark|bring|cancel|drop|recover|undelete|reopen|close|erase", "get|put|take"]).is_some();
    let remarks =
        begins_any(after, &["i|ive|im|its|it|because|since|we|weve|thats|theyre|he|she|they"]).is_some();
    if acts && remarks && words.get(joint).is_some_and(Word::is_sign) {
        return true;
    }
    if is_but && begins_any(after, &["leave|keep|not"]).is_some() {
        return true;
    }
    let after = stripped(after);
    let Some(head) = after.first() else { return false };
    let asks =
        begins_any(after, &["what|whats|which|how|when|whens|is|do|did", "remind me", "i need|want to"])
            .is_some();
    if !head.is_any(VERBS) && !asks {
        return joins_object(before, after);
    }
    if after.len() == 1 && !head.is_any("undo") && before.first().is_some_and(|word| !word.is("i")) {
        return false;
    }
    let clause_end = after
        .iter()
        .position(|word| matches!(word.kind, Kind::Sign('.' | ';' | '?' | '!' | '\n')))
        .unwrap_or(after.len());
    let object = after.get(..clause_end).unwrap_or_default();
    let marked = is_marked(object);
    let left = stripped(before);
    if left.is_empty() {
        return true;
    }
    let names_title = names_title(left);
    if asks && !head.is_any(VERBS) {
        return !names_title || speaks_of_tasks(object) || begins(after, "remind me").is_some();
    }
    match names_title {
        // "add a task to finish the report and delete the draft": what is marked as a separate wish is one.
        true => marked || head.is_any("add|create|remind") && !open_title(left),
        false => true,
    }
}

/// Whether the clause makes a task, so that words behind "and" may belong to its title.
fn names_title(left: &[Word]) -> bool {
    let makes = patterns("makes a task, so that its title may go on");
    begins_any(left, makes).is_some() && !is_finished_field(left)
}

/// "set task 3 to high": the value is at its end, and a title is not.
fn is_finished_field(left: &[Word]) -> bool {
    let changes = begins_any(left, &["change|update|edit|set|make|call"]).is_some();
    changes
        && left.last().is_some_and(|word| {
            word.is_any("high|low|medium|urgent|priority|done|completed|complete|monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|today|important|week|month")
        })
}

/// Whether a title is open to the right: after "to" with a verb, or after a colon.
fn open_title(left: &[Word]) -> bool {
    left.iter().any(|word| word.kind == Kind::Sign(':'))
}

/// Whether the object of a verb shows that tasks are meant.
fn is_marked(words: &[Word]) -> bool {
    let rest = words.get(1..).unwrap_or_default();
    speaks_of_tasks(words)
        || words.iter().any(|word| word.kind == Kind::Quoted)
        || rest
            .first()
            .is_some_and(|word| word.number().is_some() || word.is_any("it|that|them|those|these|number|me"))
        || rest.last().is_some_and(|word| word.is_any("done|complete|completed|finished|off|one|ones"))
        || words
            .first()
            .is_some_and(|word| word.is_any("mark|rename|reschedule|postpone|undelete|undo|google"))
        || begins_any(words, patterns("shows that tasks are meant")).is_some()
}

/// "delete task 3 and the milk one": a second object for a verb that is not said again.
fn joins_object(before: &[Word], after: &[Word]) -> bool {
    let left = stripped(before);
    let acts = left.first().is_some_and(|word| {
        word.is_any("delete|remove|complete|finish|restore|close|cancel|erase|mark|check|tick")
    });
    let clause_end = after
        .iter()
        .position(|word| matches!(word.kind, Kind::Sign('.' | ';' | '?' | '!' | '\n' | ',')))
        .unwrap_or(after.len());
    let object = after.get(..clause_end).unwrap_or_default();
    let is_named = begins(object, "the").is_some()
        && object.last().is_some_and(|word| word.is_any("task|one|todo|reminder|item"));
    let left_is_id = left.last().is_some_and(|word| word.number().is_none());
    let is_id = super::target::ids(object).is_some() && begins(object, "task|todo").is_some();
    let quotes = |word: Option<&Word>| word.is_some_and(|word| word.kind == Kind::Quoted);
    acts && (quotes(left.last()) && quotes(object.first()) || is_named || is_id && left_is_id)
}
