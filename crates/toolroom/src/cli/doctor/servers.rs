//! `mcp.json`: servers that cannot be started as they are written there.

use std::collections::BTreeSet;

use serde_json::Value;

use super::finding::Finding;
use super::interpreters::on_path;
use crate::home::Home;
use crate::home::registry_files::{self, ServersFile};

pub fn look(home: &Home) -> Vec<Finding> {
    let file = match registry_files::read::<ServersFile>(&home.servers(), "{\"mcpServers\": {}}") {
        Ok(file) => file,
        Err(failure) => return vec![Finding::fail("mcp.json", failure.to_string(), failure.hint())],
    };
    let servers: Vec<(&String, &Value)> = file.camel.iter().chain(&file.snake).collect();
    let mut findings = vec![Finding::ok("mcp.json", format!("it is sound, {} servers", servers.len()))];
    for (name, server) in servers {
        let mut unset = BTreeSet::new();
        variables(server, &mut unset);
        if !unset.is_empty() {
            let names = unset.into_iter().collect::<Vec<_>>().join(", ");
            let remedy = format!("Set {names} where the server is started, or write ${{NAME:-default}}.");
            findings.push(Finding::warn(named(name), format!("it is off: {names} is not set"), remedy));
        }
        match (server["command"].as_str(), server["url"].as_str()) {
            (Some(command), None) if !command.contains("${") && !on_path(command) => {
                let remedy = format!("Install {command}, or write its whole path.");
                findings.push(Finding::warn(named(name), format!("{command} is not on the PATH"), remedy));
            }
            (None, None) => {
                let remedy = "Give it a command (stdio) or a url (HTTP).";
                findings.push(Finding::fail(named(name), "it has neither a command nor a url", remedy));
            }
            _ => {}
        }
    }
    findings
}

fn named(name: &str) -> String {
    format!("server {name}")
}

/// The variables that a server names without a default, and that are not set.
fn variables(value: &Value, unset: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            for part in text.split("${").skip(1) {
                let Some((name, _)) = part.split_once('}') else { continue };
                if !name.contains(":-") && std::env::var_os(name).is_none_or(|value| value.is_empty()) {
                    unset.insert(name.to_owned());
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| variables(item, unset)),
        Value::Object(fields) => fields.values().for_each(|field| variables(field, unset)),
        _ => {}
    }
}
