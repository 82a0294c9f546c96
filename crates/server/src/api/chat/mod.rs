//! The chat over REST: a message in, an answer or a stream of events out. A run continues even if nobody listens.

mod stream;

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::{HeaderMap, HeaderValue, StatusCode};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom_agent::confirm::{PendingConfirmation, PendingQuestion};
use toolroom_agent::{Answer, ChatError, RunHandle, UserMessage};
use toolroom_contract::ids::{ChatRunId, ConversationId};
use toolroom_contract::{ErrorCode, Principal, ToolError};

use super::Caller;
use crate::app::App;
use crate::middleware::{Problem, StrictJson};
use crate::problems::{bad_query, of_error, problem};
pub(crate) use stream::event_stream;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ChatRequest")]
pub(crate) struct Body {
    /// What the person says: 1 to 10,000 characters.
    #[schemars(length(min = 1, max = 10_000))]
    message: String,
    /// The conversation that it belongs to; a new one without.
    conversation_id: Option<String>,
    /// The profile that gives the chat its tools; without, that of the conversation, or `default`.
    profile: Option<String>,
    /// The open question that this answers: that of `pending_confirmation` or `pending_question`. If another one is open
    /// by now, or none, nothing is said, and the answer is 409.
    confirmation_id: Option<String>,
    /// When and where the person writes.
    context: Option<Moment>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ChatContext")]
struct Moment {
    /// "Now" for dates in words.
    timestamp: Option<Timestamp>,
    /// The zone of dates in words, such as `Europe/Berlin`.
    timezone: Option<String>,
}

/// The answer to a message: exactly these fields, always.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ChatReply")]
pub(crate) struct Reply {
    #[schemars(with = "String")]
    conversation_id: Option<ConversationId>,
    /// What the person is shown.
    response: String,
    /// The calls that were made, in order.
    tool_calls: Vec<Call>,
    /// The confirmation that is pending.
    #[schemars(with = "Option<Confirmation>")]
    pending_confirmation: Option<PendingConfirmation>,
    /// The question that is pending.
    #[schemars(with = "Option<Question>")]
    pending_question: Option<PendingQuestion>,
    timestamp: Timestamp,
}

/// A call that was made.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ChatToolCall")]
struct Call {
    tool_call_id: String,
    /// The published name.
    name: String,
    input: Value,
    /// The published answer; on `default` its data, or `{"error": …}`.
    output: Value,
}

/// The schema of a pending confirmation.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
#[schemars(rename = "PendingConfirmation")]
struct Confirmation {
    id: String,
    /// The tool; `several` where they differ.
    action: String,
    /// The task's id, or a list of them.
    task_id: Value,
    /// The task's title, or a list of them.
    task_title: Value,
    expires_at: Timestamp,
    /// What the person was asked.
    message: String,
}

/// The schema of a pending question.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
#[schemars(rename = "PendingQuestion")]
struct Question {
    id: String,
    question: String,
    choices: Vec<String>,
    expires_at: Timestamp,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        let call = |one: toolroom_agent::CallShown| Call {
            tool_call_id: one.tool_call_id,
            name: one.name,
            input: one.input,
            output: one.output,
        };
        Self {
            conversation_id: answer.conversation_id,
            response: answer.response,
            tool_calls: answer.tool_calls.into_iter().map(call).collect(),
            pending_confirmation: answer.pending_confirmation,
            pending_question: answer.pending_question,
            timestamp: answer.timestamp,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    /// Events as they happen, instead of only the answer.
    #[serde(default)]
    stream: bool,
}

pub(crate) async fn say(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    headers: HeaderMap,
    options: Result<Query<Options>, QueryRejection>,
    StrictJson(body): StrictJson<Body>,
) -> Result<Response, Problem> {
    let Query(options) = options.map_err(bad_query)?;
    // A client that lost its connection sends the same again: nothing is done twice.
    if let Some((run, after)) = stream::last_event(&headers)? {
        let run = run.ok_or_else(|| of_chat(ChatError::NotFound))?;
        let handle = find(&app, &caller, run, after).await?;
        return Ok(stream::resume(handle));
    }
    let context = body.context.unwrap_or_default();
    check_zone(context.timezone.as_deref())?;
    let conversation = match body.conversation_id {
        Some(id) => Some(own_conversation(&app, &caller, &id).await?),
        None => None,
    };
    let answers = body.confirmation_id.map(|id| id.parse().map_err(|_| of_chat(ChatError::OtherQuestion)));
    let said = UserMessage {
        answers: answers.transpose()?,
        profile: body.profile.or_else(|| conversation.is_none().then(|| usual_profile(&caller))),
        conversation,
        text: body.message,
        timestamp: context.timestamp,
        timezone: context.timezone,
        key: headers.get("idempotency-key").and_then(|key| key.to_str().ok()).map(str::to_owned),
        ..UserMessage::default()
    };
    let handle = app.chat.say(&caller, said).await.map_err(of_chat)?;
    if options.stream || stream::is_wanted(&headers) {
        return Ok(stream::begin(handle));
    }
    whole(handle).await
}

pub(crate) async fn follow(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(run): Path<String>,
    headers: HeaderMap,
    options: Result<Query<Options>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(options) = options.map_err(bad_query)?;
    let run = run_id(&run)?;
    match stream::last_event(&headers)? {
        Some((of, after)) if of.is_none_or(|of| of == run) => {
            Ok(stream::resume(find(&app, &caller, run, after).await?))
        }
        Some(_) => Err(of_chat(ChatError::NotFound)),
        None if options.stream || stream::is_wanted(&headers) => {
            Ok(stream::begin(find(&app, &caller, run, 0).await?))
        }
        None => whole(find(&app, &caller, run, 0).await?).await,
    }
}

pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(run): Path<String>,
) -> Result<StatusCode, Problem> {
    app.chat.cancel(&caller, run_id(&run)?).await.map_err(of_chat)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Waits for the answer.
async fn whole(handle: RunHandle) -> Result<Response, Problem> {
    let answer = answer_of(&handle).await?;
    Ok(named(handle.run, Json(Reply::from(answer)).into_response()))
}

pub(crate) async fn answer_of(handle: &RunHandle) -> Result<Answer, Problem> {
    let answer = handle.answer().await;
    answer.ok_or_else(|| of_error(&ToolError::internal("a run ended without an answer".to_owned())))
}

/// The answer with its run, by which it can be followed and cancelled.
pub(crate) fn named(run: ChatRunId, mut response: Response) -> Response {
    if let Ok(value) = HeaderValue::try_from(run.to_string()) {
        response.headers_mut().insert("x-run-id", value);
    }
    response
}

async fn find(app: &App, caller: &Principal, run: ChatRunId, after: u64) -> Result<RunHandle, Problem> {
    let handle = app.chat.follow(caller, run, after).await.map_err(of_chat)?;
    if let Some(id) = handle.conversation {
        reachable(app, caller, id).await?;
    }
    Ok(handle)
}

/// A conversation of the caller's, by an id that they sent.
pub(crate) async fn own_conversation(
    app: &App,
    caller: &Principal,
    id: &str,
) -> Result<ConversationId, Problem> {
    let id = id.parse().map_err(|_| of_chat(ChatError::NotFound))?;
    reachable(app, caller, id).await?;
    Ok(id)
}

/// A key that is limited to profiles does not see conversations of other profiles.
async fn reachable(app: &App, caller: &Principal, id: ConversationId) -> Result<(), Problem> {
    if caller.profiles.is_none() {
        return Ok(());
    }
    let (talk, _) = app.chat.conversation(caller, id, 1).await.map_err(of_chat)?;
    if caller.may_use_profile(&talk.profile) { Ok(()) } else { Err(of_chat(ChatError::NotFound)) }
}

/// The profile of a caller who names none: `default`, or the first that their key is limited to.
pub(crate) fn usual_profile(caller: &Principal) -> String {
    let confined = caller.profiles.as_ref().filter(|_| !caller.may_use_profile(toolroom_profiles::DEFAULT));
    let first = confined.and_then(|profiles| profiles.first());
    first.cloned().unwrap_or_else(|| toolroom_profiles::DEFAULT.to_owned())
}

fn run_id(text: &str) -> Result<ChatRunId, Problem> {
    text.parse().map_err(|_| of_chat(ChatError::NotFound))
}

fn check_zone(zone: Option<&str>) -> Result<(), Problem> {
    match zone {
        Some(zone) if jiff::tz::TimeZone::get(zone).is_err() => {
            let detail = "context.timezone is not a time zone name such as Europe/Berlin.";
            Err(problem(ErrorCode::InvalidInput, detail).error("/context/timezone", "unknown time zone"))
        }
        _ => Ok(()),
    }
}

/// What a caller may see of it.
pub(crate) fn of_chat(error: ChatError) -> Problem {
    let pointer = match &error {
        ChatError::BadLength(_) => Some("/message"),
        ChatError::NoProfile => Some("/profile"),
        _ => None,
    };
    let message = error.to_string();
    let told = match error {
        ChatError::Store(error) => of_error(&error.into()),
        error => problem(error.code(), message.clone()),
    };
    match pointer {
        Some(pointer) => told.error(pointer, message),
        None => told,
    }
}
