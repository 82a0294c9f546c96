//! What is said without a wish for a tool, and what must not be taken for one.

use super::courtesy::{stripped, unsigned};
use super::target::speaks_of_tasks;
use crate::text::{Word, begins, find_any};
use crate::wish::SmallTalk;
use crate::words::patterns;

/// SmallTalk, if the clause is nothing else.
pub(super) fn whole(words: &[Word]) -> Option<SmallTalk> {
    let words = unsigned(words);
    let length = words.len();
    if words.is_empty() {
        return None;
    }
    let all = |pattern: &str| {
        begins(words, pattern)
            .is_some_and(|taken| words.get(taken..).is_some_and(|rest| rest.iter().all(Word::is_sign)))
    };
    let politely = stripped(words);
    let asked = |patterns: &[&str]| {
        patterns.iter().any(|pattern| {
            begins(politely, pattern).is_some_and(|taken| taken == politely.len()) && !politely.is_empty()
        })
    };
    if asked(patterns("help")) || all("help|?") || all("/help") {
        return Some(SmallTalk::Help);
    }
    // Whole messages, or whole clauses, that are talk.
    let talks = [
        (SmallTalk::Cancel, patterns("cancels")),
        (SmallTalk::Yes, patterns("agrees")),
        (SmallTalk::No, patterns("declines")),
        (SmallTalk::Greeting, patterns("greets")),
        (SmallTalk::HowAreYou, patterns("asks how one is")),
        (SmallTalk::Thanks, patterns("thanks")),
        (SmallTalk::Farewell, patterns("takes leave")),
    ];
    if let Some((talk, _)) = talks.iter().find(|(_, patterns)| patterns.iter().any(|pattern| all(pattern))) {
        return Some(sobered(*talk, words));
    }
    if asked(patterns("identity")) && length <= 14 && !speaks_of_tasks(words) {
        let answers = find_any(words, &["you|u|your|yourself", "this|i|we|there"]).is_some();
        return answers.then_some(SmallTalk::Identity);
    }
    if asked(patterns("asks for the date or the time"))
        && find_any(words, &["day|date|time|month|year|today"]).is_some()
    {
        return Some(SmallTalk::Today);
    }
    None
}

/// A message of yes-words must hold one that says it.
fn sobered(talk: SmallTalk, words: &[Word]) -> SmallTalk {
    let has = |list: &str| words.iter().any(|word| word.is_any(list));
    match talk {
        SmallTalk::Yes
            if has(
                "yes|y|yep|yeah|yup|sure|ok|okay|confirm|confirmed|absolutely|definitely|correct|affirmative|exactly|indeed|right",
            ) =>
        {
            SmallTalk::Yes
        }
        SmallTalk::Yes if has("do|go|course|means|fine|good|great|perfect") => SmallTalk::Yes,
        SmallTalk::No if has("no|n|nope|nah|dont|negative") => SmallTalk::No,
        SmallTalk::No if has("thanks|thank") => SmallTalk::Thanks,
        SmallTalk::Thanks if has("thanks|thank|thx|ty|cheers|appreciate|appreciated") => SmallTalk::Thanks,
        SmallTalk::Thanks | SmallTalk::Yes | SmallTalk::No => SmallTalk::Remark,
        SmallTalk::Farewell if has("bye|goodbye|night|ciao|farewell|cya|see|ttyl|later|around") => {
            SmallTalk::Farewell
        }
        SmallTalk::Farewell => SmallTalk::Remark,
        other => other,
    }
}
