//! Wishes to change a task that show by the value: a date, a priority, another title.

use super::change::{VERBS, object, owner, unquoted, update};
use super::{Here, priority, slots, target};
use crate::text::{Kind, Word, begins, begins_any, find_any};
use crate::wish::{Change, Heard, Priority, Strength, Target, When, Wish};

/// A change that shows by its value: a date, a priority, another title.
pub(super) fn valued(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    if begins_any(
        words,
        &["give|show|tell|read|get me|us", "set|put|make up?  a|an", "show|list|display|find"],
    )
    .is_some()
    {
        return None;
    }
    field_of(text, words, here).or_else(|| by_value(text, words, here)).or_else(|| stated(text, words, here))
}

/// "set the due date of task 3 to friday", "change task 3's priority to high".
fn field_of(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let verb = begins(words, VERBS).or_else(|| begins(words, "add|give|assign|extend"))?;
    let rest = words.get(verb..)?;
    let due = find_any(rest, &["due date", "deadline", "date", "due"]);
    let priority = find_any(rest, &["priority", "prio"]);
    let (place, is_due) = match (due, priority) {
        (Some(due), None) => (due, true),
        (None, Some(priority)) => (priority, false),
        _ => return None,
    };
    let before = rest.get(..place.start)?;
    let after = rest.get(place.end..)?;
    if begins(words, "add").is_some() && begins(before, "the|its|a|an|new*").unwrap_or(0) < before.len() {
        return None;
    }
    let before = before.get(
        ..before.len()
            - usize::from(before.len() > 1 && before.last().is_some_and(|word| word.is_any("a|an|the|its"))),
    )?;
    let before_bare = before.get(begins(before, "the|its|a|an|new*").unwrap_or(0)..)?;
    let value = |words: &[Word]| -> Option<Change> {
        match is_due {
            true => slots::date_alone(text, words, here)
                .map(|due| Change { due: Some(Some(due)), ..Change::default() }),
            false => priority::alone(words)
                .map(|priority| Change { priority: Some(priority), ..Change::default() }),
        }
    };
    // "the due date of task 3 to friday", "a due date of friday to task 3"
    if before_bare.is_empty() {
        if after.is_empty() {
            return update(Target::It, Change::default());
        }
        let joint = begins(after, "of|for|on|to|from|in")?;
        let tail = after.get(joint..)?;
        for (at, word) in tail.iter().enumerate().rev() {
            if word.is_any("to|as|until|for|on|at|from|is|be|by|into") || word.kind == Kind::Sign(':') {
                let (left, right) = (tail.get(..at)?, tail.get(at + 1..)?);
                if let Some(change) = value(right) {
                    return update(object(text, left, here), change);
                }
                if let Some(change) = value(left) {
                    return update(object(text, right, here), change);
                }
            }
        }
        if let Some(change) = value(tail) {
            return update(Target::It, change);
        }
        let what = object(text, tail, here);
        return update(what, Change::default());
    }
    // "task 3's priority to high", "task 3 priority high"; "high priority" is a value, not a field.
    if value(before_bare).is_some() {
        return None;
    }
    let change = value(after.get(begins(after, "to|as|is|at|for|of|:|be").unwrap_or(0)..)?)?;
    update(owner(text, before, here)?, change)
}

/// "make task 3 urgent", "move the report to friday", "change task 3 to high priority".
fn by_value(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    // "set up a meeting" makes something new.
    if begins(words, "set up a|an|the|another").is_some() && !target::speaks_of_tasks(words) {
        return None;
    }
    let verb = begins(words, &format!("{VERBS} me? off|back|up?"))?;
    let rest = target::trimmed(words.get(verb..)?);
    // "change task 3 to call Anna tonight": behind the first "to" stands one value, or a title.
    let says_to = begins(words, "change|update|edit|modify|alter").is_some();
    let first_to = rest.iter().position(|word| word.is("to")).filter(|_| says_to);
    for joint in 1..=rest.len() {
        if first_to.is_some_and(|to| joint > to + 1) {
            break;
        }
        let (left, right) = (rest.get(..joint)?, rest.get(joint..)?);
        let value = right.get(
            begins_any(
                right,
                &["and|so|that|it|is|to|as|with|for|until|till|be|due|at|of|from|on|by|a|have|has*"],
            )
            .unwrap_or(0)..,
        )?;
        if value.is_empty() {
            continue;
        }
        if let Some(change) = values(text, value, here) {
            let left = left.get(
                ..left
                    .iter()
                    .rposition(|word| {
                        !word.is_any("to|as|with|for|until|till|due|and|is|on|by|at|from|so|its|be")
                            && !word.is_sign()
                    })
                    .map_or(0, |at| at + 1),
            )?;
            let found = match target::read(text, left, here) {
                Target::Missing => Target::It,
                found => found,
            };
            if begins(words, "schedule").is_some()
                && !matches!(found, Target::Ids(_) | Target::It)
                && !target::speaks_of_tasks(left)
            {
                return None;
            }
            let is_marked = target::speaks_of_tasks(left)
                || !matches!(found, Target::Words(_))
                || change.priority.is_some()
                || begins(words, "reschedule|postpone|delay|defer").is_some();
            let strength = if is_marked { Strength::Strong } else { Strength::Weak };
            return Some(Heard { wish: Wish::Update(found, change), strength });
        }
    }
    // Only the target is said, or a new title behind "to".
    let changes = begins(words, "change|update|edit|modify|alter|amend|revise|reschedule|postpone|adjust")?;
    let rest = target::trimmed(words.get(changes..)?);
    if let Some(joint) =
        find_any(rest, &["to|into"]).filter(|place| place.start > 0 && place.end < rest.len())
    {
        let found = object(text, rest.get(..joint.start)?, here);
        let title = unquoted(text, rest.get(joint.end..)?);
        let is_title =
            begins(words, "change|update|edit|modify|alter").is_some() && !is_status(rest.get(joint.end..)?);
        let is_marked = rest.get(..joint.start)?.iter().any(|word| word.kind == Kind::Quoted)
            || target::speaks_of_tasks(rest.get(..joint.start)?)
            || matches!(found, Target::It | Target::Ids(_));
        if is_title && is_marked {
            let title = slots::capital(&title);
            return update(found, Change { title: Some(title), ..Change::default() });
        }
        return None;
    }
    let found = match target::read(text, rest, here) {
        Target::All(_) => return None,
        found => found,
    };
    let strength = if target::speaks_of_tasks(rest) || matches!(found, Target::Ids(_) | Target::It) {
        Strength::Strong
    } else {
        Strength::Hint
    };
    (found != Target::Missing || rest.is_empty() || target::speaks_of_tasks(rest))
        .then_some(Heard { wish: Wish::Update(found, Change::default()), strength })
}

fn is_status(words: &[Word]) -> bool {
    begins(words, "done|complete|completed|finished|pending|open|incomplete|not|undone|closed").is_some()
}

/// A priority, a date, or both, and nothing else.
fn values(text: &str, value: &[Word], here: &Here<'_>) -> Option<Change> {
    if let Some(priority) = priority::alone(value) {
        return Some(Change { priority: Some(priority), ..Change::default() });
    }
    if let Some(due) = slots::date_alone(text, value, here) {
        return Some(Change { due: Some(Some(due)), ..Change::default() });
    }
    let joint = find_any(value, &["and", "with"])
        .or_else(|| value.iter().position(|word| word.kind == Kind::Sign(',')).map(|at| at..at + 1))?;
    let (first, second) = (value.get(..joint.start)?, value.get(joint.end..)?);
    let second = second.get(begins(second, "due|make|set|it|is|move|to|for*").unwrap_or(0)..)?;
    let both = |a: &[Word], b: &[Word]| -> Option<(Priority, When)> {
        Some((priority::alone(a)?, slots::date_alone(text, b, here)?))
    };
    let (priority, due) = both(first, second).or_else(|| both(second, first))?;
    Some(Change { priority: Some(priority), due: Some(Some(due)), ..Change::default() })
}

/// "task 3 should be high priority", "task 3 is due friday", "the report is urgent", "make it friday".
fn stated(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let joint =
        find_any(words, &["should|must|needs|has|ought to? be", "is|are|becomes now?", "isnt", "due"])
            .filter(|place| place.start > 0)?;
    if words.first()?.is_any(super::clauses::VERBS) {
        return None;
    }
    let (left, right) = (words.get(..joint.start)?, words.get(joint.end..)?);
    let right = right.get(begins(right, "now|due|actually|really|very|on|by*").unwrap_or(0)..)?;
    let change = values(text, right, here)?;
    let found = target::read(text, left, here);
    if matches!(found, Target::Missing | Target::All(_)) {
        return None;
    }
    let is_marked = target::speaks_of_tasks(left) || matches!(found, Target::Ids(_));
    let strength = match (is_marked, &found) {
        (true, _) => Strength::Strong,
        (_, Target::It) if begins(words, "it|that|this").is_some() => Strength::Strong,
        (false, Target::Words(_)) => Strength::Hint,
        _ => return None,
    };
    Some(Heard { wish: Wish::Update(found, change), strength })
}
