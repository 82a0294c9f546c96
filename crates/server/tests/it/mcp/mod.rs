//! The MCP edge, over real sockets.

mod asking;
mod calls;
mod desk;
mod frames;
mod headers;
mod lists;
mod promises;
mod streams;
