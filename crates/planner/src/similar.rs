//! Finds tasks by the words of their titles, for profiles without a tool for that.

use super::seen::Task;
use super::typos::distance;

const SMALL: &[&str] = &[
    "a", "an", "the", "my", "to", "for", "of", "on", "in", "at", "from", "with", "and", "about", "task",
    "todo", "one", "that", "this", "please",
];

/// The tasks whose titles hold all words that count; if one title is just these words, that task alone.
pub(crate) fn best(words: &str, tasks: Vec<Task>) -> Vec<Task> {
    let all = split(words);
    let exact: Vec<Task> = tasks.iter().filter(|task| split(&task.title) == all).cloned().collect();
    if exact.len() == 1 {
        return exact;
    }
    let mut wanted: Vec<String> =
        all.iter().filter(|word| !SMALL.contains(&word.as_str())).cloned().collect();
    if wanted.is_empty() {
        wanted = all;
    }
    if wanted.is_empty() {
        return Vec::new();
    }
    let fits = |task: &Task| {
        let title = split(&task.title);
        wanted.iter().all(|word| title.iter().any(|other| alike(word, other)))
    };
    tasks.into_iter().filter(fits).collect()
}

fn split(text: &str) -> Vec<String> {
    let plain: String =
        text.chars().filter(|c| !matches!(c, '\'' | '\u{2019}')).flat_map(char::to_lowercase).collect();
    plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Whether two words are the same, slips, endings and beginnings aside.
fn alike(wanted: &str, word: &str) -> bool {
    toolroom_work::step(1);
    if toolroom_work::is_spent() {
        return false;
    }
    if wanted == word || wanted.chars().count() >= 3 && word.starts_with(wanted) {
        return true;
    }
    if wanted.strip_suffix('s') == Some(word) || wanted.strip_suffix("es") == Some(word) {
        return true;
    }
    let (a, b): (Vec<char>, Vec<char>) = (wanted.chars().collect(), word.chars().collect());
    let most = match a.len().max(b.len()) {
        0..=3 => 0,
        4..=8 => 1,
        _ => 2,
    };
    most > 0
        && a.len().abs_diff(b.len()) <= most
        && (a.first() == b.first() || a.first() == b.get(1))
        && distance(&a, &b) <= most
}
