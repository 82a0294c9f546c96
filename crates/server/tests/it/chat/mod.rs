//! The chat over HTTP: shapes, streams, confinement, OpenAI's clients.

mod completions;
mod hostile;
mod rest;
pub mod scripted;
mod streams;
