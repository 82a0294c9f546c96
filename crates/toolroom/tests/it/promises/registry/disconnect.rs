//! A caller that goes away takes its script with it.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::super::client::Client;
use super::super::figure;
use super::RegistryHome;
use crate::processes::of_home;
use crate::test_home::{post, until};

#[test]
fn promise_a_client_that_disconnects_ends_its_script() {
    let registry = RegistryHome::open();
    let server = registry.serve();
    let wanted = json!({
        "name": "sleep-long", "description": "Sleeps for a minute.", "timeout": 120, "parallel_capable": true,
        "config": { "script_path": "sleep_long.sh" }, "script": "sleep 60 & sleep 60\necho 1\n",
    });
    assert_eq!(registry.put(&mut Client::new(server.address), &wanted).unwrap().status, 201);
    let folder = registry.home.home();
    for round in 0..figure(5, 100) {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream
            .write_all(post("/api/v1/tools/sleep-long/call", &registry.header, &json!({})).as_bytes())
            .unwrap();
        until("the script runs", || (of_home(&folder).len() >= 3).then_some(()));
        drop(stream);
        let left = Instant::now();
        until("the script is gone", || of_home(&folder).is_empty().then_some(()));
        assert!(
            left.elapsed() < Duration::from_secs(2),
            "round {round}: it lived on for {:?}",
            left.elapsed()
        );
    }
}
