//! Calls that the log has, as far as they can be made again.

use anyhow::Result;
use serde_json::Value;

use crate::cli::logs::instant;
use crate::client::{Client, encoded};
use crate::terminal::plain;

/// Who makes calls again; they are not made a third time.
pub(super) const AGENT: &str = "toolroom-replay";
/// What stands in the log for a secret.
pub(super) const MASKED: &str = "[masked]";
/// The most that one request gives.
const PAGE: usize = 1000;

/// A call of the log.
pub(super) struct Recorded {
    pub(super) input: Value,
    pub(super) output: Option<Value>,
    /// The code of its error.
    pub(super) code: Option<String>,
    pub(super) ms: Option<f64>,
    pub(super) user: String,
    pub(super) started_at: Value,
}

/// The newest calls of a tool, oldest first, and how many of them cannot be made again.
pub(super) async fn calls(
    client: &Client,
    tool: &str,
    since: Option<&str>,
    limit: usize,
) -> Result<(Vec<Recorded>, usize)> {
    let since = since.map(instant).transpose()?.map(|at| format!("since={}&", encoded(&at.to_string())));
    let filter = format!("tool={}&{}", encoded(tool), since.unwrap_or_default());
    let (mut found, mut skipped, mut cursor) = (Vec::new(), 0, String::new());
    while found.len() < limit {
        let page =
            client.get(&format!("/api/v1/executions?{filter}{cursor}limit={}", limit.min(PAGE))).await?;
        for row in page["executions"].as_array().into_iter().flatten() {
            if !is_one(row) || found.len() == limit {
                continue;
            }
            if !row["input"].is_object() || row["input"].to_string().contains(MASKED) {
                skipped += 1;
                continue;
            }
            found.push(Recorded {
                input: row["input"].clone(),
                output: row.get("output").filter(|_| row["truncated"] != true).cloned(),
                code: row["code"].as_str().map(str::to_owned),
                ms: row["durationMs"].as_f64().filter(|_| row["cached"] != true),
                user: plain(&row["user"]),
                started_at: row["startedAt"].clone(),
            });
        }
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("cursor={}&", encoded(next));
    }
    found.reverse();
    Ok((found, skipped))
}

/// Whether the tool itself answered, or the parameters were refused: a limit or a denial says nothing about it.
fn is_one(row: &Value) -> bool {
    let is_ended = row["status"] == "ok" || row["status"] == "error";
    let about_tool = row["code"].as_str().is_none_or(|code| {
        ["invalid_input", "not_found", "tool_execution_error", "invalid_output", "output_too_large"]
            .contains(&code)
    });
    is_ended && about_tool && row["dryRun"] != true && row["agentId"] != AGENT
}
