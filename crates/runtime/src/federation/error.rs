//! Why a change of the servers was refused.

use std::io;

use toolroom_contract::{ErrorCode, FieldError, ToolError};
use toolroom_upstream::config::ConfigError;

use crate::registry_file::FileProblem;

/// Why a change of the servers was refused. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A server is to be added whose name an entry of `mcp.json` has already.
    #[error("a server named '{0}' exists already")]
    Exists(String),
    /// No entry of `mcp.json` has that name.
    #[error("mcp.json has no server named '{0}'")]
    NotFound(String),
    /// The server has no tool of that name.
    #[error("the server has no tool named '{0}'")]
    NoSuchTool(String),
    /// What waits for review is not what was to be approved.
    #[error("the server '{0}' lists something else now")]
    Changed(String),
    /// The entry cannot be used.
    #[error("the entry is not valid: {0}")]
    Invalid(ConfigError),
    /// The file on the disk was edited and cannot be used, so that writing it again would lose the edit.
    #[error("mcp.json cannot be used as it is: {0}")]
    File(FileProblem),
    /// The server itself is needed, and cannot be reached.
    #[error("the server cannot be reached: {0}")]
    Unavailable(String),
    /// A login cannot be begun, or what one gave cannot be given up.
    #[error("no login: {0}")]
    Login(String),
    /// The change could not be written.
    #[error("the change could not be written: {0}")]
    Disk(#[from] io::Error),
    /// Something that should not happen.
    #[error("the change was aborted: {0}")]
    Internal(String),
}

impl From<ServerError> for ToolError {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Exists(name) => ToolError::new(
                ErrorCode::AlreadyExists,
                format!("A server named '{name}' exists. Replace it instead, or choose another name."),
            ),
            ServerError::NotFound(name) => {
                ToolError::new(ErrorCode::NotFound, format!("mcp.json has no server named '{name}'."))
            }
            ServerError::NoSuchTool(name) => ToolError::new(
                ErrorCode::NotFound,
                format!("The server has no tool named '{name}'; GET /api/v1/servers/NAME lists them."),
            ),
            ServerError::Changed(name) => ToolError::new(
                ErrorCode::VersionConflict,
                format!(
                    "What is pending review at the server '{name}' is not what this hash stands for. Nothing was approved. Look at it again, then approve what you see."
                ),
            ),
            ServerError::Invalid(error) => {
                let pointer = error.field.as_deref().unwrap_or_default().replace('.', "/");
                let pointer = if pointer.is_empty() { pointer } else { format!("/{pointer}") };
                let mut told =
                    ToolError::new(ErrorCode::InvalidInput, format!("The server was not added: {error}."));
                told.details.push(FieldError { pointer, message: error.message, expected: None, example: None });
                told
            }
            ServerError::File(problem) => ToolError::new(
                ErrorCode::ServiceUnavailable,
                format!(
                    "mcp.json was edited and cannot be used{}: {}. Fix it first; until then nothing can be changed.",
                    if problem.line > 0 { format!(" (line {})", problem.line) } else { String::new() },
                    problem.message
                ),
            )
            .retry_after_ms(5000)
            .caused_by(problem),
            ServerError::Unavailable(reason) => ToolError::new(
                ErrorCode::ServiceUnavailable,
                format!("The server must be reachable for this, but is not: {reason}."),
            )
            .retry_after_ms(5000),
            ServerError::Login(reason) => {
                ToolError::new(ErrorCode::NotConfigured, format!("The login could not be started: {reason}."))
            }
            ServerError::Disk(error) => ToolError::new(
                ErrorCode::ServiceUnavailable,
                "The change could not be written to the disk, and nothing was changed. Free disk space or fix the permissions of the home, then try again.",
            )
            .retry_after_ms(1000)
            .caused_by(error),
            ServerError::Internal(cause) => ToolError::internal(cause),
        }
    }
}
