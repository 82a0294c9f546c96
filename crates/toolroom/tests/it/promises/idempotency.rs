//! One idempotency key, many callers, and a crash.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use super::client::Client;
use super::titles;
use crate::test_home::{Reply, TestHome};

const CALLERS: usize = 100;

#[test]
fn promise_one_idempotency_key_is_one_task_after_a_crash_too() {
    let home = TestHome::new();
    let server = home.serve();
    let mut tasks = HashSet::new();
    for answer in all_at_once(server.address, "first") {
        match answer.status {
            200 => {
                tasks.insert(task_id(&answer.json));
            }
            _ => assert_eq!(answer.json["error"]["code"], "in_progress", "{answer:?}"),
        }
    }
    assert_eq!(tasks.len(), 1, "{tasks:?}");

    // The second key is cut short by the crash: one answer was given, others were under way.
    let answers = all_at_once(server.address, "second");
    let second = answers.into_iter().find(|answer| answer.status == 200).expect("one is answered");
    server.signal("-KILL");
    server.wait();

    let server = home.serve();
    let mut client = Client::new(server.address);
    for (name, id) in [("first", *tasks.iter().next().unwrap()), ("second", task_id(&second.json))] {
        let again = client.call("create-task", &header(name), &body(name)).unwrap();
        assert_eq!(again.status, 200, "{again:?}");
        assert_eq!(task_id(&again.json), id);
        assert_eq!(again.json["metadata"]["replayed"], true, "{again:?}");
    }
    let mut made: Vec<String> = titles(server.address).into_values().collect();
    made.sort();
    assert_eq!(made, ["first", "second"]);
}

/// Sends the same call over a hundred connections; the answers come as they are given, until the server is gone.
fn all_at_once(address: SocketAddr, name: &'static str) -> Receiver<Reply> {
    let (sender, answers) = channel();
    for _ in 0..CALLERS {
        let sender = sender.clone();
        thread::spawn(move || {
            if let Ok(answer) = Client::new(address).call("create-task", &header(name), &body(name)) {
                // Nobody listens any more once the server was killed.
                let _ = sender.send(answer);
            }
        });
    }
    answers
}

fn header(name: &str) -> String {
    format!("Idempotency-Key: key-{name}\r\n")
}

fn body(name: &str) -> Value {
    json!({ "params": { "title": name } })
}

fn task_id(answer: &Value) -> i64 {
    answer["data"]["task"]["taskId"].as_i64().unwrap_or_else(|| panic!("no task: {answer}"))
}
