//! What is said to another server than the one that waits for it: answers to questions, and requests that are cancelled.

use serde_json::{Value, json};

use super::older_client::{OlderClient, call};
use crate::promises::cluster::Cluster;
use crate::promises::figure;
use crate::replicas::{Replica, id_of, quoted, replicas_with, write_script};
use crate::test_home::{TestHome, until};

#[test]
fn promise_a_question_that_one_replica_asks_is_answered_at_another() {
    let cluster = Cluster::start();
    let replicas: Vec<Replica> = (0..2).map(|_| Replica::start(&cluster.url())).collect();
    for revision in ["2025-06-18", "2025-11-25"] {
        let client = OlderClient::begin(&replicas[0], revision, json!({ "elicitation": {} }), "");
        for round in 0..figure(3, 100) {
            let (asking, answered) = (&replicas[round % 2], &replicas[(round + 1) % 2]);
            let task = id_of(&asking.call("create-task", &json!({ "title": "to go" })));
            let mut stream = client.open(asking, &call(20, "delete-task", json!({ "taskId": task })));
            let question = stream.message();
            assert_eq!(question["method"], "elicitation/create", "{question}");
            let content = json!({ "action": "accept", "content": { "decision": "approve" } });
            let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": content });
            assert_eq!(client.post(answered, &answer).status, 202);
            let done = stream.message();
            assert_eq!((&done["id"], &done["result"]["isError"]), (&json!(20), &Value::Null), "{done}");
            let path = "/api/v1/tools/get-task/call";
            let gone = answered.server.post(path, "", &json!({ "params": { "taskId": task } }));
            assert_eq!(gone.status, 404, "{gone:?}");
            // Said again, it fits nothing.
            assert_eq!(client.post(answered, &answer).status, 202);
        }
    }
}

#[test]
fn promise_a_request_is_cancelled_at_another_replica() {
    let cluster = Cluster::start();
    let shared = TestHome::new();
    let (started, ended) = (shared.path("started"), shared.path("ended"));
    let slow = format!(
        "import time\ndef run(params, context):\n    open({}, 'a').write('x')\n    time.sleep(600)\n    \
         open({}, 'a').write('x')\n    return {{'done': True}}\n",
        quoted(&started),
        quoted(&ended)
    );
    let replicas = replicas_with(2, &cluster.url(), |home| write_script(home, "slow", &slow, json!({})));
    let client = OlderClient::begin(&replicas[0], "2025-06-18", json!({}), "");
    for round in 0..figure(2, 50) {
        let (running, told) = (&replicas[round % 2], &replicas[(round + 1) % 2]);
        let number = 100 + round as u64;
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| client.post(running, &call(number, "slow", json!({}))));
            let starts = || std::fs::read_to_string(&started).unwrap_or_default().len();
            until("the script runs", || (starts() > round).then_some(()));
            let params = json!({ "requestId": number, "reason": "enough" });
            let cancelled =
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            assert_eq!(client.post(told, &cancelled).status, 202);
            let got = asked.join().unwrap();
            assert_eq!((got.status, got.body.as_str()), (202, ""), "nothing is answered");
        });
    }
    assert!(!ended.exists());
}
