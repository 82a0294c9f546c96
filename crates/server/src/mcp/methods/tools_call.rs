//! `tools/call`: a call through the pipeline, its reports on the way, its reply in the end.

use std::sync::Arc;

use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Map, Value};
use toolroom_contract::{ErrorCode, Reporter};
use toolroom_runtime::{CallRequest, Reply};

use crate::mcp::error::RpcError;
use crate::mcp::index::{is_usable, published};
use crate::mcp::outcome;
use crate::mcp::peer::Reports;
use crate::mcp::request::Request;

#[derive(Deserialize)]
struct Params {
    name: String,
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
}

pub(crate) async fn answer(request: &Request<'_>) -> Result<Vec<u8>, RpcError> {
    let Params { name, arguments } = request.params()?;
    let name = meant(request, name);
    let call = CallRequest {
        profile: request.caller.profile.clone(),
        params: Value::Object(arguments.unwrap_or_default()),
        principal: Arc::clone(&request.caller.principal),
        context: request.context(),
        edge: request.caller.edge,
        reporter: reporter(request, &name),
        name,
    };
    let name = call.name.clone();
    let reply = request.app.runtime.call(call).await;
    if let Some(error) = unknown(request, &name, &reply) {
        return Err(error);
    }
    Ok(outcome::render(&reply, request.client.revision))
}

/// The published name behind the one that clients are shown.
fn meant(request: &Request<'_>, shown: String) -> String {
    let index = request.app.mcp.indexes.of(&request.app.runtime.registry.snapshot());
    match index.profile(&request.caller.profile) {
        Some(profile) => profile.aliases.mean(&shown).to_owned(),
        None => shown,
    }
}

/// Reports go nowhere unless the client asked for them.
fn reporter(request: &Request<'_>, tool: &str) -> Reporter {
    let token = request.meta.progress_token.clone();
    let level = request.client.log_level;
    if token.is_none() && level.is_none() {
        return Reporter::default();
    }
    Reporter::new(Arc::new(Reports::new(request.peer.clone(), token, level, tool)))
}

/// A tool that is not there, or not for this caller, is an error of the protocol. A tool that was handed another
/// one's name and did not find it is not.
fn unknown(request: &Request<'_>, name: &str, reply: &Reply) -> Option<RpcError> {
    let error = reply.result.error().filter(|error| error.code == ErrorCode::ToolNotFound)?;
    let snapshot = request.app.runtime.registry.snapshot();
    let today = request.app.runtime.clock.now().to_zoned(TimeZone::UTC).date();
    let grants = &request.caller.principal.grants;
    let there = snapshot.profiles.get(&*request.caller.profile).is_some_and(|profile| {
        published(&snapshot, profile).any(|shown| shown.name == name && is_usable(shown.tool, grants, today))
    });
    (!there).then(|| RpcError::invalid_params(error.message.clone()))
}
