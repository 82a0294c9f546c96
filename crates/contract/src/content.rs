//! What a tool answers beside its data, kept as the text that its maker wrote: nothing is read that is only passed on.

use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// What a tool answers beside its data.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Content {
    /// Blocks, such as texts, images and links.
    pub blocks: Vec<Box<RawValue>>,
    /// The data, where it came as a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
    /// Further fields of the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<(String, Box<RawValue>)>,
    /// What the answer's maker says about it, for programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meta: Vec<(String, Box<RawValue>)>,
}

impl Content {
    /// These blocks, and nothing else.
    pub fn of(blocks: &[Value]) -> Self {
        // A value always has a text.
        let blocks = blocks.iter().map(|block| to_raw_value(block).unwrap_or_default()).collect();
        Self { blocks, ..Self::default() }
    }

    /// Bytes of text, about.
    pub fn size(&self) -> usize {
        let named = self.fields.iter().chain(&self.meta).map(|(_, value)| value);
        let texts = self.blocks.iter().chain(&self.data).chain(named);
        texts.map(|text| text.get().len() + 32).sum()
    }

    /// The blocks alone, as results show them.
    pub(crate) fn serialize_blocks<S: Serializer, C: std::borrow::Borrow<Self>>(
        content: &Option<C>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let blocks = content.as_ref().map_or(&[][..], |content| &content.borrow().blocks);
        let mut list = serializer.serialize_seq(Some(blocks.len()))?;
        for block in blocks {
            list.serialize_element(block)?;
        }
        list.end()
    }

    /// Blocks out of a result.
    pub(crate) fn deserialize_blocks<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<std::sync::Arc<Self>>, D::Error> {
        let blocks = Option::<Vec<Value>>::deserialize(deserializer)?;
        Ok(blocks.map(|blocks| std::sync::Arc::new(Self::of(&blocks))))
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        let texts = |content: &Self| -> Vec<String> {
            content.blocks.iter().chain(&content.data).map(|text| text.get().to_owned()).collect()
        };
        texts(self) == texts(other)
            && self.fields.len() == other.fields.len()
            && self.meta.len() == other.meta.len()
    }
}
