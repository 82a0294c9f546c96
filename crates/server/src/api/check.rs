//! The checklist of the contract for every tool in the catalogue.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::Serialize;
use toolroom_contract::check::{self, Finding, Stage};
use toolroom_contract::confidence::Source;
use toolroom_runtime::catalogue::Shown;

use super::Caller;
use crate::app::App;

/// The checklist of the contract, tool by tool.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CheckReport")]
pub(crate) struct Report {
    tools: Vec<Checked>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CheckedTool")]
struct Checked {
    tool: String,
    passes: bool,
    findings: Vec<Finding>,
}

pub(crate) async fn check(State(app): State<Arc<App>>, Extension(caller): Caller) -> Json<Report> {
    let snapshot = app.runtime.registry.snapshot();
    let view = snapshot.view(&caller, toolroom_profiles::DEFAULT, app.runtime.today());
    let tools = view
        .iter()
        .flat_map(|view| view.tools())
        .map(|Shown { tool, .. }| {
            let stage = match tool.executor.source() {
                Source::Native => Stage::Native,
                _ => Stage::Loaded,
            };
            let findings = check::check(tool.definition(), stage);
            Checked { tool: tool.name().to_owned(), passes: check::passes(&findings), findings }
        })
        .collect();
    Json(Report { tools })
}
