//! A client of the old transport, HTTP with a stream of events beside it, as bytes.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;

use crate::line::Line;

pub struct SseClient {
    events: Lines<BufReader<OwnedReadHalf>>,
    /// The stream lives as long as this does.
    _out: tokio::net::tcp::OwnedWriteHalf,
    line: Line,
    /// Where messages are posted.
    pub endpoint: String,
}

impl SseClient {
    pub async fn connect(url: &str) -> Self {
        let rest = url.strip_prefix("http://").expect("a plain address");
        let (address, path) = rest.split_once('/').expect("a path");
        let (read, mut out) = TcpStream::connect(address).await.unwrap().into_split();
        let request = format!("GET /{path} HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n\r\n");
        out.write_all(request.as_bytes()).await.unwrap();
        let events = BufReader::new(read).lines();
        let mut client = Self { events, _out: out, line: Line::to(address), endpoint: String::new() };
        let endpoint = client.data().await;
        // Relative or whole, as the server likes it.
        let at = endpoint.find(address).map_or(0, |at| at + address.len());
        client.endpoint = endpoint[at..].to_owned();
        client
    }

    pub async fn initialize(&mut self) {
        let params = json!({
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "clientInfo": { "name": "sse", "version": "1.0.0" },
        });
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })).await;
        let answer = self.next().await;
        assert_eq!(answer["result"]["protocolVersion"], "2024-11-05", "{answer}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    }

    pub async fn send(&mut self, message: &Value) {
        let headers =
            [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
        let answer = self.line.post(&self.endpoint, &headers, message.to_string().as_bytes()).await;
        assert!(answer.status.is_success(), "{} {}", answer.status, answer.text);
    }

    /// The next message that the server sends.
    pub async fn next(&mut self) -> Value {
        let data = self.data().await;
        serde_json::from_str(&data).unwrap_or_else(|_| panic!("no message: {data}"))
    }

    /// The data of the next event. Chunk sizes and comments stand on lines of their own.
    async fn data(&mut self) -> String {
        loop {
            let line = self.events.next_line().await.unwrap().expect("the stream goes on");
            if let Some(data) = line.strip_prefix("data:") {
                return data.trim().to_owned();
            }
        }
    }
}
