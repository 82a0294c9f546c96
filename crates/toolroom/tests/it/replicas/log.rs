//! The execution log of several servers on one database: what one of them did is read at every other.

use std::collections::BTreeSet;
use std::thread;

use serde_json::{Value, json};

use super::{Replica, path, quoted, replicas_with, write_script};
use crate::promises::cluster::Cluster;
use crate::promises::figure;
use crate::test_home::{TestHome, until};

fn page(replica: &Replica, query: &str) -> Value {
    let reply = replica.server.get(&format!("/api/v1/executions?{query}"), "");
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json
}

/// The ids of all entries of a tool, and in which order they come; the pages are asked of the replicas in turn.
fn entries(replicas: &[Replica], tool: &str, limit: usize) -> Vec<(String, String)> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    for turn in 0.. {
        let from = if cursor.is_empty() { String::new() } else { format!("&cursor={cursor}") };
        let page = page(&replicas[turn % replicas.len()], &format!("tool={tool}&limit={limit}{from}"));
        let rows = page["executions"].as_array().unwrap();
        found.extend(rows.iter().map(|row| {
            (row["startedAt"].as_str().unwrap().to_owned(), row["executionId"].as_str().unwrap().to_owned())
        }));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    found
}

#[test]
fn promise_the_log_of_all_replicas_is_read_at_each_of_them_after_kills_too() {
    let cluster = Cluster::start();
    let url = cluster.url();
    let mut replicas: Vec<Replica> = (0..3).map(|_| Replica::start(&url)).collect();
    let mut calls = BTreeSet::new();
    for round in 0..figure(3, 50) {
        for replica in &replicas {
            for number in 0..5 {
                let params = json!({ "params": { "title": format!("{round} {number}") } });
                let reply = replica.server.post(&path("create-task"), "", &params);
                calls.insert(reply.json["metadata"]["executionId"].as_str().unwrap().to_owned());
            }
        }
        // What it wrote and had not shipped is on its disk.
        let killed = replicas.remove(0).kill_and_start_again(&url);
        replicas.push(killed);
        for first in 0..replicas.len() {
            until("every entry is there", || {
                let found = entries(&replicas[first..=first], "create-task", 1_000);
                let ids: BTreeSet<String> = found.iter().map(|(_, id)| id.clone()).collect();
                assert_eq!(ids.len(), found.len(), "an entry is there twice");
                (ids == calls).then_some(())
            });
        }
    }
    // Pages go on at whichever replica is asked next, newest first.
    let found = entries(&replicas, "create-task", 7);
    assert_eq!(found.iter().map(|(_, id)| id.clone()).collect::<BTreeSet<_>>(), calls);
    assert_eq!(found.len(), calls.len());
    assert!(found.is_sorted_by(|one, next| one.0 >= next.0), "{found:?}");
    // Figures count all of them.
    for replica in &replicas {
        let stats = replica.server.get("/api/v1/stats?by=tool", "").json;
        let row = stats["groups"].as_array().unwrap().iter().find(|row| row["key"] == "create-task");
        assert_eq!(row.unwrap()["calls"], calls.len(), "{stats}");
    }
}

#[test]
fn what_happens_at_one_replica_is_followed_at_another() {
    let cluster = Cluster::start();
    let replicas = [Replica::start(&cluster.url()), Replica::start(&cluster.url())];
    replicas[0].call("list-tasks", &json!({}));
    let mut after = page(&replicas[1], "after=")["nextCursor"].as_str().unwrap().to_owned();
    for number in 0..10 {
        let title = format!("followed {number}");
        replicas[number % 2].call("create-task", &json!({ "title": title }));
        // The cursor of one replica is good at the other.
        until("it is told", || {
            let news = page(&replicas[(number + 1) % 2], &format!("after={after}"));
            after = news["nextCursor"].as_str().unwrap().to_owned();
            let rows = news["executions"].as_array().unwrap();
            rows.iter().any(|row| row["input"]["title"] == title.as_str()).then_some(())
        });
    }
}

#[test]
fn a_call_of_a_replica_that_was_killed_is_running_until_its_lease_lapses_and_interrupted_then() {
    let cluster = Cluster::start();
    let shared = TestHome::new();
    let started = shared.path("started");
    let slow = format!(
        "import time\ndef run(params, context):\n    open({}, 'a').write('x')\n    time.sleep(60)\n",
        quoted(&started)
    );
    let mut replicas = replicas_with(2, &cluster.url(), |home| write_script(home, "slow", &slow, json!({})));
    let (second, first) = (replicas.pop().unwrap(), replicas.pop().unwrap());
    let status = || page(&second, "tool=slow")["executions"][0]["status"].as_str().map(str::to_owned);
    thread::scope(|scope| {
        let address = first.server.address;
        scope.spawn(move || {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            let request = crate::test_home::post(&path("slow"), "", &json!({ "params": {} }));
            std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
            // It is killed before it answers.
            let _ = std::io::Read::read_to_end(&mut stream, &mut Vec::new());
        });
        until("the script runs", || started.exists().then_some(()));
        until("it is told", || status().filter(|status| status == "running"));
        first.server.signal("-KILL");
    });
    until("the lease has lapsed", || status().filter(|status| status == "interrupted"));
}
