//! What stands between a client and a server costs: Toolroom, a bare HTTP proxy and FastMCP's proxy in front of the
//! same bare server on the official SDK.
//!
//! Each gateway is a process of its own on one core; the server behind it and the load share the other.
#![allow(clippy::print_stdout, reason = "benchmarks print their figures")]

mod peers;

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use toolroom_bench::calls::{Caller, TOOL};
use toolroom_bench::figures::{Limit, heading, line};
use toolroom_bench::median;
use toolroom_bench::served::{self, Served};

use peers::{OURS, Peer};

const ROUNDS: usize = 7;
/// Calls one after the other in a round, for the latency.
const CALLS: usize = 2_000;
const CONNECTIONS: usize = 32;
/// How long a round of the throughput takes.
const SPAN: Duration = Duration::from_secs(2);
/// Calls before anything is measured.
const WARM: usize = 200;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args[..] {
        [flag, name, rest @ ..] if flag == served::SERVE => {
            return peers::serve(Peer::named(name)?, rest.first().map(String::as_str));
        }
        [] => {}
        _ => bail!("`bench gateway` takes no arguments"),
    }
    served::stay_off_the_servers_core()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let sdk = Served::start(Peer::Sdk.name(), &[])?;
        let behind = format!("http://{}/mcp", sdk.address);
        let lane = |served: Served, tool: &'static str| Lane { served, tool };
        let lanes = Lanes {
            direct: lane(sdk, TOOL),
            bare: lane(Served::start(Peer::Bare.name(), &[&behind])?, TOOL),
            ours: lane(Served::start(Peer::Ours.name(), &[&behind])?, OURS),
            fastmcp: lane(peers::fastmcp(&behind)?, TOOL),
        };
        for lane in [&lanes.direct, &lanes.bare, &lanes.ours, &lanes.fastmcp] {
            lane.latency(WARM).await?;
        }
        latency(&lanes).await?;
        throughput(&lanes).await
    })
}

/// The ways to the same tool.
struct Lanes {
    direct: Lane,
    bare: Lane,
    ours: Lane,
    fastmcp: Lane,
}

struct Lane {
    served: Served,
    /// What the tool is called there.
    tool: &'static str,
}

impl Lane {
    /// The median of so many calls, in microseconds.
    async fn latency(&self, calls: usize) -> Result<f64> {
        let mut caller = Caller::connect(&self.served, self.tool).await?;
        let mut times = Vec::with_capacity(calls);
        for _ in 0..calls {
            let began = Instant::now();
            caller.call().await?;
            times.push(began.elapsed());
        }
        Ok(median(&mut times).as_secs_f64() * 1e6)
    }

    /// Calls per second over many connections.
    async fn throughput(&self, span: Duration) -> Result<f64> {
        let mut open = Vec::new();
        for _ in 0..CONNECTIONS {
            open.push(Caller::connect(&self.served, self.tool).await?);
        }
        let began = Instant::now();
        let work: Vec<_> =
            open.into_iter().map(|caller| tokio::spawn(call_until(caller, began + span))).collect();
        let mut calls = 0;
        for connection in work {
            calls += connection.await??;
        }
        Ok(f64::from(calls) / began.elapsed().as_secs_f64())
    }
}

async fn call_until(mut caller: Caller, end: Instant) -> Result<u32> {
    let mut calls = 0;
    while Instant::now() < end {
        caller.call().await?;
        calls += 1;
    }
    Ok(calls)
}

/// In turns, and the middle round counts: the machine has faster and slower moments.
async fn latency(lanes: &Lanes) -> Result<()> {
    let mut rounds: Vec<[f64; 4]> = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push([
            lanes.direct.latency(CALLS).await?,
            lanes.bare.latency(CALLS).await?,
            lanes.ours.latency(CALLS).await?,
            lanes.fastmcp.latency(CALLS / 20).await?,
        ]);
    }
    let figure = |of: fn(&[f64; 4]) -> f64| middle(rounds.iter().map(of).collect());
    heading("median latency of a call, one at a time");
    line("bare rmcp, called directly", figure(|round| round[0]), "µs", Limit::None);
    line("behind a bare proxy that parses JSON", figure(|round| round[1]), "µs", Limit::None);
    line("behind Toolroom", figure(|round| round[2]), "µs", Limit::None);
    line("behind FastMCP's proxy", figure(|round| round[3]), "µs", Limit::None);
    line("added by the bare proxy", figure(|round| round[1] - round[0]), "µs", Limit::None);
    line("added by Toolroom", figure(|round| round[2] - round[0]), "µs", Limit::None);
    let ratio = figure(|round| (round[2] - round[0]) / (round[1] - round[0]));
    line("added by Toolroom, against the bare proxy", ratio, "x", Limit::AtMost(3.0));
    Ok(())
}

async fn throughput(lanes: &Lanes) -> Result<()> {
    let mut rounds: Vec<[f64; 3]> = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push([
            lanes.bare.throughput(SPAN).await?,
            lanes.ours.throughput(SPAN).await?,
            lanes.fastmcp.throughput(SPAN).await?,
        ]);
    }
    let figure = |of: fn(&[f64; 3]) -> f64| middle(rounds.iter().map(of).collect());
    heading(&format!("calls per second, {CONNECTIONS} connections"));
    line("bare proxy", figure(|round| round[0]), "/s", Limit::None);
    line("Toolroom", figure(|round| round[1]), "/s", Limit::None);
    line("FastMCP's proxy with a reused client", figure(|round| round[2]), "/s", Limit::None);
    line("Toolroom against FastMCP's proxy", figure(|round| round[1] / round[2]), "x", Limit::AtLeast(20.0));
    Ok(())
}

fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}
