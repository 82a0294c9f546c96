//! Whose calls a worker makes: it looks that up again before it begins one.

use std::time::{Duration, Instant};

use serde_json::json;

use super::deferred::able;
use super::workers::{Place, Worker};
use crate::federation::test_servers::mcp;
use crate::replicas::Replica;
use crate::test_home::until;

/// Two replicas, and a worker that is busy with a call of ada's while one of bob's waits: the keys' ids and bob's task.
fn one_runs_and_one_waits(place: &Place) -> (Vec<Replica>, Worker, String, String) {
    let replicas = place.replicas(&json!({}));
    let [ada, bob] = ["ada", "bob"].map(|user| {
        let made = replicas[0].home.run(&["keys", "create", "--user", user, "--grant", "wait-long:call"]);
        made.line().to_owned()
    });
    let worker = place.worker(&["--parallel", "1"]);
    let begin = |key: &str| {
        let params = json!({ "name": "wait-long", "arguments": {} });
        let begun = mcp(&replicas[0].server, key, "tools/call", params, able());
        begun["taskId"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned()
    };
    begin(&ada);
    place.begun(1);
    let waiting = begin(&bob);
    (replicas, worker, bob, waiting)
}

fn status(place: &Place, task: &str) -> String {
    place.cluster.sql(&format!("SELECT status FROM deferred WHERE id = '{task}'"))
}

#[test]
fn a_call_whose_key_was_revoked_while_it_waited_is_not_made() {
    let place = Place::new();
    let (replicas, _worker, _, waiting) = one_runs_and_one_waits(&place);
    let listed = replicas[1].home.json(&["keys", "list"]);
    let keys = listed["keys"].as_array().unwrap_or_else(|| panic!("{listed}"));
    let bob = keys.iter().find(|key| key["user"] == "bob").unwrap()["id"].to_string();
    assert_eq!(replicas[1].home.run(&["keys", "revoke", &bob]).code, 0);
    std::fs::write(place.gate(), "").unwrap();
    until("it has ended", || (status(&place, &waiting) == "failed").then_some(()));
    assert_eq!(place.began().len(), 1, "{:?}", place.began());
}

#[test]
fn a_worker_that_cannot_look_up_whose_a_call_is_waits_longer_each_time_and_makes_it_in_the_end() {
    let place = Place::new();
    let (replicas, worker, bob, waiting) = one_runs_and_one_waits(&place);
    place.cluster.sql("ALTER TABLE keys RENAME TO keys_away");
    std::fs::write(place.gate(), "").unwrap();
    let failures = || worker.log().matches("who left a call cannot be looked up").count();
    let after = |count: usize| {
        until("it has tried again", || (failures() >= count).then(Instant::now));
        Instant::now()
    };
    let (first, third) = (after(1), after(3));
    // It waits for a quarter of a second, then for half of one.
    assert!(third - first >= Duration::from_millis(600), "{:?}", third - first);
    assert_eq!(place.began().len(), 1, "{:?}", place.began());
    place.cluster.sql("ALTER TABLE keys_away RENAME TO keys");
    let params = json!({ "taskId": waiting });
    until("it is made", || {
        let task = mcp(&replicas[1].server, &bob, "tasks/get", params.clone(), able());
        (task["status"] == "completed").then_some(())
    });
    assert_eq!(place.began().len(), 2, "{:?}", place.began());
}
