//! Nothing is left behind: no process, no descriptor.

use serde_json::json;
use toolroom_upstream::Upstream;

use crate::test_servers::{Notes, call, hostile, python_listening, text, until, until_async, upstream};

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_starts_and_stops_leave_no_process_and_no_descriptor() {
    let notes = Notes::new();
    let cycle = async || {
        let server = upstream("hostile", hostile("plain", &notes));
        assert_eq!(text(&call(&server, "fast", json!({})).await.unwrap()), "fast");
        server.shutdown().await;
    };
    // What is set up once for the whole process.
    cycle().await;
    let (descriptors, children) = (open_descriptors(), children());
    for _ in 0..100 {
        cycle().await;
    }
    assert_eq!(children, self::children());
    assert!(open_descriptors() <= descriptors, "{} after {descriptors}", open_descriptors());
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_connections_over_http_leave_no_descriptor() {
    let listening = python_listening("TOOLROOM_TEST_PYTHON_MCP1", "upstream_mcp1.py", "streamable-http");
    let cycle = async || {
        let server = upstream("mcp1", json!({ "url": listening.url("/mcp") }));
        assert_eq!(text(&call(&server, "echo", json!({ "text": "a" })).await.unwrap()), "a");
        server.shutdown().await;
    };
    cycle().await;
    let descriptors = open_descriptors();
    for _ in 0..50 {
        cycle().await;
    }
    until_async("all are closed", || open_descriptors() <= descriptors).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_a_server_ends_its_program_and_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("child");
    // A shell that leaves a child in a session of its own, then becomes the server.
    let script = format!("setsid sleep 1000 & echo $! > {}; exec \"$0\" \"$@\"", mark.display());
    let notes = Notes::new();
    let plain = hostile("plain", &notes);
    let mut args = vec![json!("-c"), json!(script), plain["command"].clone()];
    args.extend(plain["args"].as_array().unwrap().iter().cloned());
    let server: Upstream = upstream("parent", json!({ "command": "sh", "args": args }));
    call(&server, "fast", json!({})).await.unwrap();
    until("the child is known", || std::fs::read_to_string(&mark).is_ok_and(|text| text.ends_with('\n')));
    let pid = std::fs::read_to_string(&mark).unwrap().trim().to_owned();
    assert!(alive(&pid));
    drop(server);
    until_async("the grandchild is gone", || !alive(&pid)).await;
    until_async("the program is gone", || children() == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_leaves_while_connecting_leaves_nothing_behind() {
    let notes = Notes::new();
    let server = upstream("hostile", hostile("plain", &notes));
    let calling = tokio::spawn({
        let server = server.clone();
        async move { call(&server, "fast", json!({})).await }
    });
    until_async("the program was started", || children() > 0).await;
    calling.abort();
    let _ = calling.await;
    server.shutdown().await;
    assert_eq!(children(), 0);
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

fn children() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists.map(|list| list.split_whitespace().filter(|pid| alive(pid)).count()).sum()
}
