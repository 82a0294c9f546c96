//! Many writers at once, some of them wrong, while others read.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::client::Client;
use super::super::figure;
use super::{RegistryHome, entries, entry, put, stamp_of};

const SHARED: usize = 8;
/// Between two looks of one reader: the writers need the processor too.
const PACE: Duration = Duration::from_millis(10);

#[test]
fn promise_concurrent_updates_are_all_applied_or_refused_and_nobody_sees_half_of_one() {
    let registry = RegistryHome::open();
    let server = registry.serve();
    let (writers, updates) = (figure(16, 64), figure(10, 50));
    let version = || registry.home.ready().json["catalogueVersion"].as_u64().unwrap();
    let before = version();
    let done = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (address, header, done) = (server.address, registry.header.clone(), Arc::clone(&done));
            thread::spawn(move || read_on(address, &header, &done))
        })
        .collect();
    let on_disk = {
        let (file, done) = (registry.tools_json(), Arc::clone(&done));
        thread::spawn(move || look_on(&file, &done))
    };
    let writing: Vec<_> = (0..writers)
        .map(|writer| {
            let (address, header) = (server.address, registry.header.clone());
            thread::spawn(move || write(address, &header, writer, updates))
        })
        .collect();
    let (mut applied, mut refused, mut last) = (0, 0, BTreeMap::new());
    for writer in writing {
        let log = writer.join().unwrap();
        (applied, refused) = (applied + log.applied, refused + log.refused);
        last.insert(log.own, log.last);
    }
    done.store(true, Ordering::Relaxed);
    let reads: usize = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
    let looks = on_disk.join().unwrap();
    eprintln!("{applied} applied, {refused} refused, {reads} reads, {looks} looks at the file");

    assert_eq!(refused, writers * updates / 10);
    assert_eq!(applied, writers * updates - refused);
    assert_eq!(version() - before, applied as u64, "each change is one step of the catalogue");
    assert!(reads > 10 && looks > 10);
    let stored: BTreeMap<String, String> = entries(&registry.tools_json()).into_iter().collect();
    assert_eq!(stored.len(), writers + SHARED);
    for (name, stamp) in last {
        assert_eq!(stored[&name], stamp, "the last update of {name} stands");
    }
}

struct Log {
    own: String,
    last: String,
    applied: usize,
    refused: usize,
}

/// Updates in turns a tool of its own and one that others update too; each tenth entry is bad.
fn write(address: SocketAddr, header: &str, writer: usize, updates: usize) -> Log {
    let mut client = Client::new(address);
    let mut log = Log { own: format!("own-{writer}"), last: String::new(), applied: 0, refused: 0 };
    for update in 0..updates {
        let stamp = format!("{writer}.{update}");
        let own = update % 2 == 0;
        let name = if own { log.own.clone() } else { format!("shared-{}", (writer + update) % SHARED) };
        let mut wanted = entry(&name, &stamp);
        let bad = update % 10 == 9;
        if bad {
            wanted["timeout"] = json!(-1);
        }
        let answer = put(&mut client, header, &wanted).unwrap();
        match (bad, answer.status) {
            (false, 200 | 201) => {
                assert_eq!(stamp_of(&answer.json), stamp, "the answer is the entry that was sent");
                log.applied += 1;
            }
            (true, 400) => log.refused += 1,
            _ => panic!("{answer:?}"),
        }
        if own && !bad {
            let path = format!("/api/v1/tools/{name}");
            let seen = client.send("GET", &path, header, None).unwrap();
            assert_eq!(stamp_of(&seen.json), stamp, "what was acknowledged is seen at once");
            log.last = stamp;
        }
    }
    log
}

/// Reads the whole catalogue again and again. What was there once stays.
fn read_on(address: SocketAddr, header: &str, done: &AtomicBool) -> usize {
    let mut client = Client::new(address);
    let (mut reads, mut most) = (0, 0);
    while !done.load(Ordering::Relaxed) {
        let listed = client.send("GET", "/api/v1/tools?tag=promise", header, None).unwrap();
        assert_eq!(listed.status, 200, "{listed:?}");
        let tools: &Vec<Value> = listed.json["tools"].as_array().unwrap();
        tools.iter().for_each(|tool| drop(stamp_of(tool)));
        assert!(tools.len() >= most, "tools went missing: {} of {most}", tools.len());
        (reads, most) = (reads + 1, tools.len());
        thread::sleep(PACE);
    }
    reads
}

/// Reads the file again and again; it must be whole every time.
fn look_on(file: &Path, done: &AtomicBool) -> usize {
    let mut looks = 0;
    while !done.load(Ordering::Relaxed) {
        entries(file);
        looks += 1;
        thread::sleep(PACE);
    }
    looks
}
