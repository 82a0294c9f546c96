//! Questions that another MCP server asks in the middle of a call: put by one of our servers, answered at another.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use serde_json::{Map, Value, json};

use crate::federation::test_servers::{
    MCP1, MCP2, headers, key, mcp, mcp_any, python, request, settled, write,
};
use crate::programs::{program, python_script};
use crate::promises::cluster::Cluster;
use crate::promises::figure;
use crate::replicas::{Replica, replicas_with};
use crate::test_home::until;

/// One server without sessions behind all replicas.
struct Guarded {
    process: Child,
    port: u16,
}

impl Guarded {
    fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(program(MCP2));
        command.args([&python_script("upstream_guarded.py"), &port.to_string()]);
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("the server listens", || TcpStream::connect(("127.0.0.1", port)).ok());
        Self { process, port }
    }

    /// So many replicas that draw on it, and a key that may.
    fn replicas(&self, count: usize, cluster: &Cluster) -> (Vec<Replica>, String) {
        let entry = json!({ "type": "http", "url": format!("http://127.0.0.1:{}/mcp", self.port) });
        let replicas = replicas_with(count, &cluster.url(), |home| write(home, json!({ "new": entry })));
        let ada = key(&replicas[0].home, &["new:call"]);
        for replica in &replicas {
            settled(&replica.home, "new", "ready", 2);
        }
        (replicas, ada)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn able() -> Value {
    json!({ "elicitation": {} })
}

/// The same call with this answer to all that it asks.
fn again(tool: &str, asked: &Value, content: &Value) -> Value {
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let requests = asked["inputRequests"].as_object().unwrap();
    let answers: Map<String, Value> =
        requests.keys().map(|key| (key.clone(), json!({ "action": "accept", "content": content }))).collect();
    json!({
        "name": tool, "arguments": {}, "inputResponses": answers, "requestState": asked["requestState"],
    })
}

#[test]
fn promise_an_answer_is_used_once_over_all_replicas() {
    let (cluster, guarded) = (Cluster::start(), Guarded::start());
    let (replicas, ada) = guarded.replicas(2, &cluster);
    for round in 0..figure(3, 50) {
        let call = json!({ "name": "new__ask", "arguments": {} });
        let asked = mcp(&replicas[round % 2].server, &ada, "tools/call", call, able());
        let answer = again("new__ask", &asked, &json!({ "name": "Ada" }));
        // At both at once, twice each.
        let told: Vec<String> = std::thread::scope(|scope| {
            let tries: Vec<_> = replicas
                .iter()
                .chain(&replicas)
                .map(|replica| {
                    let (ada, answer) = (&ada, &answer);
                    scope.spawn(move || {
                        let body = request("tools/call", answer.clone(), able());
                        replica.server.post("/mcp", &headers(ada, "tools/call", answer), &body).body
                    })
                })
                .collect();
            tries.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let used = told.iter().filter(|body| body.contains("accept: Ada")).count();
        assert_eq!(used, 1, "round {round}: {told:#?}");
    }
}

#[test]
fn what_was_approved_at_one_replica_goes_on_at_another_and_once() {
    let (cluster, guarded) = (Cluster::start(), Guarded::start());
    let (replicas, ada) = guarded.replicas(3, &cluster);
    for round in 0..figure(3, 30) {
        let turn = |number: usize| &replicas[(round + number) % 3].server;
        let call = json!({ "name": "new__erase", "arguments": {} });
        let form = mcp(turn(0), &ada, "tools/call", call, able());
        assert!(form["inputRequests"]["toolroom_decision"].is_object(), "it needs approval: {form}");
        let approved = again("new__erase", &form, &json!({ "decision": "approve" }));
        let asked = mcp(turn(1), &ada, "tools/call", approved, able());
        assert!(asked["inputRequests"].to_string().contains("Who is there?"), "{asked}");
        let answer = again("new__erase", &asked, &json!({ "name": "Ada" }));
        let done = mcp(turn(2), &ada, "tools/call", answer.clone(), able());
        assert_eq!(done["content"][0]["text"], "erased: Ada", "{done}");
        for number in 0..3 {
            let told = mcp_any(turn(number), &ada, "tools/call", answer.clone(), able());
            assert!(!told.to_string().contains("erased"), "once: {told}");
        }
    }
}

/// A server with sessions waits in the middle of its call, at the replica that made it.
#[test]
fn promise_a_call_that_waits_at_one_replica_goes_on_at_another_and_once() {
    let cluster = Cluster::start();
    let replicas = replicas_with(3, &cluster.url(), |home| {
        write(home, json!({ "old": python(MCP1, "upstream_mcp1.py") }));
    });
    let ada = key(&replicas[0].home, &["old:call"]);
    for replica in &replicas {
        settled(&replica.home, "old", "ready", 7);
    }
    for round in 0..figure(3, 200) {
        let turn = |number: usize| &replicas[(round + number) % 3].server;
        let call = json!({ "name": "old__ask", "arguments": {} });
        let asked = mcp(turn(0), &ada, "tools/call", call, able());
        let answer = again("old__ask", &asked, &json!({ "name": "Ada" }));
        let done = mcp(turn(1), &ada, "tools/call", answer.clone(), able());
        assert_eq!(done["content"][0]["text"], "accept: Ada", "{done}");
        for number in 0..3 {
            let told = mcp_any(turn(number), &ada, "tools/call", answer.clone(), able());
            assert!(!told.to_string().contains("accept: Ada"), "once: {told}");
        }
    }
}

#[test]
fn a_call_that_waited_at_a_replica_that_was_killed_is_forgotten() {
    let cluster = Cluster::start();
    let mut replicas = replicas_with(2, &cluster.url(), |home| {
        write(home, json!({ "old": python(MCP1, "upstream_mcp1.py") }));
    });
    let ada = key(&replicas[0].home, &["old:call"]);
    for replica in &replicas {
        settled(&replica.home, "old", "ready", 7);
    }
    let call = json!({ "name": "old__ask", "arguments": {} });
    let asked = mcp(&replicas[0].server, &ada, "tools/call", call, able());
    let killed = replicas.remove(0);
    killed.server.signal("-KILL");
    killed.server.wait();
    until("the others know that it is gone", || {
        let answer = again("old__ask", &asked, &json!({ "name": "Ada" }));
        let told = mcp_any(&replicas[0].server, &ada, "tools/call", answer, able());
        assert!(!told.to_string().contains("accept: Ada"), "{told}");
        told.to_string().contains("not answered in time").then_some(())
    });
}
