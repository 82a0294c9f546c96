//! Calls that outlive their request: made by one server, asked for, answered and cancelled at any.

use std::path::Path;

use serde_json::{Value, json};

use super::older_client::Stream;
use crate::federation::test_servers::{headers, mcp, mcp_any, request};
use crate::promises::cluster::Cluster;
use crate::promises::figure;
use crate::replicas::{Replica, quoted, replicas_with, write_script};
use crate::test_home::{TestHome, post, until};

pub fn able() -> Value {
    json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

/// Begins a call that is deferred.
pub fn begin(replica: &Replica, tool: &str) -> String {
    let params = json!({ "name": tool, "arguments": {} });
    let created = mcp(&replica.server, "", "tools/call", params, able());
    assert_eq!(
        (&created["resultType"], &created["status"]),
        (&json!("task"), &json!("working")),
        "{created}"
    );
    created["taskId"].as_str().unwrap().to_owned()
}

pub fn get(replica: &Replica, id: &str) -> Value {
    mcp(&replica.server, "", "tasks/get", json!({ "taskId": id }), able())
}

/// How the call stands at this replica, once it stands so.
pub fn once(replica: &Replica, id: &str, status: &str) -> Value {
    until(status, || Some(get(replica, id)).filter(|task| task["status"] == status))
}

/// A script that waits for a file, says how far it is, and leaves a mark where it began.
fn waits(home: &TestHome, gate: &Path, started: &Path) {
    let script = format!(
        "import os, time\ndef run(params, context):\n    open({}, 'a').write('x')\n    \
         context.progress(1, 2, 'half way')\n    while not os.path.exists({}):\n        time.sleep(0.02)\n    \
         return {{'done': True}}\n",
        quoted(started),
        quoted(gate)
    );
    write_script(home, "wait-long", &script, json!({ "responseTime": "slow", "parallel": true }));
}

#[test]
fn promise_a_deferred_call_is_asked_for_at_every_replica() {
    let cluster = Cluster::start();
    let shared = TestHome::new();
    let (gate, started) = (shared.path("gate"), shared.path("started"));
    let replicas = replicas_with(3, &cluster.url(), |home| waits(home, &gate, &started));
    for round in 0..figure(2, 50) {
        let ids: Vec<String> = replicas.iter().map(|replica| begin(replica, "wait-long")).collect();
        let (id, elsewhere) = (&ids[round % 3], &replicas[(round + 1) % 3]);
        let working = get(elsewhere, id);
        assert_eq!(working["status"], "working", "{working}");
        // Whoever listens at another replica is told.
        let params = json!({ "notifications": { "taskIds": [id] } });
        let listen = request("subscriptions/listen", params.clone(), able());
        let text = post("/mcp", &headers("", "subscriptions/listen", &params), &listen);
        let mut stream = Stream::open(elsewhere, &text);
        let told = stream.message();
        assert_eq!(told["params"]["notifications"]["taskIds"], json!([id]), "{told}");
        std::fs::write(&gate, "").unwrap();
        until("the listener is told of the end", || {
            Some(stream.message()).filter(|told| told["params"]["status"] == "completed")
        });
        for id in &ids {
            for replica in &replicas {
                let done = once(replica, id, "completed");
                let data = &done["result"]["structuredContent"]["data"];
                assert_eq!(
                    (data, &done["statusMessage"]),
                    (&json!({ "done": true }), &json!("half way")),
                    "{done}"
                );
                assert_eq!(done["createdAt"], get(&replicas[0], id)["createdAt"]);
            }
        }
        std::fs::remove_file(&gate).unwrap();
    }
    let unknown = json!({ "taskId": "0197a1b2-0000-7000-8000-000000000000" });
    let told = mcp_any(&replicas[0].server, "", "tasks/get", unknown, able());
    assert_eq!(told["error"]["code"], -32602, "{told}");
}

#[test]
fn promise_a_deferred_call_is_cancelled_at_another_replica() {
    let cluster = Cluster::start();
    let shared = TestHome::new();
    let (gate, started) = (shared.path("gate"), shared.path("started"));
    let replicas = replicas_with(2, &cluster.url(), |home| waits(home, &gate, &started));
    for round in 0..figure(2, 50) {
        let (making, other) = (&replicas[round % 2], &replicas[(round + 1) % 2]);
        let id = begin(making, "wait-long");
        for replica in [other, making] {
            mcp(&replica.server, "", "tasks/cancel", json!({ "taskId": id }), able());
            assert_eq!(get(replica, &id)["status"], "cancelled");
        }
        // The work itself is stopped: the log has its end.
        until("the call has ended", || {
            let path = "/api/v1/executions?tool=wait-long&limit=1";
            let logged = making.server.get(path, "");
            logged.body.contains("\"cancelled\"").then_some(())
        });
    }
}

#[test]
fn promise_what_a_deferred_call_asks_is_answered_at_another_replica() {
    let cluster = Cluster::start();
    let replicas = replicas_with(2, &cluster.url(), |home| {
        let script = "import time\ndef run(params, context):\n    time.sleep(0.5)\n    \
                      return {'colour': context.ask('Which colour?', choices=['red', 'blue'])}\n";
        write_script(home, "ask-slowly", script, json!({ "responseTime": "slow", "parallel": true }));
    });
    for round in 0..figure(2, 30) {
        let (making, other) = (&replicas[round % 2], &replicas[(round + 1) % 2]);
        let id = begin(making, "ask-slowly");
        let asked = once(other, &id, "input_required");
        let requests = asked["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}"));
        let answers: Value = requests
            .keys()
            .map(|key| (key.clone(), json!({ "action": "accept", "content": { "answer": "blue" } })))
            .collect::<serde_json::Map<String, Value>>()
            .into();
        let update = json!({ "taskId": id, "inputResponses": answers });
        mcp(&other.server, "", "tasks/update", update, able());
        assert_ne!(get(other, &id)["status"], "input_required");
        let done = once(other, &id, "completed");
        assert_eq!(done["result"]["structuredContent"]["data"], json!({ "colour": "blue" }), "{done}");
    }
}

#[test]
fn a_deferred_call_of_a_replica_that_was_killed_has_failed_and_its_outcome_is_unknown() {
    let cluster = Cluster::start();
    let shared = TestHome::new();
    let (gate, started) = (shared.path("gate"), shared.path("started"));
    let mut replicas = replicas_with(2, &cluster.url(), |home| waits(home, &gate, &started));
    let (second, first) = (replicas.pop().unwrap(), replicas.pop().unwrap());
    let id = begin(&first, "wait-long");
    assert_eq!(get(&second, &id)["status"], "working");
    until("the script runs", || started.exists().then_some(()));
    first.server.signal("-KILL");
    let failed = once(&second, &id, "failed");
    assert_eq!(failed["error"]["data"]["outcome"], "unknown", "{failed}");
    assert_eq!(std::fs::read_to_string(&started).unwrap(), "x", "nobody ran it again");
    std::fs::write(&gate, "").unwrap();
}
