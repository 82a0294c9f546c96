//! Servers to test against, and what a test needs around them.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolroom_contract::Reporter;
use toolroom_contract::report::{Level, Progress, Report};
use toolroom_upstream::config::{Author, ServerConfig, Standing, read_server};
use toolroom_upstream::{CallOptions, Identity, Reply, SpawnEnv, Target, Upstream, UpstreamError};

/// The interpreter or program that a variable names.
pub fn program(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is not set: run cargo xtask test"))
}

/// A script of `tests/python`.
pub fn python_script(name: &str) -> String {
    tests_folder().join("python").join(name).to_str().unwrap().to_owned()
}

/// The start file of a package in `tests/node`.
pub fn node_package(path: &str) -> String {
    let file = tests_folder().join("node/node_modules").join(path);
    assert!(file.is_file(), "{} is missing: run cargo xtask test", file.display());
    file.to_str().unwrap().to_owned()
}

fn tests_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").canonicalize().unwrap()
}

/// The configuration of an entry of mcp.json.
pub fn config(name: &str, entry: Value) -> ServerConfig {
    let environment = |name: &str| std::env::var(name).ok();
    match read_server(name, &entry, &environment, Author::File).unwrap().standing {
        Standing::Enabled(config) => *config,
        other => panic!("{other:?}"),
    }
}

/// The server of an entry of mcp.json.
pub fn upstream(name: &str, entry: Value) -> Upstream {
    let spawn_env = SpawnEnv::of_this_process(std::env::temp_dir());
    Upstream::new(config(name, entry), Arc::new(Identity::toolroom()), spawn_env)
}

/// A Python server on stdio.
pub fn python_stdio(variable: &str, script: &str, args: &[&str]) -> Value {
    let mut all = vec![python_script(script)];
    all.extend(args.iter().map(|arg| (*arg).to_owned()));
    json!({ "command": program(variable), "args": all, "env": { "PYTHONDONTWRITEBYTECODE": "1" } })
}

/// The hostile server.
pub fn hostile(manner: &str, notes: &Notes) -> Value {
    python_stdio(
        "TOOLROOM_TEST_PYTHON_MCP1",
        "upstream_hostile.py",
        &[manner, notes.path().to_str().unwrap()],
    )
}

/// A server of another program that listens on a port of its own.
pub struct Listening {
    child: Child,
    pub port: u16,
}

impl Listening {
    /// Starts it, and waits until it takes connections.
    pub fn start(command: impl FnOnce(u16) -> Command) -> Self {
        let port = free_port();
        Self::start_at(port, command)
    }

    /// The same at a certain port.
    pub fn start_at(port: u16, command: impl FnOnce(u16) -> Command) -> Self {
        let mut command = command(port);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let listening = Self { child, port };
        until("the server listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        listening
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A Python server on a port.
pub fn python_listening(variable: &str, script: &str, transport: &str) -> Listening {
    Listening::start(|port| {
        let mut command = Command::new(program(variable));
        command.args([&python_script(script), transport, &port.to_string()]);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command
    })
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Waits for a condition.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !so() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The same without holding up the tasks of the test.
pub async fn until_async(what: &str, mut so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !so() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Calls a tool and gives its whole result.
pub async fn call(upstream: &Upstream, tool: &str, arguments: Value) -> Result<Value, UpstreamError> {
    call_with(upstream, tool, arguments, &CallOptions::default()).await
}

/// The same with options.
pub async fn call_with(
    upstream: &Upstream,
    tool: &str,
    arguments: Value,
    options: &CallOptions,
) -> Result<Value, UpstreamError> {
    let target = Target::Tool { name: tool, arguments: &arguments, headers: &[] };
    match upstream.reach(target, options).await? {
        Reply::Complete(raw) => Ok(serde_json::from_str(raw.text()).unwrap()),
        Reply::InputRequired(wanted) => panic!("{tool} wants {wanted:?}"),
    }
}

/// The text of a result.
pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}"))
}

/// What a call reported.
#[derive(Default)]
pub struct Reports {
    pub progress: Mutex<Vec<Progress>>,
    pub logs: Mutex<Vec<(Level, String)>>,
}

impl Report for Reports {
    fn progress(&self, progress: &Progress) {
        let mut list = self.progress.lock().unwrap();
        if list.len() < 1000 {
            list.push(progress.clone());
        }
    }

    fn log(&self, level: Level, text: &str) {
        self.logs.lock().unwrap().push((level, text.to_owned()));
    }
}

impl Reports {
    pub fn reporter(self: &Arc<Self>) -> Reporter {
        Reporter::new(Arc::clone(self) as Arc<dyn Report>)
    }
}

/// A file in which the hostile server notes its calls.
pub struct Notes(TempDir);

impl Notes {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> PathBuf {
        self.0.path().join("notes")
    }

    /// When a tool was called, in seconds.
    pub fn calls(&self, tool: &str) -> Vec<f64> {
        let text = std::fs::read_to_string(self.path()).unwrap_or_default();
        let times = text.lines().filter_map(|line| line.strip_prefix(&format!("{tool} ")));
        times.map(|time| time.parse().unwrap()).collect()
    }
}

/// Resident memory of this process in bytes.
pub fn memory() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// How long this thread has been on a processor: unlike a clock, it does not count the work of others.
pub fn time_on_processor() -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(statistics.split(' ').next().unwrap().parse().unwrap())
}
