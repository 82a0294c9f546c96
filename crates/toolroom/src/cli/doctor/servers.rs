//! `mcp.json`: servers that cannot be started as they are written there.

use serde_json::Value;
use toolroom_upstream::config::{Author, Reach, ServerEntry, Standing, read_server};

use super::finding::Finding;
use super::interpreters::on_path;
use crate::home::Home;
use crate::home::registry_files;

pub fn look(home: &Home) -> Vec<Finding> {
    match registry_files::read_servers(&home.servers()) {
        Ok(entries) => {
            let mut findings =
                vec![Finding::ok("mcp.json", format!("it is sound, {} servers", entries.len()))];
            findings.extend(entries.iter().filter_map(flaw));
            findings
        }
        Err(failure) => {
            let mut findings = vec![Finding::fail("mcp.json", failure.to_string(), failure.hint())];
            findings.extend(one_by_one(home));
            findings
        }
    }
}

/// One bad entry halts the start, but hides nothing of the others here.
fn one_by_one(home: &Home) -> Vec<Finding> {
    let text = std::fs::read_to_string(home.servers()).unwrap_or_default();
    let file: Value = serde_json::from_str(&text).unwrap_or_default();
    let sections = ["mcpServers", "mcp_servers"].into_iter().filter_map(|section| file[section].as_object());
    let environment = |name: &str| std::env::var(name).ok();
    let look = |(name, source): (&String, &Value)| match read_server(name, source, &environment, Author::File)
    {
        Ok(entry) => flaw(&entry),
        Err(error) => {
            let remedy = "Mend the entry in mcp.json, or take it out.";
            let field = error.field.map(|field| format!("{field}: ")).unwrap_or_default();
            Some(Finding::fail(format!("server {name}"), format!("{field}{}", error.message), remedy))
        }
    };
    sections.flatten().filter_map(look).collect()
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
        Standing::Enabled(config) => match &config.reach {
            Reach::Stdio(program) if !on_path(&program.command) => {
                let command = &program.command;
                let remedy = format!("Install {command}, or write its whole path.");
                Some(Finding::warn(named, format!("{command} is not on the PATH"), remedy))
            }
            _ => None,
        },
    }
}
