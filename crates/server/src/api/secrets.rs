//! Secrets of tools: set, removed, and the hosts that may get them; only for the home's owner. Nothing shows a value.

use std::io;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_runtime::registry_file::FileError;
use toolroom_runtime::secret_file::{LONGEST_SECRET, SecretBook, SecretFile, is_secret_name};

use crate::app::App;
use crate::middleware::{Problem, StrictJson};
use crate::problems::{of_error, problem};

/// What becomes of a secret: one of these.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SecretChange")]
pub(crate) struct Change {
    /// Its value from now on.
    #[schemars(length(min = 1, max = 65536))]
    value: Option<String>,
    /// A host that may get it, as `https://api.example.com`.
    #[schemars(length(max = 300))]
    allow: Option<String>,
    /// A host that may get it no longer.
    #[schemars(length(max = 300))]
    deny: Option<String>,
}

/// What came of it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SecretChanged")]
pub(crate) struct Changed {
    /// Set: whether it is new. Removed or denied: whether there was one.
    changed: bool,
}

/// Sets a secret, or says who may get it. In force at every server that shares the database when this answers.
pub(crate) async fn put(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    StrictJson(body): StrictJson<Change>,
) -> Result<Json<Changed>, Problem> {
    let wrong = |detail: String| problem(ErrorCode::InvalidInput, detail);
    if !is_secret_name(&name) {
        let detail = "A secret's name has 1 to 100 letters, digits, '_', '-' and '.', such as WEATHER_KEY.";
        return Err(wrong(detail.to_owned()));
    }
    let host_fits =
        |host: &String| host.len() <= 300 && (host.starts_with("https://") || host.starts_with("http://"));
    match body {
        Change { value: Some(value), allow: None, deny: None } => {
            if value.is_empty() || value.len() > LONGEST_SECRET || value.contains('\0') {
                return Err(wrong(format!("A secret has 1 to {LONGEST_SECRET} bytes, and no zero byte.")));
            }
            change(&app, move |book| book.set(&name, &value)).await
        }
        Change { value: None, allow: Some(host), deny: None } if host_fits(&host) => {
            let allow = move |book: &mut SecretBook| {
                book.allow([(name, host)]);
                Ok(true)
            };
            change(&app, allow).await
        }
        Change { value: None, allow: None, deny: Some(host) } if host_fits(&host) => {
            change(&app, move |book| Ok(book.deny(&name, &host))).await
        }
        _ => Err(wrong("Give one of value, allow and deny; a host as https://api.example.com.".to_owned())),
    }
}

/// Removes a secret.
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Json<Changed>, Problem> {
    change(&app, move |book| Ok(book.remove(&name))).await
}

async fn change(
    app: &App,
    change: impl FnOnce(&mut SecretBook) -> io::Result<bool> + Send + 'static,
) -> Result<Json<Changed>, Problem> {
    let changed = match app.runtime.shared_registry() {
        Some(shared) => shared.change_secrets(change).await,
        None => {
            let root = app.home.as_ref().map(|home| home.root.clone()).unwrap_or_default();
            let work = move || SecretFile::of_home(&root).change(change).map_err(FileError::Disk);
            let done = tokio::task::spawn_blocking(work).await;
            done.map_err(|error| of_error(&ToolError::internal(error)))?
        }
    };
    match changed {
        Ok(changed) => Ok(Json(Changed { changed })),
        // What is wrong with the key, or the files, is for the owner, who asks.
        Err(FileError::Disk(error)) => {
            Err(problem(ErrorCode::NotConfigured, format!("The secrets cannot be used: {error}.")))
        }
        Err(error) => Err(of_error(&error.into())),
    }
}
