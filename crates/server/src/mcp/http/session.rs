//! Sessions over Streamable HTTP: `POST` for messages, `GET` to listen, `DELETE` to end.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Request as HttpRequest, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use tokio::sync::mpsc;
use toolroom_contract::{ErrorCode, Principal};
use toolroom_mcp::headers::{LAST_EVENT, SESSION};
use toolroom_mcp::{Code, Frame, Id, Message, Method, Revision, RpcError, frame};
use toolroom_runtime::Edge;

use super::{Answered, Exchange, check_profile, plain, refusal};
use crate::api::Caller as Who;
use crate::app::App;
use crate::mcp::caller::Caller;
use crate::mcp::peer::Peer;
use crate::mcp::read::headers;
use crate::mcp::session::events::{self, Flow};
use crate::mcp::session::{
    Conversation, Introduced, NoSession, Session, Taken, Transport, Work, agree, watch,
};
use crate::mcp::write::tool_list;
use crate::middleware::Problem;
use crate::problems::problem;

/// Answers a frame of a revision with a handshake.
pub(super) async fn post(exchange: &Exchange, frame: Frame<'_>) -> Response {
    let asked = asked(&frame);
    let given = match headers::single(&exchange.headers, &SESSION) {
        Ok(given) => given,
        Err(error) => return plain(refusal(asked.as_ref(), error)),
    };
    let session = match (given, frame) {
        (None, Frame::One(Message::Request { id, method, params }))
            if method == Method::Initialize.name() =>
        {
            return initialize(exchange, &id, params.text).await;
        }
        (None, _) => return plain(refusal(asked.as_ref(), no_session())),
        (Some(given), frame) => {
            let Exchange { app, caller, .. } = exchange;
            match find(app, &caller.principal, &caller.profile, given).await {
                Ok(session) => (session, frame),
                Err(why) => return without_session(&why, asked.as_ref()),
            }
        }
    };
    let (session, frame) = session;
    let (peer, said) = Peer::streaming(Some(Arc::clone(&session.questions)));
    let caller = Caller { session: Some(Arc::clone(&session.name)), ..exchange.caller.clone() };
    let conversation =
        Conversation { app: Arc::clone(&exchange.app), session: Arc::clone(&session), caller, peer };
    match conversation.take(frame) {
        Ok(Taken::Nothing) => StatusCode::ACCEPTED.into_response(),
        Ok(Taken::Work(work)) => {
            drop(conversation);
            answer(&session, said, work, headers::prefers_events(&exchange.headers)).await
        }
        Err(error) => plain(refusal(None, error)),
    }
}

/// The work's answer as plain JSON, unless something is said before it or the client would rather have a stream.
async fn answer(
    session: &Arc<Session>,
    mut said: mpsc::Receiver<Bytes>,
    mut work: Work,
    stream: bool,
) -> Response {
    if stream {
        return flow(session, said, work).answer();
    }
    tokio::select! {
        biased;
        first = said.recv() => match first {
            Some(first) => flow(session, said, work).saying(&first).answer(),
            None => done(work.await),
        },
        answered = &mut work => match said.try_recv() {
            Ok(first) => flow(session, said, Box::pin(std::future::ready(answered))).saying(&first).answer(),
            Err(_) => done(answered),
        },
    }
}

fn flow(session: &Arc<Session>, said: mpsc::Receiver<Bytes>, work: Work) -> Flow {
    let flow = Flow::new(Arc::clone(session), said, work);
    match session.client() {
        Some(client) if client.revision.has_priming_events() => flow.primed(),
        _ => flow,
    }
}

/// To a cancelled request nothing is answered.
fn done(answered: Option<Bytes>) -> Response {
    match answered {
        Some(body) => plain(Answered { status: StatusCode::OK, body }),
        None => StatusCode::ACCEPTED.into_response(),
    }
}

async fn initialize(exchange: &Exchange, id: &Id, params: Option<&str>) -> Response {
    let (client, result) = match agree(params) {
        Ok(agreed) => agreed,
        Err(error) => return plain(refusal(Some(id), error)),
    };
    let Exchange { app, caller, .. } = exchange;
    let sessions = &app.mcp.sessions;
    let profile = caller.profile.clone();
    // What there is now is not news.
    let shown = tool_list::fingerprint(app, caller, client.revision).ok();
    let met = Some(Introduced { client, shown });
    let created = sessions.create(app, &caller.principal, profile, Transport::Http, met).await;
    let session = match created {
        Ok(session) => session,
        Err(why) => return without_session(&why, Some(id)),
    };
    let mut response =
        plain(Answered { status: StatusCode::OK, body: frame::response(Some(id), Ok(&result)).into() });
    if let Ok(value) = HeaderValue::from_str(&session.id) {
        response.headers_mut().insert(SESSION, value);
    }
    response
}

pub(crate) async fn get(state: State<Arc<App>>, who: Who, request: HttpRequest) -> Response {
    listen(&state.0, who.0, Cow::Borrowed(toolroom_profiles::DEFAULT), request).await
}

pub(crate) async fn get_profile(
    State(app): State<Arc<App>>,
    Extension(who): Who,
    Path(profile): Path<String>,
    request: HttpRequest,
) -> Response {
    listen(&app, who, Cow::Owned(profile), request).await
}

/// A stream on which the client is told what it did not ask for, or one that it was cut off from.
async fn listen(
    app: &Arc<App>,
    principal: Arc<Principal>,
    profile: Cow<'static, str>,
    request: HttpRequest,
) -> Response {
    // A body cannot be held while something is waited for.
    let (head, _) = request.into_parts();
    let session = match addressed(app, &principal, &profile, &head.headers).await {
        Ok(session) => session,
        Err(response) => return *response,
    };
    if !headers::takes_events(&head.headers) {
        return problem(ErrorCode::NotAcceptable, "Send 'Accept: text/event-stream'.").into_response();
    }
    if let Some(last) = head.headers.get(LAST_EVENT).and_then(|value| value.to_str().ok()) {
        // 204 tells a client not to try again.
        return events::resume(&session, last).unwrap_or_else(|| StatusCode::NO_CONTENT.into_response());
    }
    let (peer, said) = Peer::streaming(None);
    let trace = head.extensions.get().copied().unwrap_or_default();
    let name = Some(Arc::clone(&session.name));
    let caller = Caller { principal, profile, trace, edge: Edge::Mcp, session: name, dry_run: false };
    let replaced = session.listen();
    let conversation = Conversation { app: Arc::clone(app), session: Arc::clone(&session), caller, peer };
    let work: Work = Box::pin(async move {
        watch(conversation, replaced).await;
        None
    });
    Flow::new(session, said, work).unnumbered(":\n\n").answer()
}

pub(crate) async fn delete(state: State<Arc<App>>, who: Who, headers: HeaderMap) -> Response {
    end(&state.0, &who.0, toolroom_profiles::DEFAULT, &headers).await
}

pub(crate) async fn delete_profile(
    State(app): State<Arc<App>>,
    Extension(who): Who,
    Path(profile): Path<String>,
    headers: HeaderMap,
) -> Response {
    end(&app, &who, &profile, &headers).await
}

async fn end(app: &Arc<App>, principal: &Principal, profile: &str, headers: &HeaderMap) -> Response {
    let session = match addressed(app, principal, profile, headers).await {
        Ok(session) => session,
        Err(response) => return *response,
    };
    match app.mcp.sessions.end(app, &session).await {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => without_session(&error.into(), None),
    }
}

/// The session that a GET or DELETE is about. The newest revision has neither.
async fn addressed(
    app: &Arc<App>,
    principal: &Principal,
    profile: &str,
    headers: &HeaderMap,
) -> Result<Arc<Session>, Box<Response>> {
    let refuse = |error: RpcError| Box::new(plain(refusal(None, error)));
    check_profile(app, principal, profile).map_err(|problem| Box::new(problem.into_response()))?;
    let version = headers::protocol_version(headers).map_err(refuse)?;
    if version.and_then(Revision::parse).is_some_and(Revision::is_stateless) {
        let mut response = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "invalid_input")
            .detail("This revision of MCP only has POST.")
            .into_response();
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        return Err(Box::new(response));
    }
    let given = headers::single(headers, &SESSION).map_err(refuse)?.ok_or_else(|| refuse(no_session()))?;
    find(app, principal, profile, given).await.map_err(|why| Box::new(without_session(&why, None)))
}

async fn find(
    app: &Arc<App>,
    principal: &Principal,
    profile: &str,
    id: &str,
) -> Result<Arc<Session>, NoSession> {
    app.mcp.sessions.find(app, id, principal, Some(profile), Transport::Http).await
}

fn asked(frame: &Frame<'_>) -> Option<Id> {
    match frame {
        Frame::One(Message::Request { id, .. }) => Some(id.clone()),
        _ => None,
    }
}

fn no_session() -> RpcError {
    RpcError::new(Code::InvalidRequest, "Send 'initialize' first, then the Mcp-Session-Id that it gives you.")
}

/// The same whether it ended, was never there, or is another's: the client is to begin again.
fn without_session(why: &NoSession, id: Option<&Id>) -> Response {
    let (status, error) = match why {
        NoSession::Unknown => {
            let message = "Unknown session; send 'initialize' to start one.";
            (StatusCode::NOT_FOUND, RpcError::new(Code::InvalidRequest, message))
        }
        NoSession::Full => return too_many().into_response(),
        NoSession::TooLong => {
            let message = "'capabilities' and 'clientInfo' are too long: together they may have 2 KB here.";
            (StatusCode::BAD_REQUEST, RpcError::invalid_params(message))
        }
        NoSession::Unreachable(error) => {
            tracing::error!(%error, "a session cannot be looked at");
            let message = "The database cannot be reached; try again in a moment.";
            (StatusCode::SERVICE_UNAVAILABLE, RpcError::new(Code::Internal, message))
        }
    };
    plain(Answered { status, body: frame::response(id, Err(&error)).into() })
}

pub(super) fn too_many() -> Problem {
    problem(ErrorCode::Busy, "There are too many active sessions. End some with DELETE.")
}
