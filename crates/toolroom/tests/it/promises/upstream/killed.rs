//! A server that is killed in the middle of a call.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;

use super::client::Client;
use super::{Hostile, figure};
use crate::federation::test_servers::{credential, key, settled, write};
use crate::test_home::{Reply, TestHome, until};

/// After how many seconds a call is tried again.
const WAITS: [f64; 3] = [1.0, 2.0, 4.0];
/// How often the other server is called, so that its times do not depend on how busy the caller keeps the machine.
const PACE: Duration = Duration::from_millis(10);
const BASELINE: usize = 300;

#[test]
fn promise_calls_of_a_killed_server_are_tried_as_often_as_they_may_be_and_hold_nobody_up() {
    let home = TestHome::new();
    let (victim, other) = (Hostile::new(&home, "waits"), Hostile::new(&home, "plain"));
    write(&home, json!({ "victim": victim.entry(), "other": other.entry() }));
    let ada = credential(&key(&home, &["victim:call", "other:call"]));
    let served = home.serve();
    settled(&home, "victim", "ready", 4);
    settled(&home, "other", "ready", 4);
    let baseline = p99(times(served.address, &ada, |done| done == BASELINE));
    let stop = Arc::new(AtomicBool::new(false));
    let neighbour = neighbour(served.address, ada.clone(), &stop);
    let cycles = figure(3, 20);
    for cycle in 0..cycles {
        let gaps = read_only(served.address, &ada, &victim);
        not_idempotent(served.address, &ada, &victim);
        let next = Client::new(served.address).call("victim__fast", &ada, &json!({})).unwrap();
        assert_eq!(next.status, 200, "cycle {cycle}: the next call succeeds: {next:?}");
        eprintln!("cycle {cycle}: tried again after {gaps:.2?} s, one execution, the next call succeeded");
    }
    stop.store(true, Ordering::Relaxed);
    let during = neighbour.join().unwrap();
    let calls = during.len();
    let during = p99(during);
    eprintln!("{cycles} of {cycles}; the other server: p99 {during:?} in {calls} calls, before {baseline:?}");
    assert!(during <= baseline * 2 + Duration::from_millis(50), "{during:?} against {baseline:?}");
    // Nothing was tried later, either.
    assert_eq!((victim.noted("read").len(), victim.noted("work").len()), (4 * cycles, cycles));
}

/// Kills the server in every attempt; the seconds between the attempts.
fn read_only(address: SocketAddr, ada: &str, victim: &Hostile) -> Vec<f64> {
    let before = victim.noted("read").len();
    let calling = call(address, ada, "victim__read");
    let mut killed = Vec::new();
    for attempt in 1..=4 {
        until("it is called", || (victim.noted("read").len() == before + attempt).then_some(()));
        killed.push(kill(victim));
    }
    let answer = calling.join().unwrap();
    assert_eq!(
        (answer.status, &answer.json["error"]["code"]),
        (503, &json!("service_unavailable")),
        "{answer:?}"
    );
    assert!(answer.json["error"]["message"].as_str().unwrap().contains("'victim'"), "{answer:?}");
    let attempts = &victim.noted("read")[before..];
    assert_eq!(attempts.len(), 4, "{attempts:?}");
    let gaps: Vec<f64> = (0..3).map(|at| attempts[at + 1] - killed[at]).collect();
    // What the program itself takes to start is not ours to shorten.
    let startup = victim.noted("startup").into_iter().fold(0.0, f64::max);
    for (gap, wait) in gaps.iter().zip(WAITS) {
        assert!((wait * 0.8..=wait * 1.2 + startup).contains(gap), "{gap} for {wait}: {gaps:?}, {startup}");
    }
    gaps
}

/// Kills the server in a call that may have had an effect.
fn not_idempotent(address: SocketAddr, ada: &str, victim: &Hostile) {
    let before = victim.noted("work").len();
    let calling = call(address, ada, "victim__work");
    until("it is called", || (victim.noted("work").len() == before + 1).then_some(()));
    kill(victim);
    let answer = calling.join().unwrap();
    let error = &answer.json["error"];
    assert_eq!(
        (&error["code"], &error["outcome"]),
        (&json!("service_unavailable"), &json!("unknown")),
        "{answer:?}"
    );
    assert_eq!(victim.noted("work").len(), before + 1, "executed at most once");
}

fn call(address: SocketAddr, ada: &str, tool: &'static str) -> JoinHandle<Reply> {
    let ada = ada.to_owned();
    thread::spawn(move || Client::new(address).call(tool, &ada, &json!({})).unwrap())
}

/// Kills the server's process the hard way; when that was.
fn kill(victim: &Hostile) -> f64 {
    let pid = *victim.noted("pid").last().unwrap() as u32;
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

/// Calls the other server until it is told to stop.
fn neighbour(address: SocketAddr, ada: String, stop: &Arc<AtomicBool>) -> JoinHandle<Vec<Duration>> {
    let stop = Arc::clone(stop);
    thread::spawn(move || times(address, &ada, |_| stop.load(Ordering::Relaxed)))
}

fn times(address: SocketAddr, ada: &str, enough: impl Fn(usize) -> bool) -> Vec<Duration> {
    let (mut client, mut times) = (Client::new(address), Vec::new());
    while !enough(times.len()) {
        let began = Instant::now();
        let answer = client.call("other__fast", ada, &json!({})).unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        times.push(began.elapsed());
        thread::sleep(PACE);
    }
    times
}

fn p99(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() * 99 / 100]
}
