//! An MCP client that starts `toolroom mcp`, as editors and assistants do.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::test_home::{PATIENCE, TestHome, until};

/// The command, spoken to line by line.
pub struct Mcp {
    pub child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Mcp {
    pub fn start(home: &TestHome, arguments: &[&str]) -> Self {
        Self::of(home.command(&[&["mcp"], arguments].concat()))
    }

    pub fn of(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let (tell, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Self { input: child.stdin.take(), child, lines }
    }

    /// With the handshake done.
    pub fn begin(home: &TestHome, arguments: &[&str]) -> Self {
        let mut mcp = Self::start(home, arguments);
        mcp.initialize();
        mcp
    }

    pub fn initialize(&mut self) {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let answer = self.ask("initialize", params);
        assert_eq!(answer["result"]["serverInfo"]["name"], "toolroom", "{answer}");
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    pub fn send(&mut self, line: &str) {
        self.send_part(&format!("{line}\n"));
    }

    /// Not yet a whole line, perhaps.
    pub fn send_part(&mut self, text: &str) {
        self.input.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Standard output has nothing but messages. What is said unasked is passed over.
    pub fn next(&self) -> Value {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("a line");
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}"));
            if message.get("method").is_none() {
                return message;
            }
        }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string());
        self.next()
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    pub fn tools(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Ends the input; the exit code. Nothing is left to be said.
    pub fn end(self) -> Option<i32> {
        let (code, answers) = self.end_with_answers();
        assert_eq!(answers, Vec::<Value>::new());
        code
    }

    /// Ends the input; the exit code, and what is still answered.
    pub fn end_with_answers(mut self) -> (Option<i32>, Vec<Value>) {
        drop(self.input.take());
        let status = until("the command ends", || self.child.try_wait().unwrap());
        let said = self.lines.iter().map(|line| serde_json::from_str::<Value>(&line).expect("a message"));
        (status.code(), said.filter(|message| message.get("method").is_none()).collect())
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
