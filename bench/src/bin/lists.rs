//! What clients are shown, in bytes: the lists of the starter home, and ordinary results beside their data.
//!
//! The program itself is asked over standard input and output, as MCP clients do.
#![allow(clippy::print_stdout, reason = "benchmarks print their figures")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use toolroom_bench::figures::{Limit, heading, line};

/// Profiles with the most that a list of the starter home may have, in bytes.
const LISTS: [(&str, f64); 2] = [("plain", 12_000.0), ("default", 24_000.0)];
/// The most that a result on `plain` may be of its data.
const OF_DATA: f64 = 1.1;

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("home");
    heading("tools/list of the starter home");
    for (profile, most) in LISTS {
        let mut client = Client::start(&home, profile)?;
        let (listed, bytes) = client.ask("tools/list", json!({}))?;
        let tools = listed["tools"].as_array().map_or(0, Vec::len);
        line(&format!("{profile}: {tools} tools"), bytes as f64, "B", Limit::AtMost(most));
    }
    heading("results on plain, beside their data");
    let (mut plain, mut default) = (Client::start(&home, "plain")?, Client::start(&home, "default")?);
    for title in ["Buy milk", "Call the bank", "Write to Ada about the engine"] {
        plain.call("create-task", json!({ "title": title, "due": "2030-01-02", "tags": ["x"] }))?;
    }
    let calls = [("list-tasks", json!({})), ("get-task", json!({ "taskId": 1 })), ("get-status", json!({}))];
    for (tool, arguments) in calls {
        let data = default.call(tool, arguments.clone())?["structuredContent"]["data"].to_string().len();
        let result = plain.call(tool, arguments)?;
        // Clients hand both to their models.
        let text = result["content"][0]["text"].as_str().map_or(0, str::len);
        let structured = result.get("structuredContent").map_or(0, |content| content.to_string().len());
        let what = format!("{tool}: {} bytes for {data} of data", text + structured);
        line(&what, (text + structured) as f64 / data as f64, "x", Limit::AtMost(OF_DATA));
    }
    Ok(())
}

/// `toolroom mcp`, spoken to line by line.
struct Client {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(home: &Path, profile: &str) -> Result<Self> {
        let mut command = Command::new(program()?);
        command.args(["mcp", "--profile", profile, "--home"]).arg(home);
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = process.stdin.take().context("the program has an input")?;
        let output = BufReader::new(process.stdout.take().context("the program has an output")?);
        let mut client = Self { process, input, output };
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" },
        });
        client.ask("initialize", params)?;
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(client)
    }

    fn say(&mut self, message: &Value) -> Result<()> {
        Ok(writeln!(self.input, "{message}")?)
    }

    /// The result, and how long the whole answer is.
    fn ask(&mut self, method: &str, params: Value) -> Result<(Value, usize)> {
        self.say(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))?;
        loop {
            let mut text = String::new();
            if self.output.read_line(&mut text)? == 0 {
                bail!("the program ended");
            }
            let mut answer: Value = serde_json::from_str(&text)?;
            if let Some(result) = answer.get_mut("result") {
                return Ok((result.take(), text.trim_end().len()));
            }
            // What is said unasked is passed over.
            if answer.get("method").is_none() {
                bail!("{method}: {text}");
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        Ok(self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))?.0)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The program of the same build.
fn program() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let program = own.with_file_name("toolroom");
    if !program.exists() {
        bail!("{} is missing: run `cargo xtask bench lists`", program.display());
    }
    Ok(program)
}
