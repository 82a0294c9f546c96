//! Why a change of the servers was refused.

use toolroom_contract::{ErrorCode, FieldError, ToolError};
use toolroom_upstream::config::ConfigError;

use crate::registry_file::FileError;

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
    /// The file cannot be changed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The server itself is needed, and cannot be reached.
    #[error("the server cannot be reached: {0}")]
    Unavailable(String),
    /// A login cannot be begun, or what one gave cannot be given up.
    #[error("no login: {0}")]
    Login(String),
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
                told.details.push(FieldError {
                    pointer,
                    message: error.message,
                    expected: None,
                    example: None,
                });
                told
            }
            ServerError::File(error) => error.into(),
            ServerError::Unavailable(reason) => ToolError::new(
                ErrorCode::ServiceUnavailable,
                format!("The server must be reachable for this, but is not: {reason}."),
            )
            .retry_after_ms(5000),
            ServerError::Login(reason) => {
                ToolError::new(ErrorCode::NotConfigured, format!("The login could not be started: {reason}."))
            }
        }
    }
}
