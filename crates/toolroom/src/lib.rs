//! The `toolroom` command: reads the arguments, runs one verb, turns its ending into an exit code. A library, so that
//! it compiles while the server still does: a binary would wait for every library to be complete.

mod cli;
mod client;
mod config;
mod engine;
mod failure;
mod front;
mod home;
mod logging;
mod terminal;
mod upkeep;
mod wiring;

use std::process::ExitCode;

use clap::Parser;

use cli::Cli;

/// Runs the command that this process was started with.
pub fn main() -> ExitCode {
    // Before anything else: a sandbox's helper is this program, and has one thread.
    toolroom_worker::enter_helper();
    let cli = Cli::parse();
    logging::start(cli.verb.log_level());
    let ending = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(cli::run(cli)));
    match ending {
        Ok(code) => code,
        Err(error) => failure::report(&error),
    }
}
