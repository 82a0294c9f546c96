//! One registry for all servers: what is changed at one of them is in force at every one when the change is answered.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Replica, path, serve};
use crate::promises::cluster::Cluster;
use crate::promises::figure;
use crate::test_home::{Reply, Served, TestHome, post, until};

/// Asks as the owner of the replica's home.
pub fn owner(replica: &Replica, method: &str, path: &str, body: &Value) -> Reply {
    Reply::over_socket(&replica.home, &post(path, "", body).replacen("POST", method, 1))
}

/// A script that answers so, with its entry.
pub fn tool(name: &str, answer: &str) -> Value {
    json!({
        "name": name,
        "description": "Answers a text. Use it in tests. Returns the text.",
        "type": "local",
        "category": "query",
        "permissions": [],
        "parallel_capable": true,
        "input_schema": { "type": "object", "properties": {} },
        "config": { "script_path": format!("{name}.sh") },
        "script": format!("cat > /dev/null\necho '{{\"text\": \"{answer}\"}}'\n"),
    })
}

pub fn add(replica: &Replica, tool: &Value) {
    let added = owner(replica, "POST", "/api/v1/tools", tool);
    assert_eq!(added.status, 201, "{added:?}");
}

fn put(replica: &Replica, tool: &Value) {
    let path = format!("/api/v1/tools/{}", tool["name"].as_str().unwrap());
    let put = owner(replica, "PUT", &path, tool);
    assert!([200, 201].contains(&put.status), "{put:?}");
}

pub fn remove(replica: &Replica, name: &str) {
    let removed = owner(replica, "DELETE", &format!("/api/v1/tools/{name}"), &json!({}));
    assert_eq!(removed.status, 204, "{removed:?}");
}

fn answer(replica: &Replica, name: &str) -> Value {
    replica.call(name, &json!({}))["text"].clone()
}

fn is_unknown(replica: &Replica, name: &str) -> bool {
    let reply = replica.server.post(&path(name), "", &json!({ "params": {} }));
    reply.status == 404 && reply.json["error"]["code"] == "tool_not_found"
}

fn version(replica: &Replica) -> i64 {
    let registry = owner(replica, "GET", "/api/v1/registry", &json!({}));
    assert_eq!(registry.json["shared"], true, "{registry:?}");
    registry.json["version"].as_i64().unwrap()
}

fn replicas(cluster: &Cluster, count: usize) -> Vec<Replica> {
    (0..count).map(|_| Replica::start(&cluster.url())).collect()
}

#[test]
fn promise_a_change_of_the_registry_is_in_force_at_every_replica_when_it_is_answered() {
    let cluster = Cluster::start();
    let replicas = replicas(&cluster, 3);
    let before = version(&replicas[0]);
    put(&replicas[0], &tool("same", "0"));
    let (mut changes, mut calls, mut slowest) = (1, 0, Duration::ZERO);
    for round in 1..=figure(10, 500) {
        let [here, next] = [round % 3, (round + 1) % 3].map(|at| &replicas[at]);
        let (new, text) = (format!("new-{round}"), round.to_string());
        let began = Instant::now();
        add(here, &tool(&new, &text));
        slowest = slowest.max(began.elapsed());
        for replica in &replicas {
            assert_eq!(answer(replica, &new), text, "round {round}");
        }
        // The entry is the same: only the script is another.
        put(next, &tool("same", &text));
        for replica in &replicas {
            assert_eq!(answer(replica, "same"), text, "round {round}");
        }
        remove(here, &new);
        for replica in &replicas {
            assert!(is_unknown(replica, &new), "round {round}");
        }
        let profile = json!({ "tools": ["same"], "rename": { "same": format!("same-{round}") } });
        let made = owner(next, "PUT", "/api/v1/profiles/mine", &profile);
        assert!([200, 201].contains(&made.status), "{made:?}");
        for replica in &replicas {
            let shown = replica.server.get("/api/v1/profiles/mine", "");
            assert!(shown.body.contains(&format!("\"same-{round}\"")), "round {round}: {shown:?}");
        }
        changes += 4;
        calls += 12;
    }
    assert_eq!(version(&replicas[2]), before + changes, "each change is one version");
    eprintln!("{changes} changes, {calls} looks, none too early; the slowest registration took {slowest:?}");
}

#[test]
fn changes_at_several_replicas_at_once_are_made_one_after_the_other() {
    let cluster = Cluster::start();
    let replicas = replicas(&cluster, 3);
    let before = version(&replicas[0]);
    let each = figure(4, 50);
    thread::scope(|scope| {
        for (at, replica) in replicas.iter().enumerate() {
            // Two at a time at each.
            for half in 0..2 {
                scope.spawn(move || {
                    for number in 0..each {
                        add(replica, &tool(&format!("tool-{at}-{half}-{number}"), "here"));
                    }
                });
            }
        }
    });
    assert_eq!(version(&replicas[0]), before + 6 * each as i64);
    for replica in &replicas {
        let listed = replica.server.get("/api/v1/tools?limit=1000", "");
        for at in 0..6 {
            for number in 0..each {
                let name = format!("\"tool-{}-{}-{number}\"", at / 2, at % 2);
                assert!(listed.body.contains(&name), "{name}");
            }
        }
        assert_eq!(answer(replica, "tool-1-1-0"), "here");
    }
    // Of two that register one name, one is told that it exists.
    let answers: Vec<u16> = thread::scope(|scope| {
        let both = [0, 1].map(|at| {
            let replica = &replicas[at];
            scope.spawn(move || owner(replica, "POST", "/api/v1/tools", &tool("wanted", "here")).status)
        });
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(answers == [201, 409] || answers == [409, 201], "{answers:?}");
}

#[test]
fn a_replica_that_was_killed_holds_up_changes_no_longer_than_its_lease() {
    let cluster = Cluster::start();
    let mut replicas = replicas(&cluster, 3);
    put(&replicas[0], &tool("same", "0"));
    let killed = replicas.pop().unwrap();
    // It may have its turn, or be about to serve what was changed.
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0.. {
                let text =
                    post(&format!("/api/v1/tools/busy-{number}"), "", &tool(&format!("busy-{number}"), "x"));
                let put = text.replacen("POST", "PUT", 1);
                let Ok(mut stream) =
                    std::os::unix::net::UnixStream::connect(killed.home.home().join("toolroom.sock"))
                else {
                    return;
                };
                let sent = std::io::Write::write_all(&mut stream, put.as_bytes());
                let read = std::io::Read::read_to_end(&mut stream, &mut Vec::new());
                if sent.is_err() || read.is_err() {
                    return;
                }
            }
        });
        until("it makes changes", || (!is_unknown(&replicas[0], "busy-1")).then_some(()));
        killed.server.signal("-KILL");
        let began = Instant::now();
        put(&replicas[0], &tool("same", "1"));
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        for replica in &replicas {
            assert_eq!(answer(replica, "same"), "1");
        }
    });
    let began = Instant::now();
    put(&replicas[1], &tool("same", "2"));
    assert!(began.elapsed() < Duration::from_secs(9), "nobody waits for it any more: {:?}", began.elapsed());
    // In its home it comes back with what was changed.
    let back = killed.kill_and_start_again(&cluster.url());
    assert_eq!(answer(&back, "same"), "2");
}

#[test]
fn the_first_replica_brings_its_files_and_later_ones_put_theirs_aside() {
    let cluster = Cluster::start();
    let (first, second) = (TestHome::new(), TestHome::new());
    let script = |text: &str| format!("def run(params, context):\n    return {{'text': '{text}'}}\n");
    first.write_tool("mine", &script("of the first"), json!({}));
    second.write_tool("mine", &script("of the second"), json!({}));
    fs::write(first.home().join("profiles.json"), r#"{"profiles": {"few": {"tools": ["mine"]}}}"#).unwrap();
    let first = Replica::start_in(first, &cluster.url());
    let second = Replica::start_in(second, &cluster.url());
    for replica in [&first, &second] {
        assert_eq!(answer(replica, "mine"), "of the first");
        assert_eq!(replica.server.get("/api/v1/profiles/few", "").status, 200);
    }
    let aside = second.home.home().join("replaced/tools/mine.py");
    assert!(fs::read_to_string(aside).unwrap().contains("of the second"));
    // What was only a copy is not kept.
    put(&first, &tool("later", "x"));
    let second = second.kill_and_start_again(&cluster.url());
    assert!(!second.home.home().join("replaced/tools/later.sh").exists());
    assert_eq!(answer(&second, "later"), "x");
}

#[test]
fn a_command_without_a_server_changes_the_registry_of_all() {
    let cluster = Cluster::start();
    let replica = Replica::start(&cluster.url());
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    let script = home.path("greet.py");
    fs::write(
        &script,
        "# Greets. Use it in tests. Returns a text.\n# name: greet\n\
         def run(params, context):\n    return {'text': 'hello'}\n",
    )
    .unwrap();
    let added = home.run(&["tools", "add", script.to_str().unwrap(), "--database", &cluster.url()]);
    assert_eq!(added.code, 0, "{added:?}");
    assert_eq!(answer(&replica, "greet"), "hello");
}

#[test]
fn a_folder_is_planned_and_applied_as_one_version() {
    let cluster = Cluster::start();
    let replicas = replicas(&cluster, 2);
    put(&replicas[0], &tool("kept", "0"));
    put(&replicas[0], &tool("gone", "0"));
    let home = &replicas[1].home;
    let folder = home.path("registry");
    let name = folder.to_str().unwrap();
    let exported = home.json(&["registry", "export", name]);
    assert_eq!(exported["version"], version(&replicas[0]), "{exported}");
    let nothing = home.json(&["registry", "apply", name, "--yes"]);
    assert_eq!((&nothing["changes"], &nothing["applied"]), (&json!([]), &json!(false)), "{nothing}");

    let file = folder.join("tools/tools.json");
    let mut entries: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let tools = entries["tools"].as_array_mut().unwrap();
    tools.retain(|entry| entry["name"] != "gone");
    let mut fresh = tool("fresh", "new");
    let script = fresh.as_object_mut().unwrap().remove("script").unwrap();
    tools.push(fresh);
    fs::write(&file, entries.to_string()).unwrap();
    fs::write(folder.join("tools/fresh.sh"), script.as_str().unwrap()).unwrap();
    fs::remove_file(folder.join("tools/gone.sh")).unwrap();
    fs::write(folder.join("tools/kept.sh"), tool("kept", "1")["script"].as_str().unwrap()).unwrap();
    fs::write(folder.join("profiles.json"), r#"{"profiles": {"few": {"tools": ["fresh"]}}}"#).unwrap();

    let before = version(&replicas[0]);
    let shown = home.run(&["registry", "apply", name]);
    assert_eq!(shown.code, 0, "{shown:?}");
    for part in ["fresh", "gone", "tools/kept.sh", "few"] {
        assert!(shown.out.contains(part), "{shown:?}");
    }
    assert!(shown.err.contains("--yes"), "{shown:?}");
    assert_eq!(version(&replicas[0]), before, "a plan changes nothing");
    let applied = home.json(&["registry", "apply", name, "--yes"]);
    assert_eq!((&applied["version"], &applied["applied"]), (&json!(before + 1), &json!(true)), "{applied}");
    for replica in &replicas {
        assert_eq!((answer(replica, "fresh"), answer(replica, "kept")), (json!("new"), json!("1")));
        assert!(is_unknown(replica, "gone"));
        assert_eq!(replica.server.get("/api/v1/profiles/few", "").status, 200);
        assert!(!replica.home.home().join("replaced").exists(), "what was replaced was a copy");
    }
    assert!(!replicas[0].home.home().join("tools/gone.sh").exists());

    fs::write(&file, r#"{"tools": [{"name": "no good"}]}"#).unwrap();
    let refused = home.run(&["registry", "apply", name, "--yes"]);
    assert!(refused.code == 1 && refused.err.contains("tools/tools.json:1:"), "{refused:?}");
    assert_eq!(version(&replicas[0]), before + 1);
}

#[test]
fn alone_a_registry_is_exported_and_edited_where_it_is() {
    let home = TestHome::new();
    home.write_tool("mine", "def run(params, context):\n    return {}\n", json!({}));
    let folder = home.path("registry");
    let name = folder.to_str().unwrap();
    assert_eq!(home.json(&["registry", "export", name])["version"], 0);
    assert_eq!(
        fs::read(folder.join("tools/tools.json")).unwrap(),
        fs::read(home.home().join("tools/tools.json")).unwrap()
    );
    let refused = home.run(&["registry", "apply", name, "--yes"]);
    assert!(refused.code == 1 && refused.err.contains("files of its home"), "{refused:?}");
    let other = home.path("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("letter"), "dear").unwrap();
    let refused = home.run(&["registry", "export", other.to_str().unwrap()]);
    assert_eq!(refused.code, 2, "nothing of somebody else's is written over: {refused:?}");
}

#[test]
fn a_replica_that_cannot_serve_the_registry_stops_serving() {
    let cluster = Cluster::start();
    let first = Replica::start(&cluster.url());
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    let second = Replica { server: Served::start(home.command(&serve(&cluster.url()))), home };
    // A folder is in the way of the file.
    let in_the_way = second.home.home().join("tools/late.sh");
    fs::create_dir(&in_the_way).unwrap();
    fs::write(in_the_way.join("x"), "").unwrap();
    let began = Instant::now();
    put(&first, &tool("late", "here"));
    let took = began.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert_eq!(answer(&first, "late"), "here");
    let refused = second.server.post(&path("late"), "", &json!({ "params": {} }));
    assert_eq!(refused.status, 503, "it was answered when this one serves nothing any more: {refused:?}");
    let ready = second.server.get("/readyz", "");
    assert!(ready.status == 503 && ready.body.contains("newest registry"), "{ready:?}");
    assert_eq!(second.server.get("/healthz", "").status, 200);
    fs::remove_dir_all(&in_the_way).unwrap();
    until("it serves again", || (second.server.get("/readyz", "").status == 200).then_some(()));
    assert_eq!(answer(&second, "late"), "here");
}
