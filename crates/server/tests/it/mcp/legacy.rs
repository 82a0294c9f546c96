//! A client of the revisions with a handshake, by hand: sessions over Streamable HTTP, and streams of events.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;
use toolroom_contract::report::Progress;
use toolroom_contract::{Answer, Ending};
use toolroom_runtime::catalogue::NewTool;

use super::test_server::{Got, McpTestServer, PATIENCE, open_object, query};

pub const NEWEST: &str = "2025-11-25";

#[derive(Clone)]
pub struct Legacy {
    address: SocketAddr,
    pub path: String,
    headers: Vec<(String, String)>,
}

impl Legacy {
    /// Nobody yet.
    pub fn to(server: &McpTestServer) -> Self {
        Self { address: server.address, path: "/mcp".into(), headers: Vec::new() }
    }

    /// A client of that revision, its handshake done.
    pub async fn begin(server: &McpTestServer, revision: &str) -> Self {
        Self::to(server).begun(revision, json!({})).await
    }

    pub async fn begun(mut self, revision: &str, capabilities: Value) -> Self {
        let got = self.initialize(revision, capabilities).await;
        assert_eq!(got.status, 200, "{}", got.text);
        let given =
            got.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session");
        self.headers.push(("Mcp-Session-Id".into(), given.trim().to_owned()));
        self.headers.push(("MCP-Protocol-Version".into(), revision.to_owned()));
        let ready = self.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        assert_eq!((ready.status, ready.text.as_str()), (202, ""));
        self
    }

    pub async fn initialize(&self, revision: &str, capabilities: Value) -> Got {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": { "name": "old-desk", "version": "0.9" },
        });
        self.post(&request(1, "initialize", params)).await
    }

    pub fn key(mut self, key: &str) -> Self {
        self.headers.push(("X-API-Key".into(), key.to_owned()));
        self
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without_session(mut self) -> Self {
        self.headers.retain(|(known, _)| known != "Mcp-Session-Id");
        self
    }

    pub fn session(&self) -> String {
        self.headers.iter().find(|(name, _)| name == "Mcp-Session-Id").expect("a session").1.clone()
    }

    pub async fn post(&self, message: &Value) -> Got {
        self.exchange("POST", "", &message.to_string()).await
    }

    pub async fn ask(&self, method: &str, params: Value) -> Got {
        self.post(&request(1, method, params)).await
    }

    pub async fn delete(&self) -> Got {
        self.exchange("DELETE", "", "").await
    }

    /// Leaves the answer to be read event by event.
    pub async fn open(&self, message: &Value) -> Stream {
        self.stream("POST", "", &message.to_string()).await
    }

    pub async fn listen(&self) -> Stream {
        self.stream("GET", "", "").await
    }

    /// Takes up a stream after the event of that id.
    pub async fn resume(&self, last: &str) -> Stream {
        self.stream("GET", &format!("Last-Event-ID: {last}\r\n"), "").await
    }

    async fn exchange(&self, verb: &str, extra: &str, body: &str) -> Got {
        let mut socket = self.send(verb, extra, body).await;
        let mut all = Vec::new();
        timeout(PATIENCE, socket.read_to_end(&mut all)).await.expect("an answer").unwrap();
        Got::parse(&String::from_utf8_lossy(&all))
    }

    async fn stream(&self, verb: &str, extra: &str, body: &str) -> Stream {
        Stream { socket: BufReader::new(self.send(verb, extra, body).await), head: String::new() }
    }

    async fn send(&self, verb: &str, extra: &str, body: &str) -> TcpStream {
        let mut head =
            format!("{verb} {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n", self.path);
        let accept = ("Accept".to_owned(), "application/json, text/event-stream".to_owned());
        let given = self.headers.iter().any(|(name, _)| name == "Accept");
        for (name, value) in self.headers.iter().chain((!given).then_some(&accept)) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let text = format!("{head}{extra}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        socket.write_all(text.as_bytes()).await.unwrap();
        socket
    }
}

pub fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

pub fn cancel(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id.into() } })
}

/// A stream of events while it is open. Dropping it closes the connection.
pub struct Stream {
    socket: BufReader<TcpStream>,
    pub head: String,
}

#[derive(Debug, Default, PartialEq)]
pub struct Event {
    pub id: Option<String>,
    pub name: Option<String>,
    pub retry: Option<String>,
    pub data: String,
}

impl Event {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_else(|_| panic!("no message: {self:?}"))
    }
}

impl Stream {
    /// The connection, as far as it was not read.
    pub fn into_socket(self) -> BufReader<TcpStream> {
        self.socket
    }

    /// The status of the answer.
    pub async fn status(&mut self) -> u16 {
        while !self.head.ends_with("\r\n\r\n") {
            let line = self.line().await.expect("a head");
            self.head.push_str(&line);
        }
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// The next event; `None` at the end.
    pub async fn next(&mut self) -> Option<Event> {
        self.status().await;
        let (mut event, mut any) = (Event::default(), false);
        loop {
            let line = self.line().await?;
            // Chunk sizes end otherwise.
            if line == "\n" && any {
                return Some(event);
            }
            let Some((name, value)) = line.trim_end_matches('\n').split_once(": ") else { continue };
            any = true;
            match name {
                "id" => event.id = Some(value.to_owned()),
                "event" => event.name = Some(value.to_owned()),
                "retry" => event.retry = Some(value.to_owned()),
                "data" => event.data = value.to_owned(),
                other => panic!("a field {other}"),
            }
        }
    }

    /// The next message.
    pub async fn message(&mut self) -> Value {
        self.next().await.expect("an event").json()
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = timeout(PATIENCE, self.socket.read_line(&mut line)).await.expect("a line").unwrap();
        (read > 0).then_some(line)
    }
}

/// A tool that reports that it has begun and then waits to be let go.
pub struct Gate {
    pub entered: Notify,
    pub go: Semaphore,
    running: AtomicUsize,
    left: Notify,
}

struct Inside(Arc<Gate>);

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.left.notify_one();
    }
}

impl Gate {
    pub fn tool() -> (Arc<Self>, NewTool) {
        let gate = Arc::new(Self {
            entered: Notify::new(),
            go: Semaphore::new(0),
            running: AtomicUsize::new(0),
            left: Notify::new(),
        });
        let kept = Arc::clone(&gate);
        let tool = query("wait-long", open_object(), move |_, context| {
            gate.running.fetch_add(1, Ordering::SeqCst);
            let inside = Inside(Arc::clone(&gate));
            async move {
                context.reporter.progress(&Progress { progress: 1.0, total: None, message: None });
                inside.0.entered.notify_one();
                inside.0.go.acquire().await.unwrap().forget();
                Ending::Done(Answer::new(json!({ "waited": true })).unwrap())
            }
        });
        (kept, tool)
    }

    pub async fn entered(&self) {
        timeout(PATIENCE, self.entered.notified()).await.expect("the tool runs");
    }

    pub async fn left(&self) {
        timeout(PATIENCE, self.left.notified()).await.expect("the work is dropped");
        assert_eq!(self.running.load(Ordering::SeqCst), 0);
    }
}
