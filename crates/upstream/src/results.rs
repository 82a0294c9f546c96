//! What servers answer, as the rest of the program knows it: nothing past here reads the protocol.

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolroom_contract::Content;
use toolroom_mcp::content::{BlockHead, ResultField, result_fields};

use crate::error::UpstreamError;

/// A result, whole and as it came.
#[derive(Debug)]
pub struct RemoteResult(pub(crate) Box<str>);

/// What a tool answered.
#[derive(Debug)]
pub struct ToolAnswer {
    /// What goes along as it came, the data among it.
    pub content: Content,
    /// The data, where the tool answered with some.
    pub data: Option<Value>,
    /// Whether the tool itself says that it failed.
    pub failed: bool,
}

impl RemoteResult {
    /// A result that another process got, and passed on as it came.
    pub fn of(text: String) -> Self {
        Self(text.into())
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// As the result of a tool: what is structured is the data, all the rest goes along as it came.
    pub fn tool_answer(&self) -> Result<ToolAnswer, UpstreamError> {
        let fields = result_fields(&self.0).ok_or_else(|| bad("its result is not an object"))?;
        let mut answer = ToolAnswer { content: Content::default(), data: None, failed: false };
        let content = &mut answer.content;
        for field in fields {
            match field {
                ResultField::Content(Some(blocks)) => content.blocks = blocks,
                ResultField::Content(None) => return Err(bad("its content is not a list")),
                ResultField::StructuredContent(data) => content.data = Some(data.to_owned()),
                ResultField::IsError(failed) => answer.failed = failed,
                ResultField::Meta(name, value) => content.meta.push((name, value.to_owned())),
                ResultField::Other(name, value) => content.fields.push((name, value.to_owned())),
            }
        }
        let data = content.data.as_deref().map(RawValue::get).map(serde_json::from_str);
        answer.data = data.transpose().map_err(|_| bad("its structured content cannot be read"))?;
        Ok(answer)
    }

    /// As what was read or filled in, without what the protocol says about it.
    pub fn fields(&self) -> Result<Map<String, Value>, UpstreamError> {
        let mut fields: Map<String, Value> =
            serde_json::from_str(&self.0).map_err(|_| bad("its result is not an object"))?;
        for own in ["resultType", "_meta", "ttlMs", "cacheScope"] {
            fields.shift_remove(own);
        }
        Ok(fields)
    }
}

impl ToolAnswer {
    /// The texts among its blocks.
    pub fn text(&self) -> String {
        let mut all = String::new();
        for block in &self.content.blocks {
            if let Some(text) = BlockHead::of(block).text() {
                if !all.is_empty() {
                    all.push('\n');
                }
                all.push_str(text);
            }
        }
        all
    }
}

fn bad(reason: &str) -> UpstreamError {
    UpstreamError::BadAnswer { reason: reason.to_owned() }
}
