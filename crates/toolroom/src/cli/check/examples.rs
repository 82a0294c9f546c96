//! Runs the examples of every tool in a scratch home, through the same API as any caller.

use anyhow::{Context, Result};
use http::Method;
use serde_json::{Value, json};

use super::compare::{Mismatch, compare};
use crate::client::{Answer, Client, encoded};
use crate::config::Overrides;
use crate::home::Home;
use crate::terminal::plain;

/// The life of a task: examples of a later verb may name what an earlier one made.
const LIFE_OF_A_TASK: [&str; 9] =
    ["create", "list", "get", "update", "complete", "find", "batch", "delete", "restore"];

/// Runs every example and says how each came out.
pub async fn run() -> Result<Vec<Value>> {
    let folder = tempfile::tempdir().context("cannot create a scratch folder")?;
    let (home, _) = Home::prepare(Some(&folder.path().join("home")), false)?;
    let client = Client::open(&home, &Overrides::default()).await?;
    let listing = client.get("/api/v1/tools").await?;
    let mut tools = listing["tools"].as_array().cloned().unwrap_or_default();
    tools.sort_by_key(|tool| place(tool["name"].as_str().unwrap_or_default()));
    let mut results = Vec::new();
    for tool in &tools {
        for example in tool["examples"].as_array().into_iter().flatten() {
            let name = plain(&tool["name"]);
            let answer = call(&client, &name, &example["params"]).await?;
            // A scratch home has no search engine and the like: what needs one cannot be tried.
            let skipped = answer.json["error"]["code"] == "not_configured";
            let mismatches: Vec<Value> = if skipped {
                Vec::new()
            } else {
                judge(example, &answer).iter().map(Mismatch::to_json).collect()
            };
            results.push(json!({
                "tool": name, "description": example["description"], "passes": mismatches.is_empty(),
                "skipped": skipped, "mismatches": mismatches,
            }));
        }
    }
    Ok(results)
}

/// Tools that are not about tasks come first, as they stand in the catalogue.
fn place(name: &str) -> usize {
    let Some((verb, "task" | "tasks")) = name.split_once('-') else { return 0 };
    let batch = LIFE_OF_A_TASK.len() - 3;
    LIFE_OF_A_TASK.iter().position(|one| *one == verb).unwrap_or(batch) + 1
}

/// Where an answer is not as the example says.
pub fn judge(example: &Value, answer: &Answer) -> Vec<Mismatch> {
    let expected = &example["expectedResult"];
    // What the server listed was read from the same type.
    let varies = serde_json::from_value(example["varies"].clone()).unwrap_or_default();
    match answer.json.get("data") {
        Some(data) => compare(expected, &varies, data),
        None => {
            let found = answer.json.get("error").unwrap_or(&answer.json).clone();
            vec![Mismatch { pointer: String::new(), expected: expected.clone(), found }]
        }
    }
}

/// The checker is the person who decides, in its own scratch home.
pub async fn call(client: &Client, name: &str, params: &Value) -> Result<Answer> {
    let path = format!("/api/v1/tools/{}/call", encoded(name));
    let body = json!({ "params": params });
    let answer = client.send(Method::POST, &path, Some(&body), &[]).await?;
    let Some(id) = answer.json["pending"]["id"].as_str().map(str::to_owned) else { return Ok(answer) };
    let verdict = match answer.json["pending"]["kind"].as_str() {
        Some("question") => json!({ "answer": "yes" }),
        _ => json!({ "decision": "approve" }),
    };
    client.request(Method::POST, &format!("/api/v1/approvals/{id}"), Some(&verdict)).await?;
    client.send(Method::POST, &path, Some(&body), &[("x-approval-id", id)]).await
}
