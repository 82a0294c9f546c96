//! Creates while every sync takes 4 ms longer: how many share one. `strace` delays and counts the syncs of a
//! child process, and with its seccomp filter stops at nothing else.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use toolroom_bench::figures::{Limit, heading, line};

use super::CREATES_ONLY;
use super::creates::{Door, create};

const CREATES: usize = 8_000;
const DELAY_MICROS: u32 = 4_000;

pub fn measure() -> Result<()> {
    heading("creates on SQLite, 64 callers, 4 ms added to every sync");
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("syncs");
    let mut command = Command::new("strace");
    command.args(["-f", "--seccomp-bpf", "-qq", "-e", "trace=fsync,fdatasync", "-e"]);
    command.arg(format!("inject=fsync,fdatasync:delay_exit={DELAY_MICROS}")).arg("-o").arg(&log);
    command.arg(std::env::current_exe()?).arg(CREATES_ONLY).arg(folder.path());
    let output = command.output().context("cannot start strace; it delays the syncs")?;
    if !output.status.success() {
        bail!("the child failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let creates: f64 = String::from_utf8_lossy(&output.stdout).trim().parse()?;
    // Every sync of the process counts: those of opening and of checkpoints too.
    let log = std::fs::read_to_string(&log)?;
    let syncs = log.lines().filter(|line| line.contains("sync(") && !line.contains("resumed")).count();
    line("syncs of the process, counted by strace", syncs as f64, "", Limit::None);
    line("creates per sync", creates / syncs as f64, "", Limit::AtLeast(16.0));
    Ok(())
}

/// What the child does: creates, and says how many.
pub fn child(folder: Option<&str>) -> Result<()> {
    let folder = Path::new(folder.context("a folder is missing")?);
    let two = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let made = two.block_on(create(folder, Door::Pipeline, CREATES))?;
    println!("{}", made.creates);
    Ok(())
}
