//! Why a server gave no result.

use toolroom_contract::error::Outcome;
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_mcp::{Code, RpcError};

/// Why a server gave no result.
#[derive(Clone, Debug, thiserror::Error)]
pub enum UpstreamError {
    /// The server answered with a protocol error.
    #[error("the server answered with error {}: {}", .0.code.number(), excerpt(&.0.message))]
    Rpc(RpcError),
    /// The server cannot be reached; nothing was sent to it.
    #[error("the server cannot be reached: {reason}")]
    Unavailable {
        /// Why.
        reason: String,
        /// When it is tried again, in milliseconds.
        retry_after: Option<u64>,
    },
    /// The connection was lost after the request was sent: it may have been carried out.
    #[error("the connection was lost before the answer came: {reason}")]
    Lost {
        /// Why.
        reason: String,
    },
    /// No answer came in time.
    #[error("no answer within {seconds} s")]
    Timeout {
        /// How long was waited.
        seconds: f64,
        /// Whether the request had been sent.
        sent: bool,
    },
    /// The answer is larger than the limit.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The answer is not what the protocol says.
    #[error("the server's answer cannot be used: {reason}")]
    BadAnswer {
        /// What is wrong with it.
        reason: String,
    },
    /// The server wants a credential that we do not have.
    #[error("the server refuses our credential: {reason}")]
    Unauthorized {
        /// What it said.
        reason: String,
    },
    /// The server's address is of this machine or its network, and its entry does not allow that.
    #[error("its address is not allowed: set `allow_private` in its entry to allow it")]
    NotAllowed,
    /// The server refused the request with an HTTP status.
    #[error("the server refused the request with status {status}")]
    Refused {
        /// The status.
        status: u16,
    },
    /// The definition that was approved is no longer what the server lists; nothing was sent.
    #[error("its definition is not the one that was approved")]
    NotPermitted,
    /// The server was shut down here.
    #[error("the server is being shut down")]
    Stopped,
}

impl UpstreamError {
    /// Whether the request cannot have been carried out.
    pub fn never_ran(&self) -> bool {
        match self {
            Self::Unavailable { .. }
            | Self::Unauthorized { .. }
            | Self::NotAllowed
            | Self::NotPermitted
            | Self::Stopped => true,
            Self::Timeout { sent, .. } => !sent,
            Self::Refused { status } => *status < 500,
            Self::Rpc(_) | Self::Lost { .. } | Self::TooLarge { .. } | Self::BadAnswer { .. } => false,
        }
    }

    /// Whether the server says that what was asked for is not there, or not asked for rightly.
    pub fn refuses_params(&self) -> bool {
        matches!(self, Self::Rpc(error) if matches!(error.code, Code::InvalidParams | Code::ResourceNotFound))
    }

    /// Why, without saying again that the server cannot be reached.
    pub fn reason(&self) -> String {
        match self {
            Self::Unavailable { reason, .. } => reason.clone(),
            other => other.to_string(),
        }
    }

    /// What a caller sees of it. The server's name is said, its address is not.
    pub fn into_tool_error(self, server: &str) -> ToolError {
        let code = match &self {
            Self::Rpc(error) if error.code == Code::InvalidParams => ErrorCode::InvalidInput,
            Self::Rpc(_) => ErrorCode::ToolExecutionError,
            Self::Unavailable { .. } | Self::Lost { .. } | Self::Stopped => ErrorCode::ServiceUnavailable,
            Self::Unauthorized { .. } | Self::NotAllowed => ErrorCode::NotConfigured,
            Self::NotPermitted => ErrorCode::DefinitionPending,
            Self::Refused { status } if *status >= 500 => ErrorCode::ServiceUnavailable,
            Self::Refused { .. } => ErrorCode::ToolExecutionError,
            Self::Timeout { .. } => ErrorCode::ToolTimeout,
            Self::TooLarge { .. } => ErrorCode::OutputTooLarge,
            Self::BadAnswer { .. } => ErrorCode::InvalidOutput,
        };
        let mut error = ToolError::new(code, format!("Server '{server}': {self}."));
        if let Self::Unavailable { retry_after, .. } = &self {
            error.retry_after = *retry_after;
        }
        // An answer that says no is an answer; whatever else came after the sending leaves it open.
        let answered = matches!(self, Self::Rpc(_));
        if !self.never_ran() && !answered { error.with_outcome(Outcome::Unknown) } else { error }
    }
}

/// The beginning of a text that a server wrote.
pub(crate) fn excerpt(text: &str) -> &str {
    const MOST: usize = 500;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Why one exchange with a server failed, as the transports see it.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// Nothing reached the server.
    NotSent(String),
    /// It may have been carried out.
    Lost(String),
    /// The server has forgotten our session, and did nothing.
    SessionLost,
    /// An HTTP status, with the error in its body.
    Status { status: u16, rpc: Option<RpcError> },
    /// 401 or 403.
    Unauthorized(String),
    /// The address may not be reached.
    NotAllowed,
    /// Larger than the limit.
    TooLarge(usize),
    /// Not what the protocol says.
    BadAnswer(String),
    /// An error as an answer.
    Rpc(RpcError),
    /// The tools could not be listed or compared first, so that nothing was sent.
    Unlisted(String),
    /// What the server lists is not what was approved, so that nothing was sent.
    NotPermitted,
}

impl Failure {
    /// Whether the server cannot have carried it out.
    pub(crate) fn never_ran(&self) -> bool {
        match self {
            Self::NotSent(_)
            | Self::SessionLost
            | Self::Unauthorized(_)
            | Self::NotAllowed
            | Self::Unlisted(_)
            | Self::NotPermitted => true,
            Self::Status { status, .. } => *status < 500,
            _ => false,
        }
    }

    /// Whether the way to the server is at fault, so that trying again can help.
    pub(crate) fn is_of_the_way(&self) -> bool {
        match self {
            Self::NotSent(_) | Self::Lost(_) | Self::SessionLost => true,
            Self::Status { status, rpc } => rpc.is_none() && (*status >= 500 || *status == 429),
            _ => false,
        }
    }

    /// The same for a request that was to follow, and was never sent.
    pub(crate) fn before_sending(self) -> Self {
        match self {
            Self::Lost(reason) => Self::NotSent(reason),
            Self::NotSent(_)
            | Self::SessionLost
            | Self::Unlisted(_)
            | Self::Unauthorized(_)
            | Self::NotAllowed => self,
            failure if failure.is_of_the_way() => Self::NotSent(failure.reason()),
            failure => Self::Unlisted(format!("its tools could not be listed: {}", failure.reason())),
        }
    }

    /// In one line, for status and log.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::NotSent(reason) | Self::Lost(reason) | Self::Unlisted(reason) => reason.clone(),
            other => UpstreamError::from(other.clone()).to_string(),
        }
    }
}

impl From<Failure> for UpstreamError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotSent(reason) => Self::Unavailable { reason, retry_after: None },
            Failure::SessionLost => {
                Self::Unavailable { reason: "it has forgotten our session".to_owned(), retry_after: None }
            }
            Failure::Lost(reason) => Self::Lost { reason },
            Failure::Status { rpc: Some(error), .. } | Failure::Rpc(error) => Self::Rpc(error),
            Failure::Status { status, rpc: None } => Self::Refused { status },
            Failure::Unauthorized(reason) => Self::Unauthorized { reason },
            Failure::NotAllowed => Self::NotAllowed,
            Failure::TooLarge(limit) => Self::TooLarge { limit },
            Failure::BadAnswer(reason) => Self::BadAnswer { reason },
            Failure::Unlisted(reason) => Self::Unavailable { reason, retry_after: None },
            Failure::NotPermitted => Self::NotPermitted,
        }
    }
}
