//! How often a search finds the right tool: our search, plain BM25 and, if a Python with the packages of
//! `training/requirements.txt` is named, all-MiniLM-L6-v2, on the same tools and queries.
//!
//!     cargo xtask bench recall FOLDER [PYTHON]
//!
//! FOLDER is the data of the Berkeley Function-Calling Leaderboard (`bfcl_eval/data` of ShishirPatil/gorilla), or has
//! `NAME.tools.jsonl` and `NAME.queries.jsonl` as `training/README.md` describes them.
#![allow(clippy::print_stdout, reason = "benchmarks print their figures")]

mod bm25;
mod minilm;
mod sets;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use toolroom_bench::figures::{Limit, heading, line};
use toolroom_bench::median;
use toolroom_runtime::search;

use self::sets::Set;

/// How many tools of a search are looked at.
const SEEN: usize = 5;

fn main() -> Result<()> {
    let mut args = std::env::args_os().skip(1);
    let folder = PathBuf::from(args.next().context("name the folder with the data")?);
    let python = args.next().map(PathBuf::from);
    for set in sets::read(&folder)? {
        measure(&set, python.as_deref())?;
    }
    Ok(())
}

fn measure(set: &Set, python: Option<&std::path::Path>) -> Result<()> {
    heading(&format!("{}: {} tools, {} queries", set.name, set.tools.len(), set.queries.len()));
    let index = search::index(set.tools.iter());
    let mut times = Vec::new();
    let ours = set.queries.iter().map(|query| {
        let began = Instant::now();
        let found = index.search(&query.text, SEEN);
        times.push(began.elapsed());
        found.into_iter().map(|hit| hit.tool).collect()
    });
    let ours: Vec<Vec<usize>> = ours.collect();
    // What was asked for on the leaderboard's tools; on other sets the figures are for the record.
    let asked = |least: f64| if set.is_bfcl { Limit::AtLeast(least) } else { Limit::None };
    print(set, "our search", &ours, &[asked(62.0), Limit::None, asked(88.0)]);
    let plain = bm25::Bm25::of(&set.tools);
    let ranked: Vec<Vec<usize>> = set.queries.iter().map(|query| plain.best(&query.text, SEEN)).collect();
    print(set, "BM25 of name and description", &ranked, &[Limit::None; 3]);
    if let Some(python) = python {
        print(set, "all-MiniLM-L6-v2", &minilm::ranked(python, set, SEEN)?, &[Limit::None; 3]);
    }
    line("our search, median", median(&mut times).as_secs_f64() * 1e6, "µs", Limit::None);
    Ok(())
}

fn print(set: &Set, who: &str, ranked: &[Vec<usize>], limits: &[Limit; 3]) {
    for (most, limit) in [1, 3, SEEN].into_iter().zip(limits) {
        let found = set.queries.iter().zip(ranked);
        let found =
            found.filter(|(query, best)| best.iter().take(most).any(|tool| query.right.contains(tool)));
        let share = 100.0 * found.count() as f64 / set.queries.len().max(1) as f64;
        line(&format!("{who}: the right tool among the first {most}"), share, "%", *limit);
    }
}
