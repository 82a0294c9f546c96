//! Malformed frames on every transport: the right code each, no end, no hang, no growing memory.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::frames::{Frame, Frames, sound};
use crate::line::Line;
use crate::server_process::ServerProcess;
use crate::sse::SseClient;

/// Longer than anything here may take; only a failing test waits for it.
const PATIENCE: Duration = Duration::from_secs(20);

/// A sample, or with `TOOLROOM_SOAK` all of them.
fn how_many() -> usize {
    if std::env::var_os("TOOLROOM_SOAK").is_some() { 100_000 } else { 3_000 }
}

const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");
const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test]
async fn promise_malformed_frames_over_http_get_the_right_code_and_cost_no_memory() {
    let server = ServerProcess::start();
    let mut line = Line::to(server.address());
    let path = path_of(&server.url);
    let mut watched = Watched::new(&server, how_many());
    for frame in Frames::new(1).take(how_many()) {
        let headers = [
            ACCEPT,
            JSON,
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", frame.method),
            ("mcp-name", "greet"),
        ];
        let answer = line.post(&path, &headers, &frame.bytes).await;
        let status = answer.status.as_u16();
        assert!(matches!(status, 200 | 202 | 400 | 404), "{}: {status} {}", shown(&frame), answer.text);
        if status != 202 {
            check(&frame, &answer.json());
        }
        watched.look();
    }
    let listed = sound(1, "tools/list", json!({})).to_string();
    let headers = [ACCEPT, JSON, ("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
    let answer = line.post(&path, &headers, listed.as_bytes()).await.json();
    assert!(answer["result"]["tools"].is_array(), "the server serves on: {answer}");
}

#[tokio::test]
async fn promise_malformed_frames_over_the_old_transport_get_the_right_code_and_cost_no_memory() {
    let server = ServerProcess::start();
    let mut client = SseClient::connect(&server.sse_url).await;
    client.initialize().await;
    let mut line = Line::to(server.address());
    let endpoint = client.endpoint.clone();
    let mut watched = Watched::new(&server, how_many());
    for frame in Frames::new(2).take(how_many()) {
        let answer = line.post(&endpoint, &[ACCEPT, JSON], &frame.bytes).await;
        match answer.status.as_u16() {
            // Refused at once.
            400 | 404 => check(&frame, &answer.json()),
            // Taken: the answer comes down the stream, unless it was a notification or an answer to us.
            200 | 202 => {
                if expects_answer(&frame) {
                    check(&frame, &timeout(PATIENCE, client.next()).await.expect("an answer"));
                }
            }
            other => panic!("{}: {other} {}", shown(&frame), answer.text),
        }
        watched.look();
    }
}

#[tokio::test]
async fn promise_malformed_frames_over_stdio_get_the_right_code() {
    let mut command = Command::new(ServerProcess::ON_STDIO[0]);
    command
        .args(&ServerProcess::ON_STDIO[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let mut process = command.spawn().unwrap();
    let mut input = process.stdin.take().unwrap();
    let mut answers = BufReader::new(process.stdout.take().unwrap()).lines();
    for frame in Frames::new(3).take(how_many()) {
        input.write_all(&frame.bytes).await.unwrap();
        input.write_all(b"\n").await.unwrap();
        if expects_answer(&frame) {
            let answer = timeout(PATIENCE, answers.next_line()).await;
            let answer = answer.unwrap_or_else(|_| panic!("{}: no answer", shown(&frame))).unwrap();
            check(&frame, &serde_json::from_str(&answer.expect("the server serves on")).unwrap());
        }
    }
    drop(input);
    let ended = timeout(PATIENCE, process.wait()).await.expect("it ends with its input").unwrap();
    assert!(ended.success(), "{ended}");
}

/// The answer is one, and says what is wrong.
fn check(frame: &Frame, answer: &Value) {
    assert_eq!(answer["jsonrpc"], "2.0", "{}: {answer}", shown(frame));
    if frame.codes.is_empty() {
        assert!(
            answer.get("result").is_some() || answer["error"]["code"].is_i64(),
            "{}: {answer}",
            shown(frame)
        );
        return;
    }
    let code = answer["error"]["code"].as_i64();
    assert!(code.is_some_and(|code| frame.codes.contains(&code)), "{}: {answer}", shown(frame));
    assert!(answer["error"]["message"].is_string(), "{}: {answer}", shown(frame));
}

/// Whether the frame is no sound notification, which alone is not answered: bits can fall so that the id has another
/// name, and then some of the rest too.
fn expects_answer(frame: &Frame) -> bool {
    const NAMES: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
    let Ok(Value::Object(whole)) = serde_json::from_slice::<Value>(&frame.bytes) else { return true };
    let odd =
        |key: &String| !NAMES.contains(&&**key) && NAMES.iter().any(|name| name.eq_ignore_ascii_case(key));
    let of_another_kind = ["id", "result", "error"].iter().any(|name| whole.contains_key(*name));
    of_another_kind
        || whole.keys().any(odd)
        || whole.get("jsonrpc") != Some(&json!("2.0"))
        || !whole.get("method").is_some_and(Value::is_string)
        || !whole.get("params").is_none_or(|params| params.is_object() || params.is_null())
}

fn shown(frame: &Frame) -> String {
    let text = String::from_utf8_lossy(&frame.bytes);
    format!("{}: {}", frame.fault, text.chars().take(300).collect::<String>())
}

fn path_of(url: &str) -> String {
    let at = url.match_indices('/').nth(2).map(|(at, _)| at).expect("a path");
    url[at..].to_owned()
}

/// Compares the server's memory at the end with that after a quarter of the frames.
struct Watched<'a> {
    server: &'a ServerProcess,
    all: usize,
    seen: usize,
    early: u64,
}

impl<'a> Watched<'a> {
    fn new(server: &'a ServerProcess, all: usize) -> Self {
        Self { server, all, seen: 0, early: 0 }
    }

    fn look(&mut self) {
        self.seen += 1;
        if self.seen == self.all / 4 {
            self.early = self.server.memory();
        }
        if self.seen == self.all {
            let late = self.server.memory();
            assert!(late <= self.early + self.early / 5 + 4096, "from {} KiB to {late} KiB", self.early);
        }
    }
}
