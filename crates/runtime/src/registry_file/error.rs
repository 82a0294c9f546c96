//! Why a registry file was not changed.

use std::io;

use toolroom_contract::{ErrorCode, ToolError};
use toolroom_store::StoreError;
use toolroom_store::registry::NotKnown;

use super::FileProblem;

/// Why a registry file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file on the disk was edited and cannot be used, so that writing it again would lose the edit.
    #[error("the file cannot be used as it is: {0}")]
    Unusable(#[from] FileProblem),
    /// The change could not be written.
    #[error("the change could not be written: {0}")]
    Disk(#[from] io::Error),
    /// The registry that servers share could not be read or changed.
    #[error("the registry in the database is not available: {0}")]
    Database(#[from] StoreError),
    /// Another server did not end its change.
    #[error("another server is changing the registry")]
    Busy,
    /// Another server was faster.
    #[error("the registry was changed by another server meanwhile")]
    ChangedMeanwhile,
    /// A server of an earlier release could not read it.
    #[error("the server in {} (release {}) does not know the field '{}'", .0.home, .0.release, .0.field)]
    NotKnown(NotKnown),
    /// Something that should not happen.
    #[error("the change was aborted: {0}")]
    Aborted(String),
}

impl From<FileError> for ToolError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Unusable(problem) => {
                let file = problem.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let line = if problem.line > 0 { format!(" (line {})", problem.line) } else { String::new() };
                let message = format!(
                    "{file} was edited and cannot be used{line}: {}. Fix it first; until then nothing can be changed.",
                    problem.message
                );
                ToolError::new(ErrorCode::ServiceUnavailable, message).retry_after_ms(5000).caused_by(problem)
            }
            FileError::Disk(error) => ToolError::new(
                ErrorCode::ServiceUnavailable,
                "The change could not be written to the disk, and nothing was changed. Free disk space or fix the \
                 permissions of the home and its folder 'tools', then try again.",
            )
            .retry_after_ms(1000)
            .caused_by(error),
            FileError::Database(error) => error.into(),
            FileError::Busy | FileError::ChangedMeanwhile => ToolError::new(
                ErrorCode::ServiceUnavailable,
                "Another server is changing the registry. Nothing was changed here; try again.",
            )
            .retry_after_ms(1000),
            FileError::NotKnown(NotKnown { field, release, .. }) => ToolError::new(
                ErrorCode::InvalidInput,
                format!(
                    "A server of release {release} shares this registry and does not know the field '{field}'. Nothing was \
                     changed. Upgrade all servers first, or leave the field out."
                ),
            ),
            FileError::Aborted(cause) => ToolError::internal(cause),
        }
    }
}
