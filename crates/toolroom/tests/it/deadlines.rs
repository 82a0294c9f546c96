//! What was answered as failed is never done later: a SQLite database that another process keeps locked.

use std::io::Write;
use std::net::TcpStream;
use std::time::Instant;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::test_home::{Served, TestHome, post, until};

const CREATE: &str = "/api/v1/tools/create-task/call";

fn titles(server: &Served) -> Vec<String> {
    let listed = server.post("/api/v1/tools/list-tasks/call", "", &json!({ "params": {} })).json;
    let tasks = listed["data"]["tasks"].as_array().unwrap_or_else(|| panic!("{listed}"));
    tasks.iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

fn locked(home: &TestHome) -> Connection {
    let other = Connection::open(home.home().join("toolroom.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

#[test]
fn a_change_that_was_answered_as_timed_out_is_never_made() {
    let home = TestHome::new();
    let server = home.serve();
    titles(&server);
    let other = locked(&home);
    let calls: [(&str, Value); 3] = [
        (CREATE, json!({ "params": { "title": "late" } })),
        (
            "/api/v1/tools/batch-tasks/call",
            json!({ "params": { "operations": [{ "op": "create", "title": "late too" }] } }),
        ),
        (CREATE, json!({ "params": { "title": "keyed" }, "context": { "idempotencyKey": "k" } })),
    ];
    let began = Instant::now();
    std::thread::scope(|scope| {
        for (path, body) in &calls {
            let server = &server;
            scope.spawn(move || {
                let answer = server.post(path, "", body);
                let error = &answer.json["error"];
                assert_eq!(
                    (answer.status, error["code"].as_str()),
                    (504, Some("tool_timeout")),
                    "{answer:?}"
                );
                assert_eq!(error["outcome"], Value::Null, "{answer:?}");
                assert!(error["message"].as_str().unwrap().contains("Nothing was changed"), "{answer:?}");
                // With a key it can be repeated, and without one it is to be looked at first: both say the same.
                let keyed = body["context"]["idempotencyKey"].is_string();
                assert_eq!(error["retryable"], keyed, "{answer:?}");
                let next = answer.json["agentHints"]["suggestedNextActions"][0]["description"].to_string();
                assert_eq!(next.contains("Make the same call again"), keyed, "{answer:?}");
                assert_eq!(next.contains("Look whether"), !keyed, "{answer:?}");
            });
        }
    });
    let took = began.elapsed();
    // The lock would hold them up forever.
    assert!((5.0..20.0).contains(&took.as_secs_f64()), "answered at the deadline, not after {took:?}");

    other.execute_batch("COMMIT").unwrap();
    // The store takes its work in order: when this one is answered, those before it have had their turn.
    let after = server.post(CREATE, "", &json!({ "params": { "title": "after" } }));
    assert_eq!(after.status, 200, "{after:?}");
    assert_eq!(titles(&server), ["after"]);
    let again = server.post(CREATE, "", &calls[2].1);
    assert_eq!((again.status, &again.json["metadata"]["replayed"]), (200, &Value::Null), "the key was free");
}

#[test]
fn a_change_whose_caller_left_before_it_was_committed_is_never_made() {
    let home = TestHome::new();
    let server = home.serve();
    titles(&server);
    let other = locked(&home);
    let mut left = TcpStream::connect(server.address).unwrap();
    let request = post(CREATE, "", &json!({ "params": { "title": "left" } }));
    left.write_all(request.as_bytes()).unwrap();
    let row = |status: &str| {
        let rows = server.get("/api/v1/executions?tool=create-task", "").json;
        rows["executions"].as_array()?.iter().find(|row| row["status"] == status).cloned()
    };
    until("the call runs", || row("running"));
    drop(left);
    let row = until("the call is cancelled", || row("cancelled"));
    assert_eq!(row["outcome"], Value::Null, "it is known that nothing happened: {row}");

    other.execute_batch("COMMIT").unwrap();
    let after = server.post(CREATE, "", &json!({ "params": { "title": "after" } }));
    assert_eq!(after.status, 200, "{after:?}");
    assert_eq!(titles(&server), ["after"]);
}
