//! Chat: a person writes a sentence, and the right tool runs, or a question comes back, or a plain answer.
//!
//! [`Chat`] is the door. A message begins a [`run`]; the driver in `chat/` does what the run asks for, through the
//! runtime's pipeline, and writes down how far it came. What an edge shows comes out of the run's event [`log`].

pub mod chat;
pub mod confirm;
mod error;
pub mod guard;
pub mod log;
mod prompt;
pub mod receipt;
pub mod run;
pub mod sentences;
mod settings;
pub mod toolset;
mod word_list;

pub use chat::{Answer, CallShown, Chat, Follows, History, RunHandle, StoredMessage, UserMessage};
pub use error::ChatError;
pub use log::{Event, EventKind, TextSource};
pub use prompt::system as system_message;
pub use settings::{ChatSettings, Models};
