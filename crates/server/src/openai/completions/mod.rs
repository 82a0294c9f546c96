//! Chat completions: the client keeps the history and sends it each time.

mod chunks;
mod completion;
mod messages;
mod request;

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use toolroom_agent::History;

use super::{begin, content, models};
use crate::api::Caller;
use crate::api::chat::{answer_of, named};
use crate::app::App;
use crate::middleware::strict_json::read_aside;
use crate::middleware::{Problem, StrictJson};
use completion::Frame;
use messages::Wire;
use request::Request;

pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    StrictJson(request): StrictJson<Request>,
) -> Result<Response, Problem> {
    request.check()?;
    let chosen = models::choose(&app, &caller, &request.model)?;
    let (tools, tool_choice, sampling) =
        (request.client_tools()?, request.tool_choice()?, request.sampling()?);
    let length = request.messages.iter().map(Wire::length).sum();
    let messages = read_aside(length, || messages::read(request.messages)).await??;
    let history = History {
        is_programs: content::is_programs(&messages),
        tools,
        tool_choice,
        sampling,
        messages,
        profile: Some(chosen.profile),
        model: chosen.model,
        ..History::default()
    };
    let handle = begin(&app, &caller, history, "messages").await?;
    let run = handle.run;
    let frame = Frame::new(run, request.model);
    if request.stream.unwrap_or_default() {
        let usage = request.stream_options.is_some_and(|options| options.include_usage.unwrap_or_default());
        return Ok(chunks::stream(handle, frame, usage));
    }
    let answer = answer_of(&handle).await?;
    Ok(named(run, Json(frame.whole(&answer)).into_response()))
}
