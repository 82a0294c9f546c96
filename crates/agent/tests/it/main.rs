//! The chat, by its front door: a runtime with the task tools, a store, and a model that follows a script.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cards;
mod confirmations;
mod conversations;
mod dialogues;
mod guard;
mod hostile;
mod limits;
mod machine;
mod offline;
mod planner;
mod postgres;
mod restart;
mod stateless;
mod test_chat;
mod words;
