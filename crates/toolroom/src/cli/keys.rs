//! `toolroom keys`: make, list and revoke API keys.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};

use super::Globals;
use super::approvals::time_left;
use super::suggest::or_profile;
use crate::terminal::{self, Rows, Tint, cell, name_cell, plain, tinted};

/// Create, list and revoke API keys
#[derive(Debug, Args)]
#[command(after_help = "Example:
  KEY=$(toolroom keys create --user alice)
  curl http://127.0.0.1:7878/api/v1/me -H \"X-API-Key: $KEY\"")]
pub struct Keys {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Create(Create),
    /// List the keys, without their secrets
    #[command(after_help = "Example:\n  toolroom keys list")]
    List,
    /// Revoke a key at once
    #[command(after_help = "Example:\n  toolroom keys revoke 3")]
    Revoke {
        /// The number in the list
        #[arg(add = super::candidates::keys())]
        id: i64,
    },
}

/// What changes with the first key.
pub(super) const FIRST: &str = "this is the home's first key: requests without a key are refused from now on.\n\
    Put it into your client as the header 'X-API-Key: KEY' or 'Authorization: Bearer KEY'; \
    'toolroom' on this machine and 'toolroom mcp' need none.";

/// Follows a key without grants of its own.
const USUAL_GRANTS: &str = "it may use tasks, cards, the web and questions to a person. Tools that you added are not \
    among them: for those too, create it with --grant 'tasks:*' --grant added-tools:use";

/// Create a key and print it to stdout; it is shown only once
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom keys create --user alice --grant 'tasks:*' --profile default")]
struct Create {
    /// The user it belongs to; created if needed
    #[arg(long, value_name = "NAME")]
    user: String,
    /// Grant a permission, such as 'tasks:read', 'tasks:*', 'added-tools:use' (every script and tool of another
    /// server) or '*'; 'none' grants nothing [default: tasks:*, cards:*,
    /// web:search, humans:ask]
    #[arg(long, value_name = "G")]
    grant: Vec<String>,
    /// Limit it to a profile
    #[arg(long, value_name = "P", add = super::candidates::profiles())]
    profile: Vec<String>,
    /// Make it a person's key, which can decide approvals; an agent's key never can
    #[arg(long)]
    person: bool,
    /// Note what it is for
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Let it expire after so long: 12h, 30d
    #[arg(long, value_name = "TIME")]
    expires: Option<jiff::Span>,
}

impl Keys {
    pub fn needs_home(&self) -> bool {
        !matches!(self.verb, Verb::Create(_))
    }

    pub async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let client = globals.client().await?;
        match self.verb {
            Verb::Create(create) => {
                let body = create.body()?;
                let made = client.request(Method::POST, "/api/v1/keys", Some(&body)).await;
                let made = or_profile(&client, create.profile.iter().map(String::as_str), made).await?;
                if globals.json {
                    terminal::say_json(&made)?;
                } else {
                    terminal::say(&plain(&made["key"]))?;
                }
                if made["first"] == true {
                    terminal::remark(FIRST);
                }
                if body["grants"].is_null() {
                    terminal::remark(USUAL_GRANTS);
                }
            }
            Verb::List => {
                let found = client.get("/api/v1/keys").await?;
                if globals.json { terminal::say_json(&found)? } else { table(&found)? }
            }
            Verb::Revoke { id } => {
                let revoked = client.request(Method::DELETE, &format!("/api/v1/keys/{id}"), None).await?;
                if globals.json {
                    terminal::say_json(&revoked)?;
                } else {
                    terminal::say(&format!("revoked key {id}"))?;
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Create {
    fn body(&self) -> Result<Value> {
        // Days are counted as people do, in their own zone.
        let expires = self.expires.map(|span| jiff::Zoned::now().checked_add(span).map(|at| at.timestamp()));
        let given = |list: &Vec<String>| if list.is_empty() { Value::Null } else { json!(list) };
        Ok(json!({
            "user": self.user, "grants": given(&self.grant), "profiles": given(&self.profile),
            "person": self.person, "note": self.note, "expires_at": expires.transpose()?,
        }))
    }
}

fn state(key: &Value) -> comfy_table::Cell {
    let ends: Option<jiff::Timestamp> = key["expires_at"].as_str().and_then(|text| text.parse().ok());
    match (key["revoked_at"].is_null(), ends) {
        (false, _) => tinted("revoked", Tint::Quiet),
        (true, Some(ends)) if ends <= jiff::Timestamp::now() => tinted("expired", Tint::Quiet),
        (true, Some(_)) => tinted(format!("valid for {}", time_left(&key["expires_at"])), Tint::Good),
        (true, None) => tinted("valid", Tint::Good),
    }
}

fn table(found: &Value) -> Result<()> {
    let mut rows =
        Rows::new(&["id", "user", "key", "grants", "profiles", "person", "made", "used", "state", "note"]);
    for key in found["keys"].as_array().into_iter().flatten() {
        let grants = plain(&key["grants"]);
        rows.add([
            cell(plain(&key["id"])),
            name_cell(plain(&key["user"])),
            cell(format!("{}…", plain(&key["prefix"]))),
            cell(if grants.is_empty() { "none".to_owned() } else { grants }),
            cell(if key["profiles"].is_null() { "all".to_owned() } else { plain(&key["profiles"]) }),
            cell(if key["person"] == true { "yes" } else { "" }),
            cell(terminal::moment(&key["created_at"])),
            cell(terminal::moment(&key["last_used_at"])),
            state(key),
            cell(plain(&key["note"])),
        ]);
    }
    Ok(rows.say("no keys yet: create one with 'toolroom keys create --user NAME'")?)
}
