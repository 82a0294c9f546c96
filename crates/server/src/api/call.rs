//! A call over REST: the envelope in, the envelope out, 202 while a person must decide.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

use axum::Extension;
use axum::Json;
use axum::RequestExt;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Path, Query, Request, State};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde_json::{Value, json};
use toolroom_contract::context::ContextFields;
use toolroom_contract::error::PendingNotice;
use toolroom_contract::ids::PendingId;
use toolroom_contract::{ErrorCode, Principal, Reporter, ToolError, ToolResult, TraceId};
use toolroom_runtime::{CallRequest, Edge, Reply};
use toolroom_store::sessions::Session;

use super::Caller;
use super::wait::{self, Wait};
use crate::access::nobody;
use crate::app::App;
use crate::listener::Peer;
use crate::middleware::{CallBody, Problem, dry_run, strict_json};
use crate::problems::of_error;

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "CallRequest")]
pub(crate) struct Body {
    /// The tool's parameters.
    #[schemars(default = "empty")]
    params: Value,
    /// What the caller sends along.
    #[schemars(default)]
    context: ContextFields,
}

/// The result of a call that waits for a person, with the request on top.
#[derive(JsonSchema)]
#[schemars(rename = "PendingResult")]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) struct Waiting {
    pending: PendingNotice,
    #[serde(flatten)]
    result: ToolResult,
}

impl Body {
    /// Reads a body by hand, so that errors are reported in the envelope of the call.
    fn read(body: Value) -> Result<Self, ToolError> {
        let Value::Object(mut fields) = body else {
            return Err(ToolError::invalid("", "the body must be an object with params and context"));
        };
        let params = fields.shift_remove("params").unwrap_or_else(empty);
        let context = fields.shift_remove("context").unwrap_or_else(empty);
        if let Some(name) = fields.keys().next() {
            let pointer = format!("/{}", toolroom_contract::pointer::token(name));
            return Err(ToolError::invalid(pointer, "is unknown; the body has params and context"));
        }
        let context = ContextFields::read(context).map_err(|details| {
            let first = details.first().map(|detail| format!("{} {}", detail.pointer, detail.message));
            let message = format!("The context cannot be used: {}.", first.unwrap_or_default());
            ToolError { details, ..ToolError::new(ErrorCode::InvalidInput, message) }
        })?;
        Ok(Self { params, context })
    }
}

fn empty() -> Value {
    json!({})
}

/// A request without its body: headers, trace, and where it came from.
pub(crate) struct Wire {
    headers: HeaderMap,
    trace: TraceId,
    /// The way in that its sender stands for, whatever the route.
    edge: Option<Edge>,
}

impl<S: Sync> FromRequestParts<S> for Wire {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(parts))
    }
}

impl Wire {
    fn of(parts: &Parts) -> Self {
        Self {
            headers: parts.headers.clone(),
            trace: parts.extensions.get().copied().unwrap_or_default(),
            edge: match parts.extensions.get() {
                // The command line uses the owner's socket.
                Some(Peer::Owner) => Some(Edge::Cli),
                _ => parts.extensions.get::<Arc<Session>>().map(|_| Edge::Console),
            },
        }
    }
}

pub(crate) async fn call(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    wire: Wire,
    Path(name): Path<String>,
    wait: Result<Query<Wait>, QueryRejection>,
    CallBody(body): CallBody,
) -> Result<Response, Problem> {
    let wait = wait::checked(wait, wait::FOR_A_PERSON)?;
    let given = body.as_ref().ok().and_then(|body| body.get("params")).cloned();
    let read = body.and_then(Body::read).and_then(|body| Ok((body.params, wire.context(body.context)?)));
    let (params, context) = match read {
        Ok(read) => read,
        Err(error) => {
            let request = wire.refused(toolroom_profiles::DEFAULT.into(), name, given, caller, Edge::Rest);
            return Ok(envelope(app.runtime.refuse(request, error)));
        }
    };
    let request = |context| CallRequest {
        profile: Cow::Borrowed(toolroom_profiles::DEFAULT),
        name: name.clone(),
        params: params.clone(),
        principal: Arc::clone(&caller),
        context,
        edge: wire.edge(Edge::Rest),
        reporter: Reporter::default(),
    };
    let reply = match wait {
        None => app.runtime.call(request(context)).await,
        Some(wait) => wait::call(&app, wait, context, request).await,
    };
    Ok(envelope(reply))
}

/// The answer while the caller cannot be identified: a failed call like any other.
pub(crate) fn unserved(app: Arc<App>, request: Request, why: ToolError) -> BoxFuture<'static, Response> {
    async move {
        let mut request = request;
        let Ok(Path(name)) = request.extract_parts::<Path<String>>().await else {
            return of_error(&why).into_response();
        };
        let (wire, body) = Wire::split(request).await;
        let params = body.and_then(|body| body.get("params").cloned());
        let request = wire.refused(toolroom_profiles::DEFAULT.into(), name, params, nobody(), Edge::Rest);
        envelope(app.runtime.unserved(request, why))
    }
    .boxed()
}

/// The status that goes with the canonical result.
pub(crate) fn status(reply: &Reply) -> StatusCode {
    StatusCode::from_u16(reply.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// The canonical result with its status; a call that waits for approval also shows the request on top.
pub(crate) fn envelope(reply: Reply) -> Response {
    let status = status(&reply);
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
    pub(crate) fn context(&self, mut context: ContextFields) -> Result<ContextFields, ToolError> {
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
                ToolError::new(
                    ErrorCode::InvalidInput,
                    "X-Approval-Id must be the id of a pending request, from the 202 answer.",
                )
            })?;
            context.approval_id = Some(id);
        }
        context.dry_run |= dry_run::is_wanted(&self.headers);
        if let Some(zone) = &context.timezone
            && jiff::tz::TimeZone::get(zone).is_err()
        {
            return Err(ToolError::invalid(
                "/context/timezone",
                "must be a time zone name such as Europe/Berlin",
            ));
        }
        Ok(context)
    }

    /// The wire of a request and its body, as far as that can be read.
    pub(crate) async fn split(request: Request) -> (Self, Option<Value>) {
        let (head, body) = request.into_parts();
        let read = strict_json::read(&head, body).await;
        let wire = Self::of(&head);
        (wire, read.ok().and_then(|bytes| strict_json::decode(&bytes).ok()))
    }

    /// A call that is not made, with everything known about it.
    pub(crate) fn refused(
        &self,
        profile: Cow<'static, str>,
        name: String,
        params: Option<Value>,
        principal: Arc<Principal>,
        edge: Edge,
    ) -> CallRequest {
        CallRequest {
            profile,
            name,
            params: params.unwrap_or_else(empty),
            principal,
            context: ContextFields { trace_id: Some(self.trace), ..ContextFields::default() },
            edge: self.edge(edge),
            reporter: Reporter::default(),
        }
    }

    /// The way in, which is `otherwise` unless the sender stands for another.
    pub(crate) fn edge(&self, otherwise: Edge) -> Edge {
        self.edge.unwrap_or(otherwise)
    }
}
