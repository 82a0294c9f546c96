//! `strace` on a running server: what it asks of the system, in order, and what it is refused.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::test_home::{Served, TestHome, until};

/// Traces until it is dropped; the server goes on.
pub struct Tracer {
    child: Child,
    log: PathBuf,
}

/// A call into the system.
#[derive(Clone, Debug)]
pub struct Call {
    pub name: String,
    pub text: String,
    /// The lines of the log in which it begins and ends.
    pub began: usize,
    pub ended: usize,
}

impl Tracer {
    /// Attaches to the server; `-e` expressions say what is traced and what is refused.
    pub fn attach(home: &TestHome, server: &Served, expressions: &[&str]) -> Self {
        let log = home.path("trace");
        let errors = home.path("trace.err");
        // What an earlier one left is not for this one.
        let _ = fs::remove_file(&log);
        let mut command = Command::new("strace");
        command.args(["-f", "-y", "-s", "64", "-p", &server.id().to_string(), "-o"]).arg(&log);
        for expression in expressions {
            command.args(["-e", expression]);
        }
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(fs::File::create(&errors).unwrap());
        let mut child = child.spawn().expect("strace is installed: `cargo xtask test` sees to it");
        until("strace is attached (as another user than root, kernel.yama.ptrace_scope must be 0)", || {
            assert!(child.try_wait().unwrap().is_none(), "{}", fs::read_to_string(&errors).unwrap());
            fs::read_to_string(&errors).unwrap().contains("attached").then_some(())
        });
        Self { child, log }
    }

    /// The log as it is now.
    pub fn text(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Detaches, and gives all calls in the order in which they began.
    pub fn calls(self) -> Vec<Call> {
        let log = self.log.clone();
        drop(self);
        parse(&fs::read_to_string(log).unwrap())
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // SIGTERM makes it detach; SIGKILL would stop the server where it is.
        let _ = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        let _ = self.child.wait();
    }
}

/// Calls that another thread interrupts stand on two lines: unfinished and resumed.
fn parse(log: &str) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut open: Vec<(String, usize)> = Vec::new();
    for (at, line) in log.lines().enumerate() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(resumed) = rest.strip_prefix("<... ") {
            let begun = open.iter().position(|(one, _)| one == thread);
            if let Some((_, index)) = begun.map(|begun| open.remove(begun)) {
                calls[index].ended = at;
                calls[index].text += resumed.split_once("resumed>").map_or("", |(_, rest)| rest);
            }
            continue;
        }
        let Some((name, _)) = rest.split_once('(') else { continue };
        if rest.ends_with("<unfinished ...>") {
            open.push((thread.to_owned(), calls.len()));
        }
        calls.push(Call { name: name.to_owned(), text: rest.to_owned(), began: at, ended: at });
    }
    calls
}
