//! What words say of a task: dates, labels, and the title that is left.

use toolroom_when::WhenError;

use super::Here;
use crate::text::{Kind, Word, begins_any, find_any, raw};
use crate::wish::When;
use crate::words::patterns;

/// Names behind "tagged": one, or several with commas and "and".
fn names(text: &str, words: &[Word]) -> (Vec<String>, usize) {
    let mut found = Vec::new();
    let mut end = 0;
    let mut wants = true;
    for (at, word) in words.iter().enumerate() {
        match word.kind {
            Kind::Sign(':') if at == 0 => {}
            Kind::Sign(',') => wants = true,
            Kind::Plain if word.is_any("and|&") => wants = true,
            Kind::Plain | Kind::Quoted if wants => {
                let name = text.get(word.inner.clone()).unwrap_or_default().trim_start_matches('#');
                found.push(name.to_owned());
                wants = false;
                end = at + 1;
            }
            _ => break,
        }
    }
    (found, end)
}

pub(super) fn tag_of_list(text: &str, words: &[Word]) -> Option<String> {
    let place = find_any(words, patterns("before a label in a filter"));
    if let Some(place) = place {
        return names(text, words.get(place.end..)?).0.into_iter().next();
    }
    let hash = words.iter().find(|word| {
        word.kind == Kind::Plain && word.low.len() > 1 && word.low.starts_with('#') && word.number().is_none()
    })?;
    Some(text.get(hash.inner.clone())?.trim_start_matches('#').to_owned())
}

/// The date that some words are, wholly.
pub(crate) fn date_alone(text: &str, words: &[Word], here: &Here<'_>) -> Option<When> {
    let words = super::target::trimmed(words);
    let words = words.get(
        begins_any(words, &["it|its|be|due|for|to|until|till|on|by|is|at|before|no|the? date|make|set*"])
            .unwrap_or(0)..,
    )?;
    let said = raw(text, words);
    let word = words.first()?;
    let is_last = word.is("last");
    match toolroom_when::parse(said, here.now, here.zone) {
        Ok(resolved) => Some(When { said: said.to_owned(), meaning: Ok(resolved) }),
        Err(WhenError::NotUnderstood(_)) if is_last => {
            let rest = raw(text, words.get(1..)?);
            toolroom_when::parse(rest, here.now, here.zone).ok()?;
            Some(When { said: said.to_owned(), meaning: Err(format!("\"{said}\" is in the past")) })
        }
        Err(WhenError::NotUnderstood(_)) => None,
        Err(error) => Some(When { said: said.to_owned(), meaning: Err(fault(&error)) }),
    }
}

/// A date phrase and what it means, or what is wrong with it.
pub(crate) fn date(said: &str, here: &Here<'_>) -> When {
    let parse = |text: &str| toolroom_when::parse(text, here.now, here.zone);
    let bare = said.trim_start_matches("to ").trim_start_matches("for ").trim();
    // "due 30th" is the 30th.
    let meaning = parse(said)
        .or_else(|error| parse(bare).or_else(|_| parse(&format!("the {bare}"))).map_err(|_| error));
    When { said: said.to_owned(), meaning: meaning.map_err(|error| fault(&error)) }
}

/// What is wrong with a date, for the person.
fn fault(error: &WhenError) -> String {
    match error {
        WhenError::NotUnderstood(said) => format!("I do not understand \"{said}\" as a date"),
        WhenError::Ambiguous { text, readings } => format!("\"{text}\" could mean {readings}"),
        WhenError::NoSuchDate(said) => format!("\"{said}\" does not exist"),
        WhenError::Contradiction(said) => format!("\"{said}\" says two things at once"),
        WhenError::UnknownZone(said) => {
            format!("\"{said}\" is not one time zone beyond doubt; name a place, such as \"3pm London time\"")
        }
        WhenError::OutOfRange(said) => format!("\"{said}\" is more than ten years ahead, or out of range"),
    }
}

/// A title without the signs and small words that were left at its edges.
pub(crate) fn tidy(title: &str) -> String {
    let mut title = title.trim();
    loop {
        let before = title;
        title = title.trim_matches(|c: char| {
            c.is_whitespace() || matches!(c, ',' | ';' | ':' | '-' | '\u{2013}' | '\u{2014}')
        });
        title = title.trim_end_matches(['.', '!']).trim_end();
        for word in [
            "and", "by", "on", "at", "for", "due", "to", "with", "it's", "is", "are", "then", "please", "pls",
        ] {
            let cut = title.len().saturating_sub(word.len());
            if title.is_char_boundary(cut)
                && title.get(cut..).is_some_and(|end| end.eq_ignore_ascii_case(word))
                && title.get(..cut).is_some_and(|rest| rest.ends_with(' '))
            {
                title = title.get(..cut).unwrap_or_default();
            }
        }
        if title == before {
            return title.split_whitespace().collect::<Vec<_>>().join(" ");
        }
    }
}

/// The first letter large, if the first word is in small letters.
pub(crate) fn capital(title: &str) -> String {
    let first = title.split_whitespace().next().unwrap_or_default();
    let mut chars = title.chars();
    match chars.next() {
        Some(c)
            if first.chars().all(|c| c.is_lowercase() || !c.is_alphabetic())
                && !first.contains(['.', '@', '/', '_']) =>
        {
            c.to_uppercase().chain(chars).collect()
        }
        _ => title.to_owned(),
    }
}
