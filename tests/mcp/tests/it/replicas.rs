//! Three servers that share a PostgreSQL database behind HAProxy, every request at the next of them in turn: the official
//! suites and real clients find what they find at one server.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use postgres::{Client, NoTls};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use toolroom_mcp_tests::{PROFILE, RunningServer, Suite};

use crate::interop::{MCP1, MCP2, NEWEST, NEWEST_WITH_SESSIONS, uses_all};
use crate::programs::{client, node, node_script, program, python_script};

/// The servers, and what is in front of them. All of it ends with this.
struct Balanced {
    runtime: Runtime,
    _servers: Vec<RunningServer>,
    balancer: Child,
    address: SocketAddr,
    database: String,
    _folder: TempDir,
}

impl Balanced {
    fn start(name: &str) -> Self {
        let database = format!("toolroom_conformance_{name}_{}", std::process::id());
        administer(&format!("CREATE DATABASE {database}"));
        let server = std::env::var("TOOLROOM_TEST_POSTGRES").expect("cargo xtask test sets it");
        let (place, _) = server.rsplit_once('/').expect("a URL with a database");
        let runtime = Runtime::new().unwrap();
        let servers =
            runtime.block_on(RunningServer::start_sharing(3, &format!("{place}/{database}"))).unwrap();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join("haproxy.cfg");
        std::fs::write(&settings, config(address, &servers)).unwrap();
        let balancer = balancer(&settings);
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(began.elapsed() < Duration::from_secs(20), "HAProxy does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { runtime, _servers: servers, balancer, address, database, _folder: folder }
    }

    fn url(&self, route: &str) -> String {
        format!("http://{}/{route}/{PROFILE}", self.address)
    }
}

impl Drop for Balanced {
    fn drop(&mut self) {
        let _ = self.balancer.kill();
        let _ = self.balancer.wait();
        administer(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.database));
    }
}

fn administer(sql: &str) {
    let server = std::env::var("TOOLROOM_TEST_POSTGRES").expect("cargo xtask test sets it");
    Client::connect(&server, NoTls).unwrap().batch_execute(sql).unwrap();
}

fn balancer(settings: &Path) -> Child {
    let mut command = Command::new("setpriv");
    // The kernel ends it if the test is killed.
    command
        .args(["--pdeathsig", "KILL"])
        .arg(program("TOOLROOM_TEST_HAPROXY"))
        .args(["-db", "-f"])
        .arg(settings);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// As in `deploy/compose/haproxy.cfg`, but in turn: so two requests of a client never reach the same server.
fn config(address: SocketAddr, servers: &[RunningServer]) -> String {
    let line =
        |(number, server): (usize, &RunningServer)| format!("    server s{number} {}\n", server.address);
    let servers: String = servers.iter().enumerate().map(line).collect();
    format!(
        "defaults\n    mode http\n    timeout connect 2s\n    timeout client 1h\n    timeout server 1h\n    \
         retries 3\n    retry-on conn-failure\n    option redispatch 1\n    option abortonclose\n\
         frontend clients\n    bind {address}\n    default_backend toolroom\n\
         backend toolroom\n    balance roundrobin\n{servers}"
    )
}

/// That a session was ended at one server is known at the others within half a second; the suite asks at once.
const KNOWN_LATER: [&str; 1] = ["server-session-terminated-returns-404"];

#[test]
fn promise_the_conformance_suites_pass_at_three_replicas_in_turn() {
    let balanced = Balanced::start("suites");
    for suite in Suite::ALL {
        let report = balanced.runtime.block_on(suite.run(&node(), &balanced.url("mcp"), None)).unwrap();
        let failed = report.failures().into_iter().filter(|check| !KNOWN_LATER.contains(&&*check.id)).count();
        assert_eq!(failed, 0, "{}: {report}", suite.name());
        let later = report.failures().len();
        assert!(report.passed() + later >= suite.reference(), "{}: {report}", suite.name());
    }
}

#[test]
fn promise_real_clients_use_three_replicas_in_turn_as_one_server() {
    let balanced = Balanced::start("clients");
    let (mcp, sse) = (balanced.url("mcp"), balanced.url("sse"));
    for (python, script, mode, protocol) in [
        (MCP2, "mcp2_client.py", Some("auto"), NEWEST),
        (MCP2, "mcp2_client.py", Some("legacy"), NEWEST_WITH_SESSIONS),
        (MCP1, "mcp1_client.py", None, NEWEST_WITH_SESSIONS),
        (MCP2, "fastmcp_client.py", Some("legacy"), NEWEST_WITH_SESSIONS),
    ] {
        let args: Vec<&str> = mode.into_iter().chain(["http", &mcp]).collect();
        uses_all(&client(&program(python), &python_script(script), &args), protocol);
    }
    for (script, mode, protocol) in [
        ("sdk_v1.mjs", None, NEWEST_WITH_SESSIONS),
        ("sdk_v2.mjs", Some("auto"), NEWEST),
        ("sdk_v2.mjs", Some("legacy"), NEWEST_WITH_SESSIONS),
    ] {
        let args: Vec<&str> = mode.into_iter().chain(["http", &mcp]).collect();
        uses_all(&client(&node(), &node_script(script), &args), protocol);
    }
    uses_all(&client(&program(MCP1), &python_script("mcp1_client.py"), &["sse", &sse]), "2024-11-05");
}
