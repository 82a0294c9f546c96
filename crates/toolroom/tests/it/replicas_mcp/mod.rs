//! MCP through several servers on one database, any message at any of them: sessions of the older revisions, questions,
//! cancelled requests, HTTP+SSE, long results and deferred calls.

mod clients;
mod deferred;
pub mod older_client;
mod parcels;
mod questions;
mod round_robin;
mod server_questions;
mod sessions;
mod streams;
mod worker_callers;
mod workers;
