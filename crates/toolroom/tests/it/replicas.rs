//! Several servers that share one PostgreSQL database, each in a home of its own: what one of them changed, all of them
//! know, and what may be once is once over all of them.

mod chat;
mod console;
mod costs;
mod elsewhere;
mod faults;
mod limits;
mod log;
mod login_callback;
mod logins;
mod redis_server;
mod registry;
mod secrets;
mod servers;
mod together;
mod upgrade;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Barrier;
use std::thread;

use serde_json::{Value, json};

use crate::promises::cluster::Cluster;
use crate::promises::figure;
use crate::test_home::{Reply, Served, TestHome, until};

/// A home, and the server on it.
pub struct Replica {
    pub home: TestHome,
    pub server: Served,
}

impl Replica {
    pub fn start(url: &str) -> Self {
        Self::start_in(TestHome::new(), url)
    }

    fn start_in(home: TestHome, url: &str) -> Self {
        Self::start_with(home, url, &[])
    }

    fn start_with(home: TestHome, url: &str, environment: &[(&str, &str)]) -> Self {
        let mut command = home.command(&serve(url));
        command.envs(environment.iter().copied());
        let server = Served::start(command);
        Self { home, server }
    }

    /// The same with a seal key in its environment.
    fn start_sealed(home: TestHome, url: &str, key: &str) -> Self {
        let mut command = home.command(&serve(url));
        command.env("TOOLROOM_SEAL_KEY", key);
        let server = Served::start(command);
        Self { home, server }
    }

    /// Ends it without a last word, and starts another one in its home.
    fn kill_and_start_again(self, url: &str) -> Self {
        self.server.signal("-KILL");
        self.server.wait();
        Self::start_in(self.home, url)
    }

    /// Calls a tool; the answer must be a good one.
    pub fn call(&self, tool: &str, params: &Value) -> Value {
        let reply = self.server.post(&path(tool), "", &json!({ "params": params }));
        assert_eq!(reply.status, 200, "{tool} {params}: {reply:?}");
        reply.json["data"].clone()
    }
}

fn serve(url: &str) -> [&str; 6] {
    ["serve", "--shared", "--listen", "127.0.0.1:0", "--database", url]
}

fn path(tool: &str) -> String {
    format!("/api/v1/tools/{tool}/call")
}

pub fn id_of(made: &Value) -> i64 {
    made["task"]["taskId"].as_i64().unwrap_or_else(|| panic!("no task: {made}"))
}

#[test]
fn servers_share_a_postgres_database_only_and_all_or_none_of_them_do() {
    let home = TestHome::new();
    let refused = home.run(&["serve", "--shared", "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(
        refused.err.contains("PostgreSQL") && refused.err.contains("--database postgres://"),
        "{refused:?}"
    );

    let cluster = Cluster::start();
    let url = cluster.url();
    let shared = Replica::start(&url);
    let alone = home.run(&["serve", "--listen", "127.0.0.1:0", "--database", &url]);
    assert_eq!(alone.code, 1, "{alone:?}");
    assert!(alone.err.contains("share this database") && alone.err.contains("--shared"), "{alone:?}");
    // A command does as the servers do.
    let id = id_of(&shared.call("create-task", &json!({ "title": "from the server" })));
    assert_eq!(shared.call("get-task", &json!({ "taskId": id }))["task"]["title"], "from the server");
    let params = json!({ "taskId": id, "title": "from a command" }).to_string();
    let done = home.run(&["call", "update-task", "--params", &params, "--database", &url]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(shared.call("get-task", &json!({ "taskId": id }))["task"]["title"], "from a command");
}

/// A backup that has rows: without any, a database is not touched, and nobody would be in the way.
fn backup_with_a_task(home: &TestHome) -> String {
    let file = home.path("home.backup").display().to_string();
    assert_eq!(home.run(&["call", "create-task", "--param", "title=kept"]).code, 0);
    assert_eq!(home.run(&["backup", &file]).code, 0);
    file
}

#[test]
fn a_command_gives_its_lease_back_when_it_ends() {
    let cluster = Cluster::start();
    let url = cluster.url();
    let (home, elsewhere) = (TestHome::new(), TestHome::new());
    let file = backup_with_a_task(&home);
    let commands: [&[&str]; 3] = [&["call", "list-tasks"], &["keys", "list"], &["tools", "list"]];
    for command in commands {
        let done = home.run(&[command, &["--database", &url]].concat());
        assert_eq!(done.code, 0, "{done:?}");
        // It would be refused while another process is at work on the database.
        let restored = elsewhere.run(&["restore", &file, "--replace", "--database", &url]);
        assert_eq!(restored.code, 0, "after {command:?}: {restored:?}");
    }
}

#[test]
fn a_replica_that_stops_gives_its_lease_back_at_once() {
    let cluster = Cluster::start();
    let url = cluster.url();
    let (home, elsewhere) = (TestHome::new(), TestHome::new());
    let file = backup_with_a_task(&home);
    let replicas = [Replica::start(&url), Replica::start(&url)];
    let restore = || elsewhere.run(&["restore", &file, "--replace", "--database", &url]);
    for Replica { server, home: _home } in replicas {
        let refused = restore();
        assert_ne!(refused.code, 0, "somebody is at work on the database: {refused:?}");
        server.signal("-TERM");
        assert!(server.wait().success());
    }
    let restored = restore();
    assert_eq!(restored.code, 0, "{restored:?}");
}

/// The version of a task grows with every change: a read that began after version k was answered gives k or later.
#[test]
fn promise_a_read_at_one_replica_sees_what_was_answered_at_another() {
    let cluster = Cluster::start();
    let url = cluster.url();
    let mut replicas: Vec<Replica> = (0..3).map(|_| Replica::start(&url)).collect();
    let id = id_of(&replicas[0].call("create-task", &json!({ "title": "word0" })));
    // Something is kept everywhere before the first change.
    let mut reads = 0;
    for round in 1..=figure(24, 2_000) {
        let title = format!("word{round}");
        let changed = replicas[round % 3]
            .call("update-task", &json!({ "taskId": id, "title": title, "priority": "high" }));
        let version = changed["task"]["version"].as_i64().unwrap();
        if round % figure(8, 20) == 0 {
            let killed = replicas.remove(round % 3);
            replicas.insert(round % 3, killed.kill_and_start_again(&url));
        }
        for replica in &replicas {
            // Twice: the second is answered from what the first has left.
            for _ in 0..2 {
                let got = replica.call("get-task", &json!({ "taskId": id }));
                assert!(got["task"]["version"].as_i64() >= Some(version), "round {round}: {got}");
                reads += 1;
            }
            let listed = replica.call("list-tasks", &json!({ "priority": "high" }));
            assert_eq!(listed["tasks"][0]["title"], title, "round {round}: {listed}");
            let found = replica.call("find-tasks", &json!({ "query": title }));
            assert!(found.to_string().contains(&format!("\"{title}\"")), "round {round}: {found}");
            reads += 2;
        }
    }
    eprintln!("{reads} reads, none stale");
}

#[test]
fn replicas_answer_again_what_they_have_kept() {
    let cluster = Cluster::start();
    let replicas = [Replica::start(&cluster.url()), Replica::start(&cluster.url())];
    let id = id_of(&replicas[0].call("create-task", &json!({ "title": "kept" })));
    let body = json!({ "params": { "taskId": id } });
    let cached = |replica: &Replica| {
        let reply = replica.server.post(&path("get-task"), "", &body);
        reply.json["metadata"]["cached"] == true
    };
    // A connection to the database that is opened meanwhile drops what was kept.
    until("an answer is kept", || cached(&replicas[1]).then_some(()));
    replicas[0].call("update-task", &json!({ "taskId": id, "title": "changed" }));
    assert!(!cached(&replicas[1]));
}

#[test]
fn a_title_that_another_replica_made_is_warned_of() {
    let cluster = Cluster::start();
    let replicas = [Replica::start(&cluster.url()), Replica::start(&cluster.url())];
    let warned = |replica: &Replica, title: &str| {
        let reply = replica.server.post(&path("create-task"), "", &json!({ "params": { "title": title } }));
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.body.contains("has the same title")
    };
    // Both have the titles in memory.
    assert!(!warned(&replicas[0], "Water the plants"));
    assert!(!warned(&replicas[1], "Feed the cat"));
    assert!(warned(&replicas[0], "Feed the cat"));
    assert!(warned(&replicas[1], "Water the plants"));
}

/// Registers a script in a home that no server has yet; `more` are fields of its entry.
pub fn write_script(home: &TestHome, name: &str, script: &str, more: Value) {
    home.write_tool(name, script, json!({ "text": { "type": "string" } }));
    let registry = home.home().join("tools/tools.json");
    let mut entries: Value = serde_json::from_slice(&std::fs::read(&registry).unwrap()).unwrap();
    let entry = entries["tools"].as_array_mut().unwrap().iter_mut().find(|entry| entry["name"] == name);
    entry.unwrap().as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    std::fs::write(registry, entries.to_string()).unwrap();
}

pub fn quoted(path: &Path) -> String {
    format!("{:?}", path.display().to_string())
}

/// So many replicas with the same scripts.
pub fn replicas_with(count: usize, url: &str, write: impl Fn(&TestHome)) -> Vec<Replica> {
    let start = |_| {
        let home = TestHome::new();
        write(&home);
        Replica::start_in(home, url)
    };
    (0..count).map(start).collect()
}

/// Sends the same call many times to each replica, all at once, and returns the answers.
fn all_at_once(replicas: &[Replica], each: usize, tool: &str, headers: &str, body: &Value) -> Vec<Reply> {
    let barrier = Barrier::new(replicas.len() * each);
    thread::scope(|scope| {
        let calls: Vec<_> = replicas
            .iter()
            .flat_map(|replica| std::iter::repeat_n(replica, each))
            .map(|replica| {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    replica.server.post(&path(tool), headers, body)
                })
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    })
}

#[test]
fn what_a_script_changed_at_one_replica_is_read_at_another() {
    let cluster = Cluster::start();
    let shared = TestHome::new();
    let file = shared.path("note");
    std::fs::write(&file, "0").unwrap();
    let read = format!("def run(params, context):\n    return {{'text': open({}).read()}}\n", quoted(&file));
    let write = format!(
        "def run(params, context):\n    open({}, 'w').write(params['text'])\n    return {{'done': True}}\n",
        quoted(&file)
    );
    let replicas = replicas_with(2, &cluster.url(), |home| {
        let kept = json!({
            "category": "query", "permissions": ["notes:read"], "cacheable": true, "cacheTTL": 600, "parallel": true
        });
        write_script(home, "read-note", &read, kept);
        write_script(
            home,
            "write-note",
            &write,
            json!({ "category": "mutation", "permissions": ["notes:write"] }),
        );
    });
    let mut cached = 0;
    for round in 1..=figure(10, 200) {
        let text = round.to_string();
        replicas[round % 2].call("write-note", &json!({ "text": text }));
        for replica in &replicas {
            // Answers are kept again as soon as the end of the change is known.
            until("an answer is kept", || {
                let reply = replica.server.post(&path("read-note"), "", &json!({ "params": {} }));
                assert_eq!(reply.json["data"]["text"], text, "{reply:?}");
                (reply.json["metadata"]["cached"] == true).then_some(())
            });
            cached += 1;
        }
    }
    assert!(cached > 0);
}

#[test]
fn promise_one_idempotency_key_is_one_effect_over_all_replicas() {
    let cluster = Cluster::start();
    let shared = TestHome::new();
    let file = shared.path("effects");
    let append = format!(
        "def run(params, context):\n    open({}, 'a').write('x')\n    return {{'done': True}}\n",
        quoted(&file)
    );
    let replicas = replicas_with(3, &cluster.url(), |home| write_script(home, "append", &append, json!({})));
    for round in 0..figure(5, 200) {
        let key = format!("Idempotency-Key: key-{round}\r\n");
        let body = json!({ "params": { "title": format!("task {round}") } });
        let answers = all_at_once(&replicas, 4, "create-task", &key, &body);
        let made: BTreeSet<i64> = answers
            .iter()
            .filter(|reply| reply.status == 200)
            .map(|reply| id_of(&reply.json["data"]))
            .collect();
        assert_eq!(made.len(), 1, "{answers:?}");
        let answers =
            all_at_once(&replicas, 4, "append", &key.replace("key-", "script-"), &json!({ "params": {} }));
        for reply in answers.iter().filter(|reply| reply.status != 200) {
            assert_eq!(reply.json["error"]["code"], "in_progress", "{reply:?}");
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap().len(), round + 1);
    }
    let listed = replicas[0].call("list-tasks", &json!({ "whole": true }));
    assert_eq!(listed["tasks"].as_array().unwrap().len(), figure(5, 200));
}

#[test]
fn a_claim_of_a_replica_that_was_killed_is_unknown_once_its_lease_has_lapsed() {
    let cluster = Cluster::start();
    let shared = TestHome::new();
    let (gate, started) = (shared.path("gate"), shared.path("started"));
    let slow = format!(
        "import os, time\ndef run(params, context):\n    open({}, 'a').write('x')\n    \
         while not os.path.exists({}):\n        time.sleep(0.02)\n    return {{'done': True}}\n",
        quoted(&started),
        quoted(&gate)
    );
    let mut replicas = replicas_with(2, &cluster.url(), |home| write_script(home, "slow", &slow, json!({})));
    let headers = "Idempotency-Key: k1\r\n";
    let (second, first) = (replicas.pop().unwrap(), replicas.pop().unwrap());
    let asked = || second.server.post(&path("slow"), headers, &json!({ "params": {} })).json["error"].clone();
    thread::scope(|scope| {
        let address = first.server.address;
        scope.spawn(move || {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            let request = crate::test_home::post(&path("slow"), headers, &json!({ "params": {} }));
            std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
            // It is killed before it answers.
            let _ = std::io::Read::read_to_end(&mut stream, &mut Vec::new());
        });
        until("the script runs", || started.exists().then_some(()));
        assert_eq!(asked()["code"], "in_progress");
        first.server.signal("-KILL");
    });
    let told = until("the lease has lapsed", || Some(asked()).filter(|told| told["code"] != "in_progress"));
    assert_eq!(told["outcome"], "unknown", "{told}");
    assert_eq!(std::fs::read_to_string(&started).unwrap(), "x", "nobody ran it again");
    std::fs::write(&gate, "").unwrap();
}

/// The script says so itself if it is not alone.
#[test]
fn promise_a_script_that_runs_one_at_a_time_does_so_over_all_replicas() {
    let cluster = Cluster::start();
    let url = cluster.url();
    let shared = TestHome::new();
    let (running, ran) = (shared.path("running"), shared.path("ran"));
    let exclusive = format!(
        "import fcntl, time\ndef run(params, context):\n    with open({}, 'w') as file:\n        \
         fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n        time.sleep(0.02)\n    \
         open({}, 'a').write('x')\n    return {{'done': True}}\n",
        quoted(&running),
        quoted(&ran)
    );
    let mut replicas = replicas_with(3, &url, |home| {
        write_script(home, "exclusive", &exclusive, json!({ "parallel": false }));
    });
    let (each, rounds) = (4, figure(2, 20));
    for round in 0..rounds {
        let answers = all_at_once(&replicas, each, "exclusive", "", &json!({ "params": {} }));
        assert!(answers.iter().all(|reply| reply.status == 200), "{answers:?}");
        // One that has just given the slot back is as good as any.
        let killed = replicas.remove(round % 3);
        replicas.push(killed.kill_and_start_again(&url));
    }
    assert_eq!(std::fs::read_to_string(&ran).unwrap().len(), 3 * each * rounds);
}

#[test]
fn a_replica_that_lost_the_database_is_alive_answers_503_and_comes_back_with_it() {
    let mut cluster = Cluster::start();
    let url = cluster.url();
    let shared = TestHome::new();
    let (gate, started) = (shared.path("gate"), shared.path("started"));
    let exclusive = format!(
        "import os, time\ndef run(params, context):\n    open({}, 'a').write('x')\n    \
         while not os.path.exists({}):\n        time.sleep(0.02)\n    return {{'done': True}}\n",
        quoted(&started),
        quoted(&gate)
    );
    let replica =
        replicas_with(1, &url, |home| write_script(home, "exclusive", &exclusive, json!({}))).remove(0);
    assert_eq!(replica.server.get("/readyz", "").status, 200);
    thread::scope(|scope| {
        let running = scope.spawn(|| replica.server.post(&path("exclusive"), "", &json!({ "params": {} })));
        until("the script runs", || started.exists().then_some(()));
        cluster.stop_hard();
        let fenced = until("it is fenced", || {
            Some(replica.server.get("/openapi.json", "")).filter(|reply| reply.status == 503)
        });
        assert_eq!(fenced.json["code"], "service_unavailable", "{fenced:?}");
        let stopped = running.join().unwrap();
        assert_eq!(
            (stopped.status, &stopped.json["error"]["outcome"]),
            (503, &json!("unknown")),
            "{stopped:?}"
        );
    });
    let called = replica.server.post(&path("get-status"), "", &json!({ "params": {} }));
    assert_eq!(called.status, 503, "{called:?}");
    let ready = replica.server.get("/readyz", "");
    assert_eq!((ready.status, &ready.json["checks"]["server"]["ok"]), (503, &json!(false)), "{ready:?}");
    assert_eq!(replica.server.get("/healthz", "").status, 200);
    cluster.start_again();
    until("it is ready", || (replica.server.get("/readyz", "").status == 200).then_some(()));
    replica.call("create-task", &json!({ "title": "after" }));
}
