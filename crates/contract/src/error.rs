//! The closed table of errors, and the one error type that reaches a caller.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::client_side::ClientInput;
use crate::content::Content;
use crate::hints::SuggestedAction;

/// Whose problem an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ErrorClass {
    /// The input, or who sent it.
    Validation,
    /// A rule of the domain.
    Business,
    /// The machinery.
    System,
}

/// Whether calling again can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The same call fails the same way.
    No,
    /// The same call may succeed, at once or after `retryAfter`.
    Yes,
    /// A changed call may succeed; the text says what must change.
    After(&'static str),
    /// The same call may succeed if the tool is a query or idempotent.
    IfIdempotent,
}

macro_rules! error_codes {
    ($($variant:ident $code:literal $class:ident $http:literal $retry:expr; $when:literal)+) => {
        /// A stable error code. Codes may be added, never renamed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum ErrorCode {
            $(#[doc = $when] #[serde(rename = $code)] $variant,)+
        }

        impl ErrorCode {
            /// Every code, in the order of the published table.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant),+];

            /// The code as it is written on every wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$variant => $code),+ }
            }

            /// Whose problem it is.
            pub const fn class(self) -> ErrorClass {
                match self { $(ErrorCode::$variant => ErrorClass::$class),+ }
            }

            /// The HTTP status of a failed call.
            pub const fn http_status(self) -> u16 {
                match self { $(ErrorCode::$variant => $http),+ }
            }

            /// Whether calling again can help.
            pub const fn retry(self) -> Retry {
                match self { $(ErrorCode::$variant => $retry),+ }
            }

            /// When the error occurs, in one sentence.
            pub const fn when(self) -> &'static str {
                match self { $(ErrorCode::$variant => $when),+ }
            }
        }
    };
}

error_codes! {
    InvalidInput "invalid_input" Validation 400 Retry::No;
        "A parameter is missing, unknown, of the wrong type or outside its limits."
    NotFound "not_found" Business 404 Retry::No;
        "The thing does not exist, or is not the caller's."
    ToolNotFound "tool_not_found" Validation 404 Retry::No;
        "The tool is unknown, or not allowed for the caller."
    ToolRemoved "tool_removed" Validation 410 Retry::No;
        "The tool's removal date has passed; the message names its replacement."
    NoChanges "no_changes" Business 200 Retry::No;
        "Everything was already as the call asked."
    VersionConflict "version_conflict" Business 409 Retry::After("after a read");
        "The thing has changed since the version that the call expected."
    IdempotencyConflict "idempotency_conflict" Business 409 Retry::No;
        "The idempotency key was used before with another tool or other parameters."
    AlreadyExists "already_exists" Business 409 Retry::No;
        "Something with that name exists."
    BreakingChange "breaking_change" Business 409 Retry::No;
        "A published definition would break its callers; it needs a new name."
    InProgress "in_progress" Business 409 Retry::Yes;
        "A call with the same idempotency key is still running."
    Ambiguous "ambiguous" Business 409 Retry::After("with an id");
        "Words fit more than one thing; the candidates are in the answer and nothing was changed."
    ApprovalRequired "approval_required" Business 202 Retry::After("after the decision");
        "A person must decide before the tool runs."
    InputRequired "input_required" Business 409 Retry::After("with the client's answers");
        "The tool needs an answer from the client program first, and this interface cannot ask it."
    ApprovalDenied "approval_denied" Business 403 Retry::No;
        "A person said no."
    DefinitionPending "definition_pending" Business 403 Retry::After("after a review");
        "The tool's server has changed its definition, and nobody has approved the new one yet."
    ApprovalExpired "approval_expired" Business 410 Retry::After("anew");
        "Nobody decided in time."
    Unauthenticated "unauthenticated" Validation 401 Retry::No;
        "The request has no credential, or an invalid one."
    Forbidden "forbidden" Validation 403 Retry::No;
        "The caller lacks the grant for this administrative request, or sent it from where it is not allowed."
    BodyTooLarge "body_too_large" Validation 413 Retry::No;
        "The body of the request is larger than the limit."
    UnsupportedMediaType "unsupported_media_type" Validation 415 Retry::No;
        "The request does not declare its body as JSON."
    NotAcceptable "not_acceptable" Validation 406 Retry::No;
        "The client accepts none of the available content types."
    RequestTimeout "request_timeout" Validation 408 Retry::Yes;
        "The request body arrived too slowly."
    RateLimited "rate_limited" System 429 Retry::Yes;
        "The caller has used up the tool's calls for this window; retryAfter says when to try again."
    Busy "busy" System 503 Retry::Yes;
        "Too many calls are already waiting."
    ToolTimeout "tool_timeout" System 504 Retry::IfIdempotent;
        "The tool did not answer within its timeout and was stopped."
    ToolExecutionError "tool_execution_error" System 502 Retry::No;
        "The tool failed."
    InvalidOutput "invalid_output" System 502 Retry::No;
        "The tool's answer does not fit its output schema."
    OutputTooLarge "output_too_large" System 502 Retry::No;
        "The tool's answer is larger than the limit."
    Cancelled "cancelled" System 499 Retry::Yes;
        "The caller disconnected or cancelled, and the tool was stopped."
    ServiceUnavailable "service_unavailable" System 503 Retry::Yes;
        "The database or a server that the tool needs cannot be reached."
    JournalUnavailable "journal_unavailable" System 503 Retry::Yes;
        "The execution log cannot be written, so calls are refused."
    NotConfigured "not_configured" System 501 Retry::No;
        "The tool needs a setting that is missing; the message says which."
    Internal "internal" System 500 Retry::Yes;
        "An unexpected internal error; find it in the log by the trace id."
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is known of the effect of a call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "EffectOutcome")]
pub enum Outcome {
    /// The effect took place, though the answer is an error.
    Applied,
    /// It may have taken place; look before you repeat.
    Unknown,
}

/// One bad field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldError {
    /// A JSON pointer into the parameters; for a missing field, to where it should be.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
    /// What would be right, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// A value that would be right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
}

/// A pending request, as the answer to a call that waits for approval shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PendingNotice {
    /// The request's id: `approvalId` of the call that comes back.
    pub id: crate::ids::PendingId,
    /// `approval` or `question`.
    pub kind: PendingKind,
    /// When it expires.
    pub expires_at: jiff::Timestamp,
    /// What the person is asked.
    pub prompt: Value,
    /// The server that asks, where that is another Toolroom: the person decides there, and the same call is made again
    /// without the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

impl PendingNotice {
    /// Whether the request is one of this Toolroom, where the call comes back with its id.
    pub fn is_here(&self) -> bool {
        self.server.is_none()
    }
}

/// What a person is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PendingKind {
    /// A yes or a no to a call.
    Approval,
    /// An answer to a question.
    Question,
}

/// Why a call failed. The message, the details and the outcome reach the caller; the cause never does.
#[derive(Clone, Debug)]
pub struct ToolError {
    /// The stable code.
    pub code: ErrorCode,
    /// What went wrong and what to do, without anything internal.
    pub message: String,
    /// The bad fields.
    pub details: Vec<FieldError>,
    /// When a retry can help, in milliseconds from now.
    pub retry_after: Option<u64>,
    /// What is known of the effect.
    pub outcome: Option<Outcome>,
    /// What the caller could do next.
    pub next: Vec<SuggestedAction>,
    /// The request that waits for a person.
    pub pending: Option<Box<PendingNotice>>,
    /// What the client must answer first.
    pub client_input: Option<Box<ClientInput>>,
    /// Whether the tool itself refused the call, in its author's words: that says nothing against the tool.
    pub refusal: bool,
    /// Data that belongs to the failure, such as candidates or the current version.
    pub data: Option<Box<Value>>,
    /// Blocks that the failed tool answered with, each as its author wrote it.
    pub content: Option<Arc<Content>>,
    /// What the failed tool itself said, such as a traceback: for those who may read everybody's executions.
    pub detail: Option<Arc<String>>,
    /// The internal cause, only for the log.
    pub cause: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl ToolError {
    /// An error of that code.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: Vec::new(),
            retry_after: None,
            outcome: None,
            next: Vec::new(),
            pending: None,
            client_input: None,
            refusal: false,
            data: None,
            content: None,
            detail: None,
            cause: None,
        }
    }

    /// One bad field.
    pub fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        let message = message.into();
        let pointer = pointer.into();
        // An empty pointer is the whole value, and has no name to begin with.
        let told = if pointer.is_empty() { message.clone() } else { format!("{pointer}: {message}") };
        let mut error = Self::new(ErrorCode::InvalidInput, told);
        error.details.push(FieldError { pointer, message, expected: None, example: None });
        error
    }

    /// Something unexpected: the cause goes to the log, a plain sentence to the caller.
    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::new(ErrorCode::Internal, "Internal error. Find it in the log by the trace id.").caused_by(cause)
    }

    /// With the internal cause, only for the log.
    pub fn caused_by(mut self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.cause = Some(Arc::from(cause.into()));
        self
    }

    /// With a time after which a retry can help.
    pub fn retry_after_ms(mut self, milliseconds: u64) -> Self {
        self.retry_after = Some(milliseconds);
        self
    }

    /// With what is known of the effect.
    pub fn with_outcome(mut self, outcome: Outcome) -> Self {
        self.outcome = Some(outcome);
        self
    }

    /// With one more bad field.
    pub fn with_detail(mut self, detail: FieldError) -> Self {
        self.details.push(detail);
        self
    }

    /// With a step that would help.
    pub fn with_next(mut self, action: SuggestedAction) -> Self {
        self.next.push(action);
        self
    }

    /// With data that belongs to the failure.
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(Box::new(data));
        self
    }

    /// With the blocks that the failed tool answered with.
    pub fn with_content(mut self, blocks: Vec<Value>) -> Self {
        self.content = Some(Arc::new(Content::of(&blocks)));
        self
    }

    /// Whether the same call can succeed later, given that the tool may be repeated or not.
    pub fn is_retryable(&self, repeatable: bool) -> bool {
        // A mutation whose effect is uncertain is never to be repeated blindly.
        if self.outcome.is_some() && !repeatable {
            return false;
        }
        match self.code.retry() {
            Retry::No | Retry::After(_) => false,
            Retry::Yes => true,
            Retry::IfIdempotent => repeatable,
        }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for ToolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            Some(cause) => Some(cause.as_ref()),
            None => None,
        }
    }
}

/// A failure as the envelope carries it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorBody {
    /// The stable code.
    pub code: ErrorCode,
    /// Whose problem it is.
    pub class: ErrorClass,
    /// What went wrong and what to do.
    pub message: String,
    /// Whether the same call can succeed later.
    pub retryable: bool,
    /// When, in milliseconds from now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// The bad fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<FieldError>,
    /// What is known of the effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Data that belongs to the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The request that waits for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingNotice>,
}

impl ErrorBody {
    /// The error that a caller saw, told again by whoever passed the call on.
    pub fn into_error(self) -> ToolError {
        let mut error = ToolError::new(self.code, self.message);
        error.details = self.details;
        error.retry_after = self.retry_after;
        error.outcome = self.outcome;
        error.data = self.data.map(Box::new);
        error.refusal = self.class != ErrorClass::System;
        error.pending = self.pending.map(Box::new);
        error
    }

    /// What the caller may see of an error.
    pub fn of(error: &ToolError, repeatable: bool) -> Self {
        Self {
            code: error.code,
            class: error.code.class(),
            message: error.message.clone(),
            retryable: error.is_retryable(repeatable),
            retry_after: error.retry_after,
            details: error.details.clone(),
            outcome: error.outcome,
            data: error.data.as_deref().cloned(),
            pending: error.pending.as_deref().cloned(),
        }
    }
}
