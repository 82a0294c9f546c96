//! `cargo xtask soak`: the tests of promises, in release and with their full figures instead of samples.

use anyhow::{Result, bail};

use crate::install;
use crate::postgres::{Cluster, Durability};
use crate::python;
use crate::steps;
use crate::test::{build, clients, has_nextest, run_tests, runner, split_at_dashes};

/// Tests that read this use full figures.
const SOAK_VARIABLE: &str = "TOOLROOM_SOAK";

pub fn run(args: &[String]) -> Result<()> {
    let (own, extra) = split_at_dashes(args);
    if !own.is_empty() {
        bail!("`soak` takes no arguments but those for nextest, after `--`");
    }
    if !has_nextest() {
        bail!(
            "`soak` needs cargo-nextest for its time limits. Run:\n\n    cargo install cargo-nextest --locked\n"
        );
    }
    steps::with_table(|steps| {
        let programs = steps.run("install", install::for_tests)?;
        let clients = steps.run("clients", || Ok([clients()?, python::large_environments()?].concat()))?;
        build(steps, extra, &["--release"])?;
        let cluster = steps.run("postgres", || Cluster::start(&programs, Durability::Full))?;
        let mut command = runner(extra, &["--release", "--profile", "soak", "-E", "test(promise)"]);
        command.env(SOAK_VARIABLE, "1").envs(clients);
        run_tests(steps, &cluster, command)
    })
}
