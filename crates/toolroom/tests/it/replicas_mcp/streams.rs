//! HTTP+SSE: the stream is one server's, and messages reach any of them.

use serde_json::{Value, json};

use super::older_client::{OlderClient, Stream, call, request};
use crate::promises::cluster::Cluster;
use crate::promises::figure;
use crate::replicas::{Replica, id_of};
use crate::test_home::until;

/// Who posts, with the path to post to, and the stream.
fn open(replica: &Replica) -> (OlderClient, String, Stream) {
    let head = "Host: localhost\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n";
    let mut stream = Stream::open(replica, &format!("GET /sse HTTP/1.1\r\n{head}"));
    let path = stream.data().expect("an endpoint");
    assert!(path.starts_with("/messages/"), "{path}");
    (OlderClient::without_session("2024-11-05"), path, stream)
}

#[test]
fn promise_messages_posted_to_any_replica_reach_the_one_with_the_stream() {
    let cluster = Cluster::start();
    let replicas: Vec<Replica> = (0..3).map(|_| Replica::start(&cluster.url())).collect();
    for round in 0..figure(2, 40) {
        let (client, path, mut stream) = open(&replicas[round % 3]);
        let post = |turn: usize, message: &Value| {
            let got = client.exchange(&replicas[turn % 3], "POST", &path, &message.to_string());
            assert_eq!((got.status, got.body.as_str()), (202, ""), "{got:?}");
        };
        let begin = json!({
            "protocolVersion": "2024-11-05", "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "old-desk", "version": "0.9" },
        });
        post(round + 1, &request(0, "initialize", begin));
        assert_eq!(stream.message()["result"]["protocolVersion"], "2024-11-05");
        post(round + 2, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        for turn in 0..6 {
            let title = format!("round {round} turn {turn}");
            post(turn, &call(turn as u64 + 1, "create-task", json!({ "title": title })));
            let made = stream.message();
            assert_eq!(made["id"], turn as u64 + 1, "{made}");
            assert!(made.to_string().contains(&title), "{made}");
        }
        // A question in the middle is answered at yet another one.
        let task = id_of(&replicas[0].call("create-task", &json!({ "title": "to go" })));
        post(round + 1, &call(50, "delete-task", json!({ "taskId": task })));
        let question = stream.message();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let content = json!({ "action": "accept", "content": { "decision": "approve" } });
        post(round + 2, &json!({ "jsonrpc": "2.0", "id": question["id"], "result": content }));
        let done = stream.message();
        assert_eq!((&done["id"], &done["result"]["isError"]), (&json!(50), &Value::Null), "{done}");
        // What is no message is told to who posts it.
        let broken = client.exchange(&replicas[(round + 1) % 3], "POST", &path, "{\"jsonrpc\":\"2.0\"}");
        assert_eq!(broken.status, 400, "{broken:?}");
        drop(stream);
        let ping = request(60, "ping", json!({})).to_string();
        for replica in &replicas {
            until("the session has ended with its stream", || {
                (client.exchange(replica, "POST", &path, &ping).status == 404).then_some(())
            });
        }
    }
}

#[test]
fn a_stream_of_a_replica_that_was_killed_is_unknown_once_its_lease_has_lapsed() {
    let cluster = Cluster::start();
    let (first, second) = (Replica::start(&cluster.url()), Replica::start(&cluster.url()));
    let (client, path, _stream) = open(&first);
    let ping = request(1, "ping", json!({})).to_string();
    assert_eq!(client.exchange(&second, "POST", &path, &ping).status, 202);
    first.server.signal("-KILL");
    until("the lease has lapsed", || {
        (client.exchange(&second, "POST", &path, &ping).status == 404).then_some(())
    });
}
