//! Messages whose sender cannot be checked because the database is gone: a call is answered as a failed call, in
//! the form of its profile; whatever else is asked, with an error of the protocol.

use std::borrow::Cow;
use std::sync::Arc;

use axum::RequestExt;
use axum::extract::{Path, Request as HttpRequest};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::StatusCode;
use serde_json::Value;
use toolroom_contract::{Reporter, ToolError};
use toolroom_mcp::{Client, Code, Frame, Id, Message, Method, Params, Revision, RpcError, frame};
use toolroom_runtime::{CallRequest, Edge};

use super::{Answered, plain};
use crate::access::nobody;
use crate::app::App;
use crate::mcp::caller::Caller;
use crate::mcp::peer::Peer;
use crate::mcp::read::call_params::CallParams;
use crate::mcp::read::headers;
use crate::mcp::read::request::Request;
use crate::mcp::write::tool_result;
use crate::middleware::{Problem, strict_json};

/// A message on a path that names its profile, or none.
pub(crate) fn answer(
    app: Arc<App>,
    mut request: HttpRequest,
    why: ToolError,
) -> BoxFuture<'static, Response> {
    async move {
        let profile = match request.extract_parts::<Path<String>>().await {
            Ok(Path(profile)) => Cow::Owned(profile),
            Err(_) => Cow::Borrowed(toolroom_profiles::DEFAULT),
        };
        respond(&app, request, profile, why).await.unwrap_or_else(Problem::into_response)
    }
    .boxed()
}

/// A message in a session of 2024-11-05, under the session's profile.
pub(crate) fn message(
    app: Arc<App>,
    mut request: HttpRequest,
    why: ToolError,
) -> BoxFuture<'static, Response> {
    async move {
        let session = request.extract_parts::<Path<String>>().await.ok();
        let profile = session.and_then(|Path(id)| app.mcp.sessions.profile_of(&id));
        let profile = profile.unwrap_or(Cow::Borrowed(toolroom_profiles::DEFAULT));
        respond(&app, request, profile, why).await.unwrap_or_else(Problem::into_response)
    }
    .boxed()
}

/// A request without a message: for a stream, or the end of a session.
pub(crate) fn stream(_: Arc<App>, _: HttpRequest, why: ToolError) -> BoxFuture<'static, Response> {
    async { failed(why) }.boxed()
}

fn failed(why: ToolError) -> Response {
    let told = RpcError::new(Code::Internal, why.message);
    plain(Answered {
        status: StatusCode::SERVICE_UNAVAILABLE,
        body: frame::response(None, Err(&told)).into(),
    })
}

async fn respond(
    app: &Arc<App>,
    request: HttpRequest,
    profile: Cow<'static, str>,
    why: ToolError,
) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let body = strict_json::read(&head, body).await?;
    let Ok(Frame::One(Message::Request { id, method, params })) = frame::read(&body) else {
        return Ok(failed(why));
    };
    let declared = headers::protocol_version(&head.headers).ok().flatten();
    let trace = head.extensions.get().copied().unwrap_or_default();
    let caller =
        Caller { principal: nobody(), profile, trace, edge: Edge::Mcp, session: None, dry_run: false };
    let told = match method == Method::ToolsCall.name() {
        true => call(app, &caller, &id, params, declared.and_then(Revision::parse), why).await,
        false => Err(RpcError::new(Code::Internal, why.message)),
    };
    let status = if told.is_ok() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    Ok(plain(Answered { status, body: frame::response(Some(&id), told.as_deref()).into() }))
}

/// The result of a call that was not made.
async fn call(
    app: &Arc<App>,
    caller: &Caller,
    id: &Id,
    fields: Params<'_>,
    declared: Option<Revision>,
    why: ToolError,
) -> Result<Vec<u8>, RpcError> {
    let mut meta = fields.meta()?.unwrap_or_default();
    // Which session it belongs to is not known: an older client is answered as the newest of its kind.
    let client = meta.client().unwrap_or_else(|_| Client {
        revision: declared.unwrap_or(Revision::LATEST_WITH_INITIALIZE),
        info: None,
        capabilities: Default::default(),
        log_level: None,
    });
    let CallParams { name, arguments, .. } = CallParams::of(&fields)?;
    let request = Request { app, id, caller, client: &client, meta: &meta, fields, peer: &Peer::silent() };
    let index = app.mcp.indexes.of(&app.runtime.registry.snapshot());
    let meant = index.profile(&caller.profile).map(|profile| profile.aliases.mean(&name).to_owned());
    let reply = app.runtime.unserved(
        CallRequest {
            profile: caller.profile.clone(),
            name: meant.unwrap_or_else(|| name.clone()),
            params: Value::Object(arguments.unwrap_or_default()),
            principal: Arc::clone(&caller.principal),
            context: request.context(),
            edge: Edge::Mcp,
            reporter: Reporter::default(),
        },
        why,
    );
    Ok(tool_result::render(&reply, &request, &name).await)
}
