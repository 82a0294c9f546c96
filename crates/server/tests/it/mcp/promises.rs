//! Promises in figures: samples here, all of it when `TOOLROOM_SOAK` is set.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;
use toolroom_contract::{Answer, Ending};

use super::test_server::{MODERN, McpTestServer, PATIENCE, query};

fn figure(sample: usize, full: usize) -> usize {
    if std::env::var_os("TOOLROOM_SOAK").is_some() { full } else { sample }
}

/// A connection that is used for request after request.
struct Line(BufReader<TcpStream>);

impl Line {
    async fn open(server: &McpTestServer) -> Self {
        Self(BufReader::new(TcpStream::connect(server.address).await.unwrap()))
    }

    /// Status and body of the answer.
    async fn post(&mut self, method: &str, name: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nMCP-Protocol-Version: {MODERN}\r\nMcp-Method: {method}\r\n\
             Mcp-Name: {name}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let socket = self.0.get_mut();
        socket.write_all(&[head.as_bytes(), body].concat()).await.unwrap();
        timeout(PATIENCE, self.read()).await.expect("an answer in time")
    }

    async fn read(&mut self) -> (u16, Vec<u8>) {
        let (mut status, mut length) = (0, 0);
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).await.unwrap() > 0, "the connection stays open");
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if line.starts_with("http/1.1 ") {
                status = line[9..12].parse().unwrap();
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await.unwrap();
        (status, body)
    }
}

fn message(method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "fuzz", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

/// The same frames in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

fn spoil(frame: &str, dice: &mut Dice) -> Vec<u8> {
    const ODD: [&str; 14] = [
        "null",
        "1.5",
        "-0",
        "1e400",
        "[]",
        "{}",
        "true",
        "\"\\ud800\"",
        "\"\\u0000\"",
        "99999999999999999999999",
        "[[[[[[[[]]]]]]]]",
        "\u{feff}",
        "\"x\":1,\"x\":2",
        "-",
    ];
    let mut bytes = frame.as_bytes().to_vec();
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len());
        match dice.below(9) {
            0 => bytes.truncate(at),
            1 => bytes[at] = dice.below(256) as u8,
            2 => bytes.insert(at, [0, 0xff, 0xef, b'"', b'{', b'\\', b','][dice.below(7)]),
            3 => drop(bytes.drain(at..(at + dice.below(20)).min(bytes.len()))),
            4 => {
                let odd = ODD[dice.below(ODD.len())];
                bytes.splice(at..at, odd.bytes());
            }
            5 => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let value = ["\"id\":1", "\"2.0\"", "\"tools/call\"", "{}"][dice.below(4)];
                let odd = ODD[dice.below(ODD.len())];
                bytes = text.replacen(value, &format!("\"id\":{odd}"), 1).into_bytes();
            }
            6 => bytes = [b"[".as_slice(), &bytes, b"]"].concat(),
            7 => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                bytes = text.replacen("{\"", "{\"id\":7,\"", 1 + dice.below(3)).into_bytes();
            }
            _ => {
                let depth = dice.below(3000);
                bytes.splice(at..at, "[".repeat(depth).bytes());
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_frames_are_each_answered_with_a_right_code_on_a_connection_that_goes_on() {
    const RIGHT: [i64; 6] = [-32700, -32600, -32601, -32602, -32020, -32022];
    let server = McpTestServer::new();
    let frames = [
        ("tools/call", "get-status", message("tools/call", json!({ "name": "get-status", "arguments": {} }))),
        ("tools/list", "x", message("tools/list", json!({}))),
        ("server/discover", "x", message("server/discover", json!({}))),
    ];
    let mut line = Line::open(&server).await;
    let mut dice = Dice(0x5eed);
    let (mut refused, mut before) = (0, None);
    let all = figure(1500, 100_000);
    for round in 0..all {
        let (method, name, sound) = &frames[dice.below(frames.len())];
        let frame = spoil(sound, &mut dice);
        let began = Instant::now();
        let (status, body) = line.post(method, name, &frame).await;
        assert!(began.elapsed() < Duration::from_secs(5), "frame {round} took {:?}", began.elapsed());
        let shown = String::from_utf8_lossy(&frame).chars().take(300).collect::<String>();
        match status {
            202 => assert!(body.is_empty()),
            200 | 400 | 404 => {
                let answer: Value = serde_json::from_slice(&body).unwrap_or_else(|_| panic!("{shown}"));
                assert_eq!(answer["jsonrpc"], "2.0");
                if let Some(error) = answer.get("error") {
                    refused += 1;
                    assert!(RIGHT.contains(&error["code"].as_i64().unwrap()), "{shown}: {answer}");
                }
            }
            other => panic!("{other} for {shown}: {}", String::from_utf8_lossy(&body)),
        }
        if round == all / 10 {
            before = Some(resident());
        }
    }
    assert!(refused > all / 2, "{refused} of {all} were malformed");
    let (status, _) = line.post("tools/list", "x", frames[1].2.as_bytes()).await;
    assert_eq!(status, 200, "a sound request is served after all that");
    let grown = resident().saturating_sub(before.unwrap());
    assert!(grown < 20 << 20, "grown by {grown} bytes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_all_use_the_same_id_each_get_their_own_answer() {
    let schema = json!({
        "type": "object",
        "properties": { "mine": { "type": "string", "description": "Whose", "maxLength": 40 } },
        "additionalProperties": false,
    });
    let server = Arc::new(McpTestServer::with(vec![query("say-back", schema, |params, _| async move {
        tokio::task::yield_now().await;
        Ending::Done(Answer::new(params).unwrap())
    })]));
    let (clients, calls) = (figure(20, 200), figure(10, 100));
    let work = (0..clients).map(|client| {
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            let mut line = Line::open(&server).await;
            for call in 0..calls {
                let mine = format!("client {client}, call {call}");
                let body =
                    message("tools/call", json!({ "name": "say-back", "arguments": { "mine": mine } }));
                let (status, body) = line.post("tools/call", "say-back", body.as_bytes()).await;
                let answer: Value = serde_json::from_slice(&body).unwrap();
                assert_eq!((status, &answer["id"]), (200, &json!(1)));
                assert_eq!(answer["result"]["structuredContent"]["data"]["mine"], json!(mine));
            }
        })
    });
    for done in work.collect::<Vec<_>>() {
        done.await.unwrap();
    }
}
