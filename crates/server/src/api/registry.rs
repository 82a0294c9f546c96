//! The registry as files: read whole, and replaced by a folder where several servers share it.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_runtime::registry_file::FileError;
use toolroom_runtime::shared_registry::apply::{self, Files, RegistryPlan};
use toolroom_store::registry::Text;

use super::Caller;
use crate::app::App;
use crate::middleware::{Problem, StrictJson};
use crate::problems::{of_error, problem};

/// The registry.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RegistryFiles")]
pub(crate) struct Registry {
    /// Its version; 0 where it is in the files of one home.
    version: i64,
    /// Whether several servers share it.
    shared: bool,
    /// The files, by their paths in a home.
    files: BTreeMap<String, File>,
}

/// A file of the registry.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RegistryFile")]
pub(crate) struct File {
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The same where it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    /// Whether it is run as it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    executable: bool,
}

/// Files that are to be the registry.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RegistryReplacement")]
pub(crate) struct Replacement {
    /// The files, by their paths in a home. Where there is no tools/tools.json, the tools stay; so does each of mcp.json and
    /// profiles.json that is not there.
    files: BTreeMap<String, File>,
    /// Change nothing, and tell what would be changed.
    #[serde(default)]
    plan: bool,
    /// The version that the plan was made for: if there is another one by now, nothing is changed.
    version: Option<i64>,
}

/// The registry as it is.
pub(crate) async fn show(State(app): State<Arc<App>>) -> Result<Json<Registry>, Problem> {
    let (version, files) = match app.runtime.shared_registry() {
        Some(shared) => shared.files().await.map_err(refused)?,
        None => {
            let root = app.home.as_ref().map(|home| home.root.clone()).unwrap_or_default();
            let read = tokio::task::spawn_blocking(move || apply::files_in(&root)).await;
            let read = read.map_err(|error| of_error(&ToolError::internal(error)))?;
            (0, read.map_err(|error| refused(error.into()))?)
        }
    };
    let files = files.into_iter().map(|(path, text)| (path, File::of(text))).collect();
    Ok(Json(Registry { version, shared: app.runtime.shared_registry().is_some(), files }))
}

/// Makes a folder the registry of all servers, or tells what that would change.
pub(crate) async fn replace(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    StrictJson(body): StrictJson<Replacement>,
) -> Result<Json<RegistryPlan>, Problem> {
    let Some(shared) = app.runtime.shared_registry() else {
        let detail = "This server has its registry in the files of its home. Edit those: they are picked up as they change.";
        return Err(problem(ErrorCode::InvalidInput, detail));
    };
    let Replacement { files, plan, version } = body;
    let files: Files = files
        .into_iter()
        .map(|(path, file)| Ok((path.clone(), file.text(&path)?)))
        .collect::<Result<_, Problem>>()?;
    let done = shared.apply(files, plan, version).await.map_err(refused)?;
    if !plan {
        let (version, changes) = (done.version, done.changes.len());
        tracing::info!(version, changes, user = %caller.user.key, "the registry was replaced");
    }
    Ok(Json(done))
}

fn refused(error: FileError) -> Problem {
    match error {
        // It is the folder that is wrong, and not what is in force.
        FileError::Unusable(wrong) => {
            problem(ErrorCode::InvalidInput, format!("{wrong}. {} Nothing was changed.", wrong.remedy))
        }
        error => of_error(&error.into()),
    }
}

impl File {
    fn of(text: Text) -> Self {
        let executable = text.is_executable;
        match String::from_utf8(text.body.unwrap_or_default()) {
            Ok(text) => Self { text: Some(text), base64: None, executable },
            Err(bytes) => Self { text: None, base64: Some(STANDARD.encode(bytes.as_bytes())), executable },
        }
    }

    fn text(self, path: &str) -> Result<Text, Problem> {
        let body = match (self.text, self.base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(text)) => STANDARD
                .decode(text)
                .map_err(|_| problem(ErrorCode::InvalidInput, format!("'{path}': base64 is not Base64.")))?,
            _ => {
                let detail = format!("'{path}' must have either text or base64.");
                return Err(problem(ErrorCode::InvalidInput, detail));
            }
        };
        Ok(Text { body: Some(body), is_executable: self.executable })
    }
}
