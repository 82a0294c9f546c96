//! The server with the fixtures, as a process of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A server that ends with the test.
pub struct ServerProcess {
    process: Child,
    /// The endpoint for every revision since 2025-03-26.
    pub url: String,
    /// The endpoint of the old transport.
    pub sse_url: String,
}

impl ServerProcess {
    /// The command that serves the fixtures on its standard streams.
    pub const ON_STDIO: [&str; 2] = [env!("CARGO_BIN_EXE_conformance"), "--stdio"];

    pub fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
        command.args(["--serve", "0"]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut line = || lines.next().expect("an address").unwrap();
        Self { url: line(), sse_url: line(), process }
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        self.url.split('/').nth(2).expect("an address")
    }

    /// Resident memory in KiB.
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line for memory");
        line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Already gone is fine.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
