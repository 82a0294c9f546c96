//! `mcp.json`: servers that cannot be started as they are written there.

use toolroom_upstream::config::{Reach, ServerEntry, Standing};

use super::finding::{Finding, counted};
use super::interpreters::on_path;
use crate::home::Home;
use crate::home::registry_files;

pub fn look(home: &Home) -> Vec<Finding> {
    match registry_files::read_servers(&home.servers()) {
        Ok(entries) => {
            let mut findings =
                vec![Finding::ok("mcp.json", format!("valid, {}", counted(entries.len(), "server")))];
            findings.extend(entries.iter().filter_map(flaw));
            findings
        }
        Err(failure) => vec![Finding::fail("mcp.json", failure.to_string(), failure.hint())],
    }
}

/// What keeps a server from being used.
fn flaw(entry: &ServerEntry) -> Option<Finding> {
    let named = format!("server {}", entry.name);
    match &entry.standing {
        Standing::Disabled(reason) => {
            let unset = reason.contains("not set");
            let remedy = "Set it where the server is started, or write ${NAME:-default}.";
            unset.then(|| Finding::warn(named, format!("it is off: {reason}"), remedy))
        }
        Standing::Invalid(error) => {
            Some(Finding::fail(named, error.to_string(), "Fix the entry in mcp.json, or remove it."))
        }
        Standing::Enabled(config) => match &config.reach {
            Reach::Stdio(program) if !on_path(&program.command) => {
                let command = &program.command;
                let remedy = format!("Install {command}, or write its full path.");
                Some(Finding::warn(named, format!("{command} is not on the PATH"), remedy))
            }
            _ => None,
        },
    }
}
