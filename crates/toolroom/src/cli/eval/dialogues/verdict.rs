//! Compares what came of a scene with what should have.

use serde_json::{Map, Value};

use super::scene::{Added, Right};
use super::stage::Task;

/// What is wrong with an ending.
#[derive(Clone, Default)]
pub struct Mistakes {
    /// Changes that nobody wanted, or with a wrong value.
    pub wrong: Vec<String>,
    /// Wanted changes, or words, that are not there.
    pub missing: Vec<String>,
}

impl Mistakes {
    pub fn is_none(&self) -> bool {
        self.wrong.is_empty() && self.missing.is_empty()
    }

    fn count(&self) -> usize {
        self.wrong.len() * 100 + self.missing.len()
    }
}

/// The mistakes in an ending, by the ending that comes closest.
pub fn mistakes(before: &[Task], after: &[Task], reply: &str, right: &[Right]) -> Mistakes {
    let all = right.iter().map(|right| of_one(before, after, reply, right));
    all.min_by_key(Mistakes::count).unwrap_or_default()
}

fn of_one(before: &[Task], after: &[Task], reply: &str, right: &Right) -> Mistakes {
    let mut found = Mistakes::default();
    let none = Map::new();
    for old in before {
        let title = &old.title;
        let Some(new) = after.iter().find(|new| new.task_id == old.task_id) else {
            if !right.deleted.contains(title) {
                found.wrong.push(format!("'{title}' is gone"));
            }
            continue;
        };
        if right.deleted.contains(title) {
            found.missing.push(format!("'{title}' is still there"));
        }
        let ends = if right.done.contains(title) {
            "completed"
        } else if right.reopened.contains(title) {
            "pending"
        } else {
            old.status.as_str()
        };
        if new.status != ends {
            let list = if new.status == old.status { &mut found.missing } else { &mut found.wrong };
            list.push(format!("'{title}' is {}", new.status));
        }
        fields(old, new, right.changed.get(title).unwrap_or(&none), &mut found);
    }
    let mut made: Vec<&Task> =
        after.iter().filter(|new| before.iter().all(|old| old.task_id != new.task_id)).collect();
    for wanted in &right.added {
        match made.iter().position(|new| is_as_wanted(new, wanted)) {
            Some(at) => drop(made.swap_remove(at)),
            None => found.missing.push(format!("no new task '{}'", wanted.title)),
        }
    }
    found.wrong.extend(made.iter().map(|new| {
        format!("a new task '{}', due {:?}, priority {}", new.title, new.local_due(), new.priority)
    }));
    words(reply, right, &mut found.missing);
    found
}

fn fields(old: &Task, new: &Task, wanted: &Map<String, Value>, found: &mut Mistakes) {
    let title = &old.title;
    for (name, was, is) in [
        ("title", Some(old.title.clone()), Some(new.title.clone())),
        ("due", old.local_due(), new.local_due()),
        ("priority", Some(old.priority.clone()), Some(new.priority.clone())),
        ("note", old.description.clone(), new.description.clone()),
    ] {
        let wanted = wanted.get(name).or_else(|| wanted.get("description").filter(|_| name == "note"));
        let as_it_should = match wanted {
            None => is == was,
            Some(Value::Null) => is.is_none(),
            Some(wanted) => {
                let wanted = wanted.as_str().unwrap_or_default();
                is.as_deref().is_some_and(|is| match name {
                    "title" => same(is, wanted),
                    "due" => is.starts_with(wanted),
                    "note" => is.to_lowercase().contains(&wanted.to_lowercase()),
                    _ => is == wanted,
                })
            }
        };
        if !as_it_should {
            let list = if is == was { &mut found.missing } else { &mut found.wrong };
            list.push(format!("'{title}' has the {name} {is:?}"));
        }
    }
    let text = |tag: &Value| tag.as_str().unwrap_or_default().to_owned();
    let wanted = wanted.get("tags").and_then(Value::as_array);
    let wanted: Vec<String> = wanted.map_or(old.tags.clone(), |tags| tags.iter().map(text).collect());
    if sorted(&new.tags) != sorted(&wanted) {
        let list = if new.tags == old.tags { &mut found.missing } else { &mut found.wrong };
        list.push(format!("'{title}' has the tags {:?}", new.tags));
    }
}

/// Labels in small letters, to compare them in any order.
fn sorted(tags: &[String]) -> Vec<String> {
    let mut tags: Vec<String> = tags.iter().map(|tag| tag.to_lowercase()).collect();
    tags.sort();
    tags
}

fn is_as_wanted(new: &Task, wanted: &Added) -> bool {
    let due = match wanted.due.as_deref() {
        Some("*") => true,
        Some(day) => new.local_due().is_some_and(|due| due.starts_with(day)),
        None => new.due.is_none(),
    };
    let note = wanted.description.as_ref().is_none_or(|wanted| {
        let is = new.description.as_deref().unwrap_or_default().to_lowercase();
        is.contains(&wanted.to_lowercase())
    });
    due && note
        && sorted(&new.tags) == sorted(&wanted.tags)
        && wanted.title.split('|').any(|title| same(&new.title, title))
        && new.priority == wanted.priority.as_deref().unwrap_or("medium")
}

/// Whether two titles say the same: case, punctuation and articles aside.
fn same(one: &str, other: &str) -> bool {
    let plain = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '\u{2019}');
        let words = words.map(|word| word.trim_matches(['\'', '\u{2019}']).to_lowercase());
        words.filter(|word| !matches!(word.as_str(), "" | "a" | "an" | "the" | "my")).collect()
    };
    plain(one) == plain(other)
}

fn words(reply: &str, right: &Right, missing: &mut Vec<String>) {
    let reply = reply.to_lowercase();
    let says = |words: &String| words.to_lowercase().split('|').any(|one| reply.contains(one));
    missing
        .extend(right.says.iter().filter(|words| !says(words)).map(|words| format!("no word of '{words}'")));
    missing.extend(right.silent.iter().filter(|words| says(words)).map(|words| format!("says '{words}'")));
    if right.asks && !reply.contains('?') {
        missing.push("no question".to_owned());
    }
}
