//! Real clients: each of them, over every transport that it speaks, lists, calls, sees progress, answers a form,
//! hears of changes, and stops a call.

use serde_json::{Value, json};

use crate::programs::{client, node, node_script, program, python_script};
use crate::server_process::ServerProcess;

pub const MCP1: &str = "TOOLROOM_TEST_PYTHON_MCP1";
pub const MCP2: &str = "TOOLROOM_TEST_PYTHON_MCP2";
pub const NEWEST: &str = "2026-07-28";
pub const NEWEST_WITH_SESSIONS: &str = "2025-11-25";

#[test]
fn the_python_package_mcp_2_uses_the_server_over_http_in_every_mode() {
    for (mode, protocol) in [("auto", NEWEST), ("legacy", NEWEST_WITH_SESSIONS), (NEWEST, NEWEST)] {
        uses_all(&over_http(MCP2, "mcp2_client.py", Some(mode)), protocol);
    }
}

#[test]
fn the_python_package_mcp_2_uses_the_server_over_sse() {
    uses_all(&over_sse(MCP2, "mcp2_client.py", Some("legacy")), "2024-11-05");
}

#[test]
fn the_python_package_mcp_2_uses_the_server_over_stdio_in_every_mode() {
    for (mode, protocol) in [("auto", NEWEST), ("legacy", NEWEST_WITH_SESSIONS), (NEWEST, NEWEST)] {
        uses_all(&over_stdio(MCP2, "mcp2_client.py", Some(mode)), protocol);
    }
}

#[test]
fn the_python_package_mcp_1_uses_the_server_over_http() {
    uses_all(&over_http(MCP1, "mcp1_client.py", None), NEWEST_WITH_SESSIONS);
}

#[test]
fn the_python_package_mcp_1_uses_the_server_over_sse() {
    uses_all(&over_sse(MCP1, "mcp1_client.py", None), "2024-11-05");
}

#[test]
fn the_python_package_mcp_1_uses_the_server_over_stdio() {
    uses_all(&over_stdio(MCP1, "mcp1_client.py", None), NEWEST_WITH_SESSIONS);
}

#[test]
fn fastmcp_uses_the_server_over_http_in_every_mode() {
    uses_all(&over_http(MCP2, "fastmcp_client.py", Some("legacy")), NEWEST_WITH_SESSIONS);
    // In the newest revision this package has no way to listen for changes.
    uses(&over_http(MCP2, "fastmcp_client.py", Some("auto")), NEWEST);
    uses(&over_http(MCP2, "fastmcp_client.py", Some(NEWEST)), NEWEST);
}

#[test]
fn fastmcp_uses_the_server_over_sse_and_stdio() {
    uses_all(&over_sse(MCP2, "fastmcp_client.py", Some("legacy")), "2024-11-05");
    uses_all(&over_stdio(MCP2, "fastmcp_client.py", Some("legacy")), NEWEST_WITH_SESSIONS);
    uses(&over_stdio(MCP2, "fastmcp_client.py", Some("auto")), NEWEST);
}

#[test]
fn version_1_of_the_typescript_sdk_uses_the_server_over_http() {
    uses_all(&typescript("sdk_v1.mjs", None, Transport::Http), NEWEST_WITH_SESSIONS);
}

#[test]
fn version_1_of_the_typescript_sdk_uses_the_server_over_sse() {
    uses_all(&typescript("sdk_v1.mjs", None, Transport::Sse), "2024-11-05");
}

#[test]
fn version_1_of_the_typescript_sdk_uses_the_server_over_stdio() {
    uses_all(&typescript("sdk_v1.mjs", None, Transport::Stdio), NEWEST_WITH_SESSIONS);
}

#[test]
fn version_2_of_the_typescript_sdk_uses_the_server_over_http_in_every_mode() {
    for (mode, protocol) in [("auto", NEWEST), ("legacy", NEWEST_WITH_SESSIONS), (NEWEST, NEWEST)] {
        uses_all(&typescript("sdk_v2.mjs", Some(mode), Transport::Http), protocol);
    }
}

#[test]
fn version_2_of_the_typescript_sdk_uses_the_server_over_sse() {
    uses_all(&typescript("sdk_v2.mjs", Some("legacy"), Transport::Sse), "2024-11-05");
}

#[test]
fn version_2_of_the_typescript_sdk_uses_the_server_over_stdio_in_every_mode() {
    for (mode, protocol) in [("auto", NEWEST), ("legacy", NEWEST_WITH_SESSIONS), (NEWEST, NEWEST)] {
        uses_all(&typescript("sdk_v2.mjs", Some(mode), Transport::Stdio), protocol);
    }
}

enum Transport {
    Http,
    Sse,
    Stdio,
}

fn over_http(python: &str, script: &str, mode: Option<&str>) -> Value {
    let server = ServerProcess::start();
    let args: Vec<&str> = mode.into_iter().chain(["http", &server.url]).collect();
    client(&program(python), &python_script(script), &args)
}

fn over_sse(python: &str, script: &str, mode: Option<&str>) -> Value {
    let server = ServerProcess::start();
    let args: Vec<&str> = mode.into_iter().chain(["sse", &server.sse_url]).collect();
    client(&program(python), &python_script(script), &args)
}

fn over_stdio(python: &str, script: &str, mode: Option<&str>) -> Value {
    let args: Vec<&str> = mode.into_iter().chain(["stdio"]).chain(ServerProcess::ON_STDIO).collect();
    client(&program(python), &python_script(script), &args)
}

fn typescript(script: &str, mode: Option<&str>, transport: Transport) -> Value {
    let run = |rest: &[&str]| {
        let args: Vec<&str> = mode.into_iter().chain(rest.iter().copied()).collect();
        client(&node(), &node_script(script), &args)
    };
    let server = ServerProcess::start();
    match transport {
        Transport::Http => run(&["http", &server.url]),
        Transport::Sse => run(&["sse", &server.sse_url]),
        Transport::Stdio => run(&[&["stdio"], &ServerProcess::ON_STDIO[..]].concat()),
    }
}

/// Everything that the others do, and it heard of a change.
pub fn uses_all(seen: &Value, protocol: &str) {
    uses(seen, protocol);
    assert_eq!(seen["changed"], true, "{seen}");
}

/// The old transport has no say in the revision, so a client may agree on a newer one over it.
fn uses(seen: &Value, protocol: &str) {
    let agreed = seen["protocol"].as_str().unwrap_or_default();
    if protocol == "2024-11-05" {
        assert!((protocol..NEWEST).contains(&agreed), "{seen}");
    } else {
        assert_eq!(agreed, protocol, "{seen}");
    }
    let tools = seen["tools"].as_array().expect("a list of tools");
    for tool in ["test_simple_text", "test_elicitation", "json_schema_2020_12_tool"] {
        assert!(tools.contains(&json!(tool)), "{tool} is not in {tools:?}");
    }
    assert_eq!(seen["text"], "This is a simple text response for testing.", "{seen}");
    let progress = &seen["progress"];
    let steps: Vec<(f64, f64)> = serde_json::from_value(progress.clone()).expect("pairs of numbers");
    assert_eq!(steps, [(0.0, 100.0), (50.0, 100.0), (100.0, 100.0)], "{seen}");
    let elicited = seen["elicited"].as_str().unwrap_or_default();
    assert!(elicited.contains("action=accept") && elicited.contains("ada@example.com"), "{seen}");
    assert_eq!(seen["error"], true, "{seen}");
    assert_eq!(seen["stopped"], true, "{seen}");
}
