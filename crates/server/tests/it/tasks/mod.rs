//! The task contracts as callers see them: the canonical tools and the three published profiles, over HTTP and
//! on both databases.

mod as_sent;
mod assistant;
mod bad_input;
mod canonical;
mod database_down;
mod databases;
mod deadlines;
mod dry_run;
mod due_dates;
mod finding;
mod functions;
mod hostile_text;
mod isolation;
mod one_store;
mod profile_client;
mod todo_chatbot;
mod todo_tasks;
