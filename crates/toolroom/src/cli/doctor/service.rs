//! The database, and the server if one runs.

use serde_json::Value;
use toolroom_store::Store;

use super::finding::Finding;
use crate::cli::Globals;
use crate::client::Client;
use crate::config::Config;
use crate::home::{Home, Taking};

/// A running server answers for its database; without one it is opened and read here.
pub async fn look(home: &Home, config: &Config, globals: &Globals) -> Vec<Finding> {
    let lock = match home.try_lock() {
        Ok(Taking::Taken(lock)) => lock,
        _ => return vec![server(home, globals).await],
    };
    let opened = match Store::open(&config.database) {
        Ok(store) => store.integrity_check().await,
        Err(error) => Err(error),
    };
    let database = match opened {
        Ok(wrong) if wrong.is_empty() => Finding::ok("database", format!("{} is sound", config.database)),
        Ok(wrong) => Finding::fail("database", wrong.join("; "), "Put it back from a copy."),
        Err(error) => Finding::fail(
            "database",
            format!("{}: {error}", config.database),
            "See that it is there, can be written, and that its disk has room.",
        ),
    };
    drop(lock);
    vec![database, Finding::ok("server", "none runs; commands work on the files")]
}

async fn server(home: &Home, globals: &Globals) -> Finding {
    let remedy = "Read its log, mend what it names, and start it again.";
    let asked = async {
        let client = Client::open(home, &globals.overrides()).await?;
        let answer = client.send(http::Method::GET, "/readyz", None, &[]).await?;
        anyhow::Ok((client.is_served(), answer))
    };
    match asked.await {
        Ok((_, answer)) if answer.status.is_success() && !reasons(&answer.json).is_empty() => Finding::warn(
            "server",
            reasons(&answer.json),
            "Mend what is named; until then the older state is served.",
        ),
        Ok((served, answer)) if answer.status.is_success() => {
            let runs = if served { "it runs" } else { "none runs" };
            Finding::ok("server", format!("{runs}; database and execution log are well"))
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
