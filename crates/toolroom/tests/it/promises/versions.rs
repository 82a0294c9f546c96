//! Many callers that change one task, each by the version that it read.

use std::net::SocketAddr;
use std::thread;

use serde_json::{Value, json};

use super::client::Client;
use super::cluster::Cluster;
use super::figure;
use crate::test_home::{Served, TestHome};

const CALLERS: usize = 32;

#[test]
fn promise_versioned_updates_lose_nothing() {
    let home = TestHome::new();
    lose_nothing(&home.serve());

    let (home, cluster) = (TestHome::new(), Cluster::start());
    let url = cluster.url();
    lose_nothing(&Served::start(home.command(&["serve", "--listen", "127.0.0.1:0", "--database", &url])));
}

/// Every caller counts on from the number that it read. What is lost would be missing from the sum.
fn lose_nothing(server: &Served) {
    let made = server.post("/api/v1/tools/create-task/call", "", &json!({ "params": { "title": "0" } }));
    let id = made.json["data"]["task"]["taskId"].as_i64().expect("a task");
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let address = server.address;
            thread::spawn(move || count_up(address, id, figure(20, 100)))
        })
        .collect();
    let successes: i64 = callers.into_iter().map(|caller| caller.join().unwrap()).sum();
    let task = read(&mut Client::new(server.address), id);
    assert_eq!(task["version"], successes + 1);
    assert_eq!(task["title"], successes.to_string());
    assert!(successes >= 20, "only {successes} updates succeeded");
}

/// How many of so many updates succeeded; the others must be conflicts.
fn count_up(address: SocketAddr, id: i64, updates: usize) -> i64 {
    let mut client = Client::new(address);
    let mut successes = 0;
    for _ in 0..updates {
        let task = read(&mut client, id);
        let number: i64 = task["title"].as_str().unwrap().parse().unwrap();
        let params =
            json!({ "taskId": id, "title": (number + 1).to_string(), "expectedVersion": task["version"] });
        let answer = client.call("update-task", "", &json!({ "params": params })).unwrap();
        match answer.status {
            200 => successes += 1,
            409 => assert_eq!(answer.json["error"]["code"], "version_conflict", "{answer:?}"),
            _ => panic!("{answer:?}"),
        }
    }
    successes
}

fn read(client: &mut Client, id: i64) -> Value {
    let answer = client.call("get-task", "", &json!({ "params": { "taskId": id } })).unwrap();
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json["data"]["task"].clone()
}
