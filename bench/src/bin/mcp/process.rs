//! A server as a child process on a core of its own, watched from outside.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::peers::Peer;

/// Makes this program serve.
pub const SERVE: &str = "--serve";
/// The core of every server; the load takes the next.
const CORE: usize = 0;

/// A server that ends with its parent.
pub struct Served {
    process: Child,
    /// The child serves until this closes.
    _stdin: Option<ChildStdin>,
    pub address: SocketAddr,
    /// What the callers show.
    pub key: String,
}

impl Served {
    pub fn start(peer: Peer) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([SERVE, peer.name()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let mut line = String::new();
        let stdout = process.stdout.take().context("the server has an output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let (address, key) = line.trim().split_once(' ').context("the server says where it listens")?;
        let (address, key) = (address.parse()?, key.to_owned());
        Ok(Self { _stdin: process.stdin.take(), process, address, key })
    }

    /// Seconds of processor time so far, all threads.
    pub fn processor_time(&self) -> Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        // The name in parentheses may hold anything; what follows is counted from behind it.
        let fields: Vec<&str> = stat.rsplit_once(") ").context("a stat line")?.1.split_whitespace().collect();
        let ticks =
            |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
        Ok((ticks(11) + ticks(12)) / 100.0)
    }

    /// Resident memory in KiB.
    pub fn memory(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).context("a line for memory")?;
        line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).context("a number of KiB")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Already gone is fine.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub fn stay_on_the_servers_core() -> Result<()> {
    pin(CORE)
}

pub fn stay_off_the_servers_core() -> Result<()> {
    if std::thread::available_parallelism()?.get() > 1 { pin(CORE + 1) } else { Ok(()) }
}

fn pin(core: usize) -> Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores).context("the core cannot be chosen")
}
