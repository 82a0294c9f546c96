//! JSON in which no object has a key twice: readers that differ on which one counts could be played off.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Reads any JSON and keeps nothing of it; fails where an object repeats a key.
pub struct UniqueKeys;

/// Objects of up to this many keys are compared key by key, without hashing.
const FEW: usize = 16;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Walk)
    }
}

/// A key, borrowed from the text wherever it has no escapes.
struct Key<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// The keys of one object so far.
struct Seen<'de> {
    /// The first of them, in place.
    few: [Cow<'de, str>; FEW],
    many: HashSet<Cow<'de, str>>,
    count: usize,
}

impl<'de> Seen<'de> {
    fn new() -> Self {
        Self { few: [const { Cow::Borrowed("") }; FEW], many: HashSet::new(), count: 0 }
    }

    /// Whether the key is new.
    fn note(&mut self, key: Cow<'de, str>) -> Result<(), Cow<'de, str>> {
        let (few, free) = self.few.split_at_mut(self.count.min(FEW));
        if few.contains(&key) || self.many.contains(&key) {
            return Err(key);
        }
        self.count += 1;
        match free.first_mut() {
            Some(place) => *place = key,
            None => drop(self.many.insert(key)),
        }
        Ok(())
    }
}

struct Walk;

impl<'de> Visitor<'de> for Walk {
    type Value = UniqueKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UniqueKeys, A::Error> {
        let mut seen = Seen::new();
        while let Some(Key(key)) = map.next_key()? {
            map.next_value::<UniqueKeys>()?;
            seen.note(key)
                .map_err(|twice| A::Error::custom(format_args!("the field '{twice}' comes twice")))?;
        }
        Ok(UniqueKeys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<UniqueKeys, A::Error> {
        while items.next_element::<UniqueKeys>()?.is_some() {}
        Ok(UniqueKeys)
    }

    fn visit_unit<E: Error>(self) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }
}
