//! Deferred calls that a worker makes: by a command without a listener, for whichever server got them.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::{Value, json};

use super::deferred::{able, begin, get, once};
use crate::federation::test_servers::{headers, mcp, request};
use crate::promises::cluster::Cluster;
use crate::promises::figure;
use crate::replicas::{Replica, quoted, replicas_with, write_script};
use crate::test_home::{TestHome, until};

/// What a test and its scripts share.
pub(super) struct Place {
    pub(super) cluster: Cluster,
    shared: TestHome,
}

impl Place {
    pub(super) fn new() -> Self {
        Self { cluster: Cluster::start(), shared: TestHome::new() }
    }

    pub(super) fn gate(&self) -> PathBuf {
        self.shared.path("gate")
    }

    pub(super) fn replicas(&self, more: &Value) -> Vec<Replica> {
        replicas_with(2, &self.cluster.url(), |home| self.write_tool(home, more))
    }

    /// A script that notes where it runs, says how far it is, and waits for a file.
    fn write_tool(&self, home: &TestHome, more: &Value) {
        let script = format!(
            "import os, time\ndef run(params, context):\n    open({}, 'a').write(os.getcwd() + '\\n')\n    \
             context.progress(1, 2, 'half way')\n    while not os.path.exists({}):\n        time.sleep(0.02)\n    \
             open({}, 'a').close()\n    return {{'done': True}}\n",
            quoted(&self.shared.path("began")),
            quoted(&self.gate()),
            quoted(&self.ended())
        );
        let mut entry = json!({ "responseTime": "slow", "parallel": true });
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        write_script(home, "wait-long", &script, entry);
        let asks = json!({ "responseTime": "slow", "parallel": true, "destructive": true });
        write_script(home, "ask-first", "def run(params, context):\n    return {'done': True}\n", asks);
    }

    /// There once the script has come to its end.
    fn ended(&self) -> PathBuf {
        self.shared.path("ended")
    }

    /// Where it was begun, in order.
    pub(super) fn began(&self) -> Vec<PathBuf> {
        let text = std::fs::read_to_string(self.shared.path("began")).unwrap_or_default();
        text.lines().map(PathBuf::from).collect()
    }

    pub(super) fn worker(&self, arguments: &[&str]) -> Worker {
        let url = self.cluster.url();
        Worker::start(&[&["worker", "--database", &url][..], arguments].concat())
    }

    pub(super) fn begun(&self, times: usize) {
        until("the call has begun", || (self.began().len() == times).then_some(()));
    }
}

/// A worker in a home of its own; killed if a test forgets it.
pub(super) struct Worker {
    home: TestHome,
    child: Child,
}

impl Worker {
    fn start(arguments: &[&str]) -> Self {
        let home = TestHome::new();
        let mut command = home.command(arguments);
        let log = std::fs::File::create(home.path("log")).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("working:"), "it said {line:?}");
        Self { home, child }
    }

    /// What it has logged.
    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.home.path("log")).unwrap()
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    fn wait(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_in(folder: &Path, home: &TestHome) -> bool {
    folder.starts_with(std::fs::canonicalize(home.home()).unwrap())
}

#[test]
fn promise_a_deferred_call_is_made_by_a_worker_that_takes_its_tool() {
    let place = Place::new();
    let replicas = place.replicas(&json!({}));
    let worker = place.worker(&["--tool", "wait-long"]);
    let id = begin(&replicas[0], "wait-long");
    place.begun(1);
    assert!(is_in(&place.began()[0], &worker.home), "{:?}", place.began());
    until("what it says is seen elsewhere", || {
        (get(&replicas[1], &id)["statusMessage"] == "half way").then_some(())
    });
    std::fs::write(place.gate(), "").unwrap();
    for replica in &replicas {
        let done = once(replica, &id, "completed");
        assert_eq!(done["result"]["structuredContent"]["data"], json!({ "done": true }), "{done}");
    }
    // The log of all has it.
    until("it is in the log", || {
        let logged = replicas[1].server.get("/api/v1/executions?tool=wait-long&limit=1", "");
        logged.body.contains("\"ok\"").then_some(())
    });
    // A worker that has stopped is left nothing: the server that gets a call makes it.
    worker.signal("-TERM");
    assert!(worker.wait().success());
    std::fs::remove_file(place.gate()).unwrap();
    let id = begin(&replicas[1], "wait-long");
    std::fs::write(place.gate(), "").unwrap();
    assert_eq!(once(&replicas[0], &id, "completed")["result"]["isError"], Value::Null);
    assert!(is_in(&place.began()[1], &replicas[1].home), "{:?}", place.began());
}

#[test]
fn a_worker_takes_the_tools_and_tags_that_it_is_given() {
    let place = Place::new();
    let replicas = place.replicas(&json!({ "tags": ["heavy"] }));
    std::fs::write(place.gate(), "").unwrap();
    let other = place.worker(&["--tool", "another-tool"]);
    let id = begin_or_done(&replicas[0]);
    once_known(&replicas[0], id);
    assert!(is_in(&place.began()[0], &replicas[0].home), "{:?}", place.began());
    drop(other);
    std::fs::remove_file(place.gate()).unwrap();
    let tagged = place.worker(&["--tag", "heavy"]);
    let id = begin(&replicas[0], "wait-long");
    place.begun(2);
    assert!(is_in(&place.began()[1], &tagged.home), "{:?}", place.began());
    mcp(&replicas[1].server, "", "tasks/cancel", json!({ "taskId": id }), able());
    assert_eq!(get(&replicas[0], &id)["status"], "cancelled");
}

/// A call that ends soon may be answered in place.
fn begin_or_done(replica: &Replica) -> Option<String> {
    let params = json!({ "name": "wait-long", "arguments": {} });
    let answered = mcp(&replica.server, "", "tools/call", params, able());
    answered["taskId"].as_str().map(str::to_owned)
}

fn once_known(replica: &Replica, id: Option<String>) {
    if let Some(id) = id {
        once(replica, &id, "completed");
    }
}

#[test]
fn promise_a_call_of_a_worker_that_was_killed_is_made_again_if_it_is_repeatable() {
    let place = Place::new();
    let replicas = place.replicas(&json!({ "category": "query" }));
    let first = place.worker(&[]);
    let id = begin(&replicas[0], "wait-long");
    place.begun(1);
    first.signal("-KILL");
    first.wait();
    let second = place.worker(&[]);
    place.begun(2);
    assert!(is_in(&place.began()[1], &second.home), "{:?}", place.began());
    assert_eq!(get(&replicas[1], &id)["status"], "working");
    std::fs::write(place.gate(), "").unwrap();
    let done = once(&replicas[1], &id, "completed");
    assert_eq!(done["result"]["structuredContent"]["data"], json!({ "done": true }), "{done}");
}

#[test]
fn promise_a_call_of_a_worker_that_was_killed_has_failed_if_it_is_not_repeatable() {
    let place = Place::new();
    let replicas = place.replicas(&json!({ "category": "mutation" }));
    let first = place.worker(&[]);
    let id = begin(&replicas[0], "wait-long");
    place.begun(1);
    first.signal("-KILL");
    first.wait();
    let _second = place.worker(&[]);
    let failed = once(&replicas[1], &id, "failed");
    assert_eq!(failed["error"]["data"]["outcome"], "unknown", "{failed}");
    // The second worker is at work: what comes next is its own, and the first call is not made again.
    std::fs::write(place.gate(), "").unwrap();
    let next = begin(&replicas[0], "wait-long");
    once(&replicas[1], &next, "completed");
    assert_eq!(place.began().len(), 2, "{:?}", place.began());
    assert_eq!(get(&replicas[0], &id)["status"], "failed");
}

#[test]
fn calls_that_wait_for_a_worker_are_counted_and_kept() {
    let place = Place::new();
    let replicas = place.replicas(&json!({}));
    let worker = place.worker(&["--parallel", "1"]);
    let ids: Vec<String> = (0..3).map(|_| begin(&replicas[0], "wait-long")).collect();
    place.begun(1);
    until("two of three wait", || {
        let metrics = replicas[1].server.get("/metrics", "").body;
        metrics.contains("toolroom_deferred_queue_depth{tool=\"wait-long\"} 2").then_some(())
    });
    std::fs::write(place.gate(), "").unwrap();
    for id in &ids {
        once(&replicas[1], id, "completed");
    }
    assert_eq!(place.began().len(), 3);
    drop(worker);
    let refused = place.shared.run(&["worker"]);
    assert!(refused.code != 0 && refused.err.contains("PostgreSQL"), "{refused:?}");
}

#[test]
fn promise_each_of_many_short_calls_is_made_once() {
    let place = Place::new();
    let replicas = place.replicas(&json!({ "category": "mutation" }));
    std::fs::write(place.gate(), "").unwrap();
    let _workers = [place.worker(&["--parallel", "4"]), place.worker(&["--parallel", "2"])];
    let calls = figure(30, 900);
    let mut open: Vec<String> = Vec::new();
    for number in 0..calls {
        open.push(begin(&replicas[number % 2], "wait-long"));
        // Sometimes the queue runs empty, so that a worker looks at what it has while calls end.
        if number % 3 == 0 {
            open.drain(..).for_each(|id| drop(once(&replicas[0], &id, "completed")));
        }
    }
    open.drain(..).for_each(|id| drop(once(&replicas[1], &id, "completed")));
    assert_eq!(place.began().len(), calls);
}

#[test]
fn promise_a_call_that_ends_while_the_database_is_away_is_made_once_and_its_end_is_known() {
    let mut place = Place::new();
    let replicas = place.replicas(&json!({ "category": "mutation" }));
    let _worker = place.worker(&[]);
    let id = begin(&replicas[0], "wait-long");
    place.begun(1);
    place.cluster.stop_hard();
    std::fs::write(place.gate(), "").unwrap();
    until("it has ended", || place.ended().exists().then_some(()));
    place.cluster.start_again();
    // Until a server has noticed that the database is back, it answers 503.
    let params = json!({ "taskId": id });
    for replica in &replicas {
        until("its end is known", || {
            let (headers, asked) =
                (headers("", "tasks/get", &params), request("tasks/get", params.clone(), able()));
            let answer = replica.server.post("/mcp", &headers, &asked);
            (answer.json["result"]["status"] == "completed").then_some(())
        });
    }
    // Whatever else the worker found to do, it has looked again by now.
    let next = begin(&replicas[0], "wait-long");
    once(&replicas[1], &next, "completed");
    assert_eq!(place.began().len(), 2, "{:?}", place.began());
}

#[test]
fn promise_a_call_that_waits_for_its_client_holds_nobody_up() {
    let place = Place::new();
    let replicas = place.replicas(&json!({}));
    std::fs::write(place.gate(), "").unwrap();
    let _worker = place.worker(&["--parallel", "1"]);
    let asking = begin(&replicas[0], "ask-first");
    once(&replicas[1], &asking, "input_required");
    let other = begin(&replicas[1], "wait-long");
    once(&replicas[0], &other, "completed");
    assert_eq!(get(&replicas[0], &asking)["status"], "input_required");
}

#[test]
fn promise_calls_that_no_worker_is_there_for_any_more_are_made_by_a_server() {
    let place = Place::new();
    let replicas = place.replicas(&json!({ "category": "mutation" }));
    let worker = place.worker(&["--parallel", "1"]);
    let ids: Vec<String> = (0..3).map(|_| begin(&replicas[0], "wait-long")).collect();
    place.begun(1);
    worker.signal("-TERM");
    std::fs::write(place.gate(), "").unwrap();
    assert!(worker.wait().success());
    for id in &ids {
        once(&replicas[1], id, "completed");
    }
    assert_eq!(place.began().len(), 3, "{:?}", place.began());
}
