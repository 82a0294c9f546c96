//! The methods, a file for each. A call of a tool may take several turns (`tools_call`), and may outlive its request
//! (`deferred_call`).

pub(super) mod complete;
pub(super) mod deferred_call;
pub(super) mod discover;
pub(super) mod listen;
mod paging;
pub(super) mod ping;
pub(super) mod prompts;
pub(super) mod resources;
pub(super) mod tasks;
pub(super) mod tools_call;
pub(super) mod tools_list;
