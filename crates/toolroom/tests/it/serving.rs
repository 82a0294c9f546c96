//! `serve`: its line, its answers, its end.

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::programs::program;
use crate::test_home::{Reply, Served, TestHome, post, until};

#[test]
fn serve_says_where_and_answers_over_tcp_and_the_socket() {
    let home = TestHome::new();
    let server = home.serve();
    assert_eq!(server.get("/healthz", "").status, 200);
    let called = server.post("/api/v1/tools/get-status/call", "", &json!({}));
    assert_eq!(called.json["data"]["status"], "ok");
    let request = "GET /readyz HTTP/1.1\r\nConnection: close\r\n\r\n";
    assert_eq!(Reply::over_socket(&home, request).json["ready"], true);
}

#[test]
fn a_second_server_on_the_same_home_is_refused_and_told_where_the_first_is() {
    let home = TestHome::new();
    let server = home.serve();
    let second = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(second.code, 1);
    assert!(second.err.contains(&format!("http://{}", server.address)), "{second:?}");
    assert!(second.err.contains("hint: "), "{second:?}");
}

#[test]
fn a_taken_address_is_refused_with_a_hint() {
    let (home, other) = (TestHome::new(), TestHome::new());
    let server = home.serve();
    let refused = other.run(&["serve", "--listen", &server.address.to_string()]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("cannot listen on") && refused.err.contains("--listen"), "{refused:?}");
}

#[test]
fn sigterm_lets_a_running_request_end_and_exits_with_0() {
    let home = TestHome::new();
    let server = home.serve();
    let made = server.post("/api/v1/tools/create-task/call", "", &json!({ "params": { "title": "Milk" } }));
    let id = made.json["data"]["task"]["taskId"].as_i64().unwrap();
    let address = server.address;
    let running = thread::spawn(move || {
        let request =
            post("/api/v1/tools/delete-task/call?wait=2", "", &json!({ "params": { "taskId": id } }));
        Reply::over(std::net::TcpStream::connect(address).unwrap(), &request)
    });
    until("the call waits", || {
        let found = server.get("/api/v1/approvals", "").json;
        (found["approvals"].as_array()?.len() == 1).then_some(())
    });
    server.signal("-TERM");
    let answer = running.join().unwrap();
    assert_eq!(answer.status, 202, "{answer:?}");
    assert_eq!(answer.json["pending"]["kind"], "approval");
    assert_eq!(server.wait().code(), Some(0));
    assert!(!home.home().join("toolroom.sock").exists());
}

#[test]
fn sigint_stops_a_server_too_and_the_home_is_free_again() {
    let home = TestHome::new();
    let server = home.serve();
    server.signal("-INT");
    assert_eq!(server.wait().code(), Some(0));
    assert_eq!(home.run(&["call", "get-status"]).code, 0);
}

#[test]
fn a_server_that_was_killed_leaves_nothing_in_the_way() {
    let home = TestHome::new();
    let server = home.serve();
    server.signal("-KILL");
    server.wait();
    assert!(home.home().join("toolroom.sock").exists());
    assert_eq!(home.run(&["call", "get-status"]).code, 0);
    let again = home.serve();
    assert_eq!(again.get("/healthz", "").status, 200);
}

#[test]
fn commands_go_through_the_running_server() {
    let home = TestHome::new();
    let server = home.serve();
    let made = home.json(&["call", "create-task", "--param", "title=Milk"]);
    let listed = server.post("/api/v1/tools/list-tasks/call", "", &json!({}));
    assert_eq!(listed.json["data"]["tasks"][0]["taskId"], made["data"]["task"]["taskId"]);
    assert_eq!(home.json(&["doctor"])["healthy"], true);
}

#[test]
fn a_listener_beyond_loopback_needs_a_key_first() {
    let home = TestHome::new();
    let refused = home.run(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("toolroom keys create --user NAME"), "{refused:?}");
    home.run(&["keys", "create", "--user", "alice"]);
    let server = Served::start(home.command(&["serve", "--listen", "0.0.0.0:0"]));
    assert!(server.address.ip().is_unspecified());
}

#[test]
fn promise_promtool_finds_nothing_in_the_metrics() {
    let home = TestHome::new();
    let server = home.serve();
    let call = |tool: &str, params: Value| {
        server.post(&format!("/api/v1/tools/{tool}/call"), "", &json!({ "params": params }))
    };
    let made = call("create-task", json!({ "title": "Milk" }));
    let refused = [call("create-task", json!({})), call("no-such-tool", json!({}))];
    let waiting = call("delete-task", json!({ "taskId": made.json["data"]["task"]["taskId"] }));
    assert!(refused.iter().all(|answer| answer.status >= 400) && waiting.status == 202, "{waiting:?}");
    let said = server.post("/v1/responses", "", &json!({ "model": "toolroom", "input": "show my tasks" }));
    assert_eq!(said.status, 200, "{said:?}");
    let metrics = server.get("/metrics", "Accept: text/plain;version=0.0.4\r\n").body;
    assert!(metrics.contains("toolroom_executions_total"), "{metrics}");
    let mut checking = Command::new(program("TOOLROOM_TEST_PROMTOOL"))
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    checking.stdin.take().unwrap().write_all(metrics.as_bytes()).unwrap();
    let checked = checking.wait_with_output().unwrap();
    let found = [checked.stdout, checked.stderr].concat();
    assert!(checked.status.success() && found.is_empty(), "{}\n{metrics}", String::from_utf8_lossy(&found));
}
