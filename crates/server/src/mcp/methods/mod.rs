//! The methods, a file for each. [`super::dispatch`] says which revision has which.

pub(super) mod discover;
pub(super) mod listen;
pub(super) mod ping;
pub(super) mod tools_call;
pub(super) mod tools_list;
