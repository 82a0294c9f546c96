//! Results as content: blocks for a model, structured content, `_meta`.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// What a result says it is: all there is.
pub const COMPLETE: &str = "complete";
/// What a result says it is: questions, with whose answers the request is to be made again.
pub const INPUT_REQUIRED: &str = "input_required";
/// What a result says it is: a call that goes on by itself.
pub const TASK: &str = "task";

/// The type of a block that holds text.
pub const TEXT: &str = "text";
/// The type of a block that holds the address of a resource.
pub const RESOURCE_LINK: &str = "resource_link";

/// What must be known of a block that is passed on.
#[derive(Default, serde::Deserialize)]
pub struct BlockHead<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

impl<'a> BlockHead<'a> {
    /// Of a block; one that is odd has no type.
    pub fn of(block: &'a RawValue) -> Self {
        serde_json::from_str(block.get()).unwrap_or_default()
    }

    /// Its type.
    pub fn kind(self) -> Cow<'a, str> {
        self.kind
    }

    /// What it says, if it is a text.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| self.kind == TEXT)
    }
}

/// A field of the result of `tools/call`.
pub enum ResultField<'a> {
    /// The blocks; `None` if they are not a list.
    Content(Option<Vec<Box<RawValue>>>),
    /// The data.
    StructuredContent(&'a RawValue),
    /// Whether the tool says that it failed.
    IsError(bool),
    /// A field of `_meta` that is not the protocol's own or ours.
    Meta(String, &'a RawValue),
    /// Any other.
    Other(String, &'a RawValue),
}

/// Takes the result of `tools/call` apart, in its own order; `None` if it is not an object.
pub fn result_fields(text: &str) -> Option<Vec<ResultField<'_>>> {
    let Members(fields) = serde_json::from_str(text).ok()?;
    let mut found = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        match name.as_str() {
            "content" => found.push(ResultField::Content(serde_json::from_str(value.get()).ok())),
            "structuredContent" if value.get() != "null" => found.push(ResultField::StructuredContent(value)),
            "structuredContent" | "resultType" => {}
            "isError" => found.push(ResultField::IsError(value.get() == "true")),
            "_meta" => {
                let Ok(Members(meta)) = serde_json::from_str(value.get()) else { continue };
                let theirs = meta.into_iter().filter(|(name, _)| !crate::meta::is_reserved(name));
                found.extend(theirs.map(|(name, value)| ResultField::Meta(name, value)));
            }
            _ => found.push(ResultField::Other(name, value)),
        }
    }
    Some(found)
}

/// The members of an object, in their order and as they are written.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}
