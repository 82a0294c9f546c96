//! Promises that hold under faults, on real servers that are killed: samples here, full figures when `TOOLROOM_SOAK` is set.

mod client;
pub mod cluster;
mod idempotency;
mod kill;
mod postgres_stopped;
mod registry;
mod upstream;
mod versions;

use std::collections::HashMap;
use std::net::SocketAddr;

use serde_json::{Value, json};

pub use client::Client;

/// The figure for a sample, or the full one.
pub fn figure(sample: usize, full: usize) -> usize {
    if std::env::var_os("TOOLROOM_SOAK").is_some() { full } else { sample }
}

/// The titles of all tasks, by id.
fn titles(address: SocketAddr) -> HashMap<i64, String> {
    let wanted = json!({ "params": { "whole": true, "fields": ["taskId", "title"] } });
    let listed = Client::new(address).call("list-tasks", "", &wanted).expect("the list is answered");
    assert_eq!(listed.status, 200, "{listed:?}");
    let tasks = listed.json["data"]["tasks"].as_array().expect("tasks").iter();
    tasks.map(|task| (task["taskId"].as_i64().unwrap(), task["title"].as_str().unwrap().to_owned())).collect()
}

/// A task that a server said it had made.
#[derive(Clone, Debug)]
pub struct Acknowledged {
    id: i64,
    title: String,
}

impl Acknowledged {
    pub fn of(answer: &Value) -> Self {
        let task = &answer["data"]["task"];
        Self { id: task["taskId"].as_i64().unwrap(), title: task["title"].as_str().unwrap().to_owned() }
    }
}

/// Fails if a server forgot what it had acknowledged, or made a task twice.
pub fn assert_all_there(address: SocketAddr, acknowledged: &[Acknowledged]) {
    let there = titles(address);
    let lost: Vec<_> = acknowledged.iter().filter(|task| there.get(&task.id) != Some(&task.title)).collect();
    assert!(
        lost.is_empty(),
        "{} of {} acknowledged tasks are lost: {lost:?}",
        lost.len(),
        acknowledged.len()
    );
    let distinct: std::collections::HashSet<_> = there.values().collect();
    assert_eq!(distinct.len(), there.len(), "a title that was sent once is there twice");
}
