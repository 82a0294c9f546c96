//! Durable creates by many callers at once, beside the bare loop on the same disk.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail};
use serde_json::json;
use toolroom_bench::call_of;
use toolroom_bench::figures::{Limit, heading, line};
use toolroom_bench::task_handlers::{Handlers, caller, task_runtime};
use toolroom_store::{DatabaseUrl, Store};

use super::bare::{self, Rows};

pub const CALLERS: usize = 64;
const CREATES: usize = 20_000;
/// The two take turns, so that a disk that is slow for a while is slow for both.
const ROUNDS: usize = 5;

/// What callers create at once, and by which door.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Door {
    Handler,
    Pipeline,
}

pub fn measure() -> Result<()> {
    let (mut bare, mut bare_tasks, mut handler, mut pipeline) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut per_commit = 0.0;
    for _ in 0..ROUNDS {
        bare.push(bare_rate(Rows::TaskAndAudit)?);
        bare_tasks.push(bare_rate(Rows::Task)?);
        handler.push(rate(Door::Handler)?.0);
        let (rate, shared) = rate(Door::Pipeline)?;
        pipeline.push(rate);
        per_commit = shared;
    }
    let (bare, handler, pipeline) = (middle(&mut bare), middle(&mut handler), middle(&mut pipeline));
    heading("durable creates on SQLite, 64 callers");
    line("bare loop, a commit per 32 tasks, the task row alone", middle(&mut bare_tasks), "/s", Limit::None);
    line("bare loop, a commit per 32 tasks, the rows of a create", bare, "/s", Limit::None);
    line("create-task, handler alone", handler, "/s", Limit::None);
    line("create-task, whole pipeline with journal", pipeline, "/s", Limit::None);
    line("creates per commit, whole pipeline", per_commit, "", Limit::None);
    line("handler alone, share of the bare loop", handler / bare * 100.0, "%", Limit::AtLeast(60.0));
    line("whole pipeline, share of the bare loop", pipeline / bare * 100.0, "%", Limit::AtLeast(60.0));
    Ok(())
}

/// A title and a description of usual length.
pub fn texts(who: &str, number: usize) -> (String, String) {
    let title = format!("Write the report number {number} of {who}");
    (title, "With the figures of last month, and a word on what is late.".to_owned())
}

fn bare_rate(written: Rows) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("bare.db");
    let user = tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
        let store = Store::open(&DatabaseUrl::sqlite(&path))?;
        anyhow::Ok(caller(&store, "bench").await?.user.id)
    })?;
    bare::rate(&path, user.0, CREATES, written)
}

fn rate(door: Door) -> Result<(f64, f64)> {
    let folder = tempfile::tempdir()?;
    let two = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let made = two.block_on(create(folder.path(), door, CREATES))?;
    Ok((made.rate, made.creates as f64 / made.commits as f64))
}

/// What a run of creates came to.
pub struct Made {
    pub creates: usize,
    pub commits: u64,
    pub rate: f64,
}

/// Creates that many tasks by all callers together, on a fresh database in the folder.
pub async fn create(folder: &Path, door: Door, creates: usize) -> Result<Made> {
    let store = Store::open(&DatabaseUrl::sqlite(folder.join("bench.db")))?;
    let user = caller(&store, "bench").await?;
    let handlers = Arc::new(Handlers::new(&store, &user));
    let runtime = task_runtime(store.clone(), &folder.join("logs"))?;
    let (began, before) = (Instant::now(), store.commits());
    let work: Vec<_> = (0..CALLERS)
        .map(|number| {
            let (runtime, handlers, user) = (Arc::clone(&runtime), Arc::clone(&handlers), Arc::clone(&user));
            tokio::spawn(async move {
                let who = format!("caller {number}");
                for turn in 0..creates / CALLERS {
                    let (title, description) = texts(&who, turn);
                    let params = json!({ "title": title, "description": description });
                    if door == Door::Handler {
                        handlers.call("create-task", &params).await?;
                        continue;
                    }
                    let reply = runtime.call(call_of("create-task", params, &user)).await;
                    if let Some(error) = reply.result.error() {
                        bail!("{error:?}");
                    }
                }
                Ok(())
            })
        })
        .collect();
    for one in work {
        one.await??;
    }
    let creates = creates / CALLERS * CALLERS;
    let rate = creates as f64 / began.elapsed().as_secs_f64();
    Ok(Made { creates, commits: store.commits() - before, rate })
}

fn middle(rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or_default()
}
