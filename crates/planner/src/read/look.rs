//! Wishes to see something: lists, one task, a search among tasks, a search of the web.

use super::target::{TASK_NOUNS, trimmed};
use super::{Here, filter, target};
use crate::text::{Kind, Word, begins, begins_any, ends, find, find_any, raw};
use crate::wish::{Filter, Heard, Strength, Target, Wish};
use crate::words::patterns;

pub(super) const PLURALS: &str =
    "tasks|todos|reminders|items|chores|list|lists|agenda|plate|deadlines|entries";

pub(super) fn strong(wish: Wish) -> Option<Heard> {
    Some(Heard { wish, strength: Strength::Strong })
}

/// Signs at the end away, "on my list" kept.
pub(super) fn trimmed_keep_list(words: &[Word]) -> &[Word] {
    let signs = words.iter().rev().take_while(|word| word.is_sign()).count();
    words.get(..words.len() - signs).unwrap_or_default()
}

/// A filter from a question; what is asked about doing is open.
pub(super) fn listed(text: &str, words: &[Word], here: &Here<'_>) -> Filter {
    let mut found = filter::read(text, words, here);
    let to_do = find_any(
        words,
        &["to do|finish|complete|get", "should i do", "next", "due", "left", "do today|tomorrow|next"],
    )
    .is_some();
    let has_done = find_any(
        words,
        &["have|ive|did i? done|completed|finished|complete|finish|accomplish|accomplished|do"],
    )
    .is_some()
        && find_any(words, &["have to", "do i have", "still"]).is_none();
    if has_done {
        found.done = Some(true);
        // When something was done is not kept in its due date.
        found.due = None;
    } else if to_do && found.done.is_none() && found.sort.is_none() {
        found.done = Some(false);
    }
    found
}

/// "tasks about the vet" within a list command.
pub(super) fn topic(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let place = find_any(words, patterns("before what tasks are about")).filter(|place| place.start > 0)?;
    let before = words.get(..place.start)?;
    if !before.iter().any(|word| {
        word.is_any(TASK_NOUNS) || word.is_any("anything|something|everything|one|ones|list|stuff|all")
    }) {
        return None;
    }
    let rest = trimmed(words.get(place.end..)?);
    if filter::read(text, rest, here).due.is_some() {
        return None;
    }
    match target::read(text, rest, here) {
        Target::Words(name) => strong(Wish::Find(name)),
        _ => None,
    }
}

/// Commands: "show my tasks", "open task 3", "find the milk task", "search the web for …".
pub(super) fn command(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    web(text, words)
        .or_else(|| searched(text, words, here))
        .or_else(|| shown(text, words, here))
        .or_else(|| named_list(text, words, here))
}

fn web(text: &str, words: &[Word]) -> Option<Heard> {
    let said = |rest: &[Word]| {
        let rest = trimmed(
            rest.get(begins(rest, "for|about|on|up|me|out|whether|if*").unwrap_or(0)..).unwrap_or_default(),
        );
        let query = match rest {
            [one] if one.kind == Kind::Quoted => text.get(one.inner.clone()).unwrap_or_default(),
            _ => raw(text, rest),
        };
        let query = query.trim();
        let vague = ["it", "that", "this", "something", "them", "these", "anything", "stuff"]
            .contains(&query.to_lowercase().as_str());
        (!query.is_empty() && !vague).then(|| query.to_owned())
    };
    let direct = begins_any(words, patterns("searches the web"));
    if let Some(length) = direct {
        return strong(Wish::Search(said(words.get(length..)?)));
    }
    let place = patterns("on the web").iter().find_map(|pattern| ends(trimmed(words), pattern))?;
    let length = begins_any(words, &["search|look|find|check|get|see|read me? up|for|out|about|into*"])?;
    if length > place {
        return strong(Wish::Search(None));
    }
    strong(Wish::Search(said(words.get(length..place)?)))
}

/// "find the milk task", "search my tasks for rent", "look for rent in my list".
fn searched(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let verb = begins_any(words, patterns("searches tasks"))?;
    let rest = words.get(verb..)?;
    let in_tasks = [
        "in|through|among|within|for? my|the|our|all|of* todo|task|tasks? list|tasks|todos|reminders|lists|items",
    ];
    let rest = rest.get(begins(rest, "for|out|up*").unwrap_or(0)..)?;
    // "search my tasks for rent"
    if let Some(lead) =
        begins(rest, "in|through|among|within|my|the|our|all|of* todo|task? list|tasks|todos|reminders|lists")
    {
        let behind = rest.get(lead..)?;
        let joint = begins_any(
            behind,
            &[
                "for|about|with|whether|to|if|mentioning|containing|that* anything|something|stuff|tasks|one|i|have|has|mention|mentions? about|with|for? the?",
            ],
        );
        if let Some(joint) = joint {
            return match target::read(text, behind.get(joint..)?, here) {
                Target::Words(name) => strong(Wish::Find(name)),
                _ => None,
            };
        }
        if begins(words, "look|check|search").is_some() && trimmed(behind).is_empty() {
            return strong(Wish::List(Filter::default()));
        }
    }
    if let Some(filter) = filter::all(text, rest, here)
        .filter(|filter| filter.text.is_none() && find(words, "find|show|search|locate").is_some())
    {
        return strong(Wish::List(filter));
    }
    let end = in_tasks.iter().find_map(|pattern| ends(trimmed_keep_list(rest), pattern));
    if let Some(end) = end.filter(|end| *end > 0) {
        let what = rest.get(..end)?;
        let what = what.get(begins_any(what, &["anything|something|stuff|everything|whatever|all|the one|ones? about|regarding|with|for|on|related|to*"]).unwrap_or(0)..)?;
        if let Target::Words(name) = target::read(text, what, here) {
            return strong(Wish::Find(name));
        }
    }
    if let Some(found) = topic(text, words, here) {
        return Some(found);
    }
    let sure = rest.iter().any(|word| word.is_any("task|todo|reminder|tasks|todos|reminders"));
    match target::read(text, rest, here) {
        Target::Words(name) => Some(Heard {
            wish: Wish::Find(name),
            strength: if sure { Strength::Strong } else { Strength::Hint },
        }),
        found @ Target::Ids(_) if sure => strong(Wish::Show(found)),
        _ => None,
    }
}

/// "show my tasks", "list everything", "read task 3", "show me the second one".
fn shown(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let verb = begins_any(
        words,
        &[
            "show|list|display|view|see|print|give|get|fetch|read|pull|bring|check|open|review|tell|look|know|hear|present|output|enumerate|recap|summarize|summarise|count|have|go me|us|out|up|over|through|at|again|let|only|just|what|loud|a|list|of|quick*",
        ],
    )?;
    let rest = words.get(verb..)?;
    let heads_list = begins(words, "list").is_some()
        || words.get(..verb)?.iter().any(|word| word.is("list"))
        || words.get(..verb)?.iter().any(|word| word.is("what"));
    let bare = trimmed(rest);
    if bare.is_empty() {
        return (begins(words, "list|show|recap|summarize").is_some() && words.len() <= 3
            || heads_list && words.len() <= 4)
            .then(|| strong(Wish::List(Filter::default())))
            .flatten();
    }
    let sees = begins(words, "show|list|display|view|see|print|read|open|review|recap|summarize|summarise|fetch|check|get|pull|bring").is_some();
    match target::read(text, rest, here) {
        found @ Target::Ids(_)
            if begins(rest, "task|todo|number|reminder|item|the|my|no|nr|id|#").is_some()
                || rest.iter().any(Word::is_hash_number)
                || begins(words, "show|open|display|read|view").is_some() =>
        {
            return strong(Wish::Show(found));
        }
        found @ (Target::Places(_) | Target::Last) if sees => return strong(Wish::Show(found)),
        Target::All(mut filter) => {
            filter.counts |= begins(words, "count").is_some();
            if let Some(words) = filter.text {
                return strong(Wish::Find(words));
            }
            let tasks = rest.iter().any(|word| word.is_any(PLURALS))
                || sees
                    && rest.iter().all(|word| {
                        word.is_any(
                            "everything|all|it|done|completed|pending|open|overdue|due|my|the|today|tomorrow",
                        )
                    });
            return Some(Heard {
                wish: Wish::List(filter),
                strength: if tasks { Strength::Strong } else { Strength::Weak },
            });
        }
        _ => {}
    }
    if let Some(found) = topic(text, words, here) {
        return Some(found);
    }
    let plural = rest.iter().any(|word| word.is_any(PLURALS));
    let one = rest.iter().any(|word| word.is_any("task|todo|reminder")) && !plural;
    if plural || find_any(rest, patterns("speaks of what there is to do")).is_some() && !one {
        let marked = rest.iter().any(|word| {
            word.is_any("i|my|me|tasks|todos|reminders|todo|overdue|pending|completed|unfinished")
        });
        let strength = if marked { Strength::Strong } else { Strength::Weak };
        return Some(Heard { wish: Wish::List(listed(text, rest, here)), strength });
    }
    match target::read(text, rest, here) {
        found @ Target::Words(_) if one && sees => strong(Wish::Show(found)),
        _ => None,
    }
}

/// "my tasks", "pending tasks", "todo list please", "overdue?".
fn named_list(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let words = trimmed_keep_list(words);
    let is_command = words.len() > 1 && begins(words, "list").is_some();
    if words.len() > 7 || is_command || begins(words, "everything|all") == Some(words.len()) {
        return None;
    }
    if begins_any(words, patterns("names a list")) == Some(words.len()) {
        return strong(Wish::List(listed(text, words, here)));
    }
    let filter = filter::all(text, words, here)?;
    if let Some(name) = filter.text {
        return strong(Wish::Find(name));
    }
    strong(Wish::List(filter))
}
