//! What the pipeline costs: median per call, and how it scales over two cores.
#![allow(clippy::print_stdout, reason = "benchmarks print their figures")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolroom_bench::{median, principal, request, runtime};
use toolroom_runtime::{Runtime, step_timer};

const CALLS: usize = 50_000;
const ROUNDS: usize = 7;

fn main() -> anyhow::Result<()> {
    // As the server logs: info and above, one line each.
    tracing_subscriber::fmt().with_max_level(tracing::Level::INFO).with_writer(std::io::sink).init();
    let folder = tempfile::tempdir()?;
    let one = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let runtime = one.block_on(async { runtime(folder.path()) })?;
    println!("{:<46} {:>10} {:>8}", "in process, one thread, journal on", "median", "limit");
    one.block_on(async {
        let (mut full, mut cached) = (Vec::new(), Vec::new());
        // In turns, and the middle round counts: the machine has faster and slower moments.
        for _ in 0..ROUNDS {
            full.push(median(&mut times(&runtime, "add-numbers", CALLS).await));
            cached.push(median(&mut times(&runtime, "add-cached", CALLS).await));
        }
        report("full pipeline, trivial native tool", &mut full, 8.0);
        report("answer out of the cache", &mut cached, 5.0);
        shares(&runtime).await;
    });
    drop(one);
    scaling(&runtime)
}

async fn times(runtime: &Arc<Runtime>, tool: &str, calls: usize) -> Vec<Duration> {
    let caller = principal();
    let mut times = Vec::with_capacity(calls);
    for turn in 0..calls + calls / 10 {
        let request = request(tool, &caller, 7);
        let began = Instant::now();
        let reply = runtime.call(request).await;
        let took = began.elapsed();
        assert!(reply.result.data().is_some(), "the call failed: {:?}", reply.result);
        // The first tenth warms up.
        if turn >= calls / 10 {
            times.push(took);
        }
    }
    times
}

fn report(what: &str, times: &mut [Duration], limit: f64) {
    let micros = median(times).as_secs_f64() * 1e6;
    let verdict = if micros <= limit { "" } else { "  OVER" };
    println!("{what:<46} {micros:>7.2} µs {limit:>5.0} µs{verdict}");
}

/// The mean share of each step, marks included: they cost about 30 ns each.
async fn shares(runtime: &Arc<Runtime>) {
    let caller = principal();
    let mut sums: Vec<(&'static str, Duration)> = Vec::new();
    for _ in 0..CALLS {
        let request = request("add-numbers", &caller, 7);
        step_timer::start();
        runtime.call(request).await;
        for (at, (step, took)) in step_timer::stop().into_iter().enumerate() {
            match sums.get_mut(at) {
                Some(sum) => sum.1 += took,
                None => sums.push((step, took)),
            }
        }
    }
    let whole: f64 = sums.iter().map(|(_, took)| took.as_secs_f64()).sum();
    println!("share of each step, full pipeline:");
    for (step, took) in &sums {
        let took = took.as_secs_f64();
        println!("    {step:<20} {:>6.2} µs {:>6.1} %", took / CALLS as f64 * 1e6, took / whole * 100.0);
    }
}

fn scaling(runtime: &Arc<Runtime>) -> anyhow::Result<()> {
    let two = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let rate = |tasks: usize| -> anyhow::Result<f64> {
        let began = Instant::now();
        two.block_on(async {
            let work: Vec<_> = (0..tasks)
                .map(|_| {
                    let runtime = Arc::clone(runtime);
                    tokio::spawn(async move {
                        let caller = principal();
                        for turn in 0..(CALLS * 2 / tasks) {
                            runtime.call(request("add-numbers", &caller, 7)).await;
                            // A real caller waits for its socket between two calls.
                            if turn % 16 == 0 {
                                tokio::task::yield_now().await;
                            }
                        }
                    })
                })
                .collect();
            for task in work {
                task.await?;
            }
            anyhow::Ok(())
        })?;
        Ok(CALLS as f64 * 2.0 / began.elapsed().as_secs_f64())
    };
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let (alone, together) = (rate(1)?, rate(16)?);
        rounds.push((together / alone, alone, together));
    }
    rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (ratio, alone, together) = rounds[ROUNDS / 2];
    let verdict = if ratio >= 1.7 { "" } else { "  UNDER" };
    println!("1 task: {alone:.0} calls/s, 16 tasks on two cores: {together:.0} calls/s");
    println!("{:<46} {ratio:>9.2} x {:>7}{verdict}", "scaling", "1.7 x");
    Ok(())
}
