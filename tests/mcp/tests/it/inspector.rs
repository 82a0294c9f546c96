//! The Inspector's command line, in each of its eras.

use std::process::Command;

use serde_json::Value;

use crate::programs::{finish, node, node_script};
use crate::server_process::ServerProcess;

#[test]
fn the_inspector_lists_and_calls_over_http_in_every_era() {
    let server = ServerProcess::start();
    for era in ["legacy", "auto", "modern"] {
        lists_and_calls(&["--transport", "http", &server.url], era);
    }
}

#[test]
fn the_inspector_lists_and_calls_over_sse() {
    let server = ServerProcess::start();
    lists_and_calls(&["--transport", "sse", &server.sse_url], "legacy");
}

#[test]
fn the_inspector_lists_and_calls_over_stdio_in_every_era() {
    for era in ["legacy", "auto", "modern"] {
        lists_and_calls(&ServerProcess::ON_STDIO, era);
    }
}

#[test]
fn the_inspector_finds_nothing_to_mend_in_the_schemas() {
    let server = ServerProcess::start();
    inspect(&["--transport", "http", &server.url], &["--method", "tools/list", "--strict"], "modern");
}

fn lists_and_calls(target: &[&str], era: &str) {
    let listed = inspect(target, &["--method", "tools/list"], era);
    let tools = listed["tools"].as_array().expect("a list of tools");
    assert!(tools.iter().any(|tool| tool["name"] == "greet"), "{era}: {listed}");
    let call = ["--method", "tools/call", "--tool-name", "greet", "--tool-arg", "name=Ada"];
    let answer = inspect(target, &call, era);
    assert_eq!(answer["content"][0]["text"], "Hello, Ada!", "{era}: {answer}");
}

fn inspect(target: &[&str], asked: &[&str], era: &str) -> Value {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(node());
    command
        .arg(node_script("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"))
        .arg("--cli")
        .args(target)
        .args(["--protocol-era", era])
        .args(asked)
        .args(["--format", "json", "-q"])
        // It keeps a catalogue of servers at home.
        .env("HOME", home.path())
        .env("MCP_CATALOG_PATH", home.path().join("catalog.json"));
    let mut printed = finish(command);
    printed["result"].take()
}
