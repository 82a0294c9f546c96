//! Whether the rules and the trained reader read the same change.

use crate::wish::{Change, Draft, Target, When, Wish};

/// Whether two changes are the same for all that a person would see of them.
pub(super) fn same(seen: &Wish, ruled: &Wish, text: &str) -> bool {
    match (seen, ruled) {
        (Wish::Create(seen), Wish::Create(ruled)) => {
            seen.len() == ruled.len()
                && seen.iter().zip(ruled).all(|(seen, ruled)| {
                    let title = |draft: &Draft| content(draft.title.as_deref().unwrap_or_default());
                    // The rules may have left the date in the title, too.
                    let dated =
                        [title(seen), said(&seen.due.as_ref().map(|when| when.said.clone()))].concat();
                    let is_title = title(seen) == title(ruled)
                        || title(ruled) == dated
                        || ruled.title.as_ref().is_some_and(|title| is_quoted(title, text));
                    is_title
                        && same_date(seen.due.as_ref(), ruled.due.as_ref())
                        && seen.priority == ruled.priority
                        && said(&seen.description) == said(&ruled.description)
                })
        }
        (Wish::Complete(seen, a), Wish::Complete(ruled, b)) => a == b && same_target(seen, ruled),
        (Wish::Delete(seen), Wish::Delete(ruled)) | (Wish::Restore(seen), Wish::Restore(ruled)) => {
            same_target(seen, ruled)
        }
        (Wish::Update(seen, a), Wish::Update(ruled, b)) => same_target(seen, ruled) && same_change(a, b),
        _ => false,
    }
}

fn same_change(seen: &Change, ruled: &Change) -> bool {
    let due = |change: &Change| change.due.clone().flatten();
    said(&seen.title) == said(&ruled.title)
        && said(&seen.description.clone().flatten()) == said(&ruled.description.clone().flatten())
        && seen.priority == ruled.priority
        && seen.due.is_some() == ruled.due.is_some()
        && same_date(due(seen).as_ref(), due(ruled).as_ref())
        && seen.days == ruled.days
        && seen.minutes == ruled.minutes
}

fn said(text: &Option<String>) -> Vec<String> {
    text.as_deref().map(content).unwrap_or_default()
}

/// A date that cannot be read is asked about in any case.
fn same_date(seen: Option<&When>, ruled: Option<&When>) -> bool {
    match (seen.map(|when| &when.meaning), ruled.map(|when| &when.meaning)) {
        (Some(Ok(seen)), Some(Ok(ruled))) => seen.due == ruled.due,
        (Some(Err(_)), Some(Err(_))) | (None, None) => true,
        _ => false,
    }
}

fn same_target(seen: &Target, ruled: &Target) -> bool {
    match (seen, ruled) {
        (Target::Words(seen), Target::Words(ruled)) => {
            let (seen, ruled) = (content(seen), content(ruled));
            !seen.is_empty()
                && (seen.iter().all(|word| ruled.contains(word))
                    || ruled.iter().all(|word| seen.contains(word)))
        }
        (Target::It | Target::Missing, Target::It | Target::Missing) => true,
        (seen, ruled) => seen == ruled,
    }
}

const QUOTES: [[char; 2]; 4] = [['"', '"'], ['\'', '\''], ['\u{201c}', '\u{201d}'], ['\u{2018}', '\u{2019}']];

pub(super) fn is_quoted(title: &str, text: &str) -> bool {
    QUOTES.iter().any(|[open, close]| text.contains(&format!("{open}{title}{close}")))
}

/// Words in small letters, articles and signs left out.
pub(super) fn content(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '\u{2019}');
    let words = words.map(|word| word.trim_matches(['\'', '\u{2019}']).to_lowercase());
    let small = ["", "a", "an", "the", "my", "to", "task", "todo", "one", "thing"];
    words.filter(|word| !small.contains(&word.as_str())).collect()
}
