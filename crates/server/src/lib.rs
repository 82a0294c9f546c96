//! HTTP: listener, middleware, router, auth, the REST API and the owner's socket.

mod access;
mod api;
mod app;
pub mod auth;
mod console;
mod events;
mod home_info;
mod kept_key;
pub mod listener;
mod log_reads;
mod mcp;
pub mod middleware;
mod openai;
pub mod openapi;
mod problems;
mod revocation;
mod router;
mod session;

pub use app::App;
pub use home_info::{Check, Doctor, HomeInfo, SetBy, Setting};
pub use mcp::sources as mcp_sources;
pub use mcp::{
    LINES_PROTOCOL, Line, LinesError, McpSettings, Takes, Worker, front, next_line, serve_lines,
    standard_input, standard_output,
};
pub use router::router;
pub use session::Link;
