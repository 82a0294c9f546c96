//! Every test calls the tools as the pipeline does, and runs on both engines.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod batches;
mod built_in;
mod cards;
mod changes;
mod contracts;
mod dates;
mod deletes;
mod finding;
mod hints;
mod hostile;
mod isolation;
mod lists;
mod races;
mod test_tools;
