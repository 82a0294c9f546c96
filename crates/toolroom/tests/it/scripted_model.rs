//! A model's server on loopback that answers by a rule.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

/// Starts it and gives its address. It ends with the test's process.
pub fn start(rule: impl Fn(&Value) -> Value + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, &rule);
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

pub fn text(words: &str) -> Value {
    json!({ "role": "assistant", "content": words })
}

pub fn call(name: &str, arguments: &Value) -> Value {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    let call = json!({ "id": "call_1", "type": "function", "function": function });
    json!({ "role": "assistant", "content": null, "tool_calls": [call] })
}

fn answer(mut stream: TcpStream, rule: &impl Fn(&Value) -> Value) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or_default() == 0 {
            return;
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
    let message = rule(&serde_json::from_slice(&body).unwrap());
    let reason = if message.get("tool_calls").is_some() { "tool_calls" } else { "stop" };
    let choice = json!({ "index": 0, "message": message, "finish_reason": reason });
    let body = json!({ "id": "1", "object": "chat.completion", "choices": [choice] }).to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // A client that left wants no answer.
    let _ = stream.write_all((head + &body).as_bytes());
}
