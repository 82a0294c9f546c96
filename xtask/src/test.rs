//! `cargo xtask test`: formatting, clippy, and every test, with what they need set up.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::cargo::{cargo, find_program, run as run_command, workspace_root};
use crate::dist;
use crate::install;
use crate::node;
use crate::postgres::{Cluster, Durability, URL_VARIABLE};
use crate::python;
use crate::steps::{self, Steps};

pub fn run(args: &[String]) -> Result<()> {
    let (own, extra) = split_at_dashes(args);
    let fast = match own {
        [] => false,
        [flag] if flag == "--fast" => true,
        _ => bail!("`test` takes `--fast`, and arguments for nextest after `--`"),
    };
    steps::with_table(|steps| {
        let programs = steps.run("install", install::for_tests)?;
        let clients = steps.run("clients", clients)?;
        if !fast {
            steps.run("format", || run_command(&mut cargo(&["fmt", "--all", "--check"])))?;
            steps.run("clippy", || {
                let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
                run_command(&mut cargo(&clippy))
            })?;
        }
        build(steps, extra, &[])?;
        let cluster = steps.run("postgres", || Cluster::start(&programs, Durability::NoSync))?;
        let mut tests = runner(extra, &[]);
        tests.envs(clients);
        // Property tests take the same path each time, so that a failure is about a change. `soak` explores.
        if std::env::var_os(PROPERTY_SEED).is_none() {
            tests.env(PROPERTY_SEED, "1");
        }
        run_tests(steps, &cluster, tests)?;
        // The packages of a build for tests are not for anybody; that they install and run is what counts.
        if !fast {
            steps.run("packages", || dist::packages_of(&workspace_root().join("target/debug/toolroom")))?;
        }
        Ok(())
    })
}

/// Where proptest reads the seed of its cases.
const PROPERTY_SEED: &str = "PROPTEST_RNG_SEED";

/// What the tests with real clients run them with: a variable for each interpreter.
pub fn clients() -> Result<Vec<(&'static str, PathBuf)>> {
    let mut found = python::environments()?;
    found.push((node::VARIABLE, node::environment()?));
    found.push((install::PROMTOOL_VARIABLE, install::promtool()?));
    found.extend(install::deploy_programs()?);
    Ok(found)
}

/// Builds the tests before the database starts, so that a build error costs no more than itself.
pub fn build(steps: &mut Steps, extra: &[String], flags: &[&str]) -> Result<()> {
    steps.run("build", || {
        let mut command = cargo(&["test", "--no-run", "--locked"]);
        run_command(command.args(flags).args(packages(extra)))
    })
}

/// Runs the prepared test command against the cluster.
pub fn run_tests(steps: &mut Steps, cluster: &Cluster, mut command: Command) -> Result<()> {
    steps.run("tests", || run_command(command.env(URL_VARIABLE, cluster.url())))
}

/// The command that runs the tests of the whole workspace, or of the packages that `extra` names.
pub fn runner(extra: &[String], flags: &[&str]) -> Command {
    let mut command = if has_nextest() {
        cargo(&["nextest", "run", "--locked"])
    } else {
        println!("           cargo-nextest is not installed: `cargo test` runs the tests instead");
        cargo(&["test", "--locked"])
    };
    if packages(extra) == ["--workspace"] {
        command.arg("--workspace");
    }
    command.args(flags).args(extra);
    command
}

/// Whether cargo-nextest is installed.
pub fn has_nextest() -> bool {
    find_program("cargo-nextest").is_some()
}

/// What stands before the first `--`, and what stands after it.
pub fn split_at_dashes(args: &[String]) -> (&[String], &[String]) {
    match args.iter().position(|arg| arg == "--") {
        Some(at) => (&args[..at], &args[at + 1..]),
        None => (args, &[]),
    }
}

/// The package selection within `extra`: cargo lets `--workspace` overrule `-p`, so only one may be given.
fn packages(extra: &[String]) -> Vec<String> {
    let mut chosen = Vec::new();
    let mut args = extra.iter();
    while let Some(arg) = args.next() {
        if arg == "-p" || arg == "--package" {
            chosen.push(arg.clone());
            chosen.extend(args.next().cloned());
        } else if arg.starts_with("--package=") || (arg.starts_with("-p") && !arg.starts_with("--")) {
            chosen.push(arg.clone());
        }
    }
    if chosen.is_empty() { vec!["--workspace".to_owned()] } else { chosen }
}

#[cfg(test)]
mod tests {
    use super::{packages, split_at_dashes};

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn without_a_named_package_the_whole_workspace_is_chosen() {
        assert_eq!(packages(&words("-E test(x) --profile ci")), ["--workspace"]);
    }

    #[test]
    fn named_packages_are_chosen_in_every_spelling() {
        assert_eq!(packages(&words("-p a -E test(x) --package b")), words("-p a --package b"));
        assert_eq!(packages(&words("-pa --package=b --profile ci")), words("-pa --package=b"));
    }

    #[test]
    fn only_the_first_dashes_divide_the_arguments() {
        let args = words("--fast -- -p a -- --nocapture");
        let (own, extra) = split_at_dashes(&args);
        assert_eq!(own, words("--fast"));
        assert_eq!(extra, words("-p a -- --nocapture"));
    }
}
