//! The fields of a JSON object as pieces of its text.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Text;

/// Gives each field's name and its value as it is written. `None` if the text is not a JSON object; fields before the
/// fault were given then.
pub(super) fn each_field<'a>(text: &'a str, take: impl FnMut(&str, &'a str)) -> Option<()> {
    let mut json = serde_json::Deserializer::from_str(text);
    Fields(take).deserialize(&mut json).and_then(|()| json.end()).ok()
}

struct Fields<F>(F);

impl<'de, F: FnMut(&str, &'de str)> DeserializeSeed<'de> for Fields<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: FnMut(&str, &'de str)> Visitor<'de> for Fields<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some((Text(key), value)) = map.next_entry::<Text, &RawValue>()? {
            (self.0)(&key, value.get());
        }
        Ok(())
    }
}
