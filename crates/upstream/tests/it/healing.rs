//! Connections that heal, and calls that are never made twice unless they may be.

use std::time::{Duration, Instant};

use serde_json::json;
use toolroom_contract::{ErrorCode, error::Outcome};
use toolroom_upstream::{CallOptions, State};

use crate::test_servers::{
    Notes, call, call_with, hostile, python_listening, python_stdio, text, until_async, upstream,
};

const MCP1: &str = "TOOLROOM_TEST_PYTHON_MCP1";

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_call_is_tried_four_times_at_about_1_2_and_4_seconds() {
    let notes = Notes::new();
    let server = upstream("hostile", hostile("dies-in-calls", &notes));
    call(&server, "fast", json!({})).await.unwrap();
    let options = CallOptions { repeatable: true, ..CallOptions::default() };
    let error = call_with(&server, "read", json!({}), &options).await.unwrap_err();
    assert_eq!(error.into_tool_error("hostile").code, ErrorCode::ServiceUnavailable);
    let times = notes.calls("read");
    assert_eq!(times.len(), 4, "{times:?}");
    for (at, expected) in [1.0, 2.0, 4.0].into_iter().enumerate() {
        let gap = times[at + 1] - times[at];
        // Half a second for starting the program.
        assert!((expected * 0.8..=expected * 1.2 + 0.7).contains(&gap), "{gap} for {expected}: {times:?}");
    }
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_may_have_run_is_not_repeated_and_the_next_one_succeeds() {
    for _ in 0..3 {
        let notes = Notes::new();
        let server = upstream("hostile", hostile("dies-in-calls", &notes));
        let error = call(&server, "work", json!({})).await.unwrap_err().into_tool_error("hostile");
        assert_eq!((error.code, error.outcome), (ErrorCode::ServiceUnavailable, Some(Outcome::Unknown)));
        assert_eq!(notes.calls("work").len(), 1);
        assert_eq!(text(&call(&server, "fast", json!({})).await.unwrap()), "fast");
        assert_eq!(notes.calls("work").len(), 1);
        server.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_start_is_tried_four_times_for_all_callers_together() {
    let notes = Notes::new();
    let mut entry = hostile("exits-at-once", &notes);
    entry["command"] = json!("no-such-program-anywhere");
    let server = upstream("missing", entry);
    let began = Instant::now();
    let calls = (0..20).map(|_| call(&server, "work", json!({})));
    for outcome in futures_util::future::join_all(calls).await {
        let error = outcome.unwrap_err().into_tool_error("missing");
        assert_eq!((error.code, error.outcome), (ErrorCode::ServiceUnavailable, None));
        assert!(error.message.contains("no-such-program-anywhere"), "{}", error.message);
    }
    let took = began.elapsed().as_secs_f64();
    // 1, 2 and 4 s, a fifth more or less; a second round would take as long again.
    assert!((5.6..11.2).contains(&took), "{took}");
    let status = server.status();
    assert_eq!(status.state, State::Down);
    assert!(status.last_error.unwrap().contains("cannot be started"));
    let began = Instant::now();
    call(&server, "work", json!({})).await.unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(5), "once it is down, calls fail soon");
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_killed_while_nobody_calls_comes_back_by_itself() {
    let server = upstream("mcp1", python_stdio(MCP1, "upstream_mcp1.py", &["stdio"]));
    call(&server, "echo", json!({ "text": "a" })).await.unwrap();
    let changes = server.watch_changes();
    let pid = find_child("upstream_mcp1.py").expect("the program runs");
    std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    let status = server.watch_status();
    until_async("it is connected again", || {
        let status = status.borrow();
        status.connections == 2 && status.state == State::Ready
    })
    .await;
    assert!(changes.borrow().tools >= 1, "its lists are to be read again");
    assert_eq!(text(&call(&server, "echo", json!({ "text": "b" })).await.unwrap()), "b");
    server.shutdown().await;
    assert_eq!(find_child("upstream_mcp1.py"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_a_restarted_server_has_forgotten_is_begun_anew_within_the_call() {
    let first = python_listening(MCP1, "upstream_mcp1.py", "streamable-http");
    let port = first.port;
    let server = upstream("mcp1", json!({ "url": first.url("/mcp") }));
    call(&server, "echo", json!({ "text": "a" })).await.unwrap();
    drop(first);
    let _second = crate::test_servers::Listening::start_at(port, |port| {
        let mut command = std::process::Command::new(crate::programs::program(MCP1));
        command.args([
            &crate::programs::python_script("upstream_mcp1.py"),
            "streamable-http",
            &port.to_string(),
        ]);
        command
    });
    // Not repeatable: a server that does not know the session cannot have done anything.
    assert_eq!(text(&call(&server, "echo", json!({ "text": "b" })).await.unwrap()), "b");
    server.shutdown().await;
}

/// The child of this process that runs a script.
fn find_child(script: &str) -> Option<u32> {
    let own = std::process::id();
    std::fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let parent: u32 = fields.next()?.parse().ok()?;
        let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
        (parent == own && state != "Z" && line.contains(script)).then_some(pid)
    })
}
