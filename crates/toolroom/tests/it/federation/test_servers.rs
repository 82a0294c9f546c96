//! A home with servers in its mcp.json, and what a test needs to look at them.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::programs::{node_package, program, python_script};
use crate::test_home::{PATIENCE, Served, TestHome, post, until};

pub const MCP1: &str = "TOOLROOM_TEST_PYTHON_MCP1";
pub const MCP2: &str = "TOOLROOM_TEST_PYTHON_MCP2";

/// An entry for a server on a Python SDK.
pub fn python(variable: &str, script: &str) -> Value {
    json!({ "command": program(variable), "args": [python_script(script), "stdio"] })
}

/// The reference server of npm.
pub fn everything() -> Value {
    let package = node_package("@modelcontextprotocol/server-everything/dist/index.js");
    json!({ "command": program("TOOLROOM_TEST_NODE"), "args": [package, "stdio"] })
}

/// A server that does what a file in the home says.
pub struct Scripted {
    file: PathBuf,
}

impl Scripted {
    pub fn new(home: &TestHome, name: &str, tools: Value) -> Self {
        let scripted = Self { file: home.path(&format!("{name}.json")) };
        scripted.says(&json!({ "tools": tools }));
        scripted
    }

    /// What it has from now on.
    pub fn says(&self, script: &Value) {
        // Renamed into place, so that it never reads half of it.
        let aside = self.file.with_extension("aside");
        fs::write(&aside, script.to_string()).unwrap();
        fs::rename(aside, &self.file).unwrap();
    }

    pub fn entry(&self) -> Value {
        json!({ "command": program(MCP1), "args": [python_script("upstream_scripted.py"), self.file] })
    }

    /// All that it noted.
    pub fn notes(&self) -> String {
        let name = format!("{}.log", self.file.display());
        fs::read_to_string(name).unwrap_or_default()
    }

    /// How often it was started, and the last process.
    pub fn processes(&self) -> Vec<u64> {
        let pid = |line: &str| serde_json::from_str::<Value>(line).ok()?["pid"].as_u64();
        self.notes().lines().filter_map(pid).collect()
    }
}

/// A tool, as servers list it.
pub fn tool(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object" } })
}

/// Writes the servers into a home, which is created if needed.
pub fn write(home: &TestHome, servers: Value) {
    if !home.home().exists() {
        home.run(&["init"]);
    }
    fs::write(home.home().join("mcp.json"), json!({ "mcpServers": servers }).to_string()).unwrap();
}

/// Waits until a server is in that state with so many open tools.
pub fn settled(home: &TestHome, name: &str, state: &str, open: u64) -> Value {
    until(&format!("{name} is {state} with {open} tools"), || {
        let server = home.json(&["servers", "show", name]);
        (server["state"] == state && server["open"] == open).then_some(server)
    })
}

/// The names of the tools that a key may call.
pub fn names(served: &Served, key: &str) -> Vec<String> {
    let listed = served.get("/api/v1/tools", &credential(key));
    assert_eq!(listed.status, 200, "{listed:?}");
    let tools = listed.json["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

pub fn credential(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!("X-API-Key: {key}\r\n") }
}

/// Calls a tool over REST.
pub fn call(served: &Served, key: &str, tool: &str, params: Value) -> crate::test_home::Reply {
    served.post(&format!("/api/v1/tools/{tool}/call"), &credential(key), &json!({ "params": params }))
}

/// A request of MCP 2026-07-28; the result.
pub fn mcp(served: &Served, key: &str, method: &str, params: Value, capabilities: Value) -> Value {
    let reply = served.post("/mcp", &headers(key, method, &params), &request(method, params, capabilities));
    let result = reply.json["result"].clone();
    assert!(!result.is_null(), "{method}: {reply:?}");
    result
}

/// The same, as the text that came.
pub fn mcp_text(served: &Served, key: &str, method: &str, params: Value) -> String {
    let request = post("/mcp", &headers(key, method, &params), &request(method, params, json!({})));
    let mut stream = TcpStream::connect(served.address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

pub fn headers(key: &str, method: &str, params: &Value) -> String {
    let name = ["name", "uri", "taskId"].into_iter().find_map(|field| params.get(field)?.as_str());
    let name = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
    format!(
        "{}Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}",
        credential(key)
    )
}

pub fn request(method: &str, mut params: Value, capabilities: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": { "name": "test-client", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

pub fn key(home: &TestHome, grants: &[&str]) -> String {
    let mut arguments = vec!["keys", "create", "--user", "ada"];
    for grant in grants {
        arguments.extend(["--grant", grant]);
    }
    home.run(&arguments).line().to_owned()
}

/// Opens a stream on which changes are told.
pub fn listen(served: &Served, key: &str, params: Value) -> BufReader<TcpStream> {
    let method = "subscriptions/listen";
    let text = post("/mcp", &headers(key, method, &params), &request(method, params, json!({})));
    let mut stream = TcpStream::connect(served.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    BufReader::new(stream)
}

/// Reads events until one is enough.
pub fn heard(stream: &mut BufReader<TcpStream>, mut enough: impl FnMut(&Value) -> bool) {
    loop {
        let mut line = String::new();
        assert_ne!(stream.read_line(&mut line).expect("an event in time"), 0, "the stream has ended");
        let message = line.strip_prefix("data:").and_then(|data| serde_json::from_str(data.trim()).ok());
        if message.is_some_and(|message| enough(&message)) {
            return;
        }
    }
}

/// A request of MCP 2026-07-28; whatever comes.
pub fn mcp_any(served: &Served, key: &str, method: &str, params: Value, capabilities: Value) -> Value {
    let reply = served.post("/mcp", &headers(key, method, &params), &request(method, params, capabilities));
    if reply.json["result"].is_null() { reply.json } else { reply.json["result"].clone() }
}
