//! The `toolroom` command: reads the arguments, runs one verb, turns its ending into an exit code. A library, so that
//! it compiles while the server still does: a binary would wait for every library to be complete.

mod archive;
mod cli;
mod client;
mod config;
mod engine;
mod failure;
mod front;
mod home;
mod logging;
mod progress;
mod sign_of_life;
mod terminal;
mod upkeep;
mod wiring;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use clap_complete::CompleteEnv;

use cli::Cli;

/// Set by shells that complete a line.
pub(crate) const COMPLETING: &str = "COMPLETE";

/// Runs the command that this process was started with.
pub fn main() -> ExitCode {
    // Before anything else: a sandbox's helper is this program, and has one thread.
    toolroom_worker::enter_helper();
    // A shell that completes a line asks this program, and shows whatever it says on the line.
    if std::env::var_os(COMPLETING).is_some() {
        terminal::speak_to_program();
    }
    CompleteEnv::with_factory(Cli::command).var(COMPLETING).complete();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let words: Vec<String> =
                std::env::args_os().skip(1).map(|word| word.to_string_lossy().into()).collect();
            return cli::usage::report(error, &words, words.iter().any(|word| word == "--json"));
        }
    };
    let json = cli.wants_json();
    if json {
        terminal::speak_to_program();
    }
    logging::start(cli.verb.log_level());
    let ending = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(cli::run(cli)));
    match ending {
        Ok(code) => code,
        Err(error) => failure::report(&error, json),
    }
}
