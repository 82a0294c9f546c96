//! A call over REST: the envelope in, the envelope out, 202 while a person must decide.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use toolroom_contract::context::ContextFields;
use toolroom_contract::ids::PendingId;
use toolroom_contract::{ErrorCode, Principal, Reporter, TraceId};
use toolroom_runtime::{CallRequest, Edge, Reply};

use super::Caller;
use crate::app::App;
use crate::listener::Peer;
use crate::middleware::strict_json::object;
use crate::middleware::{Problem, StrictJson};
use crate::problems::problem;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Body {
    /// The tool's parameters.
    #[serde(default = "empty")]
    params: Value,
    /// What the caller sends along.
    #[serde(default, deserialize_with = "object")]
    context: ContextFields,
}

fn empty() -> Value {
    json!({})
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    /// Seconds to wait for a person's decision, instead of answering 202 at once.
    wait: Option<f64>,
}

/// The longest that a request waits for a person.
const LONGEST_WAIT: f64 = 300.0;

/// What a request says beside its body: headers, trace, and where it came from.
pub(crate) struct Wire {
    headers: HeaderMap,
    trace: TraceId,
    owner: bool,
}

impl<S: Sync> FromRequestParts<S> for Wire {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self {
            headers: parts.headers.clone(),
            trace: parts.extensions.get().copied().unwrap_or_default(),
            owner: matches!(parts.extensions.get(), Some(Peer::Owner)),
        })
    }
}

pub(crate) async fn call(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    wire: Wire,
    Path(name): Path<String>,
    options: Result<Query<Options>, QueryRejection>,
    StrictJson(body): StrictJson<Body>,
) -> Result<Response, Problem> {
    let Query(options) = options.map_err(|error| problem(ErrorCode::InvalidInput, error.body_text()))?;
    let mut context = wire.context(body.context)?;
    let until =
        Instant::now() + Duration::from_secs_f64(options.wait.unwrap_or(0.0).clamp(0.0, LONGEST_WAIT));
    loop {
        let ring = app.decided.notified();
        let request = CallRequest {
            profile: Cow::Borrowed(toolroom_profiles::DEFAULT),
            name: name.clone(),
            params: body.params.clone(),
            principal: Arc::clone(&caller),
            context: context.clone(),
            edge: wire.edge(Edge::Rest),
            reporter: Reporter::default(),
        };
        let reply = app.runtime.call(request).await;
        let pending = reply.result.error().and_then(|error| error.pending.as_ref()).map(|pending| pending.id);
        match pending {
            Some(id) if Instant::now() < until => {
                context.approval_id = Some(id);
                // The bell rings for decisions in this process; the tick sees those made in another.
                let tick = Instant::now() + Duration::from_millis(500);
                let _ = tokio::time::timeout_at(tick.min(until), ring).await;
            }
            _ => return Ok(envelope(reply)),
        }
    }
}

/// The canonical result with its status; a held call also shows the matter on top.
pub(crate) fn envelope(reply: Reply) -> Response {
    let status = StatusCode::from_u16(reply.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let error = reply.result.error();
    let retry_after = error.and_then(|error| error.retry_after);
    let pending = error.and_then(|error| error.pending.clone());
    let mut response = match pending {
        Some(pending) => {
            let mut body = json!({ "pending": pending });
            if let (Some(body), Ok(Value::Object(result))) =
                (body.as_object_mut(), serde_json::to_value(&reply.result))
            {
                body.extend(result);
            }
            (status, Json(body)).into_response()
        }
        None => (status, Json(&reply.result)).into_response(),
    };
    if let Some(milliseconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(milliseconds.div_ceil(1000)));
    }
    response
}

impl Wire {
    /// What the headers add to the context; the body's own fields win.
    pub(crate) fn context(&self, mut context: ContextFields) -> Result<ContextFields, Problem> {
        let text =
            |name: &str| self.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        context.trace_id.get_or_insert(self.trace);
        if context.agent_id.is_none() {
            context.agent_id = text("x-agent-id");
            context.agent_version = context.agent_version.or_else(|| text("x-agent-version"));
        }
        if context.agent_id.is_none()
            && let Some(agent) = text("user-agent")
        {
            let (name, version) = agent.split_once('/').unwrap_or((&agent, ""));
            context.agent_id = Some(name.to_owned());
            let version = version.split_whitespace().next().unwrap_or_default();
            context.agent_version = context.agent_version.or_else(|| Some(version.to_owned()));
        }
        context.idempotency_key = context.idempotency_key.or_else(|| text("idempotency-key"));
        if context.approval_id.is_none()
            && let Some(id) = text("x-approval-id")
        {
            let id: PendingId = id.parse().map_err(|_| {
                problem(ErrorCode::InvalidInput, "X-Approval-Id must be the id of a pending matter.")
            })?;
            context.approval_id = Some(id);
        }
        context.dry_run |= text("x-dry-run").is_some_and(|value| value != "false" && value != "0");
        if let Some(zone) = &context.timezone
            && jiff::tz::TimeZone::get(zone).is_err()
        {
            return Err(problem(
                ErrorCode::InvalidInput,
                "context.timezone is not a time zone name such as Europe/Berlin.",
            )
            .error("/context/timezone", "unknown time zone"));
        }
        Ok(context)
    }

    /// The owner's socket is the command line's way in.
    pub(crate) fn edge(&self, otherwise: Edge) -> Edge {
        if self.owner { Edge::Cli } else { otherwise }
    }
}

/// A principal, for handlers that need no more of the caller.
pub(crate) type Who = Arc<Principal>;
