//! The client's side of a connection of lines that outlives the processes at its other end, for `toolroom mcp`.

mod call_key;
mod session;
#[cfg(test)]
mod tests;

pub use session::{Resumption, Session};
