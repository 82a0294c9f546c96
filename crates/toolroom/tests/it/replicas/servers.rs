//! Other MCP servers, drawn on by several replicas: what was approved at one is approved at all.

use serde_json::{Value, json};

use super::Replica;
use crate::federation::test_servers::{Scripted, call, credential, tool, write};
use crate::promises::cluster::Cluster;
use crate::test_home::{Reply, TestHome, post, until};

fn view(replica: &Replica) -> Value {
    let text = "GET /api/v1/servers/s?wait=20 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    Reply::over_socket(&replica.home, text).json
}

fn owner(replica: &Replica, method: &str, path: &str, body: &Value) -> Reply {
    Reply::over_socket(&replica.home, &post(path, "", body).replacen("POST", method, 1))
}

fn is_open(replica: &Replica) -> Option<()> {
    (call(&replica.server, "", "s__read", json!({})).status == 200).then_some(())
}

#[test]
fn what_is_approved_at_one_replica_is_approved_at_all() {
    let cluster = Cluster::start();
    let home = TestHome::new();
    let server = Scripted::new(&home, "s", json!([tool("read", "Reads.")]));
    write(&home, json!({ "s": server.entry() }));
    let first = Replica::start_in(home, &cluster.url());
    until("it is seen", || is_open(&first));
    let others = [Replica::start(&cluster.url()), Replica::start(&cluster.url())];
    // The server is another one by now: what counts is what the first has seen.
    server.says(&json!({ "tools": [tool("read", "Reads more.")] }));
    let all = [&first, &others[0], &others[1]];
    for replica in all {
        until("it waits for review", || view(replica)["pendingHash"].is_string().then_some(()));
        let refused = call(&replica.server, "", "s__read", json!({}));
        assert_eq!((refused.status, &refused.json["error"]["code"]), (403, &json!("definition_pending")));
    }
    let hash = view(&others[0])["pendingHash"].clone();
    let approved = owner(&others[0], "POST", "/api/v1/servers/s/approve", &json!({ "hash": hash }));
    assert_eq!(approved.status, 200, "{approved:?}");
    for replica in all {
        let called = call(&replica.server, "", "s__read", json!({}));
        assert_eq!(called.status, 200, "{called:?}");
    }
}

#[test]
fn a_server_that_is_added_at_one_replica_is_met_by_all_and_goes_from_all() {
    let cluster = Cluster::start();
    let elsewhere = TestHome::new();
    let server = Scripted::new(&elsewhere, "s", json!([tool("read", "Reads.")]));
    let replicas: Vec<Replica> = (0..3).map(|_| Replica::start(&cluster.url())).collect();
    let mut entry = server.entry();
    entry["name"] = json!("s");
    let added = owner(&replicas[0], "POST", "/api/v1/servers", &entry);
    assert_eq!(added.status, 201, "{added:?}");
    for replica in &replicas {
        // It is there; its own connection may take a moment.
        assert_eq!(view(replica)["name"], "s");
        until("it is met", || is_open(replica));
    }
    let removed = owner(&replicas[1], "DELETE", "/api/v1/servers/s", &json!({}));
    assert_eq!(removed.status, 204, "{removed:?}");
    for replica in &replicas {
        let gone = call(&replica.server, "", "s__read", json!({}));
        assert_eq!((gone.status, &gone.json["error"]["code"]), (404, &json!("tool_not_found")), "{gone:?}");
    }
}

#[test]
fn what_an_agent_adds_at_one_replica_waits_for_a_person_at_all() {
    let cluster = Cluster::start();
    let elsewhere = TestHome::new();
    let server = Scripted::new(&elsewhere, "s", json!([tool("read", "Reads.")]));
    let replicas: Vec<Replica> = (0..2).map(|_| Replica::start(&cluster.url())).collect();
    let key = ["keys", "create", "--user", "agent", "--grant", "servers:write", "--grant", "s:call"];
    let key = replicas[0].home.run(&key).line().to_owned();
    let mut entry = server.entry();
    entry["name"] = json!("s");
    let added = replicas[0].server.post("/api/v1/servers", &credential(&key), &entry);
    assert_eq!(added.status, 201, "{added:?}");
    for replica in &replicas {
        until("it waits for review", || view(replica)["pendingHash"].is_string().then_some(()));
        assert_ne!(call(&replica.server, &key, "s__read", json!({})).status, 200);
    }
    let hash = view(&replicas[1])["pendingHash"].clone();
    let approved = owner(&replicas[1], "POST", "/api/v1/servers/s/approve", &json!({ "hash": hash }));
    assert_eq!(approved.status, 200, "{approved:?}");
    for replica in &replicas {
        assert_eq!(call(&replica.server, &key, "s__read", json!({})).status, 200);
    }
}
