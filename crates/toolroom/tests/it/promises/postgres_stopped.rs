//! A PostgreSQL server that is stopped the hard way under load, and comes back.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::Client;
use super::cluster::Cluster;
use super::{Acknowledged, assert_all_there, figure};
use crate::test_home::{Served, TestHome};

/// Fifty requests per second in total.
const WRITERS: usize = 5;
const PACE: Duration = Duration::from_millis(100);
/// How long it may take until nobody gets an error any more.
const HEALING: Duration = Duration::from_secs(5);

#[test]
fn promise_no_acknowledged_write_is_lost_when_postgres_is_stopped_hard() {
    let (home, mut cluster) = (TestHome::new(), Cluster::start());
    let url = cluster.url();
    let server = Served::start(home.command(&["serve", "--listen", "127.0.0.1:0", "--database", &url]));
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> =
        (0..WRITERS).map(|writer| spawn_writer(server.address, writer, Arc::clone(&stop))).collect();
    // A sample looks less long for late errors.
    let watched = if figure(0, 1) == 1 { HEALING + Duration::from_secs(1) } else { Duration::from_secs(3) };
    let mut returns = Vec::new();
    for _ in 0..figure(2, 10) {
        thread::sleep(Duration::from_secs(1));
        let gone = Instant::now();
        cluster.stop_hard();
        thread::sleep(Duration::from_millis(700));
        cluster.start_again();
        returns.push((gone, Instant::now()));
        thread::sleep(watched);
    }
    stop.store(true, Ordering::Relaxed);
    let logs: Vec<Log> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();

    let acknowledged: Vec<Acknowledged> = logs.iter().flat_map(|log| &log.acknowledged).cloned().collect();
    let errors: Vec<Instant> = logs.iter().flat_map(|log| &log.errors).copied().collect();
    eprintln!("{} acknowledged, {} errors", acknowledged.len(), errors.len());
    for (gone, back) in &returns {
        let during = errors.iter().filter(|at| *at >= gone && **at < *back + watched).max();
        let late = during.map_or(Duration::ZERO, |last| last.saturating_duration_since(*back));
        eprintln!("errors ended {late:?} after the return");
        assert!(late <= HEALING, "errors went on for {late:?} after PostgreSQL was back");
    }
    let outside =
        errors.iter().filter(|at| !returns.iter().any(|(gone, back)| *at >= gone && **at <= *back + HEALING));
    assert_eq!(outside.count(), 0, "there were errors while PostgreSQL was there");
    assert!(acknowledged.len() >= figure(100, 1_000), "only {} writes were acknowledged", acknowledged.len());
    // The same process still serves.
    assert_all_there(server.address, &acknowledged);
}

/// What one writer was told.
struct Log {
    acknowledged: Vec<Acknowledged>,
    errors: Vec<Instant>,
}

fn spawn_writer(address: SocketAddr, writer: usize, stop: Arc<AtomicBool>) -> JoinHandle<Log> {
    thread::spawn(move || {
        let mut client = Client::new(address);
        let mut log = Log { acknowledged: Vec::new(), errors: Vec::new() };
        for number in 0.. {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let next = Instant::now() + PACE;
            let params = json!({ "title": format!("task {writer}.{number}") });
            let answer = client.call("create-task", "", &json!({ "params": params }));
            let answer = answer.expect("toolroom itself answers, whatever its database does");
            match answer.status {
                200 => log.acknowledged.push(Acknowledged::of(&answer.json)),
                503 => log.errors.push(Instant::now()),
                _ => panic!("{answer:?}"),
            }
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        log
    })
}
