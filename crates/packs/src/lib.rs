//! The native tools, in packs: each tool is its code with the contract beside it.

pub mod builtin;
pub mod cards;
mod change;
mod contract;
mod deserialize;
pub mod fuzzy;
pub mod tasks;
mod text;
