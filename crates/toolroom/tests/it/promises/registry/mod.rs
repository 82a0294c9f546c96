//! The registry under load, crashes and failing disks, through the front door of a running server.

mod disconnect;
mod faults;
mod hostile;
mod kill;
mod order;
mod tracer;
mod writers;

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::client::Client;
use crate::test_home::{Reply, Served, TestHome};

/// A server on a new home, and the header of a key that may change its registry and call everything.
struct RegistryHome {
    home: TestHome,
    header: String,
}

impl RegistryHome {
    fn open() -> Self {
        let home = TestHome::new();
        let key = home.run(&["keys", "create", "--user", "admin", "--grant", "*"]).line().to_owned();
        Self { home, header: format!("X-API-Key: {key}\r\n") }
    }

    fn serve(&self) -> Served {
        self.home.serve()
    }

    fn put(&self, client: &mut Client, entry: &Value) -> io::Result<Reply> {
        put(client, &self.header, entry)
    }

    fn tools_json(&self) -> std::path::PathBuf {
        self.home.home().join("tools/tools.json")
    }
}

fn put(client: &mut Client, header: &str, entry: &Value) -> io::Result<Reply> {
    let path = format!("/api/v1/tools/{}", entry["name"].as_str().unwrap());
    client.send("PUT", &path, header, Some(entry))
}

/// An entry whose every part says the same stamp, so that parts of two entries would be seen.
fn entry(name: &str, stamp: &str) -> Value {
    json!({
        "name": name,
        "version": "0.1.0",
        "description": format!("A tool that was registered at stamp {stamp}."),
        "tags": ["promise", stamp],
        "config": { "script_path": format!("{name}.sh"), "env": { "STAMP": stamp } },
    })
}

/// The same with a script.
fn entry_with_script(name: &str, stamp: &str) -> Value {
    let mut entry = entry(name, stamp);
    entry["script"] = script(stamp).into();
    entry
}

fn script(stamp: &str) -> String {
    format!("echo '\"{stamp}\"'\n# {}\n", "long enough to be torn ".repeat(50))
}

/// The stamp of an entry or a definition; fails if its parts are not of one piece.
fn stamp_of(tool: &Value) -> String {
    let stamp = tool["tags"][1].as_str().unwrap_or_else(|| panic!("half an entry: {tool}"));
    let description = tool["description"].as_str().unwrap_or_default();
    assert!(description.ends_with(&format!("stamp {stamp}.")), "parts of two entries: {tool}");
    if let Some(env) = tool["config"].get("env") {
        assert_eq!(env["STAMP"], stamp, "parts of two entries: {tool}");
    }
    stamp.to_owned()
}

/// The entries of a file that must be whole at any time, by name, those of the starter aside.
fn entries(file: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(file).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let tools = file["tools"].as_array().unwrap_or_else(|| panic!("no tools: {file}")).iter();
    tools
        .filter(|tool| tool["type"] != "builtin")
        .map(|tool| (tool["name"].as_str().unwrap().to_owned(), stamp_of(tool)))
        .collect()
}
