//! The chat over HTTP: shapes, streams, confinement, OpenAI's clients.

mod completions;
mod hostile;
mod responses;
mod rest;
pub mod scripted;
mod streams;
