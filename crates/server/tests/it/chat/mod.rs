//! The chat over HTTP: shapes, streams, confinement, OpenAI's clients.

mod completions;
mod rest;
mod scripted;
mod streams;
