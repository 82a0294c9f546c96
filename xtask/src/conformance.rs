//! `cargo xtask conformance`: the official MCP conformance suites, one scenario or all of them.

use anyhow::Result;

use crate::cargo::{cargo, run as run_command};
use crate::node;

pub fn run(args: &[String]) -> Result<()> {
    let program = node::environment()?;
    let mut command =
        cargo(&["run", "--quiet", "--locked", "-p", "toolroom-mcp-tests", "--bin", "conformance", "--"]);
    run_command(command.args(args).env(node::VARIABLE, program))
}
