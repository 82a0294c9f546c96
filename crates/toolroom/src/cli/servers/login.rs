//! `toolroom servers login`: shows the URL to open, and waits until the person is back.

use anyhow::Result;
use http::Method;
use serde_json::{Value, json};
use toolroom_contract::text::shell_word;

use crate::client::Client;
use crate::failure::Failure;
use crate::terminal::{self, plain};

/// How long one request waits for the person.
const PATIENCE: u32 = 25;

/// Starts a login and waits for its end.
pub(super) async fn log_in(client: &Client, place: &str, name: &str, as_json: bool) -> Result<()> {
    let begun = client.request(Method::POST, &format!("{place}/login"), None).await?;
    let url = plain(&begun["url"]);
    if as_json {
        terminal::say_json(&begun)?;
    } else {
        let place = if begun["anywhere"] == true { "" } else { " on this machine" };
        terminal::say(&format!("open this in a browser{place}, then come back:\n\n  {url}\n"))?;
    }
    let ended = loop {
        let login = client.get(&format!("{place}/login?wait={PATIENCE}")).await?;
        if login["state"] != "waiting" {
            break login;
        }
    };
    if ended["state"] != "done" {
        let reason = plain(&ended["reason"]);
        return Err(Failure::new(
            format!("no login at {name}: {reason}"),
            format!("Try again: toolroom servers login {}", shell_word(name)),
        )
        .into());
    }
    told(client, place, name, as_json).await
}

async fn told(client: &Client, place: &str, name: &str, as_json: bool) -> Result<()> {
    let server: Value = client.get(&format!("{place}?wait={PATIENCE}")).await?;
    if as_json {
        terminal::say_json(&json!({ "loggedIn": name, "state": server["state"], "tools": server["open"] }))?;
    } else {
        terminal::say(&format!("logged in to {name}: {}", super::tools(&server["open"])))?;
    }
    Ok(())
}
