//! What happens at one replica and is waited for at another: how soon it is known there.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::registry::{add, owner, remove, tool};
use super::{Replica, id_of, path};
use crate::federation::test_servers::{heard, listen};
use crate::promises::cluster::Cluster;
use crate::promises::figure;
use crate::test_home::until;

/// Says how soon. A sample shows that the bell is heard and not the tick of half a second; the full figure, how soon.
fn assert_soon(what: &str, mut times: Vec<Duration>, p99: Duration) -> String {
    times.sort();
    let (median, late) = (times[times.len() / 2], times[(times.len() * 99).div_ceil(100) - 1]);
    assert!(median < Duration::from_millis(200), "{what}: {times:?}");
    if figure(0, 1) == 1 {
        assert!(late <= p99, "{what}: p99 {late:?}");
    }
    format!("{what}: {} times, median {median:?}, p99 {late:?}", times.len())
}

#[test]
fn promise_a_call_that_waits_at_one_replica_is_answered_when_another_is_told_the_decision() {
    let cluster = Cluster::start();
    let replicas: Vec<Replica> = (0..2).map(|_| Replica::start(&cluster.url())).collect();
    let mut times = Vec::new();
    for round in 0..figure(8, 500) {
        let (waits, told) = (&replicas[round % 2], &replicas[(round + 1) % 2]);
        let id = id_of(&waits.call("create-task", &json!({ "title": "to go" })));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let body = json!({ "params": { "taskId": id } });
                let reply = waits.server.post(&format!("{}?wait=30", path("delete-task")), "", &body);
                (reply, Instant::now())
            });
            let open = until("it waits", || {
                let listed = owner(told, "GET", "/api/v1/approvals", &json!({})).json;
                Some(listed["approvals"].as_array()?.first()?["id"].as_str()?.to_owned())
            });
            let decided =
                owner(told, "POST", &format!("/api/v1/approvals/{open}"), &json!({ "decision": "approve" }));
            let at = Instant::now();
            assert_eq!(decided.status, 200, "{decided:?}");
            let (reply, answered) = waiting.join().unwrap();
            assert_eq!(reply.status, 200, "{reply:?}");
            times.push(answered.saturating_duration_since(at));
        });
    }
    eprintln!("{}", assert_soon("decided elsewhere", times, Duration::from_millis(50)));
}

#[test]
fn promise_listeners_at_all_replicas_hear_of_every_change_of_a_list() {
    let cluster = Cluster::start();
    let replicas: Vec<Replica> = (0..3).map(|_| Replica::start(&cluster.url())).collect();
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let mut listeners: Vec<_> =
        replicas.iter().map(|replica| listen(&replica.server, "", wanted.clone())).collect();
    for listener in &mut listeners {
        heard(listener, |message| message["method"] == "notifications/subscriptions/acknowledged");
    }
    let mut times = Vec::new();
    for round in 0..figure(4, 250) {
        let replica = &replicas[round % 3];
        for change in
            [add as fn(&Replica, &Value), |replica, tool| remove(replica, tool["name"].as_str().unwrap())]
        {
            change(replica, &tool(&format!("new-{round}"), "here"));
            let answered = Instant::now();
            for listener in &mut listeners {
                heard(listener, |message| message["method"] == "notifications/tools/list_changed");
                times.push(answered.elapsed());
            }
        }
    }
    eprintln!("{}", assert_soon("list changes", times, Duration::from_millis(100)));
}
