//! Streamable HTTP: `POST /mcp` and `/mcp/{profile}`. A request that stands alone is answered with JSON, or with a
//! stream of events if something must be said before the answer.

pub(crate) mod session;
pub(crate) mod sse;
mod stream;
pub(crate) mod unserved;

use std::borrow::Cow;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Request as HttpRequest, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use toolroom_contract::{ErrorCode, Principal};
use toolroom_mcp::{Code, Id, RpcError, frame};
use toolroom_runtime::Edge;

use super::caller::Caller;
use super::dispatch::dispatch;
use super::peer::Peer;
use super::read::headers;
use super::read::posted::{Posted, PostedMessage, Standalone};
use super::read::request::Request;
use crate::api::Caller as Who;
use crate::app::App;
use crate::middleware::{Problem, dry_run, strict_json};
use crate::problems::problem;

pub(crate) async fn post(State(app): State<Arc<App>>, Extension(who): Who, request: HttpRequest) -> Response {
    serve(app, who, Cow::Borrowed(toolroom_profiles::DEFAULT), request).await
}

pub(crate) async fn post_profile(
    State(app): State<Arc<App>>,
    Extension(who): Who,
    Path(profile): Path<String>,
    request: HttpRequest,
) -> Response {
    serve(app, who, Cow::Owned(profile), request).await
}

async fn serve(
    app: Arc<App>,
    principal: Arc<Principal>,
    profile: Cow<'static, str>,
    request: HttpRequest,
) -> Response {
    match receive(app, principal, profile, request).await {
        Ok(exchange) => exchange.answer().await,
        Err(problem) => problem.into_response(),
    }
}

async fn receive(
    app: Arc<App>,
    principal: Arc<Principal>,
    profile: Cow<'static, str>,
    request: HttpRequest,
) -> Result<Exchange, Problem> {
    check_profile(&app, &principal, &profile)?;
    headers::check_accept(request.headers())?;
    let (head, body) = request.into_parts();
    let body = strict_json::read(&head, body).await?;
    let trace = head.extensions.get().copied().unwrap_or_default();
    let dry_run = dry_run::is_wanted(&head.headers);
    let caller = Caller { principal, profile, trace, edge: Edge::Mcp, session: None, dry_run };
    Ok(Exchange { app, caller, headers: head.headers, body })
}

/// A profile that is not the caller's is none.
pub(super) fn check_profile(app: &App, principal: &Principal, profile: &str) -> Result<(), Problem> {
    if app.runtime.registry.snapshot().view(principal, profile, app.runtime.today()).is_some() {
        return Ok(());
    }
    let detail = "Unknown profile, or not allowed for you; see /api/v1/profiles.";
    Err(problem(ErrorCode::NotFound, detail))
}

/// One POST.
struct Exchange {
    app: Arc<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Bytes,
}

/// An answer, ready to be sent.
pub(super) struct Answered {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl Exchange {
    async fn answer(self) -> Response {
        match self.decode() {
            Ok(Posted::Standalone(request)) if !request.streams() => {
                let answered = self.work(&request, &Peer::silent()).await;
                stream::at_once(answered, headers::prefers_events(&self.headers))
            }
            Ok(Posted::Standalone(_)) => {
                let events = headers::prefers_events(&self.headers);
                stream::answer(events, |peer| async move {
                    // The frame is read again, because the future owns it.
                    match self.decode() {
                        Ok(Posted::Standalone(request)) => self.work(&request, &peer).await,
                        _ => refusal(
                            None,
                            RpcError::new(Code::Internal, "The message changed while it was read."),
                        ),
                    }
                })
                .await
            }
            Ok(Posted::Notification) => StatusCode::ACCEPTED.into_response(),
            Ok(Posted::Legacy(frame)) => session::post(&self, frame).await,
            Err(answered) => plain(answered),
        }
    }

    async fn work(&self, request: &Standalone<'_>, peer: &Peer) -> Answered {
        let Standalone { method, id, client, meta, fields } = request;
        let ready = Request { app: &self.app, id, caller: &self.caller, client, meta, fields: *fields, peer };
        let outcome = dispatch(*method, &ready).await;
        let status = outcome.as_ref().map_or_else(RpcError::http_status, |_| StatusCode::OK);
        Answered { status, body: frame::response(Some(id), outcome.as_deref()).into() }
    }

    fn decode(&self) -> Result<Posted<'_>, Answered> {
        let message = PostedMessage { app: &self.app, caller: &self.caller, headers: &self.headers };
        message.read(&self.body).map_err(|bad| refusal(bad.id.as_ref(), bad.error))
    }
}

fn refusal(id: Option<&Id>, error: RpcError) -> Answered {
    Answered { status: error.http_status(), body: frame::response(id, Err(&error)).into() }
}

pub(super) fn plain(answered: Answered) -> Response {
    let mut response = Response::new(Body::from(answered.body));
    *response.status_mut() = answered.status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
