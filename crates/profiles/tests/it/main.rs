//! The published shapes, checked against what their contracts print.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod assistant;
mod built_in;
mod due_dates;
mod errors;
mod executor;
mod published;
mod schema_assistant;
mod schema_todo_chatbot;
mod schema_todo_tasks;
mod todo_chatbot;
mod todo_tasks;
