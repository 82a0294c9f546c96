//! The contract's promises, each shown by a test that would fail without it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

mod canonical;
mod check;
mod committed;
mod confidence;
mod definition;
mod diff;
mod effect;
mod entry;
mod envelope;
mod error_pages;
mod errors;
mod foreign_text;
mod hint_numbers;
mod ids;
mod permissions;
mod policy;
mod sample;
mod schema;
mod schema_attacks;
mod schema_cost;
#[path = "../../../../tests/schema_lint.rs"]
mod schema_lint;
mod spelling;
mod validator;
mod validator_properties;
