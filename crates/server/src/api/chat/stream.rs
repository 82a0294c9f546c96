//! A run's event log as server-sent events. The id of an event names the run, so that any client that was cut off
//! can come back with `Last-Event-ID`.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{FutureExt, Stream, StreamExt, stream};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use toolroom_agent::{Event, EventKind, RunHandle};
use toolroom_contract::ErrorCode;
use toolroom_contract::ids::ChatRunId;

use super::{Reply, named};
use crate::middleware::Problem;
use crate::problems::problem;

/// A comment this often shows that a quiet stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Whether the client asks for events by its `Accept`.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accept.split(',').next().is_some_and(|first| first.trim().starts_with("text/event-stream"))
}

/// The event that the client saw last: its run, where the id says it, and its number.
pub(super) fn last_event(headers: &HeaderMap) -> Result<Option<(Option<ChatRunId>, u64)>, Problem> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let read = |text: &str| match text.trim().split_once(':') {
        Some((run, number)) => Some((Some(run.parse().ok()?), number.parse().ok()?)),
        None => Some((None, text.trim().parse().ok()?)),
    };
    let seen = value.to_str().ok().and_then(read);
    let wrong = || problem(ErrorCode::InvalidInput, "Last-Event-ID is not an id of this server.");
    seen.map(Some).ok_or_else(wrong)
}

/// All events of a run, after one that names the run.
pub(super) fn begin(speaking: RunHandle) -> Response {
    let (run, conversation) = (speaking.run, speaking.conversation);
    let data = json!({ "conversation_id": conversation, "run_id": run });
    let first = Sent::default().id(format!("{run}:0")).event("started").data(data.to_string());
    event_stream(run, stream::iter([Ok(first)]).chain(events(speaking)))
}

/// The events that the client has not seen. If there are none and none will come, a status that says so.
pub(super) fn resume(mut speaking: RunHandle) -> Response {
    let run = speaking.run;
    match speaking.next().now_or_never() {
        Some(None) => named(run, StatusCode::NO_CONTENT.into_response()),
        Some(Some(event)) => event_stream(run, stream::iter([Ok(sent(run, event))]).chain(events(speaking))),
        None => event_stream(run, events(speaking)),
    }
}

fn events(speaking: RunHandle) -> impl Stream<Item = Result<Sent, Infallible>> + Send {
    stream::unfold(speaking, |mut speaking| async move {
        let event = speaking.next().await?;
        Some((Ok(sent(speaking.run, event)), speaking))
    })
}

fn sent(run: ChatRunId, event: Event) -> Sent {
    let (name, data) = match event.kind {
        EventKind::Done { answer } => ("done".to_owned(), json!(Reply::from(*answer))),
        kind => {
            let mut data = json!(kind);
            let name = data.as_object_mut().and_then(|fields| fields.shift_remove("event"));
            (name.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned(), data)
        }
    };
    Sent::default().id(format!("{run}:{}", event.id)).event(name).data(data.to_string())
}

/// Events of a run, with what keeps proxies from holding them back.
pub(crate) fn event_stream(
    run: ChatRunId,
    events: impl Stream<Item = Result<Sent, Infallible>> + Send + 'static,
) -> Response {
    let mut response =
        Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT).text("")).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    named(run, response)
}
