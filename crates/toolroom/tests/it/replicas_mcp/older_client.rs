//! A client of the revisions with a handshake, by hand: it says to which server each message goes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::replicas::Replica;
use crate::test_home::PATIENCE;

pub const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// An answer over HTTP, with its head.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Got {
    /// The message in it; the last one, if there are several.
    pub fn message(&self) -> Value {
        let last = self.body.lines().rev().find_map(|line| line.strip_prefix("data: "));
        serde_json::from_str(last.unwrap_or(&self.body)).unwrap_or(Value::Null)
    }
}

pub struct OlderClient {
    pub session: String,
    revision: &'static str,
    /// A header with a key, or nothing.
    pub credential: String,
}

impl OlderClient {
    pub fn without_session(revision: &'static str) -> Self {
        Self { session: String::new(), revision, credential: String::new() }
    }

    pub fn begin(replica: &Replica, revision: &'static str, capabilities: Value, credential: &str) -> Self {
        let mut client = Self { credential: credential.to_owned(), ..Self::without_session(revision) };
        let params = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": { "name": "old-desk", "version": "0.9" },
        });
        let got = client.post(replica, &request(0, "initialize", params));
        assert_eq!(got.status, 200, "{got:?}");
        assert_eq!(got.message()["result"]["protocolVersion"], revision, "{got:?}");
        let given = got.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        client.session = given.expect("a session").trim().to_owned();
        client
    }

    pub fn post(&self, replica: &Replica, message: &Value) -> Got {
        self.exchange(replica, "POST", "/mcp", &message.to_string())
    }

    /// The answer to a request, which must be one.
    pub fn ask(&self, replica: &Replica, id: u64, method: &str, params: Value) -> Value {
        let got = self.post(replica, &request(id, method, params));
        assert_eq!(got.status, 200, "{method}: {got:?}");
        let message = got.message();
        assert_eq!(message["id"], id, "{method}: {got:?}");
        message
    }

    /// The text of a tool's answer.
    pub fn call(&self, replica: &Replica, tool: &str, arguments: Value) -> String {
        let answer =
            self.ask(replica, 7, "tools/call", json!({ "name": tool, "arguments": arguments, "_meta": {} }));
        let text = answer["result"]["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("{tool}: {answer}")).to_owned()
    }

    pub fn delete(&self, replica: &Replica) -> Got {
        self.exchange(replica, "DELETE", "/mcp", "")
    }

    /// Leaves the answer to be read message by message.
    pub fn open(&self, replica: &Replica, message: &Value) -> Stream {
        Stream::open(replica, &self.text("POST", "/mcp", &message.to_string()))
    }

    pub fn listen(&self, replica: &Replica) -> Stream {
        Stream::open(replica, &self.text("GET", "/mcp", ""))
    }

    pub fn exchange(&self, replica: &Replica, verb: &str, path: &str, body: &str) -> Got {
        let mut stream = TcpStream::connect(replica.server.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(self.text(verb, path, body).as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        Got { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn text(&self, verb: &str, path: &str, body: &str) -> String {
        let session = match self.session.as_str() {
            "" => String::new(),
            id => format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: {}\r\n", self.revision),
        };
        let accept = match verb {
            "GET" => "text/event-stream",
            _ => "application/json, text/event-stream",
        };
        let (credential, length) = (&self.credential, body.len());
        format!(
            "{verb} {path} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n{session}{credential}Connection: close\r\n\r\n{body}"
        )
    }
}

/// An answer that goes on: its events, one by one.
pub struct Stream(BufReader<TcpStream>);

impl Stream {
    pub fn open(replica: &Replica, request: &str) -> Self {
        let mut stream = TcpStream::connect(replica.server.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut stream = Self(BufReader::new(stream));
        let head = stream.line().expect("an answer");
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        stream
    }

    /// What the next event with something in it says; `None` at the end.
    pub fn data(&mut self) -> Option<String> {
        loop {
            match self.line()?.strip_prefix("data: ").map(str::trim) {
                Some("") | None => {}
                Some(data) => return Some(data.to_owned()),
            }
        }
    }

    pub fn message(&mut self) -> Value {
        let data = self.data().expect("a message");
        serde_json::from_str(&data).unwrap_or_else(|_| panic!("no message: {data}"))
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).expect("the stream says something, or ends");
        (read > 0).then_some(line)
    }
}

pub fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub fn call(id: u64, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}
