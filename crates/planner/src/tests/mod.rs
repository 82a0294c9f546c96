//! What sentences are read as: a table of sentences, and laws over any text.

mod laws;
mod opinion;
mod table;
mod work;

use jiff::tz::TimeZone;

use super::read::{self, Here, Utterance};
use super::wish::{Change, DueRange, Filter, Heard, Strength, Target, When, Wish};

/// Sunday, 15 November 2026, 10:00 in Berlin.
pub(super) fn heard(text: &str) -> Vec<Heard> {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let here = Here { now: "2026-11-15T09:00:00Z".parse().unwrap(), zone: &zone };
    read::wishes(&Utterance::new(text), &read::tagged::Tagged::new(text), &here)
}

#[test]
fn only_what_looks_like_code_is_taken_for_code() {
    for code in [
        "print(6 * 7)",
        "x = [1, 2]",
        "2 + 3 * 4",
        "```\nls\n```",
        "for i in range(3): print(i)",
        "echo $HOME | wc",
    ] {
        assert!(read::looks_like_code(code), "{code}");
    }
    for words in [
        "well I am not sure yet",
        "the one from yesterday",
        "delete task 5",
        "what do you mean?",
        "12 monkeys",
    ] {
        assert!(!read::looks_like_code(words), "{words}");
    }
}

/// Wishes in short: `create "Buy milk" due 2026-11-20, high; complete #7`. A question mark stands before what is only
/// offered.
pub(super) fn short(heard: &[Heard]) -> String {
    let each = heard.iter().map(|one| {
        let mark =
            if one.strength == Strength::Hint && !matches!(one.wish, Wish::SmallTalk(_)) { "?" } else { "" };
        format!("{mark}{}", wish(&one.wish))
    });
    each.collect::<Vec<_>>().join("; ")
}

fn wish(wish: &Wish) -> String {
    match wish {
        Wish::Create(drafts) => {
            let each = drafts.iter().map(|draft| {
                let mut text = draft.title.as_ref().map_or("-".into(), |title| format!("{title:?}"));
                if let Some(due) = &draft.due {
                    text += &format!(" due {}", date(due));
                }
                if let Some(priority) = draft.priority {
                    text += &format!(" {}", priority.as_str());
                }
                if let Some(description) = &draft.description {
                    text += &format!(" about {description:?}");
                }
                draft.tags.iter().for_each(|tag| text += &format!(" #{tag}"));
                if draft.done { text + " done" } else { text }
            });
            format!("create {}", each.collect::<Vec<_>>().join(" + "))
        }
        Wish::List(filter) => format!("list{}", kind(filter)),
        Wish::Show(about) => format!("show {}", target(about)),
        Wish::Find(words) => format!("find {words:?}"),
        Wish::Complete(about, true) => format!("complete {}", target(about)),
        Wish::Complete(about, false) => format!("reopen {}", target(about)),
        Wish::Update(about, what) => format!("update {}{}", target(about), change(what)),
        Wish::Delete(about) => format!("delete {}", target(about)),
        Wish::Restore(about) => format!("restore {}", target(about)),
        Wish::Undo => "undo".into(),
        Wish::Search(query) => format!("web {query:?}").replace("Some(", "").replace(')', ""),
        Wish::Run(code) => format!(
            "run {}",
            code.as_ref().map_or("-".into(), |code| format!("{} {:?}", code.language, code.text))
        ),
        Wish::Ask(question) => format!("ask {}", question.as_deref().unwrap_or("-")),
        Wish::Call(name, _) => format!("call {name}"),
        Wish::SmallTalk(talk) => format!("{talk:?}").to_lowercase(),
    }
}

fn target(target: &Target) -> String {
    match target {
        Target::Missing => "-".into(),
        Target::Ids(ids) => ids.iter().map(|id| format!("#{id}")).collect::<Vec<_>>().join(" "),
        Target::Words(words) => format!("{words:?}"),
        Target::All(filter) => format!("all{}", kind(filter)),
        Target::It => "it".into(),
        Target::Them => "them".into(),
        Target::Places(places) => {
            places.iter().map(|place| format!("@{}", place + 1)).collect::<Vec<_>>().join(" ")
        }
        Target::Last => "@last".into(),
        Target::Other => "other".into(),
    }
}

fn kind(filter: &Filter) -> String {
    let mut text = String::new();
    match filter.done {
        Some(true) => text += " done",
        Some(false) => text += " open",
        None => {}
    }
    if let Some(priority) = filter.priority {
        text += &format!(" {}", priority.as_str());
    }
    match &filter.due {
        Some(DueRange::Overdue) => text += " overdue",
        Some(DueRange::Between(from, to, _)) if from == to => text += &format!(" on {from}"),
        Some(DueRange::Between(from, to, _)) => text += &format!(" {from} to {to}"),
        Some(DueRange::Never) => text += " undated",
        None => {}
    }
    if let Some(tag) = &filter.tag {
        text += &format!(" #{tag}");
    }
    if let Some(words) = &filter.text {
        text += &format!(" about {words:?}");
    }
    if let Some(words) = &filter.except {
        text += &format!(" but {words:?}");
    }
    if let Some(sort) = filter.sort {
        text += &format!(" by {}", format!("{sort:?}").to_lowercase());
    }
    if filter.counts { text + " count" } else { text }
}

fn change(change: &Change) -> String {
    let mut text = String::new();
    if let Some(title) = &change.title {
        text += &format!(" title {title:?}");
    }
    match &change.description {
        Some(Some(description)) => {
            text += &format!(" {} {description:?}", if change.appends { "note" } else { "description" })
        }
        Some(None) => text += " no description",
        None => {}
    }
    if let Some(priority) = change.priority {
        text += &format!(" {}", priority.as_str());
    }
    match &change.due {
        Some(Some(due)) => text += &format!(" due {}", date(due)),
        Some(None) => text += " no due",
        None => {}
    }
    if let Some(days) = change.days {
        text += &format!(" {days:+} days");
    }
    change.add_tags.iter().for_each(|tag| text += &format!(" +{tag}"));
    change.remove_tags.iter().for_each(|tag| text += &format!(" -{tag}"));
    if change.clears_tags { text + " no tags" } else { text }
}

fn date(when: &When) -> String {
    match &when.meaning {
        Ok(resolved) => resolved.due.to_string(),
        Err(_) => "?".into(),
    }
}
