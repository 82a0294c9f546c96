//! The project's own commands: `cargo xtask test | soak | bench | conformance | dist`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool for developers: printing is its output"
)]

#[cfg(test)]
mod architecture;
mod bench;
mod cargo;
mod conformance;
mod dist;
mod install;
mod node;
mod postgres;
#[cfg(test)]
mod proofs;
mod python;
mod soak;
#[cfg(test)]
mod sources;
mod steps;
mod test;

use std::env;
use std::process::ExitCode;

use anyhow::{Result, bail};

const HELP: &str = "\
Sets up what the tests and measurements need, and runs them.

Usage: cargo xtask <COMMAND>

Commands:
  test [--fast] [-- ARGS]   formatting, clippy, and every test, with a temporary PostgreSQL and Python clients
                            --fast skips formatting and clippy; ARGS go to nextest
  soak [-- ARGS]            the tests named `promise`, in release and with their full figures
  bench [NAME [ARGS]]       one measurement, in release; without a name, lists them
  conformance [--client] [--suite NAME] [--only SCENARIO]
                            the official MCP conformance suites, against fixtures on a server of their own,
                            or with --client against our client
  dist [--binary PROGRAM]   the packages that people install (tarball, wheel, npm, deb, container), each
                            installed and tried; PROGRAM is packaged instead of a new build

Examples:
  cargo xtask test
  cargo xtask test --fast -- -p toolroom-store
  cargo xtask test --fast -- -E 'test(pending)'
  cargo xtask soak
  cargo xtask soak -- kill
  cargo xtask bench
  cargo xtask bench store
  cargo xtask conformance --suite 2026-07-28 --only server-stateless
  cargo xtask conformance --client --only auth/scope-step-up
";

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<()> {
    let Some((command, rest)) = args.split_first() else {
        bail!("a command is missing\n\n{HELP}");
    };
    // What follows a measurement's name is for the measurement.
    let asks_for_help = |arg: &String| matches!(arg.as_str(), "help" | "-h" | "--help");
    if asks_for_help(command) || rest.first().is_some_and(asks_for_help) {
        print!("{HELP}");
        return Ok(());
    }
    match command.as_str() {
        "test" => test::run(rest),
        "soak" => soak::run(rest),
        "bench" => bench::run(rest),
        "conformance" => conformance::run(rest),
        "dist" => dist::run(rest),
        other => bail!("there is no command `{other}`\n\n{HELP}"),
    }
}
