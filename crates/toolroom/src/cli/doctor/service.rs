//! The database, and the server if one runs.

use serde_json::Value;
use toolroom_store::Store;

use super::finding::Finding;
use crate::client::Client;
use crate::config::{Config, Overrides};
use crate::home::{Home, Role, Taking};

/// Asks the running server about its database; without one, opens the database here.
pub async fn look(home: &Home, config: &Config, overrides: &Overrides) -> Vec<Finding> {
    let lock = match home.try_lock(Role::Command) {
        Ok(Taking::Taken(lock)) => lock,
        _ => return vec![server(home, overrides).await],
    };
    let opened = match Store::open(&config.database) {
        Ok(store) => store.integrity_check().await,
        Err(error) => Err(error),
    };
    let database = match opened {
        Ok(wrong) if wrong.is_empty() => Finding::ok("database", format!("{} is intact", config.database)),
        Ok(wrong) => Finding::fail("database", wrong.join("; "), "Restore it from a backup."),
        Err(error) => Finding::fail(
            "database",
            format!("{}: {error}", config.database),
            "Check that it exists, that you can write to it, and that its disk has free space.",
        ),
    };
    drop(lock);
    vec![database, Finding::ok("server", "not running; commands work on the files")]
}

/// The server alone, which must run.
pub async fn running(home: &Home, overrides: &Overrides) -> Finding {
    match home.try_lock(Role::Command) {
        Ok(Taking::Taken(_)) => Finding::fail("server", "not running", "Start it: toolroom serve"),
        _ => server(home, overrides).await,
    }
}

async fn server(home: &Home, overrides: &Overrides) -> Finding {
    let remedy = "Read its log, fix what it names, and restart it.";
    let asked = async {
        let client = Client::open(home, overrides).await?;
        let answer = client.send(http::Method::GET, "/readyz", None, &[]).await?;
        anyhow::Ok((client.is_served(), answer))
    };
    match asked.await {
        Ok((_, answer)) if answer.status.is_success() && !reasons(&answer.json).is_empty() => Finding::warn(
            "server",
            reasons(&answer.json),
            "Fix what is named; until then the state from before is used.",
        ),
        Ok((served, answer)) if answer.status.is_success() => {
            let runs = if served { "running" } else { "not running" };
            Finding::ok("server", format!("{runs}; database and execution log are fine"))
        }
        Ok((_, answer)) => Finding::fail("server", reasons(&answer.json), remedy),
        Err(error) => Finding::fail("server", format!("{error:#}"), remedy),
    }
}

fn reasons(readiness: &Value) -> String {
    let checks = readiness["checks"].as_object().into_iter().flatten();
    let reasons: Vec<&str> = checks.filter_map(|(_, check)| check["reason"].as_str()).collect();
    reasons.join(" ")
}
