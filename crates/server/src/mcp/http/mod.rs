//! Streamable HTTP: `POST /mcp` and `/mcp/{profile}`. A request that stands alone is answered with JSON, or with a
//! stream of events if something must be said before the answer.

pub(crate) mod events;
mod headers;
pub(crate) mod mirrored;
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
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use toolroom_contract::{ErrorCode, Principal};
use toolroom_mcp::meta::RequestMeta;
use toolroom_mcp::{Client, Code, Frame, Id, Message, Method, Params, Revision, RpcError, frame};
use toolroom_runtime::Edge;

use super::dispatch::dispatch;
use super::name_index::is_shown;
use super::peer::Peer;
use super::request::{Caller, Request};
use crate::api::Caller as Who;
use crate::app::App;
use crate::middleware::{Problem, strict_json};
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
    let caller = Caller { principal, profile, trace, edge: Edge::Mcp, session: None };
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

/// A request that stands alone, its envelope and headers in order.
struct Standalone<'a> {
    method: Method,
    id: Id,
    client: Client,
    meta: RequestMeta<'a>,
    fields: Params<'a>,
}

/// What a frame turned out to be.
enum Kind<'a> {
    Standalone(Box<Standalone<'a>>),
    /// Nothing is answered to a notification.
    Notification,
    /// Of a revision with a handshake.
    Legacy(Frame<'a>),
}

/// An answer, ready to be sent.
pub(super) struct Answered {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl Exchange {
    async fn answer(self) -> Response {
        match self.decode() {
            Ok(Kind::Standalone(request)) if !request.streams() => {
                let answered = self.work(&request, &Peer::silent()).await;
                stream::at_once(answered, headers::prefers_events(&self.headers))
            }
            Ok(Kind::Standalone(_)) => {
                let events = headers::prefers_events(&self.headers);
                stream::answer(events, |peer| async move {
                    // The frame is read again, because the future owns it.
                    match self.decode() {
                        Ok(Kind::Standalone(request)) => self.work(&request, &peer).await,
                        _ => refusal(
                            None,
                            RpcError::new(Code::Internal, "The message changed while it was read."),
                        ),
                    }
                })
                .boxed()
                .await
            }
            Ok(Kind::Notification) => StatusCode::ACCEPTED.into_response(),
            // Boxed, as is whatever is rare: calls that go straight through carry neither its room nor its stack.
            Ok(Kind::Legacy(frame)) => session::post(&self, frame).boxed().await,
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

    fn decode(&self) -> Result<Kind<'_>, Answered> {
        let frame = frame::read(&self.body).map_err(|bad| refusal(bad.id.as_ref(), bad.error))?;
        let declared = headers::protocol_version(&self.headers).map_err(|error| refusal(None, error))?;
        let modern_header =
            declared.is_some_and(|text| Revision::parse(text).is_none_or(Revision::is_stateless));
        match frame {
            Frame::One(Message::Request { id, method, params }) => {
                let refuse = |error: RpcError| refusal(Some(&id), error);
                let meta =
                    params.meta().map_err(|error| refuse(error.of_the_envelope()))?.unwrap_or_default();
                if !meta.is_modern() && !modern_header {
                    return Ok(Kind::Legacy(Frame::One(Message::Request { id, method, params })));
                }
                match self.standalone(&method, meta, &params, declared) {
                    Ok((method, client, meta)) => {
                        let fields = params;
                        Ok(Kind::Standalone(Box::new(Standalone { method, id, client, meta, fields })))
                    }
                    Err(error) => Err(refuse(error)),
                }
            }
            Frame::One(Message::Notification { .. }) if modern_header => Ok(Kind::Notification),
            Frame::One(Message::Response { .. }) | Frame::Batch(_) if modern_header => {
                let error =
                    RpcError::new(Code::InvalidRequest, "Send one request or notification at a time.");
                Err(refusal(None, error))
            }
            frame => Ok(Kind::Legacy(frame)),
        }
    }

    /// The checks of a request that stands alone, in the order in which their errors are told.
    fn standalone<'a>(
        &self,
        method: &str,
        mut meta: RequestMeta<'a>,
        fields: &Params<'_>,
        declared: Option<&str>,
    ) -> Result<(Method, Client, RequestMeta<'a>), RpcError> {
        headers::agree("MCP-Protocol-Version", declared, meta.version()?)?;
        let client = meta.client()?;
        headers::check_method(&self.headers, method)?;
        let method = Method::find(method, client.revision).ok_or_else(RpcError::method_not_found)?;
        headers::check_name(&self.headers, method, fields)?;
        self.check_mirrored(method, fields)?;
        Ok((method, client, meta))
    }

    fn check_mirrored(&self, method: Method, fields: &Params<'_>) -> Result<(), RpcError> {
        if method != Method::ToolsCall {
            return Ok(());
        }
        let snapshot = self.app.runtime.registry.snapshot();
        let index = self.app.mcp.indexes.of(&snapshot);
        match index.profile(&self.caller.profile) {
            Some(profile) if !profile.mirrored.is_empty() => {
                // A tool that the caller may not use must not be given away by its headers.
                let usable = |name: &str| is_shown(&self.app, &snapshot, &self.caller, name);
                mirrored::check(profile, &self.headers, fields, usable)
            }
            _ => Ok(()),
        }
    }
}

impl Standalone<'_> {
    /// Whether something may have to be said before the answer.
    fn streams(&self) -> bool {
        self.method.always_streams() || self.meta.progress_token.is_some() || self.client.log_level.is_some()
    }
}

fn refusal(id: Option<&Id>, error: RpcError) -> Answered {
    Answered { status: error.http_status(), body: frame::response(id, Err(&error)).into() }
}

pub(super) fn plain(answered: Answered) -> Response {
    let mut response = Response::new(Body::from(answered.body));
    *response.status_mut() = answered.status;
    // Room for those of the frame too.
    response.headers_mut().reserve(8);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
