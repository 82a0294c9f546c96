//! What sharing a database costs, counted in its log: round trips per call, beyond those of one server on PostgreSQL.

use std::collections::BTreeMap;

use serde_json::json;

use super::redis_server::RedisServer;
use super::registry::{owner, tool};
use super::{Replica, id_of, path, serve, write_script};
use crate::promises::cluster::Cluster;
use crate::replicas_mcp::older_client::OlderClient;
use crate::test_home::{Served, TestHome, until};

/// Enough that what a server does from time to time, several times a second at most, is far less than one per call.
const CALLS: usize = 60;

const NOTHING: &str = "def run(params, context):\n    return {'done': True}\n";

/// A cluster that writes every statement into its log, with the database that it is for.
fn logging_cluster() -> Cluster {
    Cluster::start_with(|cluster| {
        let log = "log_statement = 'all'\nlog_line_prefix = '%d '\nlogging_collector = on\n\
                   log_filename = 'statements.log'\n";
        cluster.append("postgresql.conf", log);
    })
}

/// A server with one connection for calls, and a tool of every kind.
fn start(arguments: &[&str]) -> Replica {
    let home = TestHome::new();
    let kept = json!({ "category": "query", "permissions": ["notes:read"], "cacheable": true, "cacheTTL": 600,
                       "parallel": true });
    let limit = json!({ "category": "query", "permissions": ["plain:read"], "parallel": true,
                        "rateLimit": { "maxCalls": 1_000_000, "windowMs": 60_000 } });
    write_script(&home, "read-note", NOTHING, kept);
    let change = json!({ "category": "mutation", "permissions": ["notes:write"], "parallel": true });
    let plain = json!({ "category": "query", "permissions": ["plain:read"], "parallel": true });
    write_script(&home, "write-note", NOTHING, change);
    write_script(&home, "plain", NOTHING, plain);
    write_script(&home, "exclusive", NOTHING, json!({ "category": "query", "permissions": ["plain:read"] }));
    write_script(&home, "limited", NOTHING, limit);
    std::fs::write(home.home().join("toolroom.toml"), "[database]\nconnections = 1\n").unwrap();
    let server = Served::start(home.command(arguments));
    Replica { home, server }
}

/// The statements of a database, in the order in which they were sent, a line for each round trip.
fn sent(cluster: &Cluster, database: &str) -> Vec<String> {
    let log = std::fs::read_to_string(cluster.data().join("log/statements.log")).unwrap_or_default();
    let of_database = log.lines().filter_map(|line| line.strip_prefix(database)?.strip_prefix(" LOG:  "));
    let statement = |line: &str| match line.strip_prefix("statement: ") {
        Some(simple) => Some(simple.to_owned()),
        // `execute s7: SELECT …`: the names differ by connection.
        None => Some(line.strip_prefix("execute ")?.split_once(": ")?.1.to_owned()),
    };
    of_database.filter_map(statement).collect()
}

/// The round trips of each kind that every one of the calls makes.
fn per_call(cluster: &Cluster, database: &str, mut call: impl FnMut(usize)) -> BTreeMap<String, usize> {
    // What is prepared, cached or started by the first call is not counted.
    call(0);
    let mark = || {
        let mark = format!("SELECT 'mark {}'", sent(cluster, "postgres").len());
        cluster.sql(&mark);
        until("the log is written", || sent(cluster, "postgres").contains(&mark).then_some(()));
        sent(cluster, database).len()
    };
    let before = mark();
    (1..=CALLS).for_each(&mut call);
    let after = mark();
    let mut count = BTreeMap::<String, usize>::new();
    // The log is shipped by time, however long the calls take.
    let of_calls = |statement: &&String| !statement.contains(" log_");
    for statement in sent(cluster, database)[before..after].iter().filter(of_calls) {
        // Some have the time that is left in them.
        let kind = statement.split(|letter: char| letter.is_ascii_digit()).collect();
        *count.entry(kind).or_default() += 1;
    }
    // One that nobody waits for may come after the mark.
    let each = |(statement, count)| (statement, (count + CALLS / 2) / CALLS);
    count.into_iter().map(each).filter(|(_, count)| *count > 0).collect()
}

/// Calls of every kind, and what each may cost beyond one server, as `docs/replicas.md` says.
const COSTS: [(&str, usize); 7] = [
    ("plain", 0),
    ("read-note", 1),
    ("get-task", 1),
    ("limited", 1),
    ("update-task", 0),
    ("write-note", 2),
    ("exclusive", 2),
];

fn call(replica: &Replica, tool: &str, task: i64, number: usize) {
    let params = match tool {
        "get-task" => json!({ "taskId": task }),
        "update-task" => json!({ "taskId": task, "description": number.to_string() }),
        _ => json!({}),
    };
    replica.call(tool, &params);
}

#[test]
fn promise_sharing_costs_as_many_round_trips_per_call_as_the_page_says() {
    let cluster = logging_cluster();
    for database in ["alone", "shared"] {
        cluster.sql(&format!("CREATE DATABASE {database}"));
    }
    let url = cluster.url();
    let server = url.strip_suffix("postgres").unwrap();
    let of_database = |database: &str| format!("{server}{database}");
    let (alone_url, shared_url) = (of_database("alone"), of_database("shared"));
    let alone = start(&["serve", "--listen", "127.0.0.1:0", "--database", &alone_url]);
    let shared = start(&serve(&shared_url));
    let servers = [("alone", &alone), ("shared", &shared)];
    let tasks = servers.map(|(_, server)| id_of(&server.call("create-task", &json!({ "title": "one" }))));
    for (tool, cost) in COSTS {
        let [one, each] = [0, 1].map(|at| {
            let (database, server) = servers[at];
            per_call(&cluster, database, |number| call(server, tool, tasks[at], number))
        });
        let (before, now): (usize, usize) = (one.values().sum(), each.values().sum());
        assert_eq!(now, before + cost, "{tool}: alone {one:#?}, shared {each:#?}");
    }
    let plain = per_call(&cluster, "shared", |number| call(&shared, "plain", 0, number));
    let session = OlderClient::begin(&shared, "2025-11-25", json!({}), "");
    let each = per_call(&cluster, "shared", |_| drop(session.call(&shared, "plain", json!({}))));
    assert_eq!(each, plain, "a request of an older session");
}

#[test]
fn promise_a_limit_in_redis_costs_no_statement_and_one_script() {
    let (cluster, redis) = (logging_cluster(), RedisServer::start());
    let (url, address) = (cluster.url(), redis.url());
    let replica = start(&[&serve(&url)[..], &["--redis", &address]].concat());
    let scripts = || {
        let told = redis.ask("INFO commandstats");
        let calls = told.lines().find_map(|line| line.strip_prefix("cmdstat_evalsha:calls="));
        calls.and_then(|rest| rest.split(',').next()?.parse::<usize>().ok()).unwrap_or(0)
    };
    let plain = per_call(&cluster, "postgres", |number| call(&replica, "plain", 0, number));
    let mut before = 0;
    let each = per_call(&cluster, "postgres", |number| {
        call(&replica, "limited", 0, number);
        before = if number == 0 { scripts() } else { before };
    });
    assert_eq!(scripts() - before, CALLS);
    assert_eq!(each, plain);
}

/// A refusal costs no more than a call that passes.
#[test]
fn a_call_that_is_refused_by_its_limit_costs_one_round_trip_too() {
    let cluster = logging_cluster();
    let replica = start(&serve(&cluster.url()));
    let limit = json!({ "maxCalls": 1, "windowMs": 3_600_000 });
    let mut once = tool("once", "here");
    once["rateLimit"] = limit;
    assert_eq!(owner(&replica, "POST", "/api/v1/tools", &once).status, 201);
    let ask = |status: u16| {
        let reply = replica.server.post(&path("once"), "", &json!({ "params": {} }));
        assert_eq!(reply.status, status, "{reply:?}");
    };
    let plain = per_call(&cluster, "postgres", |number| call(&replica, "plain", 0, number));
    ask(200);
    let each = per_call(&cluster, "postgres", |_| ask(429));
    let sum = |of: &BTreeMap<String, usize>| of.values().sum::<usize>();
    assert_eq!(sum(&each), sum(&plain) + 1, "{each:#?}");
}

#[test]
fn sharing_costs_a_kept_answer_one_statement_and_a_change_none_of_its_own() {
    let cluster = logging_cluster();
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    std::fs::write(home.home().join("toolroom.toml"), "[database]\nconnections = 1\n").unwrap();
    let replica = Replica::start_in(home, &cluster.url());
    let id = id_of(&replica.call("create-task", &json!({ "title": "one" })));
    let done = |number: u32| {
        let changed =
            replica.call("update-task", &json!({ "taskId": id, "description": number.to_string() }));
        changed["task"]["version"].as_i64().unwrap()
    };
    let read = || {
        let reply = replica.server.post(&path("get-task"), "", &json!({ "params": { "taskId": id } }));
        (reply.json["data"]["task"]["version"].as_i64().unwrap(), reply.json["metadata"]["cached"] == true)
    };
    let log = || std::fs::read_to_string(cluster.data().join("log/statements.log")).unwrap_or_default();
    let count = |part: &str| log().lines().filter(|line| line.contains(part)).count();
    let (moved, looked) = ("statement: INSERT INTO generations", "SELECT coalesce(sum(n), 0)");
    // Every change and every kept answer is in the log, and no statement for either but these.
    done(0);
    read();
    until("the log is written", || (count(moved) == 2 && count(looked) == 1).then_some(()));
    for number in 1..=5 {
        let version = done(number);
        assert_eq!(read(), (version, false));
        for _ in 0..4 {
            assert!(read().1, "it is kept");
        }
    }
    until("the log is written", || (count(moved) == 2 + 5 && count(looked) == 1 + 25).then_some(()));
    assert_eq!(count("excluded.n); COMMIT"), count(moved), "the commit goes with it");
    let reads = log().matches("FROM tasks WHERE").count();
    read();
    assert_eq!(log().matches("FROM tasks WHERE").count(), reads, "a kept answer reads no task");
}
