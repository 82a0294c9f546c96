//! The methods, a file for each. [`super::dispatch`] says which revision has which.

pub(super) mod complete;
pub(super) mod discover;
pub(super) mod listen;
mod paging;
pub(super) mod ping;
pub(super) mod prompts;
pub(super) mod resources;
pub(super) mod tasks;
pub(super) mod tools_call;
pub(super) mod tools_list;
