//! Receipts and questions: templates filled from a call and its result, and never from anybody's claims about it.

use serde_json::Value;

use crate::text::is_hidden;

use super::template::{Part, Place, parse};
use super::{Effect, EffectKind, Named, Target};

impl Effect {
    /// What was done, one line for each thing; `None` if no template can be filled.
    pub fn receipt_text(&self, params: &Value, data: &Value) -> Option<String> {
        let usual = [usual_receipt(self.kind)];
        let templates: Vec<&str> = match self.receipt.is_empty() {
            true => usual.to_vec(),
            false => self.receipt.iter().map(String::as_str).collect(),
        };
        let call = Call {
            effect: self,
            params,
            data,
            item: None,
            targets: self.targets(params, data),
            shown: params,
            names: &[],
        };
        let Some(each) = &self.each else { return call.first(&templates).map(|text| capital(&text)) };
        let items = call.value(each)?.as_array()?;
        let lines = items.iter().filter_map(|item| {
            let mut targets = Vec::new();
            self.target.as_ref()?.names_in(item, &mut targets);
            Call { item: Some(item), targets, ..call }.first(&templates).map(|text| capital(&text))
        });
        Some(lines.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
    }

    /// What a person is asked, without a question mark: `delete task 5 “Buy milk”`. `shown` are the parameters as the
    /// person's profile calls them, `names` the titles that are known.
    pub fn question_text(&self, params: &Value, shown: &Value, names: &[Named]) -> Option<String> {
        let usual = [self.usual_question()];
        let templates: Vec<&str> = match self.question.is_empty() {
            true => usual.to_vec(),
            false => self.question.iter().map(String::as_str).collect(),
        };
        let targets = self.targets(params, &Value::Null);
        Call { effect: self, params, data: &Value::Null, item: None, targets, shown, names }.first(&templates)
    }

    fn usual_question(&self) -> &'static str {
        match self.kind {
            EffectKind::Create => "add the {noun} “{title}”[, {fields}]",
            EffectKind::Update => "change {target}[: {changes}]",
            EffectKind::Complete => "mark {target} as complete",
            EffectKind::Delete => "delete {target}",
            EffectKind::Restore => "restore {target}",
            EffectKind::Send | EffectKind::Run | EffectKind::None => "",
        }
    }
}

fn usual_receipt(kind: EffectKind) -> &'static str {
    match kind {
        EffectKind::Create => "Added {target}.",
        EffectKind::Update => "Changed {target}.",
        EffectKind::Complete => "Marked {target} as complete.",
        EffectKind::Delete => "Deleted {target}.",
        EffectKind::Restore => "Restored {target}.",
        EffectKind::Send | EffectKind::Run | EffectKind::None => "",
    }
}

/// The kind of change that a receipt with this first word tells of, in the usual words.
pub fn kind_of_receipt(verb: &str) -> Option<EffectKind> {
    use EffectKind::{Complete, Create, Delete, Restore, Update};
    let kinds = [Create, Update, Complete, Delete, Restore];
    kinds.into_iter().find(|kind| usual_receipt(*kind).split(' ').next() == Some(verb))
}

/// What templates are filled from.
#[derive(Clone)]
struct Call<'a> {
    effect: &'a Effect,
    params: &'a Value,
    data: &'a Value,
    item: Option<&'a Value>,
    targets: Vec<Named>,
    shown: &'a Value,
    names: &'a [Named],
}

impl<'a> Call<'a> {
    /// The first template that can be filled.
    fn first(&self, templates: &[&str]) -> Option<String> {
        templates.iter().find_map(|template| self.fill(&parse(template).ok()?))
    }

    fn fill(&self, parts: &[Part<'_>]) -> Option<String> {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Place(place) => text.push_str(&self.place(place)?),
                Part::Group(group) => text.push_str(&self.fill(group).unwrap_or_default()),
            }
        }
        Some(text)
    }

    fn place(&self, place: &Place<'_>) -> Option<String> {
        let text = place.sources.iter().find_map(|source| match source.starts_with('/') {
            true => {
                let value = self.value(source)?;
                let plain = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let fits = place.accepts.as_ref().is_none_or(|values| values.contains(&plain.as_str()));
                let written = if place.accepts.is_some() && place.words.is_some() {
                    plain
                } else {
                    self.in_words(value)
                };
                (fits && (place.accepts.is_some() || !written.is_empty())).then_some(written)
            }
            false => self.named(source).filter(|text| !text.is_empty()),
        })?;
        Some(place.words.map_or(text, str::to_owned))
    }

    fn value(&self, pointer: &str) -> Option<&'a Value> {
        let under =
            |root: &str| pointer.strip_prefix(root).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match (under("/params"), under("/data"), under("/item")) {
            (Some(rest), ..) => self.params.pointer(rest),
            (_, Some(rest), _) => self.data.pointer(rest),
            (_, _, Some(rest)) => self.item?.pointer(rest),
            _ => None,
        }
    }

    fn named(&self, name: &str) -> Option<String> {
        let target = self.effect.target.as_ref()?;
        let title = target.title.as_deref();
        Some(match name {
            "target" => {
                self.targets.iter().map(|one| one.in_words(self.names)).collect::<Vec<_>>().join(", ")
            }
            "noun" => target.noun().to_owned(),
            "title" => self.in_words(self.params.get(title?)?),
            "fields" => fields(self.shown, &[Some(&target.id), title], " "),
            _ => fields(self.shown, &[Some(&target.id)], " to "),
        })
    }

    /// A value in words; nothing for what is empty.
    fn in_words(&self, value: &Value) -> String {
        match value {
            Value::Null => String::new(),
            Value::String(text) => line(text).replace(['“', '”', '"'], "'"),
            Value::Array(items) if items.iter().any(Value::is_object) => {
                let target = self.effect.target.as_ref();
                let each = items.iter().map(|item| properties(item, target, self.names));
                each.collect::<Vec<_>>().join("; ")
            }
            Value::Array(items) => {
                let word = |item: &Value| {
                    let templates = item.as_str().and_then(|word| self.effect.words.get(word));
                    let templates: Vec<&str> = templates.into_iter().flatten().map(String::as_str).collect();
                    self.first(&templates).unwrap_or_else(|| self.in_words(item))
                };
                items.iter().map(word).collect::<Vec<_>>().join(", ")
            }
            other => line(&other.to_string()),
        }
    }
}

/// Parameters that say nothing of what is done: who asks, and which version of the thing.
const ASIDE: [&str; 2] = ["expectedversion", "userid"];

/// The fields of a call but those, each with its value.
fn fields(params: &Value, without: &[Option<&str>], is: &str) -> String {
    let skipped = |name: &str| {
        let name = loosely(name);
        ASIDE.contains(&name.as_str()) || without.iter().flatten().any(|other| loosely(other) == name)
    };
    let fields = params.as_object().into_iter().flatten().filter(|(name, _)| !skipped(name));
    fields.map(|(name, value)| format!("{}{is}{}", spaced(name), shown(value))).collect::<Vec<_>>().join(", ")
}

/// One of several things to do, with its target by name.
fn properties(item: &Value, target: Option<&Target>, names: &[Named]) -> String {
    let Some(fields) = item.as_object() else { return shown(item) };
    let each = fields.iter().map(|(name, value)| {
        let named =
            target.filter(|target| target.id == *name).and_then(|target| target.of_id(value, &Value::Null));
        named.map_or_else(|| format!("{} {}", spaced(name), shown(value)), |one| one.in_words(names))
    });
    each.collect::<Vec<_>>().join(", ")
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Null => "nothing".to_owned(),
        other => line(&other.to_string()),
    }
}

/// Somebody's words in quotes, on one line and not too long.
pub fn quoted(text: &str) -> String {
    format!("“{}”", line(text).replace(['“', '”', '"'], "'"))
}

/// Somebody's words on one line and not too long.
pub fn line(text: &str) -> String {
    const MOST: usize = 120;
    let words = text.split(|letter: char| letter.is_whitespace() || is_hidden(letter));
    let text = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// The letters and digits of a word or name: `task_id` and `taskId` are one.
pub fn loosely(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The words of a field's name: `deckId` is "deck id".
fn spaced(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        match letter {
            '_' | '-' => words.push(' '),
            upper if upper.is_uppercase() => words.extend(std::iter::once(' ').chain(upper.to_lowercase())),
            other => words.push(other),
        }
    }
    words
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
