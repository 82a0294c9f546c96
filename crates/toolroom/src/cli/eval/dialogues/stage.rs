//! Where scenes are played: a scratch home without a model, at a fixed time, by the same API that everybody uses.

use anyhow::{Context, Result};
use http::Method;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::scene::Setup;
use crate::client::Client;
use crate::config::Overrides;
use crate::home::Home;

/// A Wednesday morning.
const NOW: &str = "2026-11-18T08:30:00Z";
const ZONE: &str = "Europe/Berlin";

/// A home with tasks in it.
pub struct Stage {
    client: Client,
    setup: Vec<Setup>,
    /// The tasks as they are at the beginning of a scene.
    pub tasks: Vec<Task>,
    _folder: TempDir,
}

/// A task as it is listed.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    pub task_id: i64,
    pub title: String,
    pub description: Option<String>,
    pub priority: String,
    pub due: Option<String>,
    #[serde(default)]
    pub tags: Vec<String>,
    pub status: String,
    version: i64,
}

/// An answer of the chat.
#[derive(Deserialize)]
pub struct Answer {
    conversation_id: String,
    pub response: String,
    pub pending_confirmation: Option<Value>,
}

impl Stage {
    /// A new one.
    pub async fn open(setup: &[Setup]) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a scratch folder")?;
        let (home, _) = Home::prepare(Some(&folder.path().join("home")), false)?;
        let client = Client::open(&home, &Overrides::default()).await?;
        let mut stage = Self { client, setup: setup.to_vec(), tasks: Vec::new(), _folder: folder };
        for task in setup {
            let status = if task.done { "completed" } else { "pending" };
            let mut params = json!({ "title": task.title, "status": status, "tags": task.tags });
            let due = task.due.as_deref().map(on_the_clocks_there);
            for (name, value) in [("due", &due), ("priority", &task.priority)] {
                if let Some(value) = value {
                    params[name] = value.clone().into();
                }
            }
            stage.call("create-task", params).await?;
        }
        stage.tasks = stage.list().await?;
        Ok(stage)
    }

    /// The stage for these tasks: the old one if nobody has changed it.
    pub async fn fresh(old: Option<Self>, setup: &[Setup]) -> Result<Self> {
        if let Some(old) = old {
            if old.setup == setup && old.list().await? == old.tasks {
                return Ok(old);
            }
            old.client.close().await;
        }
        Self::open(setup).await
    }

    /// Says something; an answer before goes on with its conversation.
    pub async fn say(&self, text: &str, before: Option<&Answer>) -> Result<Answer> {
        let mut body = json!({ "message": text, "context": { "timestamp": NOW, "timezone": ZONE } });
        if let Some(before) = before {
            body["conversation_id"] = before.conversation_id.clone().into();
        }
        let answer = self.client.request(Method::POST, "/api/v1/chat", Some(&body)).await?;
        Ok(serde_json::from_value(answer)?)
    }

    /// All tasks, deleted ones aside.
    pub async fn list(&self) -> Result<Vec<Task>> {
        let listed = self.call("list-tasks", json!({ "whole": true })).await?;
        Ok(serde_json::from_value(listed["data"]["tasks"].clone())?)
    }

    async fn call(&self, tool: &str, params: Value) -> Result<Value> {
        let body = json!({ "params": params });
        self.client.request(Method::POST, &format!("/api/v1/tools/{tool}/call"), Some(&body)).await
    }

    pub async fn close(self) {
        self.client.close().await;
    }
}

/// A time without an offset is one on the clocks of the scene.
fn on_the_clocks_there(due: &str) -> String {
    let wall = due.parse::<jiff::civil::DateTime>().ok().filter(|_| due.contains('T'));
    let zone = TimeZone::get(ZONE).ok();
    let at = wall.zip(zone).and_then(|(wall, zone)| zone.to_ambiguous_timestamp(wall).compatible().ok());
    at.map_or_else(|| due.to_owned(), |at| at.to_string())
}

impl Task {
    /// The due date on the clocks of the scene: `2026-11-20`, or `2026-11-20T16:00`.
    pub fn local_due(&self) -> Option<String> {
        let due = self.due.clone()?;
        let local = due.parse::<Timestamp>().ok().zip(TimeZone::get(ZONE).ok());
        Some(match local {
            Some((at, zone)) => zone.to_datetime(at).strftime("%Y-%m-%dT%H:%M").to_string(),
            None => due,
        })
    }
}
