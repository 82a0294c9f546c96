//! Sessions of the older revisions: begun at one server, used at all of them, ended for all of them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::older_client::{OlderClient, REVISIONS, call, request};
use crate::promises::cluster::Cluster;
use crate::promises::figure;
use crate::replicas::{Replica, replicas_with, write_script};
use crate::test_home::{TestHome, until};

fn with_a_script(home: &TestHome) {
    let script =
        "def run(params, context):\n    return {'session': context.session_id, 'client': context.agent_id}\n";
    write_script(home, "who-asks", script, json!({ "parallel": true }));
}

#[test]
fn promise_a_session_begun_at_one_replica_is_used_at_every_other() {
    let cluster = Cluster::start();
    let replicas = replicas_with(3, &cluster.url(), with_a_script);
    for round in 0..figure(3, 200) {
        let begun = &replicas[round % 3];
        for revision in REVISIONS {
            let client = OlderClient::begin(begun, revision, json!({}), "");
            let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            assert_eq!(client.post(&replicas[(round + 1) % 3], &ready).status, 202);
            let mut told = BTreeSet::new();
            for replica in replicas.iter().chain(&replicas) {
                let listed = client.ask(replica, 1, "tools/list", json!({}));
                let tools = listed["result"]["tools"].as_array().unwrap();
                assert!(tools.iter().any(|tool| tool["name"] == "who-asks"), "{revision}: {listed}");
                let answer: Value =
                    serde_json::from_str(&client.call(replica, "who-asks", json!({}))).unwrap();
                assert_eq!(answer["data"]["client"], "old-desk", "{answer}");
                told.insert(answer["data"]["session"].as_str().unwrap().to_owned());
            }
            assert_eq!(told.len(), 1, "{revision}: one session, whoever is asked: {told:?}");
            let again = client.post(begun, &request(2, "initialize", json!({ "protocolVersion": revision })));
            assert!(again.message()["error"].is_object(), "{again:?}");
            let batch = json!([request(3, "ping", json!({})), request(4, "ping", json!({}))]);
            let batched = client.post(&replicas[(round + 2) % 3], &batch);
            assert_eq!(batched.status == 200, revision == "2025-03-26", "{revision}: {batched:?}");
        }
    }
}

#[test]
fn promise_an_id_that_was_edited_is_anothers_or_was_ended_is_as_unknown_as_any() {
    let cluster = Cluster::start();
    let replicas: Vec<Replica> = (0..2).map(|_| Replica::start(&cluster.url())).collect();
    let key = |user: &str| {
        let made = replicas[0].home.run(&["keys", "create", "--user", user]);
        format!("X-API-Key: {}\r\n", made.line())
    };
    let (ada, ada_too, eve) = (key("ada"), key("ada"), key("eve"));
    let mut client = OlderClient::begin(&replicas[0], "2025-06-18", json!({}), &ada);
    let (whole, ping) = (client.session.clone(), request(1, "ping", json!({})));
    client.session = "4f0c1f0e2d3c4b5a69788796a5b4c3d2".to_owned();
    let unknown = client.post(&replicas[1], &ping);
    assert_eq!(unknown.status, 404, "{unknown:?}");
    let parts: Vec<&str> = whole.split('.').collect();
    let mut hostile = vec![
        whole[..whole.len() - 1].to_owned(),
        format!("{whole}A"),
        whole.replacen("1.1.", "1.2.", 1),
        whole.replacen("1.1.", "2.1.", 1),
        [parts[0], parts[1], parts[3], parts[2]].join("."),
        parts[..3].join("."),
        "1.1..".to_owned(),
        "A".repeat(7000),
    ];
    // Every place of it once.
    for place in (0..whole.len()).step_by(figure(17, 1)) {
        let mut bytes = whole.clone().into_bytes();
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        hostile.push(String::from_utf8(bytes).unwrap());
    }
    for id in hostile {
        client.session = id;
        for replica in &replicas {
            let got = client.post(replica, &ping);
            assert_eq!((got.status, &got.body), (404, &unknown.body), "{}", client.session);
        }
    }
    client.session = whole.clone();
    for replica in &replicas {
        assert_eq!(client.post(replica, &ping).status, 200, "the id itself is good");
    }
    for credential in [&eve, &ada_too] {
        client.credential = credential.clone();
        for replica in &replicas {
            let got = client.post(replica, &ping);
            assert_eq!((got.status, &got.body), (404, &unknown.body), "it is another's");
            assert_eq!(client.delete(replica).status, 404);
        }
    }
    // Under another profile, and as a stream of the other transport, it is none either.
    client.credential = ada;
    let elsewhere = client.exchange(&replicas[1], "POST", "/mcp/plain", &ping.to_string());
    assert_eq!((elsewhere.status, &elsewhere.body), (404, &unknown.body));
    let message = client.exchange(&replicas[1], "POST", &format!("/messages/{whole}"), &ping.to_string());
    assert_eq!(message.status, 404, "{message:?}");
}

#[test]
fn promise_a_session_that_is_ended_at_one_replica_is_unknown_at_all_within_half_a_second() {
    let cluster = Cluster::start();
    let replicas: Vec<Replica> = (0..3).map(|_| Replica::start(&cluster.url())).collect();
    let ping = request(1, "ping", json!({}));
    for round in 0..figure(4, 200) {
        let client = OlderClient::begin(&replicas[round % 3], "2025-11-25", json!({}), "");
        let mut listening = client.listen(&replicas[(round + 1) % 3]);
        for replica in &replicas {
            assert_eq!(client.post(replica, &ping).status, 200);
        }
        assert_eq!(client.delete(&replicas[(round + 2) % 3]).status, 204);
        let ended = Instant::now();
        for replica in &replicas {
            let mut last = Duration::ZERO;
            until("the session has ended", || {
                let asked = ended.elapsed();
                let got = client.post(replica, &ping);
                if got.status == 200 {
                    last = asked;
                }
                (got.status == 404).then_some(())
            });
            assert!(last < Duration::from_millis(500), "believed {last:?} later");
        }
        assert_eq!(listening.data(), None, "the stream of another replica has ended");
        assert_eq!(client.delete(&replicas[round % 3]).status, 404);
    }
}

#[test]
fn what_a_client_says_of_its_session_is_known_at_every_replica() {
    let cluster = Cluster::start();
    let replicas = replicas_with(2, &cluster.url(), |home| {
        let script =
            "def run(params, context):\n    context.log('looked', level='info')\n    return {'done': True}\n";
        write_script(home, "says", script, json!({ "parallel": true }));
    });
    let client = OlderClient::begin(&replicas[0], "2025-06-18", json!({}), "");
    let hears = |replica| {
        let got = client.post(replica, &call(3, "says", json!({})));
        assert_eq!(got.status, 200, "{got:?}");
        got.body.contains("notifications/message")
    };
    assert!(hears(&replicas[0]) && hears(&replicas[1]), "info is the usual level");
    let said = client.ask(&replicas[0], 2, "logging/setLevel", json!({ "level": "error" }));
    assert_eq!(said["result"], json!({}));
    assert!(!hears(&replicas[0]));
    until("the other replica knows", || (!hears(&replicas[1])).then_some(()));
    client.ask(&replicas[1], 2, "logging/setLevel", json!({ "level": "debug" }));
    until("the first one knows", || hears(&replicas[0]).then_some(()));
}

#[test]
fn a_session_is_not_looked_up_by_its_requests() {
    let cluster = Cluster::start_with(|cluster| {
        let log = "log_statement = 'all'\nlogging_collector = on\nlog_filename = 'statements.log'\n";
        cluster.append("postgresql.conf", log);
    });
    let replicas: Vec<Replica> = (0..2).map(|_| Replica::start(&cluster.url())).collect();
    let count = |part: &str| {
        let log = std::fs::read_to_string(cluster.data().join("log/statements.log")).unwrap_or_default();
        log.lines().filter(|line| line.contains(part)).count()
    };
    let (session, mail) = ("FROM parcels WHERE", "DELETE FROM mail");
    let client = OlderClient::begin(&replicas[0], "2025-06-18", json!({}), "");
    let requests = 400;
    let (before, began) = (count(session), Instant::now());
    for number in 0..requests {
        assert_eq!(client.post(&replicas[number % 2], &request(1, "ping", json!({}))).status, 200);
    }
    // Each replica looks when its belief is 400 ms old, and once when it first hears of the session.
    let most = 2 * (began.elapsed().as_millis() as usize / 400 + 2);
    let made = count(session) - before;
    assert!((1..=most).contains(&made), "{made} looks for {requests} requests, {most} at most");
    // Twice a second, if a request happens to be worked on at that moment.
    let most = 2 * (began.elapsed().as_millis() as usize / 500 + 2);
    assert!(count(mail) <= most, "{} looks for letters, {most} at most", count(mail));
}
