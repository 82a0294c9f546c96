//! A server on a real socket with tools of the test's own, and a client that speaks MCP by hand.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolroom_contract::definition::Example;
use toolroom_contract::{Ending, Handler, HandlerFuture, ToolContext, ToolDefinition};
use toolroom_runtime::catalogue::{Executor, NewTool};
use toolroom_server::listener::{Limits, Listener, serve};
use toolroom_server::middleware::HostPolicy;
use toolroom_server::{App, McpSettings, router};
use toolroom_store::DatabaseUrl;
use toolroom_store::keys::{self, NewKey};

use crate::test_server::TestHome;

/// Longer than anything here may take; only a failing test waits for it.
pub const PATIENCE: Duration = Duration::from_secs(10);
pub const MODERN: &str = "2026-07-28";

type Work = dyn Fn(Value, ToolContext) -> Pin<Box<dyn Future<Output = Ending> + Send>> + Send + Sync;

struct Does(Box<Work>);

impl Handler for Does {
    fn call<'a>(&'a self, params: &'a Value, context: &'a ToolContext) -> HandlerFuture<'a> {
        (self.0)(params.clone(), context.clone())
    }
}

/// A query that does this, with these parameters.
pub fn query<F>(
    name: &str,
    parameters: Value,
    work: impl Fn(Value, ToolContext) -> F + Send + Sync + 'static,
) -> NewTool
where
    F: Future<Output = Ending> + Send + 'static,
{
    let definition = ToolDefinition {
        parameters,
        output: Some(json!({ "type": "object" })),
        examples: vec![Example::new("As it is", &json!({}), json!({}))],
        tags: vec!["test".into()],
        ..ToolDefinition::query(
            name,
            "A tool of a test that stands for any other. Use it in tests. Returns what the test says.",
        )
    };
    native(definition, work)
}

pub fn native<F>(
    definition: ToolDefinition,
    work: impl Fn(Value, ToolContext) -> F + Send + Sync + 'static,
) -> NewTool
where
    F: Future<Output = Ending> + Send + 'static,
{
    let handler = Does(Box::new(move |params, context| Box::pin(work(params, context))));
    NewTool { definition, executor: Executor::Native(Arc::new(handler)) }
}

pub fn open_object() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

pub struct McpTestServer {
    pub address: SocketAddr,
    pub app: Arc<App>,
    shutdown: CancellationToken,
    _folder: TempDir,
}

impl McpTestServer {
    /// The task tools and these.
    pub fn with(extra: Vec<NewTool>) -> Self {
        Self::limited(extra, McpSettings::default())
    }

    /// The same, with these limits for sessions.
    pub fn limited(extra: Vec<NewTool>, mcp: McpSettings) -> Self {
        Self::furnish(extra, mcp, Limits::default())
    }

    /// The same, with these limits for connections.
    pub fn guarded(extra: Vec<NewTool>, limits: Limits) -> Self {
        Self::furnish(extra, McpSettings::default(), limits)
    }

    fn furnish(extra: Vec<NewTool>, mcp: McpSettings, limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::sqlite(folder.path().join("toolroom.db"));
        let TestHome { runtime, registrar, logs } = TestHome::new(&url, folder.path(), extra);
        let app = App::builder(runtime, registrar, logs).mcp(mcp).build();
        let listener = Listener::bind_tcp("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let router = router(&app, HostPolicy::new(Vec::<String>::new()));
        let served = serve(listener, router, limits, shutdown.clone(), Duration::from_secs(5));
        tokio::spawn(served);
        Self { address, app, shutdown, _folder: folder }
    }

    pub fn new() -> Self {
        Self::with(Vec::new())
    }

    /// A key with these grants.
    pub async fn key(&self, user: &str, grants: &[&str], profiles: Option<&[&str]>) -> String {
        let user = self.app.runtime.users.ensure(user).await.unwrap().id;
        let new = NewKey {
            user,
            grants: grants.iter().map(|&grant| grant.to_owned()).collect(),
            profiles: profiles.map(|names| names.iter().map(|&name| name.to_owned()).collect()),
            person: false,
            note: None,
            expires_at: None,
        };
        let made = self.app.runtime.store.write(move |unit| keys::create(unit, &new)).await;
        self.app.auth.forget();
        made.map_err(|error: toolroom_store::StoreError| error.to_string()).unwrap().1.reveal().to_owned()
    }

    pub fn ask(&self, method: &str, params: Value) -> Ask {
        Ask::new(self.address, method, params)
    }

    pub fn call(&self, tool: &str, arguments: Value) -> Ask {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Bytes as they are, on a connection of their own, until the server closes it.
    pub async fn raw(&self, bytes: &[u8]) -> Got {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        socket.write_all(bytes).await.unwrap();
        let mut all = Vec::new();
        timeout(PATIENCE, socket.read_to_end(&mut all)).await.expect("an answer").unwrap();
        Got::parse(&String::from_utf8_lossy(&all))
    }
}

impl Drop for McpTestServer {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

/// A request in the making: a sound one, unless a test spoils it.
pub struct Ask {
    address: SocketAddr,
    path: String,
    headers: Vec<(String, String)>,
    pub message: Value,
}

pub struct Got {
    pub status: u16,
    pub head: String,
    pub text: String,
}

impl Got {
    pub fn parse(answer: &str) -> Self {
        let (head, text) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {answer}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let head = head.to_ascii_lowercase();
        let text =
            if head.contains("transfer-encoding: chunked") { dechunked(text) } else { text.to_owned() };
        Self { status, head, text }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    pub fn result(&self) -> Value {
        let body = self.json();
        assert!(body.get("result").is_some(), "{body}");
        body["result"].clone()
    }

    pub fn error(&self) -> (u16, i64) {
        let body = self.json();
        (self.status, body["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {body}")))
    }

    /// The messages of an event stream.
    pub fn events(&self) -> Vec<Value> {
        assert!(self.head.contains("content-type: text/event-stream"), "{}", self.head);
        let lines = self.text.lines().filter_map(|line| line.strip_prefix("data: "));
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn dechunked(text: &str) -> String {
    let (mut rest, mut out) = (text, String::new());
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        if size == 0 {
            break;
        }
        out.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    out
}

impl Ask {
    fn new(address: SocketAddr, method: &str, mut params: Value) -> Self {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": { "name": "test-client", "version": "1.2.3" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let mut headers = vec![
            ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ("Content-Type".to_owned(), "application/json".to_owned()),
            ("MCP-Protocol-Version".to_owned(), MODERN.to_owned()),
            ("Mcp-Method".to_owned(), method.to_owned()),
        ];
        let named_by = match method {
            "resources/read" => "uri",
            _ if method.starts_with("tasks/") => "taskId",
            _ => "name",
        };
        if let Some(name) = params.get(named_by).and_then(Value::as_str) {
            headers.push(("Mcp-Name".to_owned(), name.to_owned()));
        }
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        Self { address, path: "/mcp".into(), headers, message }
    }

    pub fn profile(mut self, profile: &str) -> Self {
        self.path = format!("/mcp/{profile}");
        self
    }

    pub fn key(self, key: &str) -> Self {
        self.with("X-API-Key", key)
    }

    /// With this header, instead of one of that name.
    pub fn with(self, name: &str, value: &str) -> Self {
        let mut ask = self.without(name);
        ask.headers.push((name.to_owned(), value.to_owned()));
        ask
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub fn meta(mut self, name: &str, value: Value) -> Self {
        self.message["params"]["_meta"][name] = value;
        self
    }

    pub fn param(mut self, name: &str, value: Value) -> Self {
        self.message["params"][name] = value;
        self
    }

    pub fn capable(self, capabilities: Value) -> Self {
        self.meta("io.modelcontextprotocol/clientCapabilities", capabilities)
    }

    pub fn bytes(&self, body: &str) -> Vec<u8> {
        let mut head = format!("POST {} HTTP/1.1\r\nHost: localhost\r\n", self.path);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        format!("{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).into_bytes()
    }

    pub async fn send(&self) -> Got {
        self.send_text(&self.message.to_string()).await
    }

    /// With another body.
    pub async fn send_text(&self, body: &str) -> Got {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        socket.write_all(&self.bytes(body)).await.unwrap();
        let mut all = Vec::new();
        timeout(PATIENCE, socket.read_to_end(&mut all)).await.expect("an answer").unwrap();
        Got::parse(&String::from_utf8_lossy(&all))
    }

    /// Leaves the answer to be read event by event.
    pub async fn open(&self) -> Events {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        socket.write_all(&self.bytes(&self.message.to_string())).await.unwrap();
        Events(BufReader::new(socket))
    }
}

/// A stream of events while it is open. Dropping it closes the connection.
pub struct Events(BufReader<TcpStream>);

impl Events {
    /// The next message; `None` at the end.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            let read = timeout(PATIENCE, self.0.read_line(&mut line)).await.expect("an event").unwrap();
            if read == 0 {
                return None;
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data.trim_end()).unwrap());
            }
        }
    }
}
