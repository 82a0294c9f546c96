//! A server as a child process on a core of its own, watched from outside.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_setaffinity};

/// Makes a benchmark's program serve.
pub const SERVE: &str = "--serve";
/// The core of what is measured; the load takes the next.
const CORE: usize = 0;

/// A server that ends with its parent.
pub struct Served {
    process: Child,
    /// The child serves until this closes.
    _stdin: Option<ChildStdin>,
    /// Where it listens.
    pub address: SocketAddr,
    /// What the callers show.
    pub key: String,
}

impl Served {
    /// This program again, as the server of that name.
    pub fn start(name: &str, arguments: &[&str]) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([SERVE, name]).args(arguments);
        Self::run(command)
    }

    /// A program that says `ADDRESS KEY` when it listens, and ends when its input does.
    pub fn run(mut command: Command) -> Result<Self> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
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

/// What a server of a benchmark runs on: one thread, a log as the real one has, an end when the parent's does.
pub fn serve<F: Future<Output = Result<()>>>(serving: F) -> Result<()> {
    // As the server logs: info and above, one line each.
    tracing_subscriber::fmt().with_max_level(tracing::Level::INFO).with_writer(std::io::sink).init();
    std::thread::spawn(|| {
        // Nothing is written to it: the read ends when the parent does.
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?.block_on(serving)
}

/// For what is measured.
pub fn stay_on_the_servers_core() -> Result<()> {
    pin(CORE)
}

/// For the load, and whatever else is not measured.
pub fn stay_off_the_servers_core() -> Result<()> {
    if std::thread::available_parallelism()?.get() > 1 { pin(CORE + 1) } else { Ok(()) }
}

fn pin(core: usize) -> Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores).context("the core cannot be chosen")
}
