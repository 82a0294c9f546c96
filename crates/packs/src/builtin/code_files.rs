//! Files that go to code and come back from it: as text where they are text, else as base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_contract::ToolError;
use toolroom_worker::CodeFile;

/// A file for the code: its content as text, or as base64.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileIn {
    /// A relative path, such as data/in.csv.
    #[schemars(length(min = 1, max = 200))]
    pub(super) path: String,
    /// The content, if it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 1_000_000))]
    content: Option<String>,
    /// The content in base64, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 1_400_000))]
    base64: Option<String>,
}

impl FileIn {
    /// Its content; `at` is its place in the parameters.
    pub(super) fn bytes(&self, at: usize) -> Result<Vec<u8>, ToolError> {
        match (&self.content, &self.base64) {
            (Some(text), None) => Ok(text.clone().into_bytes()),
            (None, Some(text)) => STANDARD
                .decode(text)
                .map_err(|_| ToolError::invalid(format!("/files/{at}/base64"), "must be valid base64")),
            _ => Err(ToolError::invalid(format!("/files/{at}"), "must have either content or base64")),
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct FileOut {
    /// Relative to the working folder.
    path: String,
    /// Bytes.
    size: u64,
    /// The content, if it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// The content in base64, if it is not text. Neither is there if the file is too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl From<CodeFile> for FileOut {
    fn from(file: CodeFile) -> Self {
        let (content, base64) = match file.content.map(String::from_utf8) {
            Some(Ok(text)) => (Some(text), None),
            Some(Err(bytes)) => (None, Some(STANDARD.encode(bytes.as_bytes()))),
            None => (None, None),
        };
        Self { path: file.name, size: file.size, content, base64 }
    }
}
