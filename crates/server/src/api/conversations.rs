//! Conversations: list, show, cancel, delete. Another user's does not exist.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::{Extension, Json};
use http::StatusCode;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom_agent::StoredMessage;
use toolroom_agent::chat::Conversation;
use toolroom_contract::ErrorCode;
use toolroom_contract::ids::ConversationId;

use super::Caller;
use super::chat::{of_chat, own_conversation};
use crate::app::App;
use crate::middleware::{Problem, StrictJson};
use crate::problems::{bad_query, problem};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ConversationList")]
pub(crate) struct Listing {
    /// The most recent first.
    conversations: Vec<Heading>,
    /// The next page; null at the end.
    next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Conversation")]
pub(crate) struct Heading {
    #[schemars(with = "String")]
    id: ConversationId,
    /// How it began.
    title: String,
    /// Its profile.
    profile: String,
    created_at: Timestamp,
    updated_at: Timestamp,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ConversationWithMessages")]
pub(crate) struct Shown {
    #[serde(flatten)]
    heading: Heading,
    /// Oldest first.
    messages: Vec<Message>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ChatMessage")]
struct Message {
    id: i64,
    /// `user` or `assistant`.
    #[schemars(with = "String")]
    role: toolroom_store::conversations::Role,
    content: String,
    /// Calls, receipts, and what is pending.
    metadata: Value,
    created_at: Timestamp,
}

impl From<Conversation> for Heading {
    fn from(talk: Conversation) -> Self {
        let Conversation { id, title, profile, created_at, updated_at } = talk;
        Self { id, title, profile, created_at, updated_at }
    }
}

impl From<StoredMessage> for Message {
    fn from(spoken: StoredMessage) -> Self {
        let StoredMessage { id, role, content, metadata, created_at } = spoken;
        Self { id, role, content, metadata, created_at }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    /// At most this many: 1 to 100.
    limit: Option<u32>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Last {
    /// How many messages, counted from the end.
    limit: Option<u32>,
}

const PAGE: u32 = 50;
const MESSAGES: u32 = 200;

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<Json<Listing>, Problem> {
    let Query(page) = page.map_err(bad_query)?;
    let unknown = |_| problem(ErrorCode::InvalidInput, "cursor: not a cursor of this list");
    let before = page.cursor.map(|cursor| cursor.parse().map_err(unknown)).transpose()?;
    let limit = page.limit.unwrap_or(PAGE).clamp(1, 100);
    let found = app.chat.conversations(&caller, before, limit).await.map_err(of_chat)?;
    let full = found.len() == limit as usize;
    let next_cursor = found.last().filter(|_| full).map(|talk| talk.id.to_string());
    let seen = found.into_iter().filter(|talk| caller.may_use_profile(&talk.profile));
    Ok(Json(Listing { conversations: seen.map(Heading::from).collect(), next_cursor }))
}

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(id): Path<String>,
    last: Result<Query<Last>, QueryRejection>,
) -> Result<Json<Shown>, Problem> {
    let Query(last) = last.map_err(bad_query)?;
    let id = own_conversation(&app, &caller, &id).await?;
    let limit = last.limit.unwrap_or(MESSAGES);
    let (talk, spoken) = app.chat.conversation(&caller, id, limit).await.map_err(of_chat)?;
    Ok(Json(Shown { heading: talk.into(), messages: spoken.into_iter().map(Message::from).collect() }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ConversationChange")]
pub(crate) struct Change {
    /// Its new title: 1 to 80 characters on one line.
    #[schemars(length(min = 1, max = 80))]
    title: String,
}

pub(crate) async fn rename(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(id): Path<String>,
    StrictJson(change): StrictJson<Change>,
) -> Result<Json<Heading>, Problem> {
    let id = own_conversation(&app, &caller, &id).await?;
    let title = change.title.trim();
    if title.is_empty() || title.chars().nth(80).is_some() || title.contains(char::is_control) {
        let message = "must be 1 to 80 characters on one line";
        return Err(problem(ErrorCode::InvalidInput, format!("title {message}.")).error("/title", message));
    }
    let renamed = app.chat.rename(&caller, id, title.to_owned()).await.map_err(of_chat)?;
    Ok(Json(renamed.into()))
}

pub(crate) async fn forget(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let id = own_conversation(&app, &caller, &id).await?;
    app.chat.forget(&caller, id).await.map_err(of_chat)?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let id = own_conversation(&app, &caller, &id).await?;
    // Also if nothing runs: the check above says nothing about the owner.
    app.chat.conversation(&caller, id, 1).await.map_err(of_chat)?;
    app.chat.cancel_all(&caller, id).await.map_err(of_chat)?;
    Ok(StatusCode::NO_CONTENT)
}
