//! MCP as it is on the wire: only what a client must understand. The rest is passed on as it came.

pub mod envelope;
pub mod meta;
pub mod revision;

pub use envelope::{Message, RpcError};
pub use revision::Revision;
