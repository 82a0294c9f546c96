//! Other MCP servers that are killed, come and go, or mean harm, as callers of Toolroom see it.

mod canary;
mod come_and_go;
mod hostile;
mod killed;

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{client, figure};
use crate::federation::test_servers::MCP1;
use crate::programs::{program, python_script};
use crate::test_home::{TestHome, until};

/// The server that does what it should not, and the file in which it notes what it was asked.
struct Hostile {
    manner: &'static str,
    notes: PathBuf,
}

impl Hostile {
    fn new(home: &TestHome, manner: &'static str) -> Self {
        Self { manner, notes: home.path(&format!("{manner}.notes")) }
    }

    fn entry(&self) -> Value {
        json!({
            "command": program(MCP1),
            "args": [python_script("upstream_hostile.py"), self.manner, self.notes],
        })
    }

    /// The numbers of all lines that begin with that word.
    fn noted(&self, word: &str) -> Vec<f64> {
        let text = fs::read_to_string(&self.notes).unwrap_or_default();
        // A line without its end is still being written.
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let lines = whole.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
        lines.map(|number| number.parse().unwrap()).collect()
    }
}

/// A Python server at a URL.
struct Listening {
    child: Child,
    port: u16,
}

impl Listening {
    fn start(transport: &str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(program(MCP1));
        command.args([&python_script("upstream_mcp1.py"), transport, &port.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let listening = Self { child: command.spawn().unwrap(), port };
        until("the server listens", || TcpStream::connect(("127.0.0.1", port)).ok());
        listening
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
