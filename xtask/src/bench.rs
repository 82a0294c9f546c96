//! `cargo xtask bench NAME`: builds one measurement in release and runs it.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cargo::{cargo, run as run_command};
use crate::install;
use crate::node;
use crate::postgres::{Cluster, Durability, URL_VARIABLE};
use crate::python;
use crate::steps;

const PACKAGE: &str = "toolroom-bench";

/// The measurements that need a PostgreSQL server, and `strace` to slow syncs down.
const WITH_POSTGRES: [&str; 2] = ["store", "replicas"];

/// The measurements that need a newer Node.js than many machines have.
const WITH_NODE: [&str; 1] = ["scripts"];

/// The measurements of the program itself.
const WITH_PROGRAM: [&str; 2] = ["lists", "replicas"];

/// The measurements beside a peer in Python.
const WITH_PYTHON: [&str; 1] = ["gateway"];

pub fn run(args: &[String]) -> Result<()> {
    let known = names()?;
    let Some((name, rest)) = args.split_first() else {
        println!("Measurements, each run by `cargo xtask bench NAME`:");
        known.iter().for_each(|name| println!("  {name}"));
        return Ok(());
    };
    if !known.contains(name) {
        bail!("there is no measurement `{name}`; there are: {}", known.join(", "));
    }
    let rest = rest.strip_prefix(&["--".to_owned()]).unwrap_or(rest);
    let target = ["--release", "--locked", "-p", PACKAGE, "--bin", name];
    steps::with_table(|steps| {
        steps.run("build", || run_command(cargo(&["build"]).args(target)))?;
        if WITH_PROGRAM.contains(&name.as_str()) {
            let program = ["build", "--release", "--locked", "-p", "toolroom"];
            steps.run("program", || run_command(&mut cargo(&program)))?;
        }
        let mut command = cargo(&["run", "--quiet"]);
        command.args(target).arg("--").args(rest);
        let cluster = if WITH_POSTGRES.contains(&name.as_str()) {
            let programs = steps.run("install", install::for_tests)?;
            Some(steps.run("postgres", || Cluster::start(&programs, Durability::Full))?)
        } else {
            None
        };
        if let Some(cluster) = &cluster {
            command.env(URL_VARIABLE, cluster.url());
        }
        if WITH_PYTHON.contains(&name.as_str()) {
            command.envs(steps.run("python", python::environments)?);
        }
        if WITH_NODE.contains(&name.as_str()) {
            command.env("PATH", node::first_on_path(&steps.run("node", node::environment)?)?);
        }
        steps.run("measure", || run_command(&mut command))
    })
}

/// The binaries of the package, as cargo sees them.
fn names() -> Result<Vec<String>> {
    let output = cargo(&["metadata", "--no-deps", "--format-version", "1"]).output()?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let package = packages
        .find(|package| package["name"] == PACKAGE)
        .with_context(|| format!("the workspace has no package `{PACKAGE}`"))?;
    let targets = package["targets"].as_array().into_iter().flatten();
    let binaries = targets.filter(|target| target["kind"][0] == "bin");
    Ok(binaries.filter_map(|target| target["name"].as_str().map(str::to_owned)).collect())
}
