//! The fields that JSON-RPC gives a message, as pieces of its text.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Text;
use super::field_scanner::FieldScanner;

/// The fields of a message, their types not looked at yet, so that an error can carry the id.
#[derive(Default)]
pub(super) struct Envelope<'a> {
    pub(super) version: Option<&'a str>,
    pub(super) id: Option<&'a str>,
    pub(super) method: Option<&'a str>,
    pub(super) params: Option<&'a str>,
    pub(super) result: Option<&'a str>,
    pub(super) error: Option<&'a str>,
    /// A field such as `Method` is there: other readers might take it for `method`.
    pub(super) odd: bool,
}

impl<'a> Envelope<'a> {
    pub(super) fn of(scanner: &FieldScanner<'a>) -> Self {
        let mut envelope = Self::default();
        for (key, value) in &scanner.fields {
            envelope.take(key, value);
        }
        envelope
    }

    /// `None` if the text is not an object. The last of several fields with one name counts.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    fn take(&mut self, key: &str, value: &'a str) {
        const NAMES: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
        let place = match key {
            "jsonrpc" => &mut self.version,
            "id" => &mut self.id,
            "method" => &mut self.method,
            "params" => &mut self.params,
            "result" => &mut self.result,
            "error" => &mut self.error,
            other => {
                self.odd |= NAMES.iter().any(|name| name.eq_ignore_ascii_case(other));
                return;
            }
        };
        *place = Some(value);
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Envelope<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON-RPC message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
                let mut envelope = Envelope::default();
                while let Some((Text(key), value)) = map.next_entry::<Text, &RawValue>()? {
                    envelope.take(&key, value.get());
                }
                Ok(envelope)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}
