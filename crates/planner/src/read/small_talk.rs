//! What is said without a wish for a tool, and what must not be taken for one.

use super::target::{speaks_of_tasks, trimmed};
use crate::text::{Kind, Word, begins, begins_any, find_any, raw};
use crate::wish::{Heard, SmallTalk, Strength, Wish};
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
    let politely = super::stripped(words);
    let asked = |patterns: &[&str]| {
        patterns.iter().any(|pattern| {
            begins(politely, pattern).is_some_and(|taken| taken == politely.len()) && !politely.is_empty()
        })
    };
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
    if asked(patterns("help")) || all("help|?") {
        return Some(SmallTalk::Help);
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

/// Whether talk counts beside other clauses.
pub(super) fn counts(talk: SmallTalk) -> bool {
    !matches!(
        talk,
        SmallTalk::Greeting
            | SmallTalk::Thanks
            | SmallTalk::Yes
            | SmallTalk::HowAreYou
            | SmallTalk::Remark
            | SmallTalk::Farewell
    )
}

/// Whether talk is worth an answer beside a wish.
pub(super) fn stays(talk: SmallTalk) -> bool {
    matches!(
        talk,
        SmallTalk::Leave
            | SmallTalk::Hypothetical
            | SmallTalk::HowTo
            | SmallTalk::Help
            | SmallTalk::Identity
            | SmallTalk::Cancel
            | SmallTalk::Today
    )
}

/// "ask Anna whether we ship", "ask a human: …", "check with me first".
pub(super) fn ask_human(text: &str, words: &[Word]) -> Option<Heard> {
    let joint = words.iter().position(|word| word.is_any("whether|if|what|which|when|how|why|who|where"));
    if let (Some(_), Some(joint @ 2..=4)) = (begins(words, "ask"), joint)
        && begins(words, "ask me|yourself").is_none()
    {
        let whom = raw(text, words.get(1..joint)?);
        let question = format!("Question for {whom}: {}", raw(text, trimmed(words.get(joint..)?)));
        return Some(Heard { wish: Wish::Ask(Some(sentence(&question))), strength: Strength::Strong });
    }
    let length = begins_any(words, patterns("asks a person"))?;
    let rest = words.get(length..)?;
    let rest = unsigned(rest);
    let rest = trimmed(
        rest.get(
            begins(rest, "the|this|following* question?")
                .filter(|taken| rest.get(*taken).is_some_and(|word| word.kind == Kind::Sign(':')))
                .unwrap_or(0)..,
        )?,
    );
    let question = match rest {
        [one] if one.kind == Kind::Quoted => text.get(one.inner.clone())?.to_owned(),
        _ => raw(text, rest).trim().to_owned(),
    };
    let question = sentence(&question);
    Some(Heard {
        wish: Wish::Ask((!question.is_empty()).then_some(question)),
        strength: if rest.len() > 1 { Strength::Strong } else { Strength::Hint },
    })
}

/// "ask a person: is this right?", where what follows the colon is the question.
pub(super) fn ask_in_full(text: &str, words: &[Word]) -> Option<Heard> {
    let colon = words.iter().position(|word| word.kind == Kind::Sign(':')).filter(|at| *at <= 6)?;
    begins(words, "ask|request")?;
    words.get(..colon)?.iter().any(|word| !word.is("me")).then(|| ask_human(text, words)).flatten()
}

/// A question as it is put: "whether we ship" becomes "Whether we ship?".
fn sentence(said: &str) -> String {
    let mut chars = said.chars();
    match chars.next() {
        Some(first) => {
            let whole: String = first.to_uppercase().chain(chars).collect();
            if whole.ends_with(['?', '.', '!']) { whole } else { format!("{whole}?") }
        }
        None => String::new(),
    }
}

fn unsigned(words: &[Word]) -> &[Word] {
    super::create::unsigned(words)
}
