//! `toolroom import openapi`: a tool for each operation of an API.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use http::Method;
use serde::Serialize;
use serde_json::Value;
use toolroom_contract::entry::ToolEntry;
use toolroom_openapi::{DocumentError, Imported, OwnAuth, Wish};
use toolroom_outgoing::{Url, is_public};
use toolroom_runtime::secret_file::SecretFile;

use super::{document, plan};
use crate::cli::Globals;
use crate::client::encoded;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::terminal;

/// More tools than this are a burden to every agent that reads the list.
const MANY: usize = 64;

/// Import an API: one tool for each operation of an OpenAPI 3.0 or 3.1 document
#[derive(Debug, Args)]
#[command(after_help = "Example:
  toolroom import openapi https://example.com/openapi.json --name pets
  toolroom import openapi api.json --only pets --only /store/orders
  toolroom import openapi ghes.json --only issues \\
    --server https://git.example.com/api/v3 --auth bearer

You are shown what changes, and asked. A document is imported as it is now; import it again to see and take over
what has changed. Secrets go only to the hosts that you approve here.")]
pub(super) struct OpenApi {
    /// The document: a file or an address
    #[arg(value_name = "FILE|URL")]
    source: String,
    /// Only operations with this tag, id or name, or below this path; may be repeated
    #[arg(long, value_name = "TAG|PATH")]
    only: Vec<String>,
    /// All operations, even if there are more than 64
    #[arg(long, conflicts_with = "only")]
    all: bool,
    /// The name of the API, for permissions, tags and secrets [default: made of its title]
    #[arg(long, value_name = "N")]
    name: Option<String>,
    /// The address of the service, instead of what the document says
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// How calls show who makes them, if the document does not say: bearer, basic, header:NAME or query:NAME
    #[arg(long, value_name = "HOW")]
    auth: Option<String>,
    /// Let calls reach addresses on this machine and its network
    #[arg(long)]
    allow_private: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    plan: bool,
    /// Do not ask: import what is shown, and approve its hosts. Needed where there is no terminal
    #[arg(long)]
    yes: bool,
}

/// What the server is asked to change.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    tools: Vec<ToolEntry>,
    operations: Vec<String>,
    known_only: bool,
    plan: bool,
    approve_hosts: bool,
}

impl OpenApi {
    pub(super) async fn run(self, globals: &Globals) -> Result<ExitCode> {
        let progress = Progress::start(&format!("reading {}", self.source));
        let document::Source { json: document, length, url } = document::get(&self.source).await?;
        let wish = Wish {
            name: self.name.clone(),
            only: self.only.clone(),
            server: self.server()?,
            origin: url.as_ref().map(|url| url.origin().ascii_serialization()),
            auth: self.auth()?,
        };
        let mut imported = toolroom_openapi::read(&document, length, &wish).map_err(unusable)?;
        // Both may take a hundred megabytes, which what follows uses again.
        drop(document);
        self.open_addresses(&mut imported, url.as_ref());
        let home = globals.home()?;
        let client = globals.client().await?;
        let place = format!("/api/v1/imports/{}", encoded(&imported.name));
        // Without a choice, a large API is only brought up to date.
        let is_large = imported.tools.len() > MANY && self.only.is_empty() && !self.all;
        let mut change = Change {
            tools: std::mem::take(&mut imported.tools),
            operations: imported.operations.clone(),
            known_only: is_large,
            plan: true,
            approve_hosts: false,
        };
        drop(progress);
        let count = imported.operations.len();
        let asks = !self.yes && !self.plan && !globals.json;
        let found = match self.plan || asks || is_large {
            true => {
                let _progress =
                    Progress::start(&format!("comparing {count} operations with the tools of this home"));
                client.request_large(Method::PUT, &place, &change).await?
            }
            false => Value::Null,
        };
        if is_large && found["tools"].as_array().is_none_or(Vec::is_empty) {
            return Err(too_many(&imported).into());
        }
        if self.plan || asks {
            plan::show(globals, &imported, &found)?;
            if self.plan {
                return Ok(ExitCode::SUCCESS);
            }
            if !plan::changes_anything(&found) {
                terminal::say("nothing to import: every tool is as the document says")?;
                return Ok(ExitCode::SUCCESS);
            }
            if !terminal::is_confirmed("import this?")?.ok_or_else(nobody_to_ask)? {
                return Ok(ExitCode::SUCCESS);
            }
        }
        if globals.json && !self.yes {
            return Err(nobody_to_ask().into());
        }
        (change.plan, change.approve_hosts) = (false, true);
        let progress = Progress::start(&format!("importing {count} operations"));
        let done = client.request_large(Method::PUT, &place, change).await?;
        drop(progress);
        if !asks {
            plan::show(globals, &imported, &done)?;
        }
        if !globals.json {
            plan::next_steps(&imported, &done, &SecretFile::new(home.secrets()))?;
        }
        client.close().await;
        Ok(ExitCode::SUCCESS)
    }

    fn server(&self) -> Result<Option<String>> {
        let Some(server) = &self.server else { return Ok(None) };
        if !Url::parse(server).is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
            return Err(Failure::usage(
                format!("'{server}' is not an address"),
                "--server https://api.example.com",
            )
            .into());
        }
        Ok(Some(server.trim_end_matches('/').to_owned()))
    }

    fn auth(&self) -> Result<Option<OwnAuth>> {
        let Some(text) = &self.auth else { return Ok(None) };
        let usage = || {
            Failure::usage(
                format!("'{text}' is not a way to log in"),
                "--auth bearer, basic, header:X-Key or query:key",
            )
        };
        Ok(Some(OwnAuth::parse(text).ok_or_else(usage)?))
    }

    /// Addresses on this machine are reached if the person at the command named them: for the document, or as the server.
    fn open_addresses(&self, imported: &mut Imported, document: Option<&Url>) {
        let server = self.server.as_deref().and_then(|server| Url::parse(server).ok());
        let named: Vec<String> =
            document.into_iter().chain(&server).map(|url| url.origin().ascii_serialization()).collect();
        let mut closed = Vec::new();
        for request in imported.tools.iter_mut().filter_map(|tool| tool.config.request.as_mut()) {
            let Ok(url) = Url::parse(&request.server) else { continue };
            let origin = url.origin().ascii_serialization();
            request.allow_private = self.allow_private || named.contains(&origin);
            if !request.allow_private && is_inner(&url) && !closed.contains(&origin) {
                closed.push(origin);
            }
        }
        imported.notes.extend(closed.iter().map(|origin| {
            format!(
                "{origin} is on this machine or its network: calls are refused unless you add --allow-private"
            )
        }));
    }
}

fn is_inner(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|address| !is_public(address))
}

fn unusable(error: DocumentError) -> Failure {
    let hint = match &error {
        DocumentError::Swagger => "Convert it first: npx swagger2openapi api.json -o api3.json".to_owned(),
        DocumentError::NoMatch { tags, .. } if !tags.is_empty() => {
            format!("The tags are: {}.", tags.join(", "))
        }
        DocumentError::TooLarge(_) | DocumentError::TooComplex => {
            "Import a part of it with --only TAG.".to_owned()
        }
        DocumentError::BadName(_) => "Choose one: --name petstore".to_owned(),
        _ => "Give the address or the file of an OpenAPI document in JSON.".to_owned(),
    };
    Failure::new(error.to_string(), hint)
}

fn too_many(imported: &Imported) -> Failure {
    let tags: Vec<String> = imported.tags.iter().map(|(tag, count)| format!("{tag} ({count})")).collect();
    let tags = if tags.is_empty() { String::new() } else { format!(" The tags are: {}.", tags.join(", ")) };
    Failure::new(
        format!(
            "{} has {} operations, too many for an agent to read",
            imported.title,
            imported.operations.len()
        ),
        format!(
            "Choose with --only TAG or --only /path, more than once if you like; --all imports them all.{tags}"
        ),
    )
}

fn nobody_to_ask() -> Failure {
    let hint = "Look at it with --plan, then import it with --yes.";
    Failure::new("nothing was imported: there is no terminal to ask on", hint)
}
