//! Logging in to a server that wants a token, as a person does it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::programs::{program, python_script};
use crate::test_home::{Reply, TestHome};

/// A server that wants a token, with its authorization server.
pub struct Guarded {
    child: Child,
    url: String,
}

impl Guarded {
    fn start() -> Self {
        Self::with_tokens_of(3600)
    }

    /// The same, with tokens that live for so many seconds.
    pub fn with_tokens_of(seconds: u32) -> Self {
        let mut command = Command::new(program("TOOLROOM_TEST_PYTHON"));
        command.arg(python_script("upstream_login.py")).arg(seconds.to_string());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let url = first_line(&mut BufReader::new(child.stdout.take().unwrap()), "http://");
        Self { child, url }
    }

    /// Its entry in mcp.json.
    pub fn entry(&self) -> Value {
        json!({ "url": format!("{}/mcp", self.url) })
    }

    /// How often tokens were renewed, and how many logins were ended because a refresh token came twice.
    pub fn report(&self) -> (u64, u64) {
        let report = self.reported();
        (report["renewed"].as_u64().unwrap(), report["ended"].as_u64().unwrap())
    }

    /// How many codes came to be redeemed.
    pub fn codes(&self) -> u64 {
        self.reported()["came"].as_u64().unwrap()
    }

    fn reported(&self) -> Value {
        let host = self.url.strip_prefix("http://").unwrap();
        let text = format!("GET /report HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        Reply::over(TcpStream::connect(host).unwrap(), &text).json
    }
}

/// Logs in by the command and a browser.
pub fn log_in(home: &TestHome, server: &str) {
    let mut login = home.command(&["servers", "login", server]);
    let mut login = login.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(login.stdout.take().unwrap());
    browse(&first_line(&mut out, "/authorize?"));
    assert!(first_line(&mut out, "logged in").starts_with(&format!("logged in to {server}")));
    assert!(login.wait().unwrap().success());
}

/// A login by the command whose person has not come back yet. Ends with this.
pub struct Begun {
    login: Child,
    out: BufReader<std::process::ChildStdout>,
    pub url: String,
}

pub fn began(home: &TestHome, server: &str) -> Begun {
    let mut login = home.command(&["servers", "login", server]);
    let mut login = login.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(login.stdout.take().unwrap());
    let url = first_line(&mut out, "/authorize?");
    Begun { login, out, url }
}

impl Begun {
    /// Waits for its end, which says this.
    pub fn ended(mut self, text: &str) {
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).unwrap();
        self.login.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert!(out.contains(text) || err.contains(text), "{out}{err}");
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let _ = self.login.kill();
        let _ = self.login.wait();
    }
}

/// Opens a URL of an authorization server, which sends the browser back there: the query with which it comes.
pub fn answer_at(url: &str, back: &str) -> String {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let next = answer.lines().find_map(|line| line.strip_prefix("location: ")).unwrap().trim();
    next.strip_prefix(&format!("{back}?")).unwrap_or_else(|| panic!("{answer}")).to_owned()
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first line that holds a text.
fn first_line(out: &mut impl BufRead, text: &str) -> String {
    let mut line = String::new();
    while !line.contains(text) {
        line.clear();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "it ended without saying {text}");
    }
    line.trim().to_owned()
}

/// Opens a URL of this machine, as a browser that follows redirects.
fn browse(url: &str) {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    if let Some(next) = answer.lines().find_map(|line| line.strip_prefix("location: ")) {
        return browse(next.trim());
    }
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn a_person_logs_in_once_and_the_server_can_be_used_until_they_log_out() {
    let guarded = Guarded::start();
    let home = TestHome::new();
    home.json(&["servers", "list"]);
    let entry = json!({ "mcpServers": { "docs": guarded.entry() } });
    std::fs::write(home.home().join("mcp.json"), entry.to_string()).unwrap();
    let before = home.json(&["servers", "show", "docs", "--start"]);
    assert!(before["reason"].as_str().unwrap().contains("toolroom servers login docs"), "{before}");

    log_in(&home, "docs");

    // Another process, and a server in the background.
    assert_eq!(home.json(&["servers", "show", "docs", "--start"])["state"], "ready");
    let served = home.serve();
    let shown = home.json(&["servers", "show", "docs", "--start"]);
    assert_eq!((&shown["state"], &shown["reason"]), (&json!("ready"), &json!(null)), "{shown}");
    assert!(!shown.to_string().contains("given"), "nobody sees the token");
    assert_eq!(home.run(&["servers", "logout", "docs"]).code, 0);
    assert!(!home.home().join("logins/docs.json").exists());
    drop(served);
    let after = home.json(&["servers", "show", "docs", "--start"]);
    assert!(after["reason"].as_str().unwrap().contains("toolroom servers login docs"), "{after}");
}

#[test]
fn a_login_where_none_is_wanted_says_why_not() {
    let home = TestHome::new();
    home.json(&["servers", "list"]);
    let entry = json!({ "mcpServers": { "here": { "command": "true" } } });
    std::fs::write(home.home().join("mcp.json"), entry.to_string()).unwrap();
    let done = home.run(&["servers", "login", "here"]);
    assert!(done.code != 0 && done.err.contains("needs no login"), "{done:?}");
    let done = home.run(&["servers", "login", "nobody"]);
    assert!(done.code != 0 && done.err.contains("Unknown server"), "{done:?}");
}

#[test]
fn a_server_that_is_removed_is_logged_out() {
    let home = TestHome::new();
    home.json(&["servers", "list"]);
    let entry = json!({ "mcpServers": { "docs": { "url": "http://127.0.0.1:9/mcp" } } });
    std::fs::write(home.home().join("mcp.json"), entry.to_string()).unwrap();
    let kept = home.home().join("logins/docs.json");
    std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
    std::fs::write(&kept, "{}").unwrap();
    assert_eq!(home.run(&["servers", "remove", "docs"]).code, 0);
    assert!(!kept.exists(), "the next server of that name must not find it");
}
