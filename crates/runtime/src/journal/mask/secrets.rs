//! The secret values of one call, kept out of whatever repeats them: lines, errors, outputs, stored answers.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::{Number, Value};

use super::{MASKED, Mask, Place, is_secret_name};

/// Shorter ones are looked for as whole words: within words they would blot out half of every line.
const SHORTEST_PART: usize = 4;

/// With more than this, every text counts as secret: looking for each would cost too much.
const MOST: usize = 100;

/// The secret values of one call. Usually none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    /// The longest first: one may be a part of another.
    list: Vec<Secret>,
    too_many: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Secret {
    text: String,
    /// Whether it is looked for as a whole word.
    whole: bool,
}

impl Secrets {
    /// What the mask hides in these parameters.
    pub fn of(params: &Value, mask: &Mask) -> Self {
        let mut found = Self::default();
        found.search(&Place { value: params, mask, secrets: None, node: mask.root });
        found.settle()
    }

    /// These values.
    pub fn of_values<'a>(values: impl IntoIterator<Item = &'a String>) -> Self {
        let mut found = Self::default();
        values.into_iter().for_each(|value| found.note(value));
        found.settle()
    }

    /// With the values of environment variables, which are often keys. Those too short to be one are skipped.
    pub fn with_environment<'a>(
        mut self,
        values: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) -> Self {
        for (name, value) in values {
            let shortest = if sounds_secret(name) { SHORTEST_PART } else { 8 };
            if value.len() >= shortest {
                self.note(value);
            }
        }
        self.settle()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The text without them.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.replace(text, |_| Cow::Borrowed(MASKED))
    }

    /// Whether a number is one of them.
    pub(super) fn has_number(&self, number: &Number) -> bool {
        self.too_many || self.position(&number.to_string()).is_some()
    }

    /// The text with each of them replaced by what stands for it, told by its place in the list. One pass: what was
    /// put in is not looked at again.
    pub(super) fn replace<'t>(&self, text: &'t str, by: impl Fn(usize) -> Cow<'static, str>) -> Cow<'t, str> {
        if self.too_many {
            return Cow::Borrowed(MASKED);
        }
        if self.list.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut begins = [false; 256];
        self.list.iter().for_each(|secret| begins[usize::from(secret.text.as_bytes()[0])] = true);
        let mut replaced = String::new();
        let (mut from, mut at) = (0, 0);
        while let Some(byte) = text.as_bytes().get(at) {
            let found = begins[usize::from(*byte)]
                .then(|| self.list.iter().position(|secret| secret.stands_at(text, at)))
                .flatten();
            let Some(nth) = found else {
                at += 1;
                continue;
            };
            replaced.push_str(&text[from..at]);
            replaced.push_str(&by(nth));
            at += self.list[nth].text.len();
            from = at;
        }
        if from == 0 {
            return Cow::Borrowed(text);
        }
        replaced.push_str(&text[from..]);
        Cow::Owned(replaced)
    }

    pub(super) fn text(&self, nth: usize) -> Option<&str> {
        self.list.get(nth).map(|secret| secret.text.as_str())
    }

    pub(super) fn position(&self, text: &str) -> Option<usize> {
        self.list.iter().position(|secret| secret.text == text)
    }

    fn settle(mut self) -> Self {
        // The same parameters give the same order.
        self.list.sort_by(|a, b| b.text.len().cmp(&a.text.len()).then_with(|| a.text.cmp(&b.text)));
        self.list.dedup();
        self.too_many |= self.list.len() > MOST;
        self.list.truncate(MOST);
        self
    }

    fn search(&mut self, place: &Place<'_>) {
        if place.is_secret() {
            return self.note_all(place.value);
        }
        match place.value {
            Value::Object(members) => {
                for (name, value) in members {
                    match place.property(name, value) {
                        Some(place) => self.search(&place),
                        None => self.note_all(value),
                    }
                }
            }
            Value::Array(values) => {
                for value in values {
                    self.search(&place.below(value, |node| node.items));
                }
            }
            _ => {}
        }
    }

    fn note_all(&mut self, secret: &Value) {
        match secret {
            Value::String(text) => self.note(text),
            Value::Number(number) => {
                let text = number.to_string();
                // A whole number may come back without its fraction.
                let plain = text.strip_suffix(".0").map(str::to_owned);
                self.list.extend(plain.into_iter().chain([text]).map(|text| Secret { text, whole: true }));
            }
            Value::Object(members) => members.values().for_each(|value| self.note_all(value)),
            Value::Array(values) => values.iter().for_each(|value| self.note_all(value)),
            Value::Bool(_) | Value::Null => {}
        }
    }

    fn note(&mut self, text: &str) {
        let mut push = |text: &str| {
            let whole = text.chars().count() < SHORTEST_PART;
            self.list.push(Secret { text: text.to_owned(), whole });
        };
        if !text.trim().is_empty() {
            push(text);
            escaped(text).iter().for_each(|text| push(text));
        }
        // A log has it line by line.
        if text.contains('\n') {
            text.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_PART).for_each(push);
        }
    }
}

/// The text as it stands within JSON, with letters beyond ASCII or with escapes for them, and within Python's `repr`:
/// what a script prints of its parameters holds it so.
fn escaped(text: &str) -> Vec<String> {
    let json = serde_json::to_string(text).unwrap_or_default();
    let json = json.get(1..json.len().saturating_sub(1)).unwrap_or_default().to_owned();
    let mut ascii = String::new();
    for letter in json.chars() {
        if letter.is_ascii() {
            ascii.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(ascii, "\\u{unit:04x}");
            }
        }
    }
    let single = text.replace('\\', "\\\\");
    let double = single.replace('\'', "\\'");
    let mut forms = vec![json, ascii, single, double];
    forms.retain(|form| form != text);
    forms.dedup();
    forms
}

impl Secret {
    fn stands_at(&self, text: &str, at: usize) -> bool {
        if !text.as_bytes()[at..].starts_with(self.text.as_bytes()) {
            return false;
        }
        let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let end = at + self.text.len();
        !self.whole || !(joins(text[..at].chars().next_back()) || joins(text[end..].chars().next()))
    }
}

/// Whether a variable's name says that it holds a secret.
fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    is_secret_name(&name)
        || ["key", "token", "secret", "pass", "auth", "cred"].iter().any(|word| name.contains(word))
}
