//! Why a change of the registry was refused.

use toolroom_contract::diff::{self, Change, Impact};
use toolroom_contract::{ErrorCode, FieldError, ToolError};

use crate::catalogue::RegistryError;
use crate::registry_file::FileError;

/// Why a change of the registry was refused. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// A tool is to be added whose name an entry of `tools.json` has already.
    #[error("a tool named '{0}' exists already")]
    Exists(String),
    /// The name belongs to a tool that comes with Toolroom or from elsewhere.
    #[error("'{0}' is the name of a tool that is not in tools.json")]
    Taken(String),
    /// No entry of `tools.json` has that name.
    #[error("tools.json has no tool named '{0}'")]
    NotFound(String),
    /// The tool is no draft any more.
    #[error("'{0}' is published already")]
    Published(String),
    /// It was changed after it was read.
    #[error("'{0}' was changed since you read it")]
    ChangedSince(String),
    /// The entry, or the script's text, cannot be used.
    #[error("the entry is not valid: {}", sentence(.0))]
    Invalid(Vec<FieldError>),
    /// A script that describes its tools could not be read, or describes what is not a tool.
    #[error("{place}: {message}")]
    Unreadable {
        /// The file, and the line if it is known.
        place: String,
        /// What is wrong there.
        message: String,
    },
    /// What a script needs could not be installed.
    #[error("{file}: {message}")]
    NotInstalled {
        /// The file.
        file: String,
        /// What is missing, and what to do.
        message: String,
        /// Whether the same may work later.
        can_retry: bool,
    },
    /// This system cannot read scripts that describe their tools.
    #[error("{file} cannot be read: {reason}")]
    CannotRead {
        /// The file.
        file: String,
        /// What is missing.
        reason: String,
    },
    /// The new definition breaks callers of the one that is there.
    #[error("'{name}' would break its callers")]
    Breaking {
        /// The tool.
        name: String,
        /// All differences.
        changes: Vec<Change>,
    },
    /// The file cannot be changed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The catalogue did not take the tool.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

impl ChangeError {
    /// One bad field of the entry.
    pub(super) fn field(pointer: &str, message: impl Into<String>) -> Self {
        let field = FieldError {
            pointer: pointer.to_owned(),
            message: message.into(),
            expected: None,
            example: None,
        };
        Self::Invalid(vec![field])
    }
}

fn sentence(fields: &[FieldError]) -> String {
    let fields: Vec<String> =
        fields.iter().map(|field| format!("{}: {}", field.pointer, field.message)).collect();
    fields.join("; ")
}

impl From<ChangeError> for ToolError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Exists(name) => ToolError::new(
                ErrorCode::AlreadyExists,
                format!("A tool named '{name}' exists. Update it instead, or choose another name."),
            ),
            ChangeError::Taken(name) => ToolError::new(
                ErrorCode::AlreadyExists,
                format!(
                    "'{name}' is the name of a tool that is not in tools.json, and cannot be changed there. Choose another name."
                ),
            ),
            ChangeError::NotFound(name) => ToolError::new(
                ErrorCode::NotFound,
                format!(
                    "tools.json has no tool named '{name}'. Only tools that are in it can be published or removed."
                ),
            ),
            ChangeError::Published(name) => ToolError::new(
                ErrorCode::AlreadyExists,
                format!("'{name}' is published already. Give its next version in the file, and update it."),
            ),
            ChangeError::ChangedSince(name) => ToolError::new(
                ErrorCode::VersionConflict,
                format!(
                    "'{name}' was changed since you read it. Nothing was changed now. Read it again, and make your change there."
                ),
            ),
            ChangeError::Invalid(details) => {
                let mut error = ToolError::new(
                    ErrorCode::InvalidInput,
                    format!("The tool was not registered: {}.", sentence(&details)),
                );
                error.details = details;
                error
            }
            ChangeError::Unreadable { place, message } => {
                let text = format!("{place}: {}. Nothing was registered.", message.trim_end_matches('.'));
                let mut error = ToolError::new(ErrorCode::InvalidInput, text);
                error.details =
                    vec![FieldError { pointer: "/text".to_owned(), message, expected: None, example: None }];
                error
            }
            ChangeError::NotInstalled { file, message, can_retry } => {
                let code = if can_retry { ErrorCode::ServiceUnavailable } else { ErrorCode::InvalidInput };
                let message = message.trim_end_matches('.');
                ToolError::new(code, format!("{file}: {message}. Nothing was registered."))
            }
            ChangeError::CannotRead { file, reason } => ToolError::new(
                ErrorCode::NotConfigured,
                format!("{file} was not read: {reason}. See 'toolroom doctor', or add an entry as JSON."),
            ),
            ChangeError::Breaking { name, changes } => breaking(&name, changes),
            ChangeError::File(error) => error.into(),
            ChangeError::Registry(error) => ToolError::new(
                ErrorCode::InvalidInput,
                format!("The catalogue refused this change: {error}."),
            ),
        }
    }
}

fn breaking(name: &str, changes: Vec<Change>) -> ToolError {
    let details: Vec<FieldError> = changes
        .into_iter()
        .filter(|change| change.impact == Impact::Breaking)
        .map(|change| FieldError {
            pointer: change.pointer,
            message: change.message,
            expected: None,
            example: None,
        })
        .collect();
    let mut error = ToolError::new(
        ErrorCode::BreakingChange,
        format!("This would break callers of '{name}': {}. {}", sentence(&details), diff::ways_out(name)),
    );
    error.details = details;
    error
}
