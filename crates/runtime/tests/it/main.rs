//! The pipeline from its front door: every promise of the contract, made to a runtime on a scratch folder.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::panic)]

mod accounting;
mod approval;
mod built_in_tools;
mod cache;
mod cache_interleavings;
mod costly_schemas;
mod deprecation;
mod dry_run;
mod errors;
mod executor;
mod hints;
mod idempotency;
mod journal;
mod logs;
mod must_always;
mod must_never;
mod next_actions;
mod order;
mod profiles;
mod questions;
mod rate_limit;
mod registrar;
mod registrar_faults;
mod registry;
mod scripts;
mod scripts_ending;
mod single_flight;
mod test_runtime;
mod test_scripts;
mod timeouts;
mod tools;
