//! What a model is asked and what it answers. A language model and the offline planner are both behind this.
//!
//! What a model may rely on: it just calls the tool that it means. Whether a person must agree is decided by the
//! driver, which asks in its own words and ends the turn; the model is asked again once the call has its result, or
//! was declined or withdrawn. Receipts of changes are written by the driver before the model's words, so a model
//! may end with no words at all after a change. Results of earlier turns stay in the conversation.

pub mod openai;
mod prompt;
mod sampling;
mod turn;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub use prompt::{Message, Moment, Prompt, Schema, ToolChoice, ToolSpec};
pub use sampling::{BadParameter, Sampling};
pub use turn::{Arguments, Asking, Finish, ToolCall, Turn, Usage};

/// The future of one turn.
pub type Turning<'a> = Pin<Box<dyn Future<Output = Result<Turn, ModelError>> + Send + 'a>>;

/// The future of a look at a model's server.
pub type Probing<'a> = Pin<Box<dyn Future<Output = Option<Result<(), ModelError>>> + Send + 'a>>;

/// Something that reads a conversation and says what comes next: words, calls of tools, or both.
pub trait Model: Send + Sync {
    /// The name under which it is listed.
    fn name(&self) -> &str;

    /// Whether its server answers; `None` for one that has none.
    fn probe(&self) -> Probing<'_> {
        Box::pin(async { None })
    }

    /// The same model with these parameters of sampling; `None` for one that does not sample.
    fn sampled(&self, _sampling: &Sampling) -> Option<Arc<dyn Model>> {
        None
    }

    /// One turn. Dropping the future cancels it. What is given to `out` is a part of `Turn::text`, in order; a
    /// model that cannot stream may leave `out` alone.
    fn turn<'a>(&'a self, prompt: &'a Prompt, out: &'a mut dyn Deltas) -> Turning<'a>;
}

/// Takes the words of a turn as they come.
pub trait Deltas: Send {
    /// The next piece.
    fn text(&mut self, piece: &str);
}

/// Words that nobody waits for.
impl Deltas for () {
    fn text(&mut self, _piece: &str) {}
}

/// Why a model gave no turn. No message contains a key or an address.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Nobody answers there, or the connection broke before the first byte.
    #[error("the model's server cannot be reached")]
    Unreachable,
    /// The turn took longer than it may.
    #[error("the model did not answer in time")]
    Timeout,
    /// The key was refused.
    #[error("the model's server refused the key")]
    Unauthorized,
    /// The server has too much to do, or this key has used up its share.
    #[error("the model's server is busy")]
    Busy,
    /// The server refused the request, or ended its stream with an error; what it said, shortened.
    #[error("the model's server failed: {0}")]
    Failed(String),
    /// The connection broke in the middle of an answer.
    #[error("the model's answer was cut off")]
    Broken,
}
