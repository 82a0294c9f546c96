//! `logs`: what was called, while it happens too.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::test_home::TestHome;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

fn lines(home: &TestHome, arguments: &[&str]) -> Vec<Value> {
    let done = home.run(&[&["logs", "--json"], arguments].concat());
    assert_eq!(done.code, 0, "{done:?}");
    done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_call_is_in_the_log_at_once_newest_at_the_bottom_and_filters_apply() {
    let home = TestHome::new();
    home.run(&["call", "get-status"]);
    home.run(&["call", "no-such-tool", "--user", "alice"]);
    let tools: Vec<Value> = lines(&home, &[]).iter().map(|row| row["tool"].clone()).collect();
    assert_eq!(tools, ["get-status", "no-such-tool"]);
    for (filter, count) in [
        (["--tool", "get-status"], 1),
        (["--user", "alice"], 1),
        (["--status", "error"], 1),
        (["--status", "timeout"], 0),
        (["--since", "10m"], 2),
        (["--since", "2100-01-01T00:00:00Z"], 0),
        (["--limit", "1"], 1),
    ] {
        assert_eq!(lines(&home, &filter).len(), count, "{filter:?}");
    }
    let table = home.run(&["logs"]);
    assert!(table.out.contains("STATUS") && table.out.contains("tool_not_found"), "{table:?}");
}

#[test]
fn a_traceparent_is_in_the_answer_and_in_the_log() {
    let home = TestHome::new();
    let server = home.serve();
    let header = format!("traceparent: 00-{TRACE}-00f067aa0ba902b7-01\r\n");
    let called = server.post("/api/v1/tools/get-status/call", &header, &json!({}));
    assert_eq!(called.json["metadata"]["traceId"], TRACE);
    assert_eq!(lines(&home, &["--limit", "1"])[0]["traceId"], TRACE);
}

struct Following(Child);

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn following_sees_later_calls_with_and_without_a_server() {
    for served in [true, false] {
        let home = TestHome::new();
        home.run(&["call", "get-status"]);
        let _server = served.then(|| home.serve());
        let mut command = home.command(&["logs", "--follow", "--json"]);
        let mut follower = Following(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
        let mut out = BufReader::new(follower.0.stdout.take().unwrap()).lines();
        let mut next = || serde_json::from_str::<Value>(&out.next().unwrap().unwrap()).unwrap();
        assert_eq!(next()["tool"], "get-status");
        home.run(&["call", "search-tools", "--param", "query=status"]);
        assert_eq!(next()["tool"], "search-tools", "served: {served}");
        home.run(&["call", "list-tasks"]);
        assert_eq!(next()["tool"], "list-tasks", "served: {served}");
    }
}
