//! Which of several tasks an answer to "which one?" means.

use crate::read::{self, priority, target};
use crate::seen::Task;
use crate::similar;
use crate::text::{Word, begins, begins_any};
use crate::wish::Target;

/// Which of several tasks an answer means; an empty choice is "none of them".
pub(super) fn choice(text: &str, words: &[Word], candidates: &[Task]) -> Option<Vec<Task>> {
    let words = target::trimmed(words);
    if begins_any(words, &["none|neither of? them|these|those?", "nothing"]) == Some(words.len()) {
        return Some(Vec::new());
    }
    if begins_any(
        words,
        &["both|all|everything of? them|these|those|it? two|three|four?", "each one?", "every one"],
    ) == Some(words.len())
    {
        return Some(candidates.to_vec());
    }
    let at = |place: usize| candidates.get(place).cloned();
    let by_id = |id: i64| candidates.iter().find(|task| task.id == id).cloned();
    match target::places(words) {
        Some(Target::Places(places)) => {
            let found: Vec<Task> = places.iter().filter_map(|place| at(*place)).collect();
            return (found.len() == places.len()).then_some(found);
        }
        Some(Target::Last) => return Some(candidates.last().cloned().into_iter().collect()),
        _ => {}
    }
    if let Some(ids) = target::ids(words) {
        let says_task = words.iter().any(|word| word.is_hash_number())
            || begins(words, "task|id|todo|the? task|id|todo|item?").is_some()
                && words.first().is_none_or(|word| word.number().is_none());
        let one = |number: i64| -> Option<Task> {
            let place = usize::try_from(number).ok()?.checked_sub(1).and_then(at);
            match (place, by_id(number), says_task) {
                (_, Some(task), true) => Some(task),
                (Some(place), Some(task), false) if place.id != task.id => None,
                (Some(place), _, false) => Some(place),
                (None, task, _) => task,
                (Some(_), None, true) => None,
            }
        };
        let found: Vec<Task> = ids.iter().filter_map(|id| one(*id)).collect();
        return (found.len() == ids.len()).then_some(found);
    }
    let words_left: Vec<&Word> = words.iter().filter(|word| !word.is_sign()).collect();
    if words_left.is_empty() || words_left.len() > 12 {
        return None;
    }
    if let Some(Target::Words(named)) = Some(target::read(text, words, &NOWHERE)) {
        let found = similar::best(&named, candidates.to_vec());
        if found.len() == 1 {
            return Some(found);
        }
    }
    let by_priority = priority::alone(
        words
            .get(begins(words, "the|one|with*").unwrap_or(0)..)?
            .split(|word| word.is_any("one|task"))
            .next()?,
    );
    let priority = by_priority?.as_str();
    let found: Vec<Task> =
        candidates.iter().filter(|task| task.priority.as_deref() == Some(priority)).cloned().collect();
    (found.len() == 1).then_some(found)
}

static UTC: jiff::tz::TimeZone = jiff::tz::TimeZone::UTC;
static NOWHERE: read::Here<'static> = read::Here { now: jiff::Timestamp::UNIX_EPOCH, zone: &UTC };
