//! Wishes to see something: lists, one task, a search among tasks, a search of the web.

use super::target::{TASK_NOUNS, speaks_of_tasks, trimmed};
use super::{Here, filter, target};
use crate::planner::text::{Kind, Word, begins, begins_any, ends, find, find_any, raw};
use crate::planner::wish::{Filter, Heard, Strength, Target, Wish};

const PLURALS: &[&str] = &[
    "tasks",
    "todos",
    "reminders",
    "items",
    "chores",
    "list",
    "lists",
    "agenda",
    "plate",
    "deadlines",
    "entries",
];

fn strong(wish: Wish) -> Option<Heard> {
    Some(Heard { wish, strength: Strength::Strong })
}

/// Questions: they look, and never change anything.
pub(super) fn question(text: &str, words: &[Word], here: &Here<'_>, asks: bool) -> Option<Heard> {
    if begins_any(
        words,
        &[
            "how do|does|did|can|to|should|would",
            "what|whats is|are? the best|difference|point|meaning|way|purpose|definition|idea",
            "what|whats is|are? a|an",
        ],
    )
    .is_some()
    {
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
            "show|read|view|open|display|give|fetch|tell|see|print|describe|what|whats|when|whens|how|is|are|was|has|have|details|info|status|more|which|did|does|do|pull|bring",
        ],
    );
    let looks = looks.or(begins(words, "get me"));
    if let (Some(_), Some(id)) = (looks, one_id(words)) {
        return strong(Wish::Show(Target::Ids(vec![id])));
    }
    let lead = [
        "tell me|us more|all|something? about|of",
        "what|whats is|was|are? the|its? status|priority|due|date|deadline|description|title|details|state|note|notes* of|for|on|with|in|about",
        "when|whens is|was|are?",
        "how|hows is? important|urgent? is|are?",
        "what|whats is|was|does? in|about|up|with*",
        "details|info|information|more|status about|on|of|for",
        "describe|explain",
        "how is|are|does",
    ];
    let length = begins_any(words, &lead)?;
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
    let one = rest.iter().any(|word| word.is_any(&["task", "todo", "reminder"]))
        || rest.iter().any(Word::is_hash_number);
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
        .filter(|pair| pair[0].is_any(&["task", "todo", "reminder", "number"]))
        .filter_map(|pair| pair[1].number())
        .collect();
    ids.extend(words.iter().filter(|word| word.is_hash_number()).filter_map(Word::number));
    ids.dedup();
    let many = words.iter().any(|word| word.is_any(&["tasks", "todos", "back", "restore"]));
    match ids.as_slice() {
        [id] if !many => Some(*id),
        _ => None,
    }
}

/// "did I add milk?", "have I finished the report?": looked up, never done.
fn past(text: &str, words: &[Word], asks: bool) -> Option<Heard> {
    let verb = begins_any(
        words,
        &[
            "did|have|has|had|didnt|havent i|we|you|it|somebody|anyone already|just|ever|also|not|yet|really|even* add|added|create|created|put|note|noted|write|wrote|written|save|saved|make|made|delete|deleted|remove|removed|complete|completed|finish|finished|do|done|mark|marked|tick|ticked|forget|forgotten|buy|bought|call|called|send|sent|pay|paid|book|booked|set|schedule|scheduled|plan|planned|restore|restored|update|updated|change|changed|mention|mentioned down|up|off|a|the|already*",
            "when|why|where|how did|have|was|were i|you|we|it? add|added|create|created|put|delete|deleted|complete|completed|finish|finished|remove|removed|marked|mark?",
            "was|were",
        ],
    )?;
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

/// Signs at the end away, "on my list" kept.
fn trimmed_keep_list(words: &[Word]) -> &[Word] {
    let signs = words.iter().rev().take_while(|word| word.is_sign()).count();
    words.get(..words.len() - signs).unwrap_or_default()
}

/// "do I have a task about the vet", "is there anything on my list about rent", "which task mentions Leo".
fn is_there(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let lead = [
        "do i|we already|still|even* have|got a|an|any|some|the* task|todo|reminder|item|tasks|todos|reminders|items|entry|anything|something",
        "have|do i|we already* got|have a|an|any|some* task|todo|reminder|item|tasks|todos|reminders|anything|something",
        "is|are|was|were there already|still* a|an|any|some* task|todo|reminder|item|tasks|todos|reminders|items|entry|anything|something",
        "which|what task|todo|reminder|item|one is|was|has|had?",
        "any|got any? tasks|todos|reminders|task|todo|anything",
        "wheres",
        "where is|was|are",
        "where did i put",
    ];
    let length = begins_any(words, &lead)?;
    let rest = words.get(length..)?;
    let joint = find_any(
        rest,
        &[
            "about|regarding|concerning|mentioning|mentions|mentioned|mention|containing|contains|named|called|titled|related",
            "for|to|with|on|has|is|of",
        ],
    );
    let where_ = begins(words, "wheres|where").is_some();
    let list = ["on|in my|the list|todos|tasks|todo"];
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
    let _ = list;
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
    let lists = [
        "what|whats|which is|are|was|were|do|does|did|have|has|s|am|should|all|exactly|else|still|currently* i|we|my|the|there|on|in|left|pending|due|next|outstanding|overdue|open|up|for|me|supposed",
        "how many",
        "do|dont i|we still|really* have|need|got any|anything|something|a|lot|much|more|many|to|do*",
        "have i|we got?",
        "is|are there any|anything|something|more|still*",
        "any|anything|got|something",
        "whens|when is my next",
        "am i",
        "who",
        "what needs|remains|tasks|todos|reminders|items|urgent|important",
        "which tasks|todos|reminders|items|ones|of",
    ];
    begins_any(words, &lists)?;
    let about_tasks = words.iter().any(|word| word.is_any(PLURALS))
        || find_any(
            words,
            &[
                "to do",
                "i do|finish|complete",
                "is|whats|anything|still|things left|pending|outstanding|overdue",
                "do today|tomorrow|next|first|now",
                "i still|already|have|did* done|finished|completed|complete|finish",
                "due today|tomorrow|this|next|on|by|soon|?",
                "my next|day|week|plan|schedule|priorities|backlog",
                "needs doing|finishing|done",
                "left to",
                "have i done|completed|finished|to",
                "did i do|complete|finish|get|plan",
            ],
        )
        .is_some();
    if !about_tasks {
        return None;
    }
    // "what are tasks", "what is a todo list" ask for words.
    if begins_any(
        words,
        &[
            "what|whats is|are? a|an",
            "what are tasks|todos",
            "what makes|does|happens|would|will|if|about",
            "how do|can|should|does|to|would",
        ],
    )
    .is_some()
    {
        return None;
    }
    if let Some(about) = topic(text, words, here) {
        return Some(about);
    }
    // "what's left" may be asked of other things than tasks.
    let marked = words.iter().any(|word| {
        word.is_any(&["i", "my", "me", "tasks", "todos", "reminders", "todo", "overdue", "deadlines"])
    });
    let strength = if marked { Strength::Strong } else { Strength::Weak };
    Some(Heard { wish: Wish::List(listed(text, words, here)), strength })
}

/// A filter from a question; what is asked about doing is open.
fn listed(text: &str, words: &[Word], here: &Here<'_>) -> Filter {
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
fn topic(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let place = find_any(
        words,
        &[
            "about|regarding|concerning|mentioning|containing",
            "related to",
            "that|which mention|mentions|contain|contains|include|includes",
            "with the word|words|text",
            "for the",
            "named|called|titled",
        ],
    )
    .filter(|place| place.start > 0)?;
    let before = words.get(..place.start)?;
    if !before.iter().any(|word| {
        word.is_any(TASK_NOUNS)
            || word.is_any(&["anything", "something", "everything", "one", "ones", "list", "stuff", "all"])
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
    let direct = begins_any(
        words,
        &[
            "search|look|browse|check|query|scour|surf on|in|up|through? the? web|internet|net|online|google|bing|duckduckgo|wikipedia|youtube for|about|up?",
            "google|bing",
            "do|run|perform|make a|an|another? web|internet|online|google search for|about|on?",
            "web search for?",
            "search online|google for?",
            "use the? web|internet|google to find|search|look|out|up|for*",
        ],
    );
    if let Some(length) = direct {
        return strong(Wish::Search(said(words.get(length..)?)));
    }
    let place = [
        "online|on|in|from|over the? web|internet|net|google",
        "online",
        "on google|wikipedia|youtube|bing|reddit",
    ]
    .iter()
    .find_map(|pattern| ends(trimmed(words), pattern))?;
    let length = begins_any(words, &["search|look|find|check|get|see|read me? up|for|out|about|into*"])?;
    if length > place {
        return strong(Wish::Search(None));
    }
    strong(Wish::Search(said(words.get(length..place)?)))
}

/// "find the milk task", "search my tasks for rent", "look for rent in my list".
fn searched(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let verb = begins_any(
        words,
        &[
            "find|locate|search|seek me|us?",
            "look|looking|im|hunt|check for|looking|through|in|up|into|at*",
            "im looking for",
            "which number is",
        ],
    )?;
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
    let sure =
        rest.iter().any(|word| word.is_any(&["task", "todo", "reminder", "tasks", "todos", "reminders"]));
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
                        word.is_any(&[
                            "everything",
                            "all",
                            "it",
                            "done",
                            "completed",
                            "pending",
                            "open",
                            "overdue",
                            "due",
                            "my",
                            "the",
                            "today",
                            "tomorrow",
                        ])
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
    let one = rest.iter().any(|word| word.is_any(&["task", "todo", "reminder"])) && !plural;
    if plural
        || find_any(
            rest,
            &[
                "todo",
                "to do",
                "things i",
                "what i have|need|must",
                "i have|need to",
                "is|whats left|pending|overdue|due",
                "everything i",
                "overdue|pending|completed|unfinished",
            ],
        )
        .is_some()
            && !one
    {
        let marked = rest.iter().any(|word| {
            word.is_any(&[
                "i",
                "my",
                "me",
                "tasks",
                "todos",
                "reminders",
                "todo",
                "overdue",
                "pending",
                "completed",
                "unfinished",
            ])
        });
        let strength = if marked { Strength::Strong } else { Strength::Weak };
        return Some(Heard { wish: Wish::List(listed(text, rest, here)), strength });
    }
    if one && sees {
        if let found @ Target::Words(_) = target::read(text, rest, here) {
            return strong(Wish::Show(found));
        }
    }
    None
}

/// "my tasks", "pending tasks", "todo list please", "overdue?".
fn named_list(text: &str, words: &[Word], here: &Here<'_>) -> Option<Heard> {
    let words = trimmed_keep_list(words);
    let is_command = words.len() > 1 && begins(words, "list").is_some();
    if words.len() > 7 || is_command || begins(words, "everything|all") == Some(words.len()) {
        return None;
    }
    if begins_any(
        words,
        &[
            "my|the|all|current|full|entire* todo|task? list|tasks|todos|reminders|agenda",
            "tasks|todos|list|reminders",
            "todo list",
            "everything|all due|overdue|pending|open|completed",
            "overdue|pending|completed|unfinished|open|finished",
        ],
    ) == Some(words.len())
    {
        return strong(Wish::List(listed(text, words, here)));
    }
    let filter = filter::all(text, words, here)?;
    if let Some(name) = filter.text {
        return strong(Wish::Find(name));
    }
    strong(Wish::List(filter))
}
