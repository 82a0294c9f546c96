//! Servers of every era and transport that do what a file says, and can be restarted.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::test_servers::MCP1;
use crate::programs::{program, python_script};
use crate::test_home::{TestHome, until};

pub struct Eras {
    mode: &'static str,
    file: PathBuf,
    port: u16,
    running: Option<Child>,
}

impl Eras {
    /// One at a URL is started; one on stdio is started by whoever uses it.
    pub fn start(home: &TestHome, mode: &'static str, script: &Value) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut eras = Self { mode, file: home.path(&format!("{mode}.json")), port, running: None };
        eras.says(script);
        eras.run();
        eras
    }

    fn run(&mut self) {
        if self.is_stdio() {
            return;
        }
        let mut command = Command::new(program(MCP1));
        command
            .args([&python_script("upstream_eras.py"), self.mode])
            .arg(&self.file)
            .arg(self.port.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.running = Some(command.spawn().unwrap());
        until("it listens", || TcpStream::connect(("127.0.0.1", self.port)).ok());
    }

    fn is_stdio(&self) -> bool {
        self.mode.ends_with("stdio")
    }

    pub fn entry(&self) -> Value {
        let url = |path: &str| format!("http://127.0.0.1:{}{path}", self.port);
        match self.mode {
            "stateless-stdio" => json!({
                "command": program(MCP1), "args": [python_script("upstream_eras.py"), self.mode, self.file],
            }),
            "sse" => json!({ "url": url("/sse"), "type": "sse" }),
            _ => json!({ "url": url("/mcp") }),
        }
    }

    /// What it says from now on; it tells nobody.
    pub fn says(&self, script: &Value) {
        let aside = self.file.with_extension("aside");
        fs::write(&aside, script.to_string()).unwrap();
        fs::rename(aside, &self.file).unwrap();
    }

    /// Ends it the hard way, and starts it as another.
    pub fn restart(&mut self, script: &Value) {
        match &mut self.running {
            Some(running) => {
                running.kill().unwrap();
                running.wait().unwrap();
            }
            None => {
                let pid = self.starts().last().unwrap().to_string();
                assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
            }
        }
        self.says(script);
        self.run();
    }

    fn notes(&self) -> Vec<Value> {
        let text = fs::read_to_string(format!("{}.log", self.file.display())).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The process of every start.
    pub fn starts(&self) -> Vec<u64> {
        self.notes().iter().filter_map(|note| note["pid"].as_u64()).collect()
    }

    /// How often a method was asked for.
    pub fn asked(&self, method: &str) -> usize {
        self.notes().iter().filter(|note| note["received"]["method"] == method).count()
    }
}

impl Drop for Eras {
    fn drop(&mut self) {
        if let Some(running) = &mut self.running {
            let _ = running.kill();
            let _ = running.wait();
        }
    }
}
