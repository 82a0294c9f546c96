//! The id of a request.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

/// The id of a request: a string or a whole number, echoed as it came.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    /// A whole number.
    Number(serde_json::Number),
    /// A string.
    Text(Box<str>),
}

impl Id {
    /// The number, where it is one that we give out ourselves.
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            Self::Text(_) => None,
        }
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a whole number")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Id, E> {
                Ok(Id::Number(number.into()))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Id, E> {
                Ok(Id::Number(number.into()))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Id, E> {
                Ok(Id::Text(text.into()))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Id::Number(number) => number.serialize(serializer),
            Id::Text(text) => text.serialize(serializer),
        }
    }
}
