//! The Python SDKs and FastMCP, each over every transport that it has.

use std::sync::Arc;

use serde_json::json;
use toolroom_upstream::{CallOptions, Era, Upstream};

use crate::exercise::{Ada, exercise};
use crate::test_servers::{call_with, python_listening, python_stdio, text, until_async, upstream};

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

#[tokio::test(flavor = "multi_thread")]
async fn on_a_shared_pipe_nobody_is_asked_the_questions_of_anothers_call() {
    let server = upstream("mcp1", python_stdio(MCP1, "upstream_mcp1.py", &["stdio"]));
    assert_eq!(
        asked_while_running(&server, "grace").await,
        "cancel: ",
        "it cannot be told whose question it is"
    );
    assert_eq!(asked_while_running(&server, "ada").await, "accept: Ada", "both calls are of one owner");
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_streamable_http_a_question_finds_the_call_that_it_belongs_to() {
    let listening = python_listening(MCP1, "upstream_mcp1.py", "streamable-http");
    let server = upstream("mcp1", json!({ "url": listening.url("/mcp") }));
    assert_eq!(asked_while_running(&server, "grace").await, "accept: Ada");
    server.shutdown().await;
}

/// What comes of a question in a call of Ada's while a call of someone's is running.
async fn asked_while_running(server: &Upstream, other: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let [started, ended] = ["started", "ended"].map(|name| folder.path().join(name));
    let running = tokio::spawn({
        let (server, arguments) = (server.clone(), json!({ "started": started, "ended": ended }));
        let options = CallOptions { owner: other.into(), ..CallOptions::default() };
        async move { call_with(&server, "wait", arguments, &options).await }
    });
    until_async("the other call runs", || started.exists()).await;
    let options = CallOptions { owner: "ada".into(), answers: Some(Arc::new(Ada)), ..CallOptions::default() };
    let answer = text(&call_with(server, "ask", json!({}), &options).await.unwrap()).to_owned();
    running.abort();
    until_async("the other call has ended", || ended.exists()).await;
    answer
}
