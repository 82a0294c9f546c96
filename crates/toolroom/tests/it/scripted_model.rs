//! A model's server on loopback that answers by a rule.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

/// What the server does with a request.
pub enum Play {
    /// Answers with this message.
    Message(Value),
    /// Answers with this status, and an error.
    Status(u16),
    /// Begins a stream with these words, and closes the connection in the middle of it.
    Cut(&'static str),
    /// Keeps the connection, and says nothing.
    Silence,
}

/// Starts it and gives its address. It ends with the test's process.
pub fn start(rule: impl Fn(&Value) -> Value + Send + 'static) -> String {
    start_playing(move |request| Play::Message(rule(request)))
}

/// The same for a server that does more than answer.
pub fn start_playing(rule: impl Fn(&Value) -> Play + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for stream in listener.incoming().flatten() {
            silent.extend(answer(stream, &rule));
        }
    });
    format!("http://{address}/v1")
}

/// What the person said last.
pub fn said(request: &Value) -> &str {
    let messages = request["messages"].as_array().unwrap();
    let last = messages.iter().rev().find(|message| message["role"] == "user");
    last.and_then(|message| message["content"].as_str()).unwrap_or_default()
}

/// How many results there are of what the person said last.
pub fn results(request: &Value) -> usize {
    let messages = request["messages"].as_array().unwrap();
    messages.iter().rev().take_while(|one| one["role"] != "user").filter(|one| one["role"] == "tool").count()
}

pub fn text(words: &str) -> Value {
    json!({ "role": "assistant", "content": words })
}

pub fn call(name: &str, arguments: &Value) -> Value {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    let call = json!({ "id": "call_1", "type": "function", "function": function });
    json!({ "role": "assistant", "content": null, "tool_calls": [call] })
}

/// Answers a request; gives the connection back that stays open.
fn answer(mut stream: TcpStream, rule: &impl Fn(&Value) -> Play) -> Option<TcpStream> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or_default() == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let whole = |status: u16, body: Value| {
        let body = body.to_string();
        format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let sent = match rule(&serde_json::from_slice(&body).unwrap()) {
        Play::Message(message) => {
            let reason = if message.get("tool_calls").is_some() { "tool_calls" } else { "stop" };
            let choice = json!({ "index": 0, "message": message, "finish_reason": reason });
            whole(200, json!({ "id": "1", "object": "chat.completion", "choices": [choice] }))
        }
        Play::Status(status) => whole(status, json!({ "error": { "message": "out of order" } })),
        Play::Cut(words) => {
            let chunk = json!({ "choices": [{ "index": 0, "delta": { "content": words } }] });
            format!(
                "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: {chunk}\n\n"
            )
        }
        Play::Silence => return Some(stream),
    };
    // A client that left wants no answer.
    let _ = stream.write_all(sent.as_bytes());
    None
}
