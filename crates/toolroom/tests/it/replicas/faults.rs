//! Replicas under load whose database is killed, and one that is cut off from it.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Replica, path, quoted, replicas_with, write_script};
use crate::promises::cluster::Cluster;
use crate::promises::figure;
use crate::promises::{Acknowledged, Client, assert_all_there};
use crate::test_home::{TestHome, post, until};

/// Fifty calls a second over all.
const WRITERS: usize = 6;
const PACE: Duration = Duration::from_millis(120);
const HEALING: Duration = Duration::from_secs(5);

#[test]
fn promise_no_acknowledged_write_is_lost_when_the_database_of_all_replicas_is_killed() {
    let mut cluster = Cluster::start();
    let url = cluster.url();
    let replicas: Vec<Replica> = (0..3).map(|_| Replica::start(&url)).collect();
    let stop = AtomicBool::new(false);
    let (mut returns, mut logs) = (Vec::new(), Vec::new());
    let addresses: Vec<SocketAddr> = replicas.iter().map(|replica| replica.server.address).collect();
    thread::scope(|scope| {
        let (addresses, stop) = (&addresses, &stop);
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| scope.spawn(move || write(addresses, writer, stop))).collect();
        for _ in 0..figure(1, 10) {
            thread::sleep(Duration::from_millis(500));
            let gone = Instant::now();
            cluster.stop_hard();
            thread::sleep(Duration::from_millis(500));
            cluster.start_again();
            returns.push((gone, Instant::now()));
            thread::sleep(HEALING + Duration::from_millis(500));
        }
        stop.store(true, Ordering::Relaxed);
        logs.extend(writers.into_iter().map(|writer| writer.join().unwrap()));
    });
    let acknowledged: Vec<Acknowledged> = logs.iter().flat_map(|log| log.0.clone()).collect();
    let errors: Vec<Instant> = logs.iter().flat_map(|log| log.1.clone()).collect();
    let outside = |at: &&Instant| !returns.iter().any(|(gone, back)| *at >= gone && **at <= *back + HEALING);
    assert_eq!(errors.iter().filter(outside).count(), 0, "all is right 5 s after the database is back");
    assert!(acknowledged.len() >= figure(30, 1_500), "only {} were acknowledged", acknowledged.len());
    for replica in &replicas {
        assert_all_there(replica.server.address, &acknowledged);
    }
    eprintln!("{} acknowledged, none lost, {} errors", acknowledged.len(), errors.len());
}

/// What was acknowledged, and when there were errors.
fn write(addresses: &[SocketAddr], writer: usize, stop: &AtomicBool) -> (Vec<Acknowledged>, Vec<Instant>) {
    let mut clients: Vec<Client> = addresses.iter().copied().map(Client::new).collect();
    let (mut acknowledged, mut errors) = (Vec::new(), Vec::new());
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let (next, count) = (Instant::now() + PACE, clients.len());
        let body = json!({ "params": { "title": format!("task {writer}.{number}") } });
        let answer = clients[(writer + number) % count].call("create-task", "", &body);
        let answer = answer.expect("a replica answers, whatever its database does");
        match answer.status {
            200 => acknowledged.push(Acknowledged::of(&answer.json)),
            503 => errors.push(Instant::now()),
            _ => panic!("{answer:?}"),
        }
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    (acknowledged, errors)
}

/// A way to the database that can become silent: what is sent is taken and goes nowhere, as on a network that was split.
struct SilentWay {
    address: SocketAddr,
    is_silent: Arc<AtomicBool>,
}

impl SilentWay {
    fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, is_silent) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
        let silent = Arc::clone(&is_silent);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to, silent) =
                        (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&silent));
                    thread::spawn(move || pass(from, to, &silent));
                }
            }
        });
        Self { address, is_silent }
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, is_silent: &AtomicBool) {
    from.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let (mut buffer, mut was_silent) = ([0; 8192], false);
    loop {
        let read = from.read(&mut buffer);
        was_silent |= is_silent.load(Ordering::Acquire);
        match read {
            // A network that is whole again knows nothing of connections that were lost on it.
            _ if was_silent && !is_silent.load(Ordering::Acquire) => break,
            Ok(0) => break,
            Ok(count) if !was_silent && to.write_all(&buffer[..count]).is_err() => break,
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
            _ => {}
        }
    }
    let _ = (from.shutdown(std::net::Shutdown::Both), to.shutdown(std::net::Shutdown::Both));
}

#[test]
fn promise_a_replica_that_is_cut_off_is_silent_within_ten_seconds_and_the_others_do_not_notice() {
    let cluster = Cluster::start();
    let shared = TestHome::new();
    let effects = shared.path("effects");
    let append = format!(
        "def run(params, context):\n    open({}, 'a').write(params['text'])\n    return {{'done': True}}\n",
        quoted(&effects)
    );
    let write_tools = |home: &TestHome| {
        write_script(home, "append", &append, json!({ "parallel": true }));
    };
    let mut replicas = replicas_with(2, &cluster.url(), write_tools);
    let way = SilentWay::to(cluster.port());
    let cut =
        replicas_with(1, &format!("postgres://postgres@{}/postgres", way.address), write_tools).remove(0);
    replicas.push(cut);
    let (others, cut) = replicas.split_at(2);
    // One that is cut off may say nothing at all.
    let call = |replica: &Replica, text: &str| -> Option<u16> {
        let mut stream = TcpStream::connect(replica.server.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        let request = post(&path("append"), "", &json!({ "params": { "text": text } }));
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        answer.split(' ').nth(1)?.parse().ok()
    };
    assert_eq!(call(&cut[0], "a"), Some(200));
    for round in 0..figure(1, 5) {
        way.is_silent.store(true, Ordering::Release);
        let since = Instant::now();
        let (mut last_answer, mut slowest) = (Duration::ZERO, Duration::ZERO);
        thread::scope(|scope| {
            // The others are called all the while.
            let rest = scope.spawn(|| {
                let mut slowest = Duration::ZERO;
                while since.elapsed() < Duration::from_secs(12) {
                    for replica in others {
                        let began = Instant::now();
                        assert_eq!(call(replica, "b"), Some(200), "round {round}");
                        slowest = slowest.max(began.elapsed());
                    }
                    thread::sleep(Duration::from_millis(20));
                }
                slowest
            });
            while since.elapsed() < Duration::from_secs(12) {
                if call(&cut[0], "c") == Some(200) {
                    last_answer = since.elapsed();
                }
                thread::sleep(Duration::from_millis(50));
            }
            slowest = rest.join().unwrap();
        });
        assert!(last_answer < Duration::from_secs(10), "it answered {last_answer:?} after it was cut off");
        assert_eq!(cut[0].server.get("/readyz", "").status, 503);
        assert_eq!(cut[0].server.get("/healthz", "").status, 200);
        eprintln!("silent after {last_answer:?}; the slowest answer of another took {slowest:?}");
        way.is_silent.store(false, Ordering::Release);
        until("it serves again", || (call(&cut[0], "a") == Some(200)).then_some(()));
    }
}
