//! Runs named steps, says when each begins, and closes with a table of their times.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// The steps of one command, in the order they ran.
pub struct Steps {
    began: Instant,
    ended: Vec<Ended>,
}

struct Ended {
    name: &'static str,
    took: Duration,
    ok: bool,
}

/// Runs `work` and prints the table of its steps, whether it succeeds or not.
pub fn with_table(work: impl FnOnce(&mut Steps) -> Result<()>) -> Result<()> {
    let mut steps = Steps { began: Instant::now(), ended: Vec::new() };
    let result = work(&mut steps);
    println!("\n{}", steps.table());
    result
}

impl Steps {
    /// Runs one step and records how long it took.
    pub fn run<T>(&mut self, name: &'static str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("\n[{:6.1} s] {name}", self.began.elapsed().as_secs_f64());
        let began = Instant::now();
        let result = step();
        self.ended.push(Ended { name, took: began.elapsed(), ok: result.is_ok() });
        result.with_context(|| format!("the step `{name}` failed"))
    }

    fn table(&self) -> String {
        let row = |name: &str, outcome: &str, took: Duration| {
            format!("{name:<14} {outcome:<7} {:>9.1}\n", took.as_secs_f64())
        };
        let mut table = format!("{:<14} {:<7} {:>9}\n", "step", "result", "seconds");
        for step in &self.ended {
            table.push_str(&row(step.name, if step.ok { "ok" } else { "FAILED" }, step.took));
        }
        let all_ok = self.ended.iter().all(|step| step.ok);
        table.push_str(&row("total", if all_ok { "ok" } else { "FAILED" }, self.began.elapsed()));
        table
    }
}
