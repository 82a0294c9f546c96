//! Answers that are stored without the secrets that they repeat. Who makes the same call again brings the secrets
//! along, and gets the answer whole.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use super::{MASKED, Secrets};

/// Stand around the number of a secret. They are for private use, and doubled where a text has them itself.
const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';
/// Says that the secret was a number, not a text.
const NUMBER: char = '#';

impl Secrets {
    /// The value with each secret replaced by a mark that [`Secrets::unseal`] knows.
    pub fn seal(&self, value: &Value) -> Value {
        let mark = |nth: usize| Cow::Owned(format!("{OPEN}{nth}{CLOSE}"));
        each_text(value, &|text| self.replace(&escaped(text), mark).into_owned(), &|number| {
            let nth = self.position(&number.to_string())?;
            Some(Value::String(format!("{OPEN}{NUMBER}{nth}{CLOSE}")))
        })
    }

    /// The value without them.
    pub fn hide_in(&self, value: &Value) -> Value {
        let hidden = |number: &Number| self.has_number(number).then(|| Value::String(MASKED.to_owned()));
        each_text(value, &|text| self.hide(text).into_owned(), &hidden)
    }

    /// The value with the secrets restored.
    pub fn unseal(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                self.number(text).map_or_else(|| Value::String(self.opened(text)), Value::Number)
            }
            Value::Array(values) => values.iter().map(|value| self.unseal(value)).collect(),
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| (self.opened(name), self.unseal(value)));
                Value::Object(members.collect::<Map<_, _>>())
            }
            plain => plain.clone(),
        }
    }

    fn number(&self, text: &str) -> Option<Number> {
        let nth = text.strip_prefix(OPEN)?.strip_prefix(NUMBER)?.strip_suffix(CLOSE)?.parse().ok()?;
        serde_json::from_str(self.text(nth)?).ok()
    }

    fn opened(&self, text: &str) -> String {
        let mut opened = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(OPEN) {
            opened.push_str(&rest[..at]);
            let from = &rest[at + OPEN.len_utf8()..];
            let Some(end) = from.find(CLOSE) else {
                opened.push(OPEN);
                rest = from;
                continue;
            };
            match from[..end].trim_start_matches(NUMBER) {
                "" => opened.push(OPEN),
                nth => opened.push_str(nth.parse().ok().and_then(|nth| self.text(nth)).unwrap_or(MASKED)),
            }
            rest = &from[end + CLOSE.len_utf8()..];
        }
        opened.push_str(rest);
        opened
    }
}

fn escaped(text: &str) -> Cow<'_, str> {
    if text.contains(OPEN) {
        Cow::Owned(text.replace(OPEN, &format!("{OPEN}{CLOSE}")))
    } else {
        Cow::Borrowed(text)
    }
}

fn each_text(
    value: &Value,
    text: &impl Fn(&str) -> String,
    number: &impl Fn(&Number) -> Option<Value>,
) -> Value {
    match value {
        Value::String(found) => Value::String(text(found)),
        Value::Number(found) => number(found).unwrap_or_else(|| value.clone()),
        Value::Array(values) => values.iter().map(|value| each_text(value, text, number)).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (text(name), each_text(value, text, number)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        plain => plain.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Mask;
    use super::*;

    #[test]
    fn what_is_sealed_holds_no_secret_and_comes_back_as_it_was() {
        let params = json!({ "password": "hunter2", "token": 4711, "secret": "ab", "api_key": "hunter22" });
        let secrets = Secrets::of(&params, &Mask::default());
        let answer = json!({
            "url": "https://ann:hunter2@example.com/ab/0", "pin": 4711, "count": 4712, "hunter22": ["ab", "abc"],
            "odd": "\u{e000}0\u{e001} and \u{e000}", "none": null,
        });
        let sealed = secrets.seal(&answer);
        let text = sealed.to_string();
        for secret in ["hunter2", "4711", "\"ab\""] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert_eq!(secrets.unseal(&sealed), answer);
        assert_eq!(Secrets::default().unseal(&Secrets::default().seal(&answer)), answer);
    }
}
