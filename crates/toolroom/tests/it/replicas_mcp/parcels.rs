//! Results that are too long to be shown whole: given by one server, read at any.

use serde_json::{Value, json};

use super::older_client::OlderClient;
use crate::federation::test_servers::{credential, mcp, mcp_any};
use crate::promises::cluster::Cluster;
use crate::replicas::Replica;

#[test]
fn a_long_result_is_read_at_every_replica_and_by_its_owner_alone() {
    let cluster = Cluster::start();
    let replicas: Vec<Replica> = (0..2).map(|_| Replica::start(&cluster.url())).collect();
    let key = |user: &str| replicas[0].home.run(&["keys", "create", "--user", user]).line().to_owned();
    let (ada, eve) = (key("ada"), key("eve"));
    for number in 0..30 {
        let description = format!("{number} ").repeat(300);
        let body = json!({ "params": { "title": format!("task {number}"), "description": description } });
        let made = replicas[0].server.post("/api/v1/tools/create-task/call", &credential(&ada), &body);
        assert_eq!(made.status, 200, "{made:?}");
    }
    let listing = || json!({ "name": "list-tasks", "arguments": { "whole": true } });
    let read = |replica: &Replica, key: &str, uri: &str| {
        mcp_any(&replica.server, key, "resources/read", json!({ "uri": uri }), json!({}))
    };
    for (giving, reading) in [(0, 1), (1, 0)] {
        let given = mcp(&replicas[giving].server, &ada, "tools/call", listing(), json!({}));
        let whole = &given["structuredContent"]["whole"];
        let uri = whole["uri"].as_str().unwrap_or_else(|| panic!("{given}"));
        let there = read(&replicas[reading], &ada, uri);
        let text = there["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{there}"));
        assert_eq!(text.chars().count() as u64, whole["characters"].as_u64().unwrap());
        let whole: Value = serde_json::from_str(text).unwrap();
        assert_eq!(whole["data"]["tasks"].as_array().unwrap().len(), 30);
        let part = read(&replicas[reading], &ada, &format!("{uri}?pointer=/data/tasks/3/title"));
        assert!(part.to_string().contains("task "), "{part}");
        let listed = mcp(&replicas[reading].server, &ada, "resources/list", json!({}), json!({}));
        assert!(listed.to_string().contains(uri), "{listed}");
        for replica in &replicas {
            let theirs = read(replica, &eve, uri);
            let nothing = read(replica, &eve, "toolroom://results/4f0c1f0e2d3c4b5a69788796a5b4c3d2");
            assert_eq!(theirs["error"]["code"], nothing["error"]["code"], "{theirs}");
            assert!(theirs["error"].is_object(), "{theirs}");
            let listed = mcp(&replica.server, &eve, "resources/list", json!({}), json!({}));
            assert!(!listed.to_string().contains(uri), "{listed}");
        }
    }
    // Older clients are given the same.
    let header = credential(&ada);
    let client = OlderClient::begin(&replicas[0], "2025-06-18", json!({}), &header);
    let given = client.ask(&replicas[0], 3, "tools/call", listing());
    let uri = given["result"]["structuredContent"]["whole"]["uri"].as_str().unwrap();
    let there = client.ask(&replicas[1], 4, "resources/read", json!({ "uri": uri }));
    assert!(there["result"]["contents"][0]["text"].as_str().unwrap().contains("task 29"), "{there}");
}
