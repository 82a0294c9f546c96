//! Many callers at once at replicas that are killed every two seconds: nothing is stale, lost or done twice.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Replica, quoted, replicas_with, write_script};
use crate::promises::cluster::Cluster;
use crate::promises::{Client, figure};
use crate::test_home::{PATIENCE, Reply, TestHome};

const PERIOD: Duration = Duration::from_secs(2);
const CALLERS: usize = 8;

/// Where the replicas are now. Each comes back at another port.
struct Addresses(RwLock<Vec<SocketAddr>>);

impl Addresses {
    fn of(replicas: &[Replica]) -> Self {
        Self(RwLock::new(replicas.iter().map(|replica| replica.server.address).collect()))
    }

    /// Which of them a number means, and where that is.
    fn at(&self, number: usize) -> (usize, SocketAddr) {
        let all = self.0.read().unwrap();
        let place = number % all.len();
        (place, all[place])
    }
}

/// Kills one replica after the other until it is over, and counts them.
fn kill_until(
    over: &AtomicBool,
    kills: &AtomicUsize,
    replicas: &mut Vec<Replica>,
    addresses: &Addresses,
    start: impl Fn(Replica) -> Replica,
) {
    let mut next = Instant::now() + PERIOD;
    while !over.load(Ordering::Acquire) {
        thread::sleep(Duration::from_millis(20));
        if Instant::now() < next {
            continue;
        }
        let at = kills.load(Ordering::Relaxed) % replicas.len();
        let killed = start(replicas.remove(at));
        addresses.0.write().unwrap()[at] = killed.server.address;
        replicas.insert(at, killed);
        kills.fetch_add(1, Ordering::Relaxed);
        next = Instant::now() + PERIOD;
    }
}

/// A caller with a connection to each replica, which are other ones after a while.
struct Caller<'a> {
    addresses: &'a Addresses,
    headers: String,
    connections: BTreeMap<usize, (SocketAddr, Client)>,
}

impl<'a> Caller<'a> {
    fn new(addresses: &'a Addresses, headers: String) -> Self {
        Self { addresses, headers, connections: BTreeMap::new() }
    }

    /// One answer; an error if the replica was killed, or has not come back.
    fn call(&mut self, replica: usize, tool: &str, more: &str, params: &Value) -> io::Result<Reply> {
        let (place, address) = self.addresses.at(replica);
        let new = || (address, Client::new(address));
        let (known, client) = self.connections.entry(place).or_insert_with(new);
        if *known != address {
            (*known, *client) = new();
        }
        client.call(tool, &format!("{}{more}", self.headers), &json!({ "params": params }))
    }

    /// The answer of this replica or another: for what may be asked again.
    fn read(&mut self, replica: usize, tool: &str, params: &Value) -> Value {
        let since = Instant::now();
        for attempt in 0.. {
            match self.call(replica + attempt, tool, "", params) {
                Ok(reply) if reply.status == 200 => return reply.json["data"].clone(),
                Ok(reply) => assert!([409, 503].contains(&reply.status), "{tool} {params}: {reply:?}"),
                Err(_) => {}
            }
            assert!(since.elapsed() < PATIENCE, "nobody answers");
            thread::sleep(Duration::from_millis(5));
        }
        unreachable!()
    }
}

/// The version of a task grows with every change: a read that began after version k was answered gives k or later.
#[test]
fn promise_nothing_is_stale_or_lost_under_load_while_replicas_are_killed() {
    let cluster = Cluster::start();
    let url = cluster.url();
    let mut replicas: Vec<Replica> = (0..3).map(|_| Replica::start(&url)).collect();
    let key = |user: usize| {
        let made = replicas[0].home.run(&["keys", "create", "--user", &format!("user-{user}")]);
        format!("X-API-Key: {}\r\n", made.line())
    };
    let keys: Vec<String> = (0..CALLERS).map(key).collect();
    let (addresses, over) = (Addresses::of(&replicas), AtomicBool::new(false));
    let done = Done::default();
    let tasks = thread::scope(|scope| {
        let (addresses, done) = (&addresses, &done);
        let callers: Vec<_> = keys
            .into_iter()
            .map(|key| scope.spawn(move || change_and_read(Caller::new(addresses, key), done)))
            .collect();
        let over = &over;
        let replicas = &mut replicas;
        let url = &url;
        scope.spawn(move || {
            kill_until(over, &done.kills, replicas, addresses, |replica| replica.kill_and_start_again(url))
        });
        let tasks: Vec<Task> = callers.into_iter().map(|caller| caller.join().unwrap()).collect();
        over.store(true, Ordering::Release);
        tasks
    });
    for Task { id, version, acknowledged, unknown } in &tasks {
        let changes = *version - 1;
        assert!((*acknowledged..=acknowledged + unknown).contains(&changes), "task {id}: {changes} changes");
        let audited: i64 =
            cluster.sql(&format!("SELECT count(*) FROM task_audit WHERE task_id = {id}")).parse().unwrap();
        assert_eq!(audited, *version, "task {id}: every change is in the audit");
    }
    let Done { reads, searches, kills } = done;
    eprintln!("{reads:?} reads and {searches:?} searches, none stale; {kills:?} kills");
}

/// How much was done so far by all callers.
#[derive(Default)]
struct Done {
    reads: AtomicUsize,
    searches: AtomicUsize,
    kills: AtomicUsize,
}

impl Done {
    fn is_enough(&self) -> bool {
        self.reads.load(Ordering::Relaxed) >= figure(600, 100_000)
            && self.kills.load(Ordering::Relaxed) >= figure(1, 20)
    }
}

struct Task {
    id: i64,
    version: i64,
    acknowledged: i64,
    /// Changes whose answer was lost with the replica.
    unknown: i64,
}

fn change_and_read(mut caller: Caller<'_>, done: &Done) -> Task {
    let made = caller.read(0, "create-task", &json!({ "title": "word0" }));
    let mut task = Task { id: super::id_of(&made), version: 1, acknowledged: 0, unknown: 0 };
    let id = task.id;
    for round in 1.. {
        let title = format!("word{round}");
        let params = json!({ "taskId": id, "title": title, "priority": "high" });
        match caller.call(round, "update-task", "", &params) {
            Ok(reply) if reply.status == 200 => {
                task.acknowledged += 1;
                task.version = reply.json["data"]["task"]["version"].as_i64().unwrap();
                let found = caller.read(round + 1, "find-tasks", &json!({ "query": title }));
                assert!(found.to_string().contains(&format!("\"{title}\"")), "round {round}: {found}");
                done.searches.fetch_add(1, Ordering::Relaxed);
            }
            Ok(reply) => assert_eq!(reply.status, 503, "{reply:?}"),
            Err(_) => task.unknown += 1,
        }
        for replica in 0..3 {
            // Twice: the second is answered from what the first has left.
            for _ in 0..2 {
                let got = caller.read(replica, "get-task", &json!({ "taskId": id }));
                let version = got["task"]["version"].as_i64().unwrap();
                assert!(version >= task.version, "round {round}: {version} after {}", task.version);
                task.version = version;
            }
        }
        done.reads.fetch_add(6, Ordering::Relaxed);
        if done.is_enough() {
            break;
        }
    }
    task
}

#[test]
fn promise_one_key_is_one_effect_and_at_most_one_run_while_replicas_are_killed() {
    let cluster = Cluster::start();
    let url = cluster.url();
    let shared = TestHome::new();
    let ran = shared.path("ran");
    let append = format!(
        "def run(params, context):\n    open({}, 'a').write(params['text'] + '\\n')\n    return {{'done': True}}\n",
        quoted(&ran)
    );
    let mut replicas = replicas_with(3, &url, |home| {
        write_script(home, "append", &append, json!({ "parallel": true }));
    });
    let (addresses, over, next) = (Addresses::of(&replicas), AtomicBool::new(false), AtomicUsize::new(0));
    let (keys, kills) = (figure(60, 10_000), AtomicUsize::new(0));
    let unknown: usize = thread::scope(|scope| {
        let (addresses, over, next, url, kills) = (&addresses, &over, &next, &url, &kills);
        let callers: Vec<_> = (0..CALLERS)
            .map(|_| scope.spawn(move || send_eight_times(Caller::new(addresses, String::new()), next, keys)))
            .collect();
        let replicas = &mut replicas;
        scope.spawn(move || {
            kill_until(over, kills, replicas, addresses, |replica| replica.kill_and_start_again(url))
        });
        let unknown = callers.into_iter().map(|caller| caller.join().unwrap()).sum();
        over.store(true, Ordering::Release);
        unknown
    });
    let kills = kills.into_inner();
    let made: i64 = cluster.sql("SELECT count(*) FROM tasks").parse().unwrap();
    assert_eq!(made, keys as i64, "one effect for each key");
    let text = std::fs::read_to_string(&ran).unwrap();
    let distinct: BTreeSet<&str> = text.lines().collect();
    assert_eq!(distinct.len(), text.lines().count(), "a script ran twice");
    assert!(unknown == 0 || kills > 0, "{unknown} unknown without a kill");
    eprintln!(
        "{keys} keys, 8 times each, one effect each; {} runs of scripts, {unknown} unknown, {kills} kills",
        distinct.len()
    );
}

/// Sends keys until there are no more; returns for how many the outcome of the script is unknown.
fn send_eight_times(mut caller: Caller<'_>, next: &AtomicUsize, keys: usize) -> usize {
    let mut unknown = 0;
    loop {
        let key = next.fetch_add(1, Ordering::Relaxed);
        if key >= keys {
            return unknown;
        }
        let header = format!("Idempotency-Key: key-{key}\r\n");
        let params = json!({ "title": format!("task {key}") });
        let mut ids = BTreeSet::new();
        for attempt in 0..8 {
            let reply = decided(&mut caller, key * 7 + attempt * 5, "create-task", &header, &params);
            assert_eq!(reply.status, 200, "{reply:?}");
            ids.insert(super::id_of(&reply.json["data"]));
        }
        assert_eq!(ids.len(), 1, "key {key}: every answer is the same");
        // One of ten runs a script, which takes longer.
        if key.is_multiple_of(10) {
            let header = header.replace("key-", "script-");
            let params = json!({ "text": key.to_string() });
            for attempt in 0..8 {
                let reply = decided(&mut caller, key + attempt * 5, "append", &header, &params);
                if reply.status != 200 {
                    assert_eq!(reply.json["error"]["outcome"], "unknown", "{reply:?}");
                    unknown += usize::from(attempt == 7);
                }
            }
        }
    }
}

/// Sends a call until it is decided: neither cut off nor in progress.
fn decided(caller: &mut Caller<'_>, replica: usize, tool: &str, header: &str, params: &Value) -> Reply {
    let since = Instant::now();
    for attempt in 0.. {
        if let Ok(reply) = caller.call(replica + attempt, tool, header, params) {
            let code = reply.json["error"]["code"].as_str().unwrap_or_default();
            let is_unknown = reply.json["error"]["outcome"] == "unknown";
            if is_unknown || !["in_progress", "service_unavailable", "busy"].contains(&code) {
                return reply;
            }
        }
        assert!(since.elapsed() < PATIENCE, "nobody decides");
        thread::sleep(Duration::from_millis(20));
    }
    unreachable!()
}
