//! What only the program knows of its home, for the routes that show it.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The home that a server runs in.
#[derive(Clone)]
pub struct HomeInfo {
    pub root: PathBuf,
    /// The settings in force, secrets left out.
    pub settings: Vec<Setting>,
    /// Looks for problems.
    pub doctor: Arc<dyn Fn() -> BoxFuture<'static, Doctor> + Send + Sync>,
}

/// A setting in force.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Setting {
    /// As in `toolroom.toml`: `server.listen`.
    pub name: String,
    /// Null where nothing is set, or where it is a secret.
    pub value: Value,
    pub from: SetBy,
}

/// What gave a setting its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SetBy {
    Default,
    File,
    Environment,
    Flag,
}

/// What the doctor found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "DoctorReport")]
pub struct Doctor {
    pub healthy: bool,
    pub checks: Vec<Check>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "DoctorCheck")]
pub struct Check {
    pub check: String,
    /// `ok`, `warn` or `fail`.
    pub status: &'static str,
    pub detail: String,
    /// What to do about it; empty where nothing is to be done.
    pub remedy: String,
}
