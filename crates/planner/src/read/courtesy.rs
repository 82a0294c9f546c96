//! Strips a message of the courtesy around its wish.

use super::target::speaks_of_tasks;
use crate::text::{Kind, Word, begins_any, ends, find_any};
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

/// Without signs at the beginning.
pub(super) fn unsigned(words: &[Word]) -> &[Word] {
    let count = words.iter().take_while(|word| word.is_sign()).count();
    words.get(count..).unwrap_or_default()
}
