//! The command, as people and scripts use it: real processes on a home of their own.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

mod access;
mod agents;
mod authoring;
mod backup;
mod balancer;
mod built_in_tools;
mod calls;
mod cards;
mod chat;
mod checks;
mod commands;
mod connect;
mod console;
mod damage;
mod deadlines;
mod diffs;
mod doctor;
mod documents;
mod engines;
mod evals;
mod federation;
mod file_errors;
mod first_tool;
mod frameworks;
mod home;
mod import;
mod installs;
mod lists;
mod logins;
mod logs;
mod manners;
mod mcp_host;
mod postgres;
mod processes;
mod profiles;
#[path = "../../../../tests/programs.rs"]
mod programs;
mod promises;
mod python;
mod registration;
mod replay;
#[path = "../../../../tests/schema_lint.rs"]
mod schema_lint;
mod scripted_model;
mod secrets;
mod serving;
mod stdio;
mod terminal;
mod test_home;
mod trust;
mod upkeep;
mod while_writing;
