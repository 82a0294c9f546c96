//! The MCP edge, over real sockets.

mod asking;
mod calls;
mod desk;
mod frames;
mod headers;
mod legacy;
mod legacy_sessions;
mod legacy_sse;
mod legacy_streams;
mod lines;
mod lists;
mod promises;
mod streams;
