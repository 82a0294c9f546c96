//! A server that is killed while it writes.

use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::Client;
use super::{Acknowledged, assert_all_there, figure};
use crate::test_home::{PATIENCE, TestHome};

const WRITERS: usize = 4;
const START_LIMIT: Duration = Duration::from_secs(2);

#[test]
fn promise_no_acknowledged_write_is_lost_by_kill_9() {
    let home = TestHome::new();
    let mut acknowledged = Vec::new();
    // The home is made before, so that every start is one of a home that is there.
    assert_eq!(home.run(&["init"]).code, 0);
    for cycle in 0..figure(3, 50) {
        let began = Instant::now();
        let server = home.serve();
        let start = began.elapsed();
        assert!(start < START_LIMIT, "cycle {cycle}: the start took {start:?}");
        assert_all_there(server.address, &acknowledged);
        assert_eq!(integrity(&home.home().join("toolroom.db")), "ok", "cycle {cycle}");

        let writers: Vec<_> =
            (0..WRITERS).map(|writer| spawn_writer(server.address, format!("{cycle}.{writer}"))).collect();
        let delay = Duration::from_millis(50 + RandomState::new().hash_one(cycle) % 451);
        thread::sleep(delay);
        server.signal("-KILL");
        server.wait();
        let before = acknowledged.len();
        for writer in writers {
            acknowledged.extend(writer.join().unwrap());
        }
        eprintln!("cycle {cycle}: killed after {delay:?}, {} acknowledged", acknowledged.len() - before);
    }
    let server = home.serve();
    assert_all_there(server.address, &acknowledged);
    assert_eq!(integrity(&home.home().join("toolroom.db")), "ok");
    let least = figure(20, 1_000);
    assert!(acknowledged.len() >= least, "only {} writes were acknowledged", acknowledged.len());
}

#[test]
fn promise_a_look_at_the_database_by_another_process_costs_no_acknowledged_write() {
    let home = TestHome::new();
    let server = home.serve();
    let mut client = Client::new(server.address);
    let mut make = |title: &str| {
        let answer = client.call("create-task", "", &json!({ "params": { "title": title } })).unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        Acknowledged::of(&answer.json)
    };
    let mut acknowledged = vec![make("before the look")];
    // Whoever closes the file last removes the log of writes; the server holds it open, so this is not the last.
    assert_eq!(integrity(&home.home().join("toolroom.db")), "ok");
    acknowledged.extend((0..20).map(|number| make(&format!("after the look, {number}"))));
    server.signal("-KILL");
    server.wait();
    let server = home.serve();
    assert_all_there(server.address, &acknowledged);
}

/// Makes tasks until the server is gone, and gives those that it acknowledged.
fn spawn_writer(address: SocketAddr, name: String) -> thread::JoinHandle<Vec<Acknowledged>> {
    thread::spawn(move || {
        let mut client = Client::new(address);
        let mut acknowledged = Vec::new();
        let began = Instant::now();
        for number in 0.. {
            let title = format!("task {name}.{number}");
            let Ok(answer) = client.call("create-task", "", &json!({ "params": { "title": title } })) else {
                break;
            };
            assert_eq!(answer.status, 200, "{answer:?}");
            acknowledged.push(Acknowledged::of(&answer.json));
            assert!(began.elapsed() < PATIENCE, "the server outlives its kill");
        }
        acknowledged
    })
}

fn integrity(database: &Path) -> String {
    let connection = rusqlite::Connection::open(database).unwrap();
    connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap()
}
