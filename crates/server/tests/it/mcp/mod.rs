//! The MCP edge, over real sockets.

mod asking;
mod calls;
mod deferred;
mod frames;
mod headers;
mod large;
mod legacy;
mod legacy_sessions;
mod legacy_sse;
mod legacy_streams;
mod lines;
mod lists;
mod prompts;
mod resources;
mod slow_sockets;
mod streams;
pub mod test_server;
