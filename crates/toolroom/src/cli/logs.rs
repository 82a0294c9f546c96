//! `toolroom logs`: the execution log, newest at the bottom.

use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use jiff::{Span, Timestamp, Zoned, civil, tz::TimeZone};
use serde_json::Value;
use tokio::time::sleep;

use super::{Globals, one_execution};
use crate::client::{Client, encoded};
use crate::failure::Failure;
use crate::home::Home;
use crate::terminal::{self, Rows, Tint, cell, name_cell, plain, tinted};

/// Show the execution log, newest at the bottom
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom logs --status error --since 2h
  toolroom logs --tool get-status --follow --json
  toolroom logs show 0197f1c2-…              one call, with its output")]
pub struct Logs {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Only calls of this tool
    #[arg(long, value_name = "N", add = super::candidates::tools())]
    tool: Option<String>,
    /// Only calls of this user
    #[arg(long, value_name = "U")]
    user: Option<String>,
    /// Only calls with this status
    #[arg(long, value_name = "S", value_parser = PossibleValuesParser::new(STATES))]
    status: Option<String>,
    /// Only calls that were answered from the cache
    #[arg(long)]
    cached: bool,
    /// Only calls that failed or timed out
    #[arg(long)]
    failed: bool,
    /// Only calls since then: 10m, 2h, 3d, 2026-01-31, or 2026-01-31T12:00:00Z
    #[arg(long, value_name = "T")]
    since: Option<String>,
    /// Only calls of this trace; with hyphens or without
    #[arg(long, value_name = "ID")]
    trace: Option<String>,
    /// Stay, and show calls as they start and end
    #[arg(long, short)]
    follow: bool,
    /// At most this many, the newest
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show one call: input, output, what its tool printed, and its traceback if it failed
    #[command(after_help = "Example:\n  toolroom logs show 0197f1c2-3c1b-7000-8000-000000000000")]
    Show {
        /// The execution's id
        #[arg(add = super::candidates::executions())]
        id: String,
    },
}

const STATES: [&str; 7] = ["ok", "error", "cancelled", "timeout", "pending", "running", "interrupted"];
/// The most that one request gives.
const PAGE: usize = 1000;
/// Between two looks when following.
const LOOK: Duration = Duration::from_millis(300);
const HEADER: [&str; 6] = ["time", "status", "tool", "user", "ms", "message"];

impl Logs {
    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        if let Some(Verb::Show { id }) = &self.verb {
            return one_execution::show(globals, id).await;
        }
        let filter = self.filter()?;
        let mut client = globals.client().await?;
        let tail = if self.follow { Some(tail(&client, &filter).await?) } else { None };
        let rows = self.newest(&client, &filter).await?;
        if globals.json {
            rows.iter().try_for_each(|row| terminal::say(&row.to_string()))?;
        } else {
            table(&rows, if self.follow { "no calls yet; waiting" } else { "no calls fit" })?;
        }
        let Some(mut cursor) = tail else { return Ok(ExitCode::SUCCESS) };
        let mut shown: HashSet<String> = rows.iter().map(identity).collect();
        loop {
            // The home must be free for those whose calls are to be seen.
            let served = client.is_served();
            drop(client);
            match served {
                true => sleep(LOOK).await,
                false => wait_for_news(&globals.home()?).await,
            }
            client = globals.client().await?;
            let page = client.get(&format!("/api/v1/executions?{filter}after={}", encoded(&cursor))).await?;
            for row in page["executions"].as_array().into_iter().flatten() {
                // The first page may have shown it already.
                if !shown.remove(&identity(row)) {
                    line(row, globals.json)?;
                }
            }
            if let Some(next) = page["nextCursor"].as_str() {
                cursor = next.to_owned();
            }
        }
    }

    fn filter(&self) -> Result<String> {
        let since = self.since.as_deref().map(instant).transpose()?.map(|at| at.to_string());
        let flag = |given: bool| given.then(|| "true".to_owned());
        let (cached, failed) = (flag(self.cached), flag(self.failed));
        let fields = [
            ("cached", &cached),
            ("failed", &failed),
            ("tool", &self.tool),
            ("user", &self.user),
            ("status", &self.status),
            ("since", &since),
            ("traceId", &self.trace),
        ];
        let given = fields.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        Ok(given.map(|(name, value)| format!("{name}={}&", encoded(value))).collect())
    }

    /// The newest that fit, oldest first.
    async fn newest(&self, client: &Client, filter: &str) -> Result<Vec<Value>> {
        let mut rows = Vec::new();
        let mut cursor = String::new();
        while rows.len() < self.limit {
            let limit = (self.limit - rows.len()).min(PAGE);
            let page = client.get(&format!("/api/v1/executions?{filter}{cursor}limit={limit}")).await?;
            rows.extend(page["executions"].as_array().cloned().unwrap_or_default());
            let Some(next) = page["nextCursor"].as_str() else { break };
            cursor = format!("cursor={}&", encoded(next));
        }
        rows.reverse();
        Ok(rows)
    }
}

async fn tail(client: &Client, filter: &str) -> Result<String> {
    let page = client.get(&format!("/api/v1/executions?{filter}after=")).await?;
    Ok(plain(&page["nextCursor"]))
}

/// Waits until a file grows or a server answers: opening the home leaves a mark in the log itself.
async fn wait_for_news(home: &Home) {
    let seen = folder_size(home);
    while folder_size(home) == seen && !home.socket().exists() {
        sleep(LOOK).await;
    }
}

fn folder_size(home: &Home) -> u64 {
    let entries = std::fs::read_dir(home.logs()).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|found| found.len()).sum()
}

fn identity(row: &Value) -> String {
    format!("{} {}", plain(&row["executionId"]), plain(&row["status"]))
}

/// An instant, a day here, or a span back from now.
pub fn instant(text: &str) -> Result<Timestamp> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at);
    }
    let day = text.parse::<civil::DateTime>().or_else(|_| text.parse::<civil::Date>().map(Into::into));
    let at = match day {
        Ok(day) => day.to_zoned(TimeZone::system()).ok(),
        Err(_) => text.parse::<Span>().ok().and_then(|span| Zoned::now().checked_sub(span.abs()).ok()),
    };
    at.map(|at| at.timestamp()).ok_or_else(|| {
        let message = format!("--since '{text}' is neither a time nor a duration");
        Failure::usage(message, "Use 10m, 2h, 3d, 2026-01-31 or 2026-01-31T12:00:00Z.").into()
    })
}

fn table(rows: &[Value], if_empty: &str) -> Result<()> {
    let mut shown = Rows::new(&HEADER);
    for row in rows {
        shown.add([
            cell(terminal::moment(&row["startedAt"])),
            tinted(plain(&row["status"]), tint(row)),
            name_cell(plain(&row["tool"])),
            name_cell(plain(&row["user"])),
            cell(milliseconds(row)),
            cell(message(row)),
        ]);
    }
    Ok(shown.say(if_empty)?)
}

fn line(row: &Value, json: bool) -> Result<()> {
    if json {
        return Ok(terminal::say(&row.to_string())?);
    }
    let text = format!(
        "{}  {:<9} {:<20} {:<10} {:>8}  {}",
        terminal::moment(&row["startedAt"]),
        plain(&row["status"]),
        plain(&row["tool"]),
        plain(&row["user"]),
        milliseconds(row),
        message(row)
    );
    Ok(terminal::say(text.trim_end())?)
}

fn message(row: &Value) -> String {
    match (row.get("code"), row.get("message")) {
        (Some(code), Some(message)) => format!("{}: {}", plain(code), plain(message)),
        (Some(code), None) => plain(code),
        _ if row["cached"] == true => "cached".into(),
        _ if row["replayed"] == true => "replayed".into(),
        _ if row["dryRun"] == true => "dry run".into(),
        _ => String::new(),
    }
}

fn milliseconds(row: &Value) -> String {
    row["durationMs"].as_f64().map(|ms| format!("{ms:.1}")).unwrap_or_default()
}

fn tint(row: &Value) -> Tint {
    match row["status"].as_str() {
        Some("ok") => Tint::Good,
        Some("error" | "timeout" | "interrupted") => Tint::Bad,
        _ => Tint::Warn,
    }
}
