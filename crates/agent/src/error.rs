//! Why a message was not taken.

use toolroom_contract::{ErrorCode, ToolError};
use toolroom_store::StoreError;

/// Why a message was not taken, or something of the chat could not be shown.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// There is no such conversation or run, or it is another's.
    #[error("You have no conversation with that id.")]
    NotFound,
    /// The message is empty or too long.
    #[error("A message has 1 to {0} characters.")]
    BadLength(usize),
    /// There is no such profile, or the credential does not reach it.
    #[error("Unknown profile, or not allowed for you.")]
    NoProfile,
    /// No model of that name is set up.
    #[error("Unknown model.")]
    NoModel,
    /// The tool that a client wants called is not there.
    #[error("There is no tool '{0}' to choose.")]
    NoTool(String),
    /// The history that a client sent does not end with what a person said.
    #[error("The last message must be the user's, or the result of a tool.")]
    BadHistory,
    /// What was said up to a kept answer is more than a client could send.
    #[error("This conversation has become too long to go on with. Begin a new one.")]
    HistoryTooLong,
    /// Another process answers in this conversation now.
    #[error("Another message of this conversation is being answered. Try again in a moment.")]
    InProgress,
    /// The answer is to a question that is not the one that is open.
    #[error("That question is not open any more. Nothing was said or done. Read the conversation again.")]
    OtherQuestion,
    /// The database failed.
    #[error("{}", ToolError::from(.0.clone()).message)]
    Store(#[from] StoreError),
}

impl ChatError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound => ErrorCode::NotFound,
            Self::BadLength(_)
            | Self::NoProfile
            | Self::NoModel
            | Self::NoTool(_)
            | Self::BadHistory
            | Self::HistoryTooLong => ErrorCode::InvalidInput,
            Self::InProgress => ErrorCode::InProgress,
            Self::OtherQuestion => ErrorCode::VersionConflict,
            Self::Store(error) => ToolError::from(error.clone()).code,
        }
    }
}
