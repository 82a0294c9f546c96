//! The Python SDKs and FastMCP, each over every transport that it has.

use serde_json::json;
use toolroom_upstream::Era;

use crate::exercise::exercise;
use crate::room::{python_listening, python_stdio, upstream};

const MCP1: &str = "TOOLROOM_TEST_PYTHON_MCP1";
const MCP2: &str = "TOOLROOM_TEST_PYTHON_MCP2";

#[tokio::test(flavor = "multi_thread")]
async fn the_python_sdk_1_over_stdio_gives_all_it_has() {
    let server = upstream("mcp1", python_stdio(MCP1, "upstream_mcp1.py", &["stdio"]));
    exercise(&server, Era::Session, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_sdk_1_over_streamable_http_gives_all_it_has() {
    let listening = python_listening(MCP1, "upstream_mcp1.py", "streamable-http");
    let server = upstream("mcp1", json!({ "url": listening.url("/mcp") }));
    exercise(&server, Era::Session, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_sdk_1_over_http_and_sse_is_found_out_and_gives_all_it_has() {
    let listening = python_listening(MCP1, "upstream_mcp1.py", "sse");
    let server = upstream("mcp1", json!({ "url": listening.url("/sse") }));
    exercise(&server, Era::HttpSse, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_sdk_2_over_stdio_gives_all_it_has_without_sessions() {
    let server = upstream("mcp2", python_stdio(MCP2, "upstream_mcp2.py", &["stdio"]));
    exercise(&server, Era::Stateless, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_sdk_2_over_streamable_http_gives_all_it_has_without_sessions() {
    let listening = python_listening(MCP2, "upstream_mcp2.py", "streamable-http");
    let server = upstream("mcp2", json!({ "url": listening.url("/mcp"), "type": "http" }));
    exercise(&server, Era::Stateless, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_sdk_2_over_http_and_sse_gives_all_it_has() {
    let listening = python_listening(MCP2, "upstream_mcp2.py", "sse");
    let server = upstream("mcp2", json!({ "url": listening.url("/sse"), "type": "sse" }));
    exercise(&server, Era::HttpSse, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fastmcp_over_stdio_gives_all_it_has() {
    let server = upstream("fastmcp", python_stdio(MCP2, "upstream_fastmcp.py", &["stdio"]));
    exercise(&server, Era::Stateless, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fastmcp_over_streamable_http_gives_all_it_has() {
    let listening = python_listening(MCP2, "upstream_fastmcp.py", "http");
    let server = upstream("fastmcp", json!({ "url": listening.url("/mcp") }));
    exercise(&server, Era::Stateless, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fastmcp_over_http_and_sse_gives_all_it_has() {
    let listening = python_listening(MCP2, "upstream_fastmcp.py", "sse");
    let server = upstream("fastmcp", json!({ "url": listening.url("/sse") }));
    exercise(&server, Era::HttpSse, false).await;
}
