//! Changes of the registry: register, replace and remove the tools of `tools.json`.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde_json::{Map, Value};
use toolroom_contract::ErrorCode;
use toolroom_contract::entry::ToolEntry;
use toolroom_contract::text::plain_reason;
use toolroom_runtime::catalogue::Tool;
use toolroom_runtime::registrar::{ChangeError, Registration};

use super::Caller;
use crate::app::App;
use crate::middleware::strict_json::pointer;
use crate::middleware::{Problem, StrictJson};
use crate::problems::{of_error, problem};

/// Registers a tool under a new name.
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    StrictJson(body): StrictJson<Map<String, Value>>,
) -> Result<Response, Problem> {
    let tool = app.registrar.add(registration(body)?).await.map_err(refused)?;
    tracing::info!(tool = tool.name(), user = %caller.user.key, "a tool was registered");
    Ok(stored(&tool, StatusCode::CREATED))
}

/// Registers a tool, or replaces the one of its name.
pub(crate) async fn replace(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(name): Path<String>,
    headers: HeaderMap,
    StrictJson(body): StrictJson<Map<String, Value>>,
) -> Result<Response, Problem> {
    let seen = headers.get(header::IF_MATCH).map(|tag| tag.to_str().unwrap_or_default().to_owned());
    let registration = registration(body)?;
    if registration.entry.name != name {
        let detail = format!(
            "The path names '{name}', the body '{}'; they must be the same.",
            registration.entry.name
        );
        return Err(problem(ErrorCode::InvalidInput, detail.clone()).error("/name", detail));
    }
    let (tool, created) = app.registrar.put_seen(registration, seen).await.map_err(|error| match error {
        error @ ChangeError::ChangedSince(_) => {
            Problem { status: StatusCode::PRECONDITION_FAILED, ..refused(error) }
        }
        error => refused(error),
    })?;
    tracing::info!(tool = tool.name(), user = %caller.user.key, created, "a tool was registered");
    Ok(stored(&tool, if created { StatusCode::CREATED } else { StatusCode::OK }))
}

/// Publishes a draft.
pub(crate) async fn publish(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let tool = app.registrar.publish(&name).await.map_err(refused)?;
    tracing::info!(tool = tool.name(), user = %caller.user.key, "a tool was published");
    Ok(stored(&tool, StatusCode::OK))
}

/// Removes a tool from the registry. Its script stays.
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    app.registrar.remove(&name).await.map_err(refused)?;
    tracing::info!(tool = name, user = %caller.user.key, "a tool was removed");
    Ok(StatusCode::NO_CONTENT)
}

/// What is registered: an entry of tools.json, and the text of its script.
#[derive(JsonSchema)]
#[schemars(rename = "Registration")]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) struct Body {
    #[serde(flatten)]
    entry: ToolEntry,
    /// The text of the script, to be written to tools/<config.script_path>.
    script: Option<String>,
}

/// An entry in its short or full form, with the text of its script.
fn registration(mut body: Map<String, Value>) -> Result<Registration, Problem> {
    let script = match body.remove("script") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text),
        Some(_) => return Err(invalid("/script".into(), "the text of the script must be a string".into())),
    };
    let entry = serde_path_to_error::deserialize::<_, ToolEntry>(&Value::Object(body))
        .map_err(|error| invalid(pointer(error.path()), plain_reason(&error.inner().to_string())))?;
    Ok(Registration { entry, script })
}

fn invalid(pointer: String, detail: String) -> Problem {
    let at = if pointer.is_empty() { String::new() } else { format!(" ({pointer})") };
    problem(ErrorCode::InvalidInput, format!("This is not an entry of tools.json{at}: {detail}."))
        .error(pointer, detail)
}

fn refused(error: ChangeError) -> Problem {
    of_error(&error.into())
}

fn stored(tool: &Tool, status: StatusCode) -> Response {
    let mut response = (status, Json(Arc::clone(tool.definition()))).into_response();
    // Names have only characters that need no escaping in a path.
    if let Ok(place) = HeaderValue::try_from(format!("/api/v1/tools/{}", tool.name())) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    response
}
