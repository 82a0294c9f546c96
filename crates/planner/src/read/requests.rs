//! Requests that are known by their words: a search of the web, a question to a person.

use super::courtesy::unsigned;
use super::target::trimmed;
use crate::text::{Kind, Word, begins, begins_any, ends, raw};
use crate::wish::{Heard, Strength, Wish};
use crate::words::patterns;

/// "search the web for …", "look up … online".
pub(super) fn web(text: &str, words: &[Word]) -> Option<Heard> {
    let search = |query| Some(Heard { wish: Wish::Search(query), strength: Strength::Strong });
    if let Some(length) = begins_any(words, patterns("searches the web")) {
        return search(query(text, words.get(length..)?));
    }
    let place = patterns("on the web").iter().find_map(|pattern| ends(trimmed(words), pattern))?;
    let length = begins_any(words, &["search|look|find|check|get|see|read me? up|for|out|about|into*"])?;
    search(words.get(length..place).and_then(|rest| query(text, rest)))
}

fn query(text: &str, rest: &[Word]) -> Option<String> {
    let rest =
        rest.get(begins(rest, "for|about|on|up|me|out|whether|if*").unwrap_or(0)..).unwrap_or_default();
    let query = match trimmed(rest) {
        [one] if one.kind == Kind::Quoted => text.get(one.inner.clone()).unwrap_or_default(),
        rest => raw(text, rest),
    };
    let vague = ["it", "that", "this", "something", "them", "these", "anything", "stuff"];
    let query = query.trim();
    (!query.is_empty() && !vague.contains(&query.to_lowercase().as_str())).then(|| query.to_owned())
}

/// "ask Anna whether we ship", "ask a human: …", "check with me first".
pub(super) fn ask_person(text: &str, words: &[Word]) -> Option<Heard> {
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
