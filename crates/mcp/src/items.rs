//! Resources, prompts and what belongs to them, as servers list them and clients see them.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

/// Something that can be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Its address.
    pub uri: String,
    #[serde(default, deserialize_with = "or_default")]
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// In bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Further fields, as another server wrote them.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A family of resources whose addresses follow a pattern.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// As of RFC 6570.
    pub uri_template: String,
    #[serde(default, deserialize_with = "or_default")]
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Further fields, as another server wrote them.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Contents {
    pub uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes in Base64, where it is no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
    /// Further fields, as another server wrote them.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Contents {
    pub fn text(uri: impl Into<String>, mime_type: impl Into<String>, text: impl Into<String>) -> Self {
        let (uri, mime_type) = (uri.into(), Some(mime_type.into()));
        Self { uri, mime_type, text: Some(text.into()), blob: None, meta: None, more: Map::new() }
    }

    /// `base64` is the bytes in Base64.
    pub fn blob(uri: impl Into<String>, mime_type: impl Into<String>, base64: impl Into<String>) -> Self {
        let (uri, mime_type) = (uri.into(), Some(mime_type.into()));
        Self { uri, mime_type, text: None, blob: Some(base64.into()), meta: None, more: Map::new() }
    }

    pub fn json(uri: impl Into<String>, value: &impl Serialize) -> Self {
        Self::text(uri, "application/json", serde_json::to_string(value).unwrap_or_default())
    }
}

/// A text for a model that a person picks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
    /// Further fields, as another server wrote them.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What can be filled in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PromptArgument {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub required: bool,
}

impl PromptArgument {
    pub fn optional(name: &str, description: &str) -> Self {
        Self { name: name.into(), description: Some(description.into()), required: false }
    }

    pub fn required(name: &str, description: &str) -> Self {
        Self { required: true, ..Self::optional(name, description) }
    }
}

/// A prompt, filled in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PromptText {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// As the protocol writes them: a role, and one block of content each.
    #[serde(default)]
    pub messages: Vec<Value>,
}

impl PromptText {
    /// One message of the user.
    pub fn of(text: impl Into<String>) -> Self {
        let content = json!({ "type": "text", "text": text.into() });
        Self { description: None, messages: vec![json!({ "role": "user", "content": content })] }
    }

    /// Another message of the user, with this block.
    pub fn and(mut self, content: Value) -> Self {
        self.messages.push(json!({ "role": "user", "content": content }));
        self
    }
}

/// `null` counts as absent.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
