//! The servers of `mcp.json`: how they are doing, and changes of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::{HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolroom_contract::{ErrorCode, Principal};
use toolroom_runtime::federation::{By, LoginView, Server, ServerError, ServerView, Unavailable, mapped};

use super::Caller;
use super::wait::{self, Wait};
use crate::app::App;
use crate::middleware::{Problem, StrictJson};
use crate::problems::{of_error, problem};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ServerList")]
pub(crate) struct Listing {
    /// The servers whose tools you may call; all of them for administrators. Without their tools.
    servers: Vec<ServerView>,
    /// How many there are.
    total: usize,
}

/// What to approve.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ServerApproval")]
pub(crate) struct Approval {
    /// One tool, by either of its names; without it, everything pending review.
    #[serde(default)]
    tool: Option<String>,
    /// Stands for what you were shown: the tool's `pendingHash`, or the server's without a tool.
    hash: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ServerApproved")]
pub(crate) struct Approved {
    /// The tools that were approved, by the server's own names.
    approved: Vec<String>,
    /// The server as it is now.
    server: ServerView,
}

/// An entry of mcp.json: it has `command` or `url`.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) struct ServerEntry {
    /// A program to start and talk to over stdin and stdout.
    command: Option<String>,
    /// Its arguments; no shell is involved.
    args: Option<Vec<String>>,
    /// Its environment, in addition to PATH, HOME and a few more.
    env: Option<BTreeMap<String, String>>,
    /// Its working folder; the home if not given.
    cwd: Option<String>,
    /// The address of a server that is already running.
    url: Option<String>,
    /// The transport at the URL; detected if not given.
    r#type: Option<TransportName>,
    /// Sent with every request.
    headers: Option<BTreeMap<String, String>>,
    /// Seconds that a call may take.
    timeout: Option<f64>,
    /// Whether it is used.
    enabled: Option<bool>,
    /// Only these of its tools; * and ? are wildcards.
    allow: Option<Vec<String>>,
    /// Not these of its tools.
    deny: Option<Vec<String>>,
    /// What the names of its tools begin with, instead of its name.
    prefix: Option<String>,
    /// How to get a token; docs/server-tokens.md lists its fields.
    oauth: Option<Map<String, Value>>,
    /// Whether its address may be on this machine or its network.
    allow_private: Option<bool>,
    /// Whether it is a Toolroom: it is told for whom a call is, and its envelope is taken off.
    toolroom: Option<bool>,
}

/// An entry of mcp.json with its name: it has `command` or `url`.
#[derive(JsonSchema)]
#[schemars(rename = "NamedServerEntry")]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) struct NamedEntry {
    /// Its name: any text of 1 to 256 bytes. In published names every character except A-Z, a-z, 0-9, '_' and '-'
    /// becomes '_'.
    name: String,
    #[serde(flatten)]
    entry: ServerEntry,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", rename = "ServerTransport")]
#[allow(dead_code, reason = "only its schema is used")]
enum TransportName {
    Stdio,
    Http,
    Sse,
}

pub(crate) async fn list(State(app): State<Arc<App>>, caller: Caller) -> Json<Listing> {
    let servers = app.federation.servers();
    let shown = servers.values().filter(|server| may_see(&app, &caller, server));
    let servers: Vec<ServerView> = shown.map(|server| in_a_list(server, is_administrator(&caller))).collect();
    Json(Listing { total: servers.len(), servers })
}

/// A server, as it stands in a list.
pub(crate) fn in_a_list(server: &Server, administrator: bool) -> ServerView {
    ServerView { tools: Vec::new(), instructions: None, stderr: None, ..server.view(administrator) }
}

/// The server of this name as the caller would find it in the list. That one is gone is for administrators to know.
pub(crate) fn seen_by(app: &App, caller: &Principal, name: &str) -> Option<Value> {
    match app.federation.server(name) {
        Some(server) => {
            may_see(app, caller, &server).then(|| json!(in_a_list(&server, is_administrator(caller))))
        }
        None => is_administrator(caller).then(|| json!({ "name": name, "removed": true })),
    }
}

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
    wish: Result<Query<Wait>, QueryRejection>,
) -> Result<Json<ServerView>, Problem> {
    let wait = wait::checked(wish, wait::FOR_A_SERVER)?;
    let server = visible(&app, &caller, &name)?;
    settled(&server, wait).await;
    Ok(Json(server.view(is_administrator(&caller))))
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ServerResources")]
pub(crate) struct Resources {
    /// What can be read: by the tool NAME__read-resource, or over MCP.
    resources: Vec<Map<String, Value>>,
    /// Templates of addresses to fill in.
    templates: Vec<Map<String, Value>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ServerPrompts")]
pub(crate) struct Prompts {
    /// What people pick: by the tool NAME__get-prompt, or over MCP.
    prompts: Vec<Map<String, Value>>,
}

/// What can be read on a server, under the addresses that we show.
pub(crate) async fn resources(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Resources>, Problem> {
    let server = visible(&app, &caller, &name)?;
    let remote_resources = server.remote_resources();
    let shown = |raw: &RawValue, field: &str, own: &str| {
        let mut fields: Map<String, Value> = serde_json::from_str(raw.get()).unwrap_or_default();
        fields.insert(field.to_owned(), mapped(server.published(), own).into());
        fields
    };
    let resources = remote_resources.resources.iter().map(|one| shown(&one.raw, "uri", &one.uri)).collect();
    let templates =
        remote_resources.templates.iter().map(|one| shown(&one.raw, "uriTemplate", &one.uri_template));
    Ok(Json(Resources { resources, templates: templates.collect() }))
}

/// The prompts of a server, by its own names.
pub(crate) async fn prompts(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Prompts>, Problem> {
    let remote_resources = visible(&app, &caller, &name)?.remote_resources();
    let prompts =
        remote_resources.prompts.iter().map(|one| serde_json::from_str(one.raw.get()).unwrap_or_default());
    Ok(Json(Prompts { prompts: prompts.collect() }))
}

/// Adds a server under a new name.
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    wish: Result<Query<Wait>, QueryRejection>,
    StrictJson(mut body): StrictJson<Map<String, Value>>,
) -> Result<Response, Problem> {
    let wait = wait::checked(wish, wait::FOR_A_SERVER)?;
    let name = match body.shift_remove("name") {
        Some(Value::String(name)) => name,
        _ => return Err(invalid("/name", "give the server a name")),
    };
    let server = app.federation.add(&name, body, by(&caller)).await.map_err(refused)?;
    tracing::info!(server = name, user = %caller.user.key, "a server was added");
    settled(&server, wait).await;
    Ok(stored(&server, StatusCode::CREATED))
}

/// Adds a server, or replaces the one of its name.
pub(crate) async fn replace(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(name): Path<String>,
    wish: Result<Query<Wait>, QueryRejection>,
    StrictJson(mut body): StrictJson<Map<String, Value>>,
) -> Result<Response, Problem> {
    let wait = wait::checked(wish, wait::FOR_A_SERVER)?;
    match body.shift_remove("name") {
        None => {}
        Some(Value::String(named)) if named == name => {}
        Some(_) => return Err(invalid("/name", "the path and the body must name the same server")),
    }
    let (server, created) = app.federation.put(&name, body, by(&caller)).await.map_err(refused)?;
    tracing::info!(server = name, user = %caller.user.key, created, "a server was stored");
    settled(&server, wait).await;
    Ok(stored(&server, if created { StatusCode::CREATED } else { StatusCode::OK }))
}

/// Removes a server from `mcp.json`.
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    // Forgetting the approved definitions is up to a person: the tools would count as new again.
    app.federation.remove(&name, caller.person).await.map_err(refused)?;
    tracing::info!(server = name, user = %caller.user.key, "a server was removed");
    Ok(StatusCode::NO_CONTENT)
}

/// Approves definitions that are pending review. Only a person can, not an agent.
pub(crate) async fn approve(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(name): Path<String>,
    StrictJson(body): StrictJson<Approval>,
) -> Result<Json<Approved>, Problem> {
    if !caller.person {
        let detail = "Only a person can approve a server's tools: with 'toolroom servers approve', or with a key created with --person.";
        return Err(problem(ErrorCode::Forbidden, detail));
    }
    let approved = app.federation.approve(&name, body.tool.as_deref(), &body.hash).await.map_err(refused)?;
    tracing::info!(server = name, user = %caller.user.key, tools = approved.len(), "definitions of a server were approved");
    let server = visible(&app, &caller, &name)?;
    Ok(Json(Approved { approved, server: server.view(true) }))
}

/// How long a new connection is waited for; what takes longer is shown as it is.
const RECONNECT: Duration = Duration::from_secs(15);

/// Reconnects to a server.
pub(crate) async fn reconnect(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(name): Path<String>,
) -> Result<Json<ServerView>, Problem> {
    let server = visible(&app, &caller, &name)?;
    tracing::info!(server = name, user = %caller.user.key, "a server is reconnected");
    let work = Arc::clone(&server);
    // Carried to its end even if nobody waits for it.
    let _ = tokio::time::timeout(RECONNECT, tokio::spawn(async move { work.reconnect().await })).await;
    Ok(Json(server.view(true)))
}

/// Starts a login at a server that wants a person's token.
pub(crate) async fn begin_login(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(name): Path<String>,
) -> Result<Json<LoginView>, Problem> {
    let begun = visible(&app, &caller, &name)?.begin_login().await.map_err(refused)?;
    tracing::info!(server = name, user = %caller.user.key, "a login at a server was started");
    Ok(Json(begun))
}

/// How that login is going.
pub(crate) async fn login(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(name): Path<String>,
    wish: Result<Query<Wait>, QueryRejection>,
) -> Result<Json<LoginView>, Problem> {
    let wait = wait::checked(wish, wait::FOR_A_SERVER)?;
    let server = visible(&app, &caller, &name)?;
    if let Some(wait) = wait {
        let _ = tokio::time::timeout(wait, server.login_ended()).await;
    }
    Ok(Json(server.login()))
}

/// Deletes the token of a login.
pub(crate) async fn log_out(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    visible(&app, &caller, &name)?.log_out().await.map_err(refused)?;
    tracing::info!(server = name, user = %caller.user.key, "a server was logged out");
    Ok(StatusCode::NO_CONTENT)
}

/// The servers that cannot be used now, as far as the caller may use them.
pub(crate) fn unavailable(app: &App, caller: &Principal) -> Vec<Unavailable> {
    let mut found = app.federation.unavailable();
    found.retain(|one| {
        let server = app.federation.server(&one.server);
        server.map_or(is_administrator(caller), |server| may_see(app, caller, &server))
    });
    found
}

pub(crate) fn visible(app: &App, caller: &Principal, name: &str) -> Result<Arc<Server>, Problem> {
    app.federation
        .server(name)
        .filter(|server| may_see(app, caller, server))
        .ok_or_else(|| problem(ErrorCode::NotFound, "Unknown server, or not allowed for you."))
}

fn may_see(app: &App, caller: &Principal, server: &Server) -> bool {
    let snapshot = app.runtime.registry.snapshot();
    is_administrator(caller) || snapshot.reaches_server(caller, server, app.runtime.today())
}

fn is_administrator(caller: &Principal) -> bool {
    // Who is confined to profiles looks after nothing.
    caller.grants.hold("servers", "write") && caller.profiles.is_none()
}

/// A server's definitions count as reviewed only if a person added the server.
fn by(caller: &Principal) -> By {
    if caller.person { By::Person } else { By::Agent }
}

async fn settled(server: &Arc<Server>, wait: Option<Duration>) {
    if let Some(wait) = wait {
        // Slower ones are shown as they are.
        let _ = tokio::time::timeout(wait, server.settled_or_failing()).await;
    }
}

fn invalid(pointer: &'static str, detail: &'static str) -> Problem {
    problem(ErrorCode::InvalidInput, format!("This is not an entry of mcp.json: {detail}."))
        .error(pointer, detail)
}

fn refused(error: ServerError) -> Problem {
    of_error(&error.into())
}

fn stored(server: &Server, status: StatusCode) -> Response {
    let mut response = (status, Json(server.view(true))).into_response();
    // That name has only characters that need no escaping in a path.
    if let Ok(place) = HeaderValue::try_from(format!("/api/v1/servers/{}", server.published())) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    response
}
