//! What can stand at a place of the command line, for shells that complete it: asked from the home, if there is one.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use serde_json::Value;
use tokio::time::timeout;

use crate::client::Client;
use crate::config::Overrides;
use crate::home::Home;
use crate::terminal::{one_line, plain};

/// How long a server may take: whoever presses TAB does not wait for others.
const PATIENCE: Duration = Duration::from_millis(300);
/// How long it may take where no server runs, and this process reads the home itself.
const OWN_WORK: Duration = Duration::from_secs(2);

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

pub fn standing() -> ArgValueCandidates {
    ArgValueCandidates::new(|| listed("/api/v1/approvals/standing", "standing", "id", "tool"))
}

pub fn conversations() -> ArgValueCandidates {
    ArgValueCandidates::new(|| listed("/api/v1/conversations", "conversations", "id", "title"))
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

/// What the home or the server of this command line answers. No home is made for this, and nobody is asked to trust one.
fn ask(path: &str) -> Option<Value> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().ok()?;
    let found = runtime.block_on(async {
        let client = timeout(OWN_WORK, client()).await.ok()??;
        let patience = if client.is_served() { PATIENCE } else { OWN_WORK };
        timeout(patience, client.get(path)).await.ok()?.ok()
    });
    // What still waits for somebody is left behind.
    runtime.shutdown_background();
    found
}

async fn client() -> Option<Client> {
    if let Some(url) = written("--url") {
        let key = written("--key").or_else(|| super::variable("TOOLROOM_KEY"));
        return Client::remote(url.to_str()?, key.as_ref().and_then(|key| key.to_str())).ok();
    }
    let named = written("--home").or_else(|| super::variable("TOOLROOM_HOME"));
    let home = Home::existing(named.as_deref().map(Path::new))?;
    Client::open_at_once(&home, &Overrides::default(), PATIENCE).await
}

/// The value of a flag on the line that is completed. The shell hands it over as our own arguments.
fn written(flag: &str) -> Option<OsString> {
    let mut words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    while let Some(word) = words.next() {
        // A shell may split at the sign, too.
        if word == flag {
            return words.find(|value| value != "=").filter(|value| !value.is_empty());
        }
        if let Some(value) = word.to_str().and_then(|word| word.strip_prefix(flag)?.strip_prefix('=')) {
            return Some(value.into());
        }
    }
    None
}
