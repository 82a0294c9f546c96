//! A server that is killed while its registry changes.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use super::super::client::Client;
use super::super::figure;
use super::{RegistryHome, entries, entry, entry_with_script, put, script};
use crate::test_home::PATIENCE;

const WRITERS: usize = 4;

#[test]
fn promise_no_acknowledged_registration_is_lost_by_kill_9() {
    let registry = RegistryHome::open();
    let mut acknowledged: BTreeMap<String, bool> = BTreeMap::new();
    // A sample runs unoptimised and beside other tests.
    let start_limit = Duration::from_secs(if figure(0, 1) == 1 { 2 } else { 20 });
    for cycle in 0..figure(3, 50) {
        let began = Instant::now();
        let server = registry.serve();
        let start = began.elapsed();
        assert!(start < start_limit, "cycle {cycle}: the start took {start:?}");
        all_there(&registry, server.address, &acknowledged);
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| spawn_writer(server.address, registry.header.clone(), format!("t{cycle}-{writer}")))
            .collect();
        let delay = Duration::from_millis(50 + RandomState::new().hash_one(cycle) % 451);
        thread::sleep(delay);
        server.signal("-KILL");
        server.wait();
        let before = acknowledged.len();
        for writer in writers {
            acknowledged.extend(writer.join().unwrap());
        }
        eprintln!("cycle {cycle}: killed after {delay:?}, {} acknowledged", acknowledged.len() - before);
        // Whole at the moment of the kill, before any start could have mended it.
        entries(&registry.tools_json());
    }
    let server = registry.serve();
    all_there(&registry, server.address, &acknowledged);
    let least = figure(20, 1_000);
    assert!(acknowledged.len() >= least, "only {} registrations were acknowledged", acknowledged.len());
}

/// Registers tools until the server is gone, and gives those that it acknowledged, and whether they have a script.
fn spawn_writer(
    address: SocketAddr,
    header: String,
    name: String,
) -> thread::JoinHandle<Vec<(String, bool)>> {
    thread::spawn(move || {
        let mut client = Client::new(address);
        let mut acknowledged = Vec::new();
        let began = Instant::now();
        for number in 0.. {
            let tool = format!("{name}-{number}");
            let has_script = number % 2 == 0;
            let wanted = if has_script { entry_with_script(&tool, &tool) } else { entry(&tool, &tool) };
            let Ok(answer) = put(&mut client, &header, &wanted) else { break };
            assert_eq!(answer.status, 201, "{answer:?}");
            acknowledged.push((tool, has_script));
            assert!(began.elapsed() < PATIENCE, "the server outlives its kill");
        }
        acknowledged
    })
}

/// Fails if a tool that was acknowledged is missing from the file or the catalogue, or is not as it was sent.
fn all_there(registry: &RegistryHome, address: SocketAddr, acknowledged: &BTreeMap<String, bool>) {
    let stored: BTreeMap<String, String> = entries(&registry.tools_json()).into_iter().collect();
    let listed =
        Client::new(address).send("GET", "/api/v1/tools?tag=promise", &registry.header, None).unwrap();
    let served: Vec<&str> =
        listed.json["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(served.len(), stored.len(), "the catalogue is that of the file");
    for (name, has_script) in acknowledged {
        assert_eq!(stored.get(name), Some(name), "{name} was acknowledged and is lost");
        if *has_script {
            let path = registry.home.home().join("tools").join(format!("{name}.sh"));
            assert_eq!(fs::read_to_string(path).unwrap(), script(name), "{name}: half a script");
        }
    }
    let left: Vec<_> = fs::read_dir(registry.home.home().join("tools"))
        .unwrap()
        .flatten()
        .filter(|file| file.path().is_dir())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
