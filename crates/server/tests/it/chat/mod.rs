//! The chat over HTTP: shapes, streams, confinement, OpenAI's clients.

mod completions;
mod hostile;
mod rest;
mod scripted;
mod streams;
