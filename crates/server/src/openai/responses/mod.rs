//! Responses: the client sends what is new, and goes on from a response that is kept, or sends the whole history.

mod events;
mod input;
mod request;
mod response;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::StatusCode;
use serde_json::{Value, json};
use toolroom_agent::{ChatError, Follows, History};
use toolroom_contract::Principal;
use toolroom_contract::ids::ChatRunId;
use toolroom_model::Message;

use super::{begin, content, models, wrong};
use crate::api::Caller;
use crate::api::chat::{answer_of, named, of_chat};
use crate::app::App;
use crate::middleware::strict_json::read_aside;
use crate::middleware::{Problem, StrictJson};
use request::Request;
use response::Frame;

pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    StrictJson(mut request): StrictJson<Request>,
) -> Result<Response, Problem> {
    request.check()?;
    let chosen = models::choose(&app, &caller, &request.model)?;
    let (tools, tool_choice, sampling) =
        (request.client_tools()?, request.tool_choice()?, request.sampling()?);
    let after = match &request.previous_response_id {
        Some(id) => Some(response::run_of(id).ok_or_else(|| missing(id))?),
        None => None,
    };
    let known = match after {
        Some(run) => app.chat.said_until(&caller, run).await.map_err(|error| lost(error, &request))?,
        None => Vec::new(),
    };
    let follows = Follows { after, known: known.len() };
    let input = std::mem::take(&mut request.input);
    let referred = referred(&app, &caller, &input).await?;
    let mut messages = read_aside(input.length(), move || input::read(input, known, &referred)).await??;
    let mut keep = request.store().then_some(follows);
    if let Some(text) = request.instructions.clone() {
        // They count for this request alone, and stand where the model looks for them.
        messages.insert(0, Message::System { text });
        keep = keep.map(|follows| Follows { known: follows.known + 1, ..follows });
    }
    let stream = request.stream.unwrap_or_default();
    let shown = response::of_request(request);
    let history = History {
        shown: if keep.is_some() { shown.clone() } else { Value::Null },
        is_programs: content::is_programs(&messages),
        tools,
        tool_choice,
        sampling,
        messages,
        profile: Some(chosen.profile),
        model: chosen.model,
        keep,
        ..History::default()
    };
    let handle = begin(&app, &caller, history, "input").await?;
    let run = handle.run;
    let frame = Frame::new(run, shown);
    if stream {
        return Ok(events::stream(handle, frame));
    }
    let answer = answer_of(&handle).await?;
    Ok(named(run, Json(frame.completed(&answer)).into_response()))
}

/// A response that was stored, as it was answered.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let run = response::run_of_response(&id).ok_or_else(|| unknown(&id))?;
    let kept = app.chat.kept_whole(&caller, run).await;
    let (mut shown, answer) = kept.map_err(|error| gone(error, &id))?;
    if shown.is_null() {
        // An older version kept less.
        let created = answer.timestamp.as_second();
        shown = json!({ "created_at": created, "model": answer.model, "store": true });
    }
    Ok(Json(Frame::new(run, shown).completed(&answer)))
}

/// Forgets a response that was stored.
pub(crate) async fn forget(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let run = response::run_of_response(&id).ok_or_else(|| unknown(&id))?;
    app.chat.forget_kept(&caller, run).await.map_err(|error| gone(error, &id))?;
    Ok(Json(json!({ "id": id, "object": "response", "deleted": true })))
}

fn gone(error: ChatError, id: &str) -> Problem {
    match error {
        ChatError::NotFound => unknown(id),
        error => of_chat(error),
    }
}

fn unknown(id: &str) -> Problem {
    let detail = format!("There is no response '{id}' of yours that was stored.");
    Problem::new(StatusCode::NOT_FOUND, "not_found").detail(detail)
}

/// The kept answers that the input names instead of repeating them.
async fn referred(
    app: &App,
    caller: &Principal,
    input: &input::Input,
) -> Result<HashMap<ChatRunId, Message>, Problem> {
    let mut found = HashMap::new();
    for (field, id) in input.references() {
        let unknown = || wrong(&field, format!("There is no item '{id}' of yours that was stored."));
        let run = response::run_of(id).ok_or_else(unknown)?;
        if let Entry::Vacant(place) = found.entry(run) {
            let answer = app.chat.kept_answer(caller, run).await.map_err(|error| match error {
                ChatError::NotFound => unknown(),
                error => of_chat(error),
            })?;
            place.insert(answer);
        }
    }
    Ok(found)
}

fn lost(error: ChatError, request: &Request) -> Problem {
    match error {
        ChatError::NotFound => missing(request.previous_response_id.as_deref().unwrap_or_default()),
        error @ ChatError::HistoryTooLong => wrong("previous_response_id", error.to_string()),
        error => of_chat(error),
    }
}

fn missing(id: &str) -> Problem {
    let detail = format!("Previous response with id '{id}' not found. Send the whole conversation instead.");
    Problem::new(StatusCode::BAD_REQUEST, "previous_response_not_found")
        .detail(detail)
        .error("/previous_response_id", "unknown response")
}
