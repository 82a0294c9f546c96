//! The chat as OpenAI's clients speak it: chat completions and models. Tools of the server run on the server and are
//! never handed to the client; a client's own tools are. The client keeps the history, and what is pending is bound
//! to it.

mod chunks;
mod completion;
mod error;
mod messages;
mod models;
mod request;
pub(crate) mod shapes;

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::StatusCode;
use toolroom_agent::{ChatError, History};
use toolroom_contract::ToolError;

use crate::api::Caller;
use crate::api::chat::{named, of_chat};
use crate::app::App;
use crate::middleware::{Problem, StrictJson};
use crate::problems::of_error;
use completion::Frame;
use request::Request;

pub(crate) use error::shape as shape_error;
pub(crate) use models::{list, show};

/// Everything below this answers errors in OpenAI's shape.
pub(crate) const PREFIX: &str = "/v1/";

pub(crate) async fn completions(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    StrictJson(request): StrictJson<Request>,
) -> Result<Response, Problem> {
    request.check()?;
    let chosen = models::choose(&app, &caller, &request.model)?;
    let history = History {
        words_only: request.words_only(),
        tools: request.client_tools()?,
        messages: messages::read(request.messages)?,
        profile: Some(chosen.profile),
        model: chosen.model,
        ..History::default()
    };
    let speaking = app.chat.complete(&caller, history).await.map_err(|error| match error {
        ChatError::BadLength(most) => {
            wrong("messages", format!("The last message must have 1 to {most} characters."))
        }
        error @ ChatError::BadHistory => wrong("messages", error.to_string()),
        error => of_chat(error),
    })?;
    let run = speaking.run;
    let frame = Frame::new(run, request.model);
    if request.stream.unwrap_or_default() {
        let usage = request.stream_options.is_some_and(|options| options.include_usage.unwrap_or_default());
        return Ok(named(run, chunks::stream(speaking, frame, usage)));
    }
    let answer = speaking.answer().await;
    let answer =
        answer.ok_or_else(|| of_error(&ToolError::internal("a run ended without an answer".to_owned())))?;
    Ok(named(run, Json(frame.whole(&answer)).into_response()))
}

/// A request that cannot be taken, with the field that is to blame.
fn wrong(field: &str, detail: impl Into<String>) -> Problem {
    let detail = detail.into();
    Problem::new(StatusCode::BAD_REQUEST, "invalid_input")
        .detail(detail.clone())
        .error(format!("/{field}"), detail)
}
