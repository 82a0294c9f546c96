//! What a call over MCP costs: processor time of the server, beside the official SDK and a bare HTTP server.
//!
//! Each server is a process of its own on one core, with the same trivial tool; the load comes from the other.
//!
//! The load never sleeps where servers are compared. One that does must be woken, which costs the server that wakes it
//! more than the rest of an answer, and is asked only of a server that is slower than the load: the bare one would
//! always find it awake. What that adds is printed too.
#![allow(clippy::print_stdout, reason = "benchmarks print their figures")]

mod load;
mod peers;

use anyhow::{Result, bail};
use toolroom_bench::figures::{Limit, heading, line};
use toolroom_bench::served;

use load::Load;
use peers::Peer;

const ROUNDS: usize = 9;
const CONNECTIONS: usize = 32;
/// Calls of one round: seconds of processor time, which the kernel counts in hundredths.
const CALLS: usize = 60_000;
/// How much memory may differ after many calls: what the allocator and the caches have not given back yet.
const FLAT: f64 = 1.10;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name] = &args[..]
        && flag == served::SERVE
    {
        return peers::serve(Peer::named(name)?);
    }
    let full = match &args[..] {
        [] => false,
        [flag] if flag == "--full" => true,
        _ => bail!("`bench mcp` takes `--full`, for a million calls where memory is watched"),
    };
    served::stay_off_the_servers_core()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        compare(CONNECTIONS, Sleep::Always, false).await?;
        let awake = tokio::spawn(stay_awake());
        compare(CONNECTIONS, Sleep::Never, true).await?;
        compare(1, Sleep::Never, false).await?;
        awake.abort();
        memory(if full { 1_000_000 } else { 200_000 }).await
    })
}

/// Whether the load sleeps when it has nothing to do.
#[derive(Clone, Copy)]
enum Sleep {
    Always,
    Never,
}

/// Keeps the thread of the load from going to sleep: it looks for answers again and again.
async fn stay_awake() {
    loop {
        tokio::task::yield_now().await;
    }
}

/// Processor time per call, in turns, and the middle round counts: the machine has faster and slower moments.
async fn compare(connections: usize, sleep: Sleep, judged: bool) -> Result<()> {
    let ours = Load::new(Peer::Ours.start()?, connections);
    let sdk = Load::new(Peer::Sdk.start()?, connections);
    let bare = Load::new(Peer::Bare.start()?, connections);
    let calls = if judged { CALLS } else { CALLS / 4 };
    let mut rounds: Vec<[f64; 3]> = Vec::new();
    for load in [&ours, &sdk, &bare] {
        load.run(calls / 10).await?;
    }
    for _ in 0..ROUNDS {
        rounds.push([ours.run(calls).await?, sdk.run(calls).await?, bare.run(calls).await?]);
    }
    let limit = |most: f64| if judged { Limit::AtMost(most) } else { Limit::None };
    let load = match sleep {
        Sleep::Always => ", a load that sleeps",
        Sleep::Never => "",
    };
    heading(&format!("2026-07-28, JSON answers, one core for the server, {connections} connections{load}"));
    let figure = |of: fn(&[f64; 3]) -> f64| middle(rounds.iter().map(of).collect());
    line("processor time of a call, whole pipeline", figure(|round| round[0]), "µs", Limit::None);
    line("processor time of a call, bare rmcp", figure(|round| round[1]), "µs", Limit::None);
    line(
        "processor time of a call, bare axum that answers our bytes",
        figure(|round| round[2]),
        "µs",
        Limit::None,
    );
    line("against bare rmcp", figure(|round| round[0] / round[1]), "x", limit(1.0));
    line("against bare axum", figure(|round| round[0] / round[2]), "x", limit(2.5));
    Ok(())
}

async fn memory(calls: usize) -> Result<()> {
    let ours = Load::new(Peer::Ours.start()?, CONNECTIONS);
    ours.run(calls / 5).await?;
    let before = ours.served.memory()?;
    ours.run(calls).await?;
    let after = ours.served.memory()?;
    heading(&format!("memory, {calls} calls after a fifth of that"));
    line("before", before as f64 / 1024.0, "MiB", Limit::None);
    line("after", after as f64 / 1024.0, "MiB", Limit::None);
    line("grown", after as f64 / before as f64, "x", Limit::AtMost(FLAT));
    Ok(())
}

fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}
