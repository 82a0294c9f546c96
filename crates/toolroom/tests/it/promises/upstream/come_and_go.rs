//! Servers that are added and removed, again and again, and a Toolroom that ends.

use std::path::Path;

use serde_json::{Value, json};

use super::client::Client;
use super::{Hostile, Listening, figure};
use crate::federation::test_servers::{credential, settled, write};
use crate::processes::{of_home, open_files, resident_kib, zombies_of};
use crate::test_home::{PATIENCE, Served, TestHome, until};

/// What the allocator may keep, in KiB.
const SLACK: u64 = 16 << 10;

#[test]
fn promise_servers_that_are_added_and_removed_leave_nothing_behind() {
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    // Of a person: what was approved is forgotten with the server, so that the next kind is met again.
    let made = home.run(&[
        "keys",
        "create",
        "--user",
        "ada",
        "--person",
        "--grant",
        "servers:write",
        "--grant",
        "s:call",
    ]);
    let admin = credential(made.line());
    let plain = Hostile::new(&home, "plain");
    let (http, sse) = (Listening::start("streamable-http"), Listening::start("sse"));
    let at = |port: u16, path: &str| json!({ "url": format!("http://127.0.0.1:{port}{path}"), "allow_private": true });
    let kinds = [
        (with_a_stray_child(&plain.entry()), "s__fast", json!({})),
        (at(http.port, "/mcp"), "s__echo", json!({ "text": "a" })),
        (at(sse.port, "/sse"), "s__echo", json!({ "text": "a" })),
    ];
    let served = home.serve();
    // What is set up once, for each kind.
    for (entry, tool, params) in &kinds {
        cycle(&home, &served, &admin, entry, tool, params);
    }
    let (files, memory) = (settled_files(&served), resident_kib(served.id()));
    let cycles = figure(5, 100);
    for _ in 0..cycles {
        for (entry, tool, params) in &kinds {
            cycle(&home, &served, &admin, entry, tool, params);
        }
    }
    until("all descriptors are closed", || (open_files(served.id()) <= files).then_some(()));
    assert_eq!(zombies_of(served.id()), 0);
    let grown = resident_kib(served.id()).saturating_sub(memory);
    eprintln!(
        "{cycles} cycles of each kind: {files} descriptors as before, memory {memory} KiB and {grown} KiB more"
    );
    assert!(grown < SLACK, "grew by {grown} KiB from {memory}");
}

#[test]
fn promise_programs_of_servers_are_gone_when_toolroom_is() {
    for round in 0..figure(2, 20) {
        let home = TestHome::new();
        let plain = Hostile::new(&home, "plain");
        write(&home, json!({ "s": with_a_stray_child(&plain.entry()) }));
        let served = home.serve();
        settled(&home, "s", "ready", 4);
        assert_eq!(of_home(&home.home()).len(), 2, "the server and its child run");
        served.signal("-TERM");
        assert!(served.wait().success());
        assert_eq!(of_home(&home.home()), Vec::<String>::new(), "round {round}");
    }
}

#[test]
fn promise_a_toolroom_that_is_killed_takes_the_servers_along_and_the_next_one_ends_what_they_left() {
    for _ in 0..figure(2, 20) {
        let home = TestHome::new();
        let plain = Hostile::new(&home, "plain");
        write(&home, json!({ "s": with_a_stray_child(&plain.entry()) }));
        let served = home.serve();
        settled(&home, "s", "ready", 4);
        let (program, all) = (*plain.noted("pid").last().unwrap(), of_home(&home.home()));
        assert_eq!(all.len(), 2, "the server and its child run");
        served.signal("-KILL");
        served.wait();
        until("the server is gone", || (!is_there(&program.to_string())).then_some(()));
        let _next = home.serve();
        until("what it had started is gone", || (!all.iter().any(|pid| is_there(pid))).then_some(()));
    }
}

fn is_there(pid: &str) -> bool {
    Path::new("/proc").join(pid).exists()
}

/// A shell that leaves a child in a session of its own, then becomes the server.
fn with_a_stray_child(plain: &Value) -> Value {
    let mut args =
        vec![json!("-c"), json!("setsid sleep 1000 & exec \"$0\" \"$@\""), plain["command"].clone()];
    args.extend(plain["args"].as_array().unwrap().iter().cloned());
    json!({ "command": "sh", "args": args })
}

fn cycle(home: &TestHome, served: &Served, admin: &str, entry: &Value, tool: &str, params: &Value) {
    let mut entry = entry.clone();
    entry["name"] = json!("s");
    let mut client = Client::new(served.address);
    let wait = format!("/api/v1/servers?wait={}", PATIENCE.as_secs() - 5);
    let made = client.send("POST", &wait, admin, Some(&entry)).unwrap();
    assert_eq!((made.status, &made.json["state"]), (201, &json!("ready")), "{made:?}");
    let called = client.call(tool, admin, &json!({ "params": params })).unwrap();
    assert_eq!(called.status, 200, "{called:?}");
    let gone = client.send("DELETE", "/api/v1/servers/s", admin, None).unwrap();
    assert_eq!(gone.status, 204, "{gone:?}");
    until("its processes are gone", || of_home(&home.home()).is_empty().then_some(()));
}

/// The descriptors once those of the last connections are closed.
fn settled_files(served: &Served) -> usize {
    let mut last = usize::MAX;
    until("the descriptors stay the same", || {
        let now = open_files(served.id());
        (std::mem::replace(&mut last, now) == now).then_some(now)
    })
}
