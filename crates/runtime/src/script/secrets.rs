//! The secret parameters of one call, kept out of what its script says.

use std::borrow::Cow;
use std::sync::OnceLock;

use serde_json::Value;

use crate::journal::mask::MASKED;
use crate::journal::{Mask, Masked};

/// Shorter ones would blot out half of every line.
const SHORTEST: usize = 4;

/// Looked for only when a script says something.
pub(super) struct Secrets<'a> {
    params: &'a Value,
    mask: &'a Mask,
    found: OnceLock<Vec<&'a str>>,
}

impl<'a> Secrets<'a> {
    pub(super) fn new(params: &'a Value, mask: &'a Mask) -> Self {
        Self { params, mask, found: OnceLock::new() }
    }

    /// The text without them.
    pub(super) fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.found.get_or_init(|| {
            let mut found = Vec::new();
            if let Ok(masked) = serde_json::to_value(Masked(self.params, self.mask)) {
                collect(self.params, &masked, &mut found);
            }
            found
        });
        let mut text = Cow::Borrowed(text);
        for secret in found {
            if text.contains(secret) {
                text = Cow::Owned(text.replace(secret, MASKED));
            }
        }
        text
    }
}

fn collect<'a>(given: &'a Value, masked: &Value, found: &mut Vec<&'a str>) {
    if given != masked && masked == MASKED {
        return strings(given, found);
    }
    match (given, masked) {
        (Value::Object(given), Value::Object(masked)) => {
            for (name, value) in given {
                if let Some(masked) = masked.get(name) {
                    collect(value, masked, found);
                }
            }
        }
        (Value::Array(given), Value::Array(masked)) => {
            for (value, masked) in given.iter().zip(masked) {
                collect(value, masked, found);
            }
        }
        _ => {}
    }
}

fn strings<'a>(secret: &'a Value, found: &mut Vec<&'a str>) {
    match secret {
        Value::String(text) if text.len() >= SHORTEST => found.push(text),
        Value::Object(members) => members.values().for_each(|value| strings(value, found)),
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        _ => {}
    }
}
