//! A home in a scratch folder, commands on it, a server for it, and plain HTTP to that.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than anything here may take; only a failing test waits for it.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub struct TestHome {
    folder: TempDir,
}

/// What a command left behind.
#[derive(Debug)]
pub struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl TestHome {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("toolroom"));
        command.args(arguments).env("TOOLROOM_HOME", self.home()).env("TZ", "UTC").stdin(Stdio::null());
        command.env_remove("OPENAI_BASE_URL").env_remove("OPENAI_API_KEY").env_remove("TOOLROOM_MODEL");
        command.env_remove("TOOLROOM_DATABASE").env_remove("TOOLROOM_LOG").env_remove("TOOLROOM_SEARCH_URL");
        command.env_remove("TOOLROOM_SEAL_KEY").env_remove("TOOLROOM_REDIS");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Done {
        Done::of(self.command(arguments))
    }

    /// Runs a command that must succeed, with `--json`, and reads what it prints.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let done = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(done.code, 0, "{arguments:?}: {done:?}");
        serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{arguments:?}: not JSON: {done:?}"))
    }

    /// What is wrong with the running server, as its owner is told.
    pub fn ready(&self) -> Reply {
        Reply::over_socket(self, "GET /readyz HTTP/1.1\r\nConnection: close\r\n\r\n")
    }

    /// Puts a script into tools.json by hand, for a home that no server has yet.
    pub fn write_tool(&self, name: &str, script: &str, parameters: Value) {
        assert_eq!(self.run(&["init"]).code, 0);
        let (file, tools) = (format!("{name}.py"), self.home().join("tools"));
        std::fs::write(tools.join(&file), script).unwrap();
        let registry = tools.join("tools.json");
        let mut entries: Value = serde_json::from_slice(&std::fs::read(&registry).unwrap()).unwrap();
        entries["tools"].as_array_mut().unwrap().push(json!({
            "name": name,
            "description": "Takes ten minutes. Use it in tests. Returns nothing of use.",
            "type": "local",
            "input_schema": { "type": "object", "properties": parameters },
            "config": { "script_path": file },
            "timeout": 600,
        }));
        std::fs::write(registry, entries.to_string()).unwrap();
    }

    pub fn serve(&self) -> Served {
        Served::start(self.command(&["serve", "--listen", "127.0.0.1:0"]))
    }
}

impl Done {
    pub fn of(mut command: Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The one line that it prints.
    pub fn line(&self) -> &str {
        assert_eq!(self.code, 0, "{self:?}");
        self.out.trim_end()
    }
}

/// A running server; killed if a test forgets it.
pub struct Served {
    child: Child,
    pub address: SocketAddr,
    _out: BufReader<ChildStdout>,
}

impl Served {
    pub fn start(command: Command) -> Self {
        Self::start_with(command, Stdio::null())
    }

    /// The same, with a place for its log.
    pub fn start_with(mut command: Command, log: Stdio) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening on http://").unwrap_or_else(|| panic!("it said {line:?}"));
        Self { address: address.trim_end().parse().unwrap(), child, _out: out }
    }

    pub fn get(&self, path: &str, headers: &str) -> Reply {
        self.request(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Connection: close\r\n\r\n"))
    }

    pub fn post(&self, path: &str, headers: &str, body: &Value) -> Reply {
        self.request(&post(path, headers, body))
    }

    /// The answer to a request of the newest revision of MCP.
    pub fn mcp(&self, profile: &str, headers: &str, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let mut headers = format!(
            "{headers}Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n"
        );
        if let Some(name) = params["name"].as_str() {
            headers += &format!("Mcp-Name: {name}\r\n");
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.post(&format!("/mcp/{profile}"), &headers, &body).json
    }

    fn request(&self, text: &str) -> Reply {
        Reply::over(TcpStream::connect(self.address).unwrap(), text)
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    pub fn wait(mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(began.elapsed() < PATIENCE, "the server does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn post(path: &str, headers: &str, body: &Value) -> String {
    let body = body.to_string();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         {headers}Connection: close\r\n\r\n{body}"
    )
}

/// An answer over HTTP.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub json: Value,
    pub body: String,
}

impl Reply {
    pub fn over<S: Read + Write>(mut stream: S, request: &str) -> Self {
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
        Self { status, json: serde_json::from_str(body).unwrap_or(Value::Null), body: body.to_owned() }
    }

    pub fn over_socket(home: &TestHome, request: &str) -> Self {
        Self::over(UnixStream::connect(home.home().join("toolroom.sock")).unwrap(), request)
    }
}

/// Looks until it is so.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
