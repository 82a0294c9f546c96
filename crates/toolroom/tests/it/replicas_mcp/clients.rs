//! The real clients of the Python packages, with every request at the next server in turn.

use std::process::Command;

use serde_json::{Value, json};

use super::round_robin::RoundRobin;
use crate::federation::test_servers::{MCP1, MCP2};
use crate::programs::{program, python_script};
use crate::promises::cluster::Cluster;
use crate::promises::figure;
use crate::replicas::{Replica, replicas_with, write_script};
use crate::test_home::Done;

#[test]
fn promise_real_clients_use_three_replicas_as_one_server() {
    let cluster = Cluster::start();
    let replicas: Vec<Replica> = replicas_with(3, &cluster.url(), |home| {
        let script = "def run(params, context):\n    context.progress(1, 2)\n    context.progress(2, 2)\n    \
                      return {'session': context.session_id}\n";
        write_script(home, "who-asks", script, json!({ "parallel": true }));
    });
    let balancer = RoundRobin::start(replicas.iter().map(|replica| replica.server.address).collect());
    let rounds = figure(5, 200).to_string();
    for (variable, script, transport, path, protocol) in [
        (MCP1, "replicas_mcp1_client.py", "http", "/mcp", "2025-11-25"),
        (MCP1, "replicas_mcp1_client.py", "sse", "/sse", "2025-11-25"),
        (MCP2, "replicas_mcp2_client.py", "legacy", "/mcp", "2025-11-25"),
        (MCP2, "replicas_mcp2_client.py", "auto", "/mcp", "2026-07-28"),
    ] {
        let mut command = Command::new(program(variable));
        let url = format!("http://{}{path}", balancer.address);
        command.args([&python_script(script), transport, &url, &rounds]);
        let done = Done::of(command);
        assert_eq!(done.code, 0, "{script} {transport}: {done:?}");
        let seen: Value = serde_json::from_str(&done.out).unwrap();
        assert_eq!(seen["protocol"], protocol, "{transport}: {seen}");
        assert_eq!(seen["made"].as_u64(), rounds.parse().ok(), "{transport}: {seen}");
        assert_eq!(seen["deleted"], seen["made"], "{transport}: {seen}");
        assert_eq!(seen["left"], 0, "{transport}: {seen}");
        assert_eq!(seen["progress"], json!([[1.0, 2.0], [2.0, 2.0]]), "{transport}: {seen}");
    }
    let served = balancer.served();
    assert!(served.iter().all(|count| *count > 10), "{served:?}");
}
