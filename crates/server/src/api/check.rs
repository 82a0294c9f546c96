//! The checklist of the contract for every tool in the catalogue.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::{Value, json};
use toolroom_contract::check::{self, Stage};
use toolroom_contract::confidence::Source;
use toolroom_runtime::catalogue::Shown;

use super::Caller;
use crate::app::App;

pub(crate) async fn check(State(app): State<Arc<App>>, Extension(caller): Caller) -> Json<Value> {
    let snapshot = app.runtime.registry.snapshot();
    let view = snapshot.view(&caller, toolroom_profiles::DEFAULT, app.runtime.today());
    let tools: Vec<Value> = view
        .iter()
        .flat_map(|view| view.tools())
        .map(|Shown { tool, .. }| {
            let stage = match tool.executor.source() {
                Source::Native => Stage::Native,
                _ => Stage::Loaded,
            };
            let findings = check::check(tool.definition(), stage);
            json!({ "tool": tool.name(), "passes": check::passes(&findings), "findings": findings })
        })
        .collect();
    Json(json!({ "tools": tools }))
}
