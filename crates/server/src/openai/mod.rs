//! The chat as OpenAI's clients speak it: chat completions, responses and models. Tools of the server run on the server
//! and are never handed to the client; a client's own tools are. What is pending is bound to the history, whether the
//! client keeps it or goes on from a response.

mod completions;
mod content;
mod error;
mod models;
mod responses;
pub(crate) mod shapes;
mod text_or_list;
mod told;
mod tools;

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};
use toolroom_agent::{Answer, ChatError, History, RunHandle};
use toolroom_contract::Principal;
use toolroom_model::{Arguments, ToolCall};

use crate::api::chat::of_chat;
use crate::app::App;
use crate::middleware::Problem;

pub(crate) use completions::create as completions;
pub(crate) use error::shape as shape_error;
pub(crate) use models::{list, show};
pub(crate) use responses::{create as responses, forget as forget_response, show as show_response};

/// Everything below this answers errors in OpenAI's shape.
pub(crate) const PREFIX: &str = "/v1/";

/// Begins the run that answers a history, which came in this field.
async fn begin(
    app: &App,
    caller: &Arc<Principal>,
    history: History,
    field: &str,
) -> Result<RunHandle, Problem> {
    app.chat.complete(caller, history).await.map_err(|error| match error {
        ChatError::BadLength(most) => {
            wrong(field, format!("The last message must have 1 to {most} characters."))
        }
        error @ ChatError::BadHistory => wrong(field, error.to_string()),
        error @ ChatError::NoTool(_) => wrong("tool_choice", error.to_string()),
        error => of_chat(error),
    })
}

/// A request that cannot be taken, with the field that is to blame.
fn wrong(field: &str, detail: impl Into<String>) -> Problem {
    let detail = detail.into();
    Problem::new(StatusCode::BAD_REQUEST, "invalid_input")
        .detail(detail.clone())
        .error(format!("/{field}"), detail)
}

/// The arguments of a call that the client is to make, as the text that OpenAI has there.
fn arguments(call: &ToolCall) -> String {
    match &call.arguments {
        Arguments::Json(value) => value.to_string(),
        Arguments::Broken(text) => text.clone(),
    }
}

/// What was done on the server, for clients that look for it; others ignore the field.
fn aside(answer: &Answer) -> Value {
    json!({
        "tool_calls": answer.tool_calls,
        "pending_confirmation": answer.pending_confirmation,
        "pending_question": answer.pending_question,
    })
}
