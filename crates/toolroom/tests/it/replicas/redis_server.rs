//! A Redis server of the test's own, which it can kill and start again.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::test_home::until;

pub struct RedisServer {
    folder: TempDir,
    pub port: u16,
    options: Vec<String>,
    server: Option<Child>,
}

impl RedisServer {
    pub fn start() -> Self {
        Self::start_with(|port| vec!["--port".to_owned(), port.to_string()])
    }

    /// The same, with options of the test's own for its port.
    pub fn start_with(options: impl FnOnce(u16) -> Vec<String>) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        // Debian has one program, which is the server if it is called so.
        std::os::unix::fs::symlink(program(), folder.path().join("redis-server")).unwrap();
        let mut redis = Self { folder, port, options: options(port), server: None };
        redis.start_again();
        redis
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub fn start_again(&mut self) {
        // The kernel ends the server if the test is killed.
        let mut server = Command::new("setpriv");
        server.args(["--pdeathsig", "KILL"]).arg(self.folder.path().join("redis-server"));
        server.args(["--bind", "127.0.0.1", "--save", "", "--dir"]).arg(self.folder.path());
        server.args(&self.options).stdin(Stdio::null()).stdout(Stdio::null());
        self.server = Some(server.spawn().unwrap());
        until("Redis listens", || TcpStream::connect(("127.0.0.1", self.port)).ok());
    }

    pub fn kill(&mut self) {
        let mut server = self.server.take().expect("it runs");
        server.kill().unwrap();
        server.wait().unwrap();
    }

    /// What it answers to a command in plain words.
    pub fn ask(&self, command: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(format!("{command}\r\nQUIT\r\n").as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        if self.server.is_some() {
            self.kill();
        }
    }
}

fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_folder = |folder: &Path| {
        let named = |name: &str| Some(folder.join(name)).filter(|file| file.is_file());
        named("redis-server").or_else(|| named("redis-check-rdb")).or_else(|| named("valkey-server"))
    };
    let found = std::env::split_paths(&path).find_map(|folder| in_folder(&folder));
    found.expect("Redis is not to be found: `cargo xtask test` installs it")
}
