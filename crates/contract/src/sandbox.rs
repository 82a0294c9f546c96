//! `sandbox` of an entry: what a confined script or server may reach of the host, and how much it may use.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Whether a program is confined, and what it may reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SandboxEntry {
    /// `true`: no files of the host, no network. `false`: not confined.
    Switch(bool),
    /// Confined, with openings.
    Openings(SandboxOpenings),
}

/// What a confined program may reach. Paths are absolute; sizes are bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxOpenings {
    /// Folders and files that it can read. Nothing of the Toolroom home.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub read: Vec<String>,
    /// Folders and files that it can read and write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub write: Vec<String>,
    /// The network that it can reach; none if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<SandboxNetwork>,
    /// Memory of all its processes together; 1 GiB if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16_777_216))]
    pub memory: Option<u64>,
    /// What it can write in its temporary folders; 256 MiB if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1_048_576, max = 68_719_476_736_u64))]
    pub disk: Option<u64>,
}

/// The network of a confined program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SandboxNetwork {
    /// None at all.
    #[default]
    None,
    /// That of the host, with all that it reaches.
    Host,
}

impl SandboxEntry {
    /// What may be reached; `None` if the program is not confined.
    pub fn openings(&self) -> Option<SandboxOpenings> {
        match self {
            Self::Switch(false) => None,
            Self::Switch(true) => Some(SandboxOpenings::default()),
            Self::Openings(openings) => Some(openings.clone()),
        }
    }
}

impl SandboxOpenings {
    /// The first size that is outside its range: its name, and the range in words.
    pub fn out_of_range(&self) -> Option<(&'static str, String)> {
        let ranges = [("memory", self.memory, 16 << 20, u64::MAX), ("disk", self.disk, 1 << 20, 64 << 30)];
        ranges.into_iter().find_map(|(name, value, least, most)| {
            let outside = value.is_some_and(|value| !(least..=most).contains(&value));
            outside.then(|| match most {
                u64::MAX => (name, format!("must be at least {least} (bytes)")),
                most => (name, format!("must be {least} to {most} (bytes)")),
            })
        })
    }
}

// By hand, so that errors within the object name their field.
impl<'de> Deserialize<'de> for SandboxEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = SandboxEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or an object with read, write, network, memory, disk")
            }

            fn visit_bool<E>(self, on: bool) -> Result<SandboxEntry, E> {
                Ok(SandboxEntry::Switch(on))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SandboxEntry, A::Error> {
                SandboxOpenings::deserialize(MapAccessDeserializer::new(map)).map(SandboxEntry::Openings)
            }
        }

        deserializer.deserialize_any(Either)
    }
}
