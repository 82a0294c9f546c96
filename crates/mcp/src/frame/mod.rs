//! JSON-RPC 2.0: messages read from bytes and written to bytes. What they carry stays the text that it is.
//!
//! [`read`] takes what clients send, strictly: whatever could be read in more than one way is refused.
//! [`read_leniently`] takes what servers send: odd messages are passed over, and an answer is taken wherever it can be
//! told whose it is.

mod envelope;
mod fields;
mod lenient;
mod params;
mod read;
mod text;
mod write;

use std::borrow::Cow;

use crate::{Code, Id, RpcError};

pub use lenient::read_leniently;
pub use params::{Params, refused};
pub use read::read;
pub use text::Text;
pub use write::{Field, ParamsWithMeta, notification, request, response};

/// One message.
#[derive(Debug)]
pub enum Message<'a> {
    /// The other side wants something.
    Request {
        /// To be given back with the answer.
        id: Id,
        /// What it wants.
        method: Cow<'a, str>,
        /// The particulars.
        params: Params<'a>,
    },
    /// The other side says something.
    Notification {
        /// What it is about.
        method: Cow<'a, str>,
        /// The particulars.
        params: Option<&'a str>,
    },
    /// The answer to a request of ours.
    Response {
        /// Which; `None` if it cannot be told.
        id: Option<Id>,
        /// How it came out.
        outcome: Result<&'a str, RpcError>,
    },
}

/// One or several messages in a body.
#[derive(Debug)]
pub enum Frame<'a> {
    /// One.
    One(Message<'a>),
    /// Revision 2025-03-26 alone has these.
    Batch(Vec<Result<Message<'a>, Malformed>>),
}

/// What is not a message, with the id where that could be read.
#[derive(Debug)]
pub struct Malformed {
    /// The id.
    pub id: Option<Id>,
    /// What is wrong.
    pub error: RpcError,
}

impl Malformed {
    fn new(id: Option<Id>, code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self { id, error: RpcError::new(code, message).of_the_envelope() }
    }
}

/// An error as the other side told it. Odd as it may be, it ends the wait for an answer.
fn peer_error(text: &str) -> RpcError {
    serde_json::from_str(text).unwrap_or_else(|_| RpcError::new(Code::Internal, text.to_owned()))
}
