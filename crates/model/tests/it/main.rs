//! The client of a model, against servers that do what servers really do.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod openai;
mod text_calls;
mod thoughts;
