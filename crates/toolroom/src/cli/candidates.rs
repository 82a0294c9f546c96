//! What can stand at a place of the command line, for shells that complete it: asked from the home, if there is one.

use std::time::Duration;

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use serde_json::Value;

use crate::client::Client;
use crate::config::Overrides;
use crate::home::Home;
use crate::terminal::{one_line, plain};

/// Nobody waits longer for a completion.
const PATIENCE: Duration = Duration::from_secs(5);

pub fn tools() -> ArgValueCandidates {
    ArgValueCandidates::new(|| listed("/api/v1/tools", "tools", "name", "description"))
}

pub fn servers() -> ArgValueCandidates {
    ArgValueCandidates::new(|| listed("/api/v1/servers", "servers", "name", "state"))
}

pub fn profiles() -> ArgValueCandidates {
    ArgValueCandidates::new(|| listed("/api/v1/profiles", "profiles", "name", "description"))
}

pub fn keys() -> ArgValueCandidates {
    ArgValueCandidates::new(|| listed("/api/v1/keys", "keys", "id", "user"))
}

pub fn requests() -> ArgValueCandidates {
    ArgValueCandidates::new(|| listed("/api/v1/approvals", "approvals", "id", "tool"))
}

pub fn executions() -> ArgValueCandidates {
    ArgValueCandidates::new(|| listed("/api/v1/executions?limit=50", "executions", "executionId", "tool"))
}

fn listed(path: &str, list: &str, id: &str, about: &str) -> Vec<CompletionCandidate> {
    let found = ask(path).unwrap_or_default();
    let one = |one: &Value| {
        let about: String = one_line(&plain(&one[about])).chars().take(60).collect();
        CompletionCandidate::new(plain(&one[id])).help((!about.is_empty()).then(|| about.into()))
    };
    found[list].as_array().into_iter().flatten().map(one).collect()
}

/// What the home answers. None is made for this, and nobody is asked to trust one.
fn ask(path: &str) -> Option<Value> {
    let named = std::env::var_os("TOOLROOM_HOME").filter(|name| !name.is_empty());
    let home = Home::existing(named.as_deref().map(std::path::Path::new))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().ok()?;
    runtime.block_on(async {
        let answer = async { Client::open(&home, &Overrides::default()).await.ok()?.get(path).await.ok() };
        tokio::time::timeout(PATIENCE, answer).await.ok().flatten()
    })
}
