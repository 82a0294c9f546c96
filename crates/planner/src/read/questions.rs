//! Questions about tasks: what there is, whether it is done, what was done before. They look, and change nothing.

use super::look::{PLURALS, listed, strong, topic, trimmed_keep_list};
use super::target::{speaks_of_tasks, trimmed};
use super::{Here, filter, target};
use crate::text::{Word, begins, begins_any, ends, find_any};
use crate::wish::{Filter, Heard, Priority, Strength, Target, Wish};
use crate::words::patterns;

/// Questions: they look, and never change anything.
pub(super) fn question(text: &str, words: &[Word], here: &Here<'_>, asks: bool) -> Option<Heard> {
    if begins_any(words, patterns("asks for words")).is_some() {
        return None;
    }
    about_one(text, words, here)
        .or_else(|| past(text, words, asks))
        .or_else(|| state(text, words, here, asks))
        .or_else(|| is_there(text, words, here))
        .or_else(|| what_is_there(text, words, here))
}

/// "what is task 7", "tell me about task 7", "when is the report due", "task 7?".
fn about_one(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    if let Some(ids) = target::ids(trimmed(words)).filter(|_| {
        begins(words, "task|todo|number|reminder").is_some()
            || words.first().is_some_and(Word::is_hash_number)
    }) {
        return (ids.len() == 1).then(|| strong(Wish::Show(Target::Ids(ids)))).flatten();
    }
    let looks = begins_any(
        words,
        &[
            "show|read|view|open|display|fetch|tell|see|print|describe|what|whats|when|whens|how|is|are|was|has|have|details|info|status|more|which|did|does|do|pull|bring",
        ],
    );
    let looks = looks.or(begins(words, "get|give me|us"));
    if let (Some(_), Some(id)) = (looks, one_id(words)) {
        return strong(Wish::Show(Target::Ids(vec![id])));
    }
    // "what's its priority?"
    let field = "priority|status|due|date|deadline|description|title|notes|details";
    if begins(words, &format!("what|whats|whens|when is? its|the {field}*")).is_some_and(|length| {
        length == trimmed(words).len()
            && length > 1
            && words.get(length - 1).is_some_and(|word| word.is_any(field))
    }) {
        return strong(Wish::Show(Target::It));
    }
    let lead = patterns("asks about one task by its field");
    let length = begins_any(words, lead)?;
    let rest = trimmed(words.get(length..)?);
    let rest = rest.get(
        ..ends(rest, "due|again|say|says|look|like|looking|going|now|about*")
            .filter(|start| *start > 0)
            .unwrap_or(rest.len()),
    )?;
    // "what is a task force" asks for words.
    if begins(rest, "a|an|difference|between|did|do|have|will").is_some()
        || begins(words, "how do|does|what does").is_some()
    {
        return None;
    }
    let when = begins(words, "when|whens").is_some() && ends(trimmed(words), "due").is_some();
    let field = find_any(
        words.get(..length)?,
        &["status|priority|due|date|deadline|description|title|details|note|notes"],
    )
    .is_some();
    let one =
        rest.iter().any(|word| word.is_any("task|todo|reminder")) || rest.iter().any(Word::is_hash_number);
    let found = target::read(text, rest, here);
    match found {
        Target::Ids(ref ids)
            if ids.len() == 1 && (one || field || when || begins(rest, "number|no|nr|task|id").is_some()) =>
        {
            strong(Wish::Show(found))
        }
        Target::Words(_) if when || one && !rest.iter().any(|word| word.is_any(PLURALS)) => Some(Heard {
            wish: Wish::Show(found),
            strength: if one || when { Strength::Strong } else { Strength::Weak },
        }),
        Target::Places(_) | Target::Last if one || rest.iter().any(|word| word.is("one")) => {
            strong(Wish::Show(found))
        }
        Target::It if when || field => strong(Wish::Show(found)),
        _ => None,
    }
}

/// The one number that is named as a task's; none if there are several, or if a list or a change is meant.
fn one_id(words: &[Word]) -> Option<i64> {
    let mut ids: Vec<i64> = words
        .windows(2)
        .filter(|pair| pair[0].is_any("task|todo|reminder|number"))
        .filter_map(|pair| pair[1].number())
        .collect();
    ids.extend(words.iter().filter(|word| word.is_hash_number()).filter_map(Word::number));
    ids.dedup();
    let many = words.iter().any(|word| word.is_any("tasks|todos|back|restore"));
    match ids.as_slice() {
        [id] if !many => Some(*id),
        _ => None,
    }
}

/// "did I add milk?", "have I finished the report?": looked up, never done.
fn past(text: &str, words: &[Word], asks: bool) -> Option<Heard> {
    let verb = begins_any(words, patterns("asks about the past"))?;
    let rest = words.get(verb..)?;
    if begins(words, "was|were").is_some() && !asks && !speaks_of_tasks(words) {
        return None;
    }
    let gone = find_any(words, &["deleted|delete|removed|remove|restored|restore"]).is_some();
    let rest = rest.get(..ends(trimmed(rest), "yet|already|done|finished|completed|deleted|removed|added|today|yesterday|before|down|up|from|to|as|on|my|the|list|a|task*").filter(|start| *start > 0).unwrap_or(rest.len()))?;
    let name = match target::read(text, rest, &here_never()) {
        Target::Words(name) => name,
        Target::Ids(ids) => return strong(Wish::Show(Target::Ids(ids))),
        Target::It | Target::Them => return strong(Wish::Show(Target::It)),
        Target::All(filter) => return strong(Wish::List(filter)),
        _ => return None,
    };
    let strength = if speaks_of_tasks(words)
        || gone
        || find_any(
            words,
            &["add|added|noted|complete|completed|finished|finish|created|put|mark|marked|wrote"],
        )
        .is_some()
    {
        Strength::Strong
    } else {
        Strength::Weak
    };
    Some(Heard { wish: Wish::Find(name), strength })
}

/// For readings in which no date can stand.
fn here_never() -> Here<'static> {
    static UTC: jiff::tz::TimeZone = jiff::tz::TimeZone::UTC;
    Here { now: jiff::Timestamp::UNIX_EPOCH, zone: &UTC }
}

/// "is task 5 done?", "is the report finished yet?", "is milk on my list?".
fn state(text: &str, words: &[Word], here: &Here<'_>, asks: bool) -> Option<Heard> {
    let verb = begins(words, "is|are|was|isnt|arent|has|have|hasnt")?;
    let rest = trimmed_keep_list(words.get(verb..)?);
    let end = ["already|still|all|yet|not|been* done|finished|completed|complete|open|pending|overdue|due|late yet|already|today|tomorrow?", "already|still? on|in my|the todo|task? list|tasks|todos already|yet?", "still|already there|listed|deleted|gone"].iter().find_map(|pattern| ends(rest, pattern))?;
    let left = rest.get(..end)?;
    if left.is_empty() || begins(left, "there|you|it").is_some_and(|length| length == left.len()) && !asks {
        return None;
    }
    match target::read(text, left, here) {
        found @ (Target::Ids(_) | Target::It | Target::Places(_) | Target::Last) => strong(Wish::Show(found)),
        Target::Words(name) if begins(left, "there|anything|any|everything").is_none() => {
            let sure = speaks_of_tasks(words);
            Some(Heard {
                wish: Wish::Find(name),
                strength: if sure { Strength::Strong } else { Strength::Weak },
            })
        }
        _ => None,
    }
}

/// "do I have a task about the vet", "is there anything on my list about rent", "which task mentions Leo".
fn is_there(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let lead = patterns("asks whether there is one");
    let length = begins_any(words, lead)?;
    let rest = words.get(length..)?;
    let joint = find_any(rest, patterns("before what a task is about"));
    let where_ = begins(words, "wheres|where").is_some();
    let rest = match joint {
        // "anything on my list about rent"
        Some(place)
            if begins_any(
                rest.get(place.start..)?,
                &["on|in|to my|the|our todo|task? list|lists|todos|tasks"],
            )
            .is_some() =>
        {
            let skip = begins_any(
                rest.get(place.start..)?,
                &["on|in|to my|the|our todo|task? list|lists|todos|tasks"],
            )?;
            let behind = rest.get(place.start + skip..)?;
            let about = begins_any(behind, &["about|regarding|concerning|for|with|to|called"])?;
            behind.get(about..)?
        }
        Some(place) if place.start <= 2 || !where_ => rest.get(place.end..)?,
        _ if where_ && speaks_of_tasks(rest) => rest,
        _ => return None,
    };
    if begins_any(rest, &["do", "be done", "today|tomorrow"]).is_some() || target::trimmed(rest).is_empty() {
        return None;
    }
    // "tasks due today", "tasks for tomorrow" are lists.
    let filter = filter::read(text, rest, here);
    if filter.due.is_some() || filter.priority.is_some() && rest.len() <= 3 {
        return None;
    }
    match target::read(text, rest, here) {
        Target::Words(name) => strong(Wish::Find(name)),
        Target::Ids(ids) => strong(Wish::Show(Target::Ids(ids))),
        _ => None,
    }
}

/// "what do I have to do today", "what's on my list", "how many tasks are left".
fn what_is_there(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let all = trimmed(words);
    if begins_any(all, patterns("asks what matters most")) == Some(all.len()) {
        let filter = Filter { priority: Some(Priority::High), ..Filter::default() };
        return strong(Wish::List(filter));
    }
    if begins_any(all, patterns("asks how the days look")) == Some(all.len()) {
        return strong(Wish::List(Filter { done: Some(false), ..filter::read(text, words, here) }));
    }
    let lists = patterns("asks what there is");
    begins_any(words, lists)?;
    let about_tasks = words.iter().any(|word| word.is_any(PLURALS))
        || find_any(words, patterns("asks about tasks")).is_some();
    let counts = begins(words, "how many").is_some()
        && filter::read(text, words, here).done.is_some()
        && words.len() <= 5;
    if !about_tasks && !counts {
        return None;
    }
    // "what are tasks", "what is a todo list" ask for words.
    if begins_any(words, patterns("asks for a meaning")).is_some() {
        return None;
    }
    if let Some(about) = topic(text, words, here) {
        return Some(about);
    }
    // "what's left" may be asked of other things than tasks.
    let marked = words.iter().any(|word| word.is_any("i|my|me|tasks|todos|reminders|todo|overdue|deadlines"));
    let strength = if marked { Strength::Strong } else { Strength::Weak };
    Some(Heard { wish: Wish::List(listed(text, words, here)), strength })
}
