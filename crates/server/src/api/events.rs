//! What happens, as one stream of server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::{HeaderMap, HeaderValue, header};
use schemars::JsonSchema;
use serde::Deserialize;
use toolroom_contract::ErrorCode;

use super::Caller;
use crate::app::App;
use crate::events::{Topics, Watcher};
use crate::middleware::Problem;
use crate::problems::{bad_query, of_error, problem};

/// A comment this often shows that a quiet stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// `executions`, `approvals`, `servers` and `catalogue`, with commas between; not given: all of them.
    topics: Option<String>,
}

pub(crate) async fn follow(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    wanted: Result<Query<Wanted>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Query(wanted) = wanted.map_err(bad_query)?;
    let topics = topics(wanted.topics.as_deref())?;
    let last = headers.get("last-event-id").map(|id| id.to_str().unwrap_or_default());
    let watcher = Watcher::begin(&app, caller, topics, last).await.map_err(|error| of_error(&error))?;
    let events = stream::unfold(watcher, |mut watcher| async move {
        let event = watcher.next().await?;
        let sent = Event::default().id(event.id).event(event.name).data(event.data);
        Some((Ok::<_, Infallible>(sent), watcher))
    });
    let mut response =
        Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT).text("")).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

fn topics(wanted: Option<&str>) -> Result<Topics, Problem> {
    let all = "executions,approvals,servers,catalogue";
    let mut topics = Topics::default();
    for topic in wanted.unwrap_or(all).split(',') {
        match topic {
            "executions" => topics.executions = true,
            "approvals" => topics.approvals = true,
            "servers" => topics.servers = true,
            "catalogue" => topics.catalogue = true,
            _ => {
                let detail = format!("topics: the topics are {}.", all.replace(',', ", "));
                return Err(problem(ErrorCode::InvalidInput, detail));
            }
        }
    }
    Ok(topics)
}
