//! A message per line, as on stdio: every revision, broken lines, cancelling, and the end of the input.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use toolroom_server::{LinesError, serve_lines};

use super::legacy::{Gate, NEWEST, call, cancel, request};
use super::test_server::{MODERN, McpTestServer, PATIENCE, open_object, query};

struct Pipe {
    input: WriteHalf<DuplexStream>,
    output: BufReader<ReadHalf<DuplexStream>>,
    served: JoinHandle<Result<(), LinesError>>,
}

impl Pipe {
    fn to(server: &McpTestServer) -> Self {
        let (ours, theirs) = duplex(64 * 1024);
        let (read, write) = split(theirs);
        let app = Arc::clone(&server.app);
        let served = tokio::spawn(async move { serve_lines(app, None, "default", read, write).await });
        let (output, input) = split(ours);
        Self { input, output: BufReader::new(output), served }
    }

    async fn begun(server: &McpTestServer, revision: &str) -> Self {
        let mut pipe = Self::to(server);
        let answer = pipe.ask(&initialize(revision)).await;
        assert_eq!(answer["result"]["protocolVersion"], revision);
        pipe
    }

    async fn send(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let mut line = String::new();
        let read = timeout(PATIENCE, self.output.read_line(&mut line)).await.expect("a line").unwrap();
        assert!(read > 0, "the output goes on");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}"))
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.send(&message.to_string()).await;
        self.next().await
    }

    /// Ends the input, and gives what is still said.
    async fn end(mut self) -> Vec<Value> {
        self.input.shutdown().await.unwrap();
        let mut said = Vec::new();
        let mut line = String::new();
        while timeout(PATIENCE, self.output.read_line(&mut line)).await.expect("an end").unwrap() > 0 {
            said.push(serde_json::from_str(&line).unwrap());
            line.clear();
        }
        timeout(PATIENCE, self.served).await.expect("it ends").unwrap().unwrap();
        said
    }
}

fn initialize(revision: &str) -> Value {
    let client = json!({ "name": "pipe", "version": "1" });
    request(0, "initialize", json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client }))
}

fn modern(id: impl Into<Value>, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request(id, method, params)
}

#[tokio::test]
async fn promise_every_revision_is_served_on_lines() {
    let server = McpTestServer::new();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", NEWEST] {
        let mut pipe = Pipe::begun(&server, revision).await;
        pipe.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        let made = pipe.ask(&call(1, "create-task", json!({ "title": "From a pipe" }))).await;
        assert!(made["result"]["content"][0]["text"].as_str().unwrap().contains("From a pipe"), "{made}");
        assert_eq!(pipe.ask(&request(2, "server/discover", json!({}))).await["error"]["code"], -32601);
        assert_eq!(pipe.end().await, Vec::<Value>::new());
    }
    let mut pipe = Pipe::to(&server);
    let found = pipe.ask(&modern("d", "server/discover", json!({}))).await;
    assert_eq!(found["result"]["supportedVersions"], json!([MODERN]));
    let listed = pipe.ask(&modern(1, "tools/list", json!({}))).await;
    assert_eq!(listed["result"]["resultType"], "complete");
    assert_eq!(
        pipe.ask(&initialize(NEWEST)).await["error"]["code"],
        -32600,
        "it is too late for a handshake"
    );
    assert_eq!(pipe.ask(&request(3, "tools/list", json!({}))).await["error"]["code"], -32602);
    assert_eq!(pipe.ask(&modern(4, "ping", json!({}))).await["error"]["code"], -32601);
}

#[tokio::test]
async fn looking_at_what_there_is_leaves_both_ways_open() {
    let server = McpTestServer::new();
    let mut pipe = Pipe::to(&server);
    assert!(pipe.ask(&modern(1, "server/discover", json!({}))).await["result"].is_object());
    let mut unknown = modern(2, "server/discover", json!({}));
    unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    assert_eq!(pipe.ask(&unknown).await["error"]["code"], -32022);
    assert_eq!(pipe.ask(&initialize(NEWEST)).await["result"]["protocolVersion"], NEWEST);
    assert!(pipe.ask(&request(3, "tools/list", json!({}))).await["result"]["tools"].is_array());
}

#[tokio::test]
async fn promise_a_broken_line_gets_the_right_error_and_the_next_is_served() {
    let server = McpTestServer::new();
    let mut pipe = Pipe::begun(&server, NEWEST).await;
    for (line, code) in [
        ("{", -32700),
        ("nonsense", -32700),
        ("\u{feff}{}", -32700),
        ("7", -32600),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"Method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#, -32601),
    ] {
        pipe.send(line).await;
        assert_eq!(pipe.next().await["error"]["code"], code, "{line}");
    }
    pipe.input.write_all(b"\xff\xfe\n\n  \r\n").await.unwrap();
    assert_eq!(pipe.next().await["error"]["code"], -32700);
    assert_eq!(
        pipe.ask(&request(9, "ping", json!({}))).await,
        json!({ "jsonrpc": "2.0", "id": 9, "result": {} })
    );
}

#[tokio::test]
async fn a_line_beyond_the_limit_is_refused_and_the_next_is_served() {
    let server = McpTestServer::new();
    let mut pipe = Pipe::begun(&server, NEWEST).await;
    let block = vec![b'x'; 1024 * 1024];
    for _ in 0..17 {
        pipe.input.write_all(&block).await.unwrap();
    }
    pipe.send("").await;
    assert_eq!(pipe.next().await["error"]["code"], -32600);
    assert_eq!(pipe.ask(&request(9, "ping", json!({}))).await["id"], 9);
}

#[tokio::test]
async fn promise_requests_run_side_by_side_and_one_can_be_cancelled() {
    for era in ["legacy", "modern"] {
        let (gate, tool) = Gate::tool();
        let server = McpTestServer::with(vec![tool]);
        let mut pipe = Pipe::to(&server);
        let call = |id: &str, tool: &str| match era {
            "modern" => modern(id, "tools/call", json!({ "name": tool, "arguments": {} })),
            _ => call(id, tool, json!({})),
        };
        if era == "legacy" {
            pipe.ask(&initialize(NEWEST)).await;
        }
        pipe.send(&call("slow", "wait-long").to_string()).await;
        gate.entered().await;
        assert_eq!(pipe.ask(&call("quick", "get-status")).await["id"], "quick", "{era}");
        pipe.send(&cancel("slow").to_string()).await;
        gate.left().await;
        assert_eq!(pipe.ask(&call("next", "get-status")).await["id"], "next", "the other is not answered");
    }
}

#[tokio::test]
async fn progress_and_changes_come_down_the_same_line() {
    let (gate, tool) = Gate::tool();
    let server = McpTestServer::with(vec![tool]);
    let mut pipe = Pipe::begun(&server, NEWEST).await;
    let mut slow = call(1, "wait-long", json!({}));
    slow["params"]["_meta"] = json!({ "progressToken": 1 });
    assert_eq!(pipe.ask(&slow).await["method"], "notifications/progress");
    let tool = query("came-later", open_object(), |_, _| async { unreachable!() });
    server.app.runtime.registry.register(tool, jiff::Zoned::now().date()).await.unwrap();
    assert_eq!(pipe.next().await["method"], "notifications/tools/list_changed");
    assert_eq!(pipe.next().await["method"], "notifications/resources/list_changed");
    gate.go.add_permits(1);
    assert_eq!(pipe.next().await["id"], 1);
}

#[tokio::test]
async fn promise_at_the_end_of_the_input_quick_work_is_answered_and_the_rest_stopped() {
    let (gate, tool) = Gate::tool();
    let server = McpTestServer::with(vec![tool]);
    let mut pipe = Pipe::begun(&server, NEWEST).await;
    pipe.send(&call("slow", "wait-long", json!({})).to_string()).await;
    gate.entered().await;
    pipe.send(&call("quick", "get-status", json!({})).to_string()).await;
    let said = pipe.end().await;
    assert_eq!(said.iter().map(|message| &message["id"]).collect::<Vec<_>>(), [&json!("quick")]);
    gate.left().await;
}

#[tokio::test]
async fn promise_a_client_that_is_gone_stops_its_work() {
    let (gate, tool) = Gate::tool();
    let server = McpTestServer::with(vec![tool]);
    let mut pipe = Pipe::begun(&server, NEWEST).await;
    pipe.send(&call(1, "wait-long", json!({})).to_string()).await;
    gate.entered().await;
    drop(pipe);
    gate.left().await;
}

#[tokio::test]
async fn a_profile_that_is_not_there_is_said_before_anything_is_served() {
    let server = McpTestServer::new();
    let served =
        serve_lines(Arc::clone(&server.app), None, "nothing", tokio::io::empty(), tokio::io::sink()).await;
    assert!(matches!(served, Err(LinesError::NoProfile(name)) if name == "nothing"));
}
