//! HTTP+SSE, the transport of 2024-11-05: `GET /sse` opens the stream that carries all answers, `POST
//! /messages/{session}` takes the messages.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Request as HttpRequest, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use toolroom_contract::ids::RunId;
use toolroom_contract::{ErrorCode, Principal, TraceId};
use toolroom_mcp::{Frame, RpcError, frame};
use toolroom_runtime::Edge;
use toolroom_store::{StoreError, mail};

use super::session::too_many;
use super::{check_profile, plain, refusal};
use crate::api::Caller as Who;
use crate::app::App;
use crate::mcp::caller::Caller;
use crate::mcp::mail::Letter;
use crate::mcp::peer::Peer;
use crate::mcp::session::events::Flow;
use crate::mcp::session::{Conversation, Line, NoSession, Session, Taken, Transport, Work, watch};
use crate::middleware::{Problem, dry_run, strict_json};
use crate::problems::problem;

pub(crate) async fn get(state: State<Arc<App>>, who: Who, trace: Option<Extension<TraceId>>) -> Response {
    open(&state.0, who.0, Cow::Borrowed(toolroom_profiles::DEFAULT), trace).await
}

pub(crate) async fn get_profile(
    State(app): State<Arc<App>>,
    Extension(who): Who,
    Path(profile): Path<String>,
    trace: Option<Extension<TraceId>>,
) -> Response {
    open(&app, who, Cow::Owned(profile), trace).await
}

/// The stream is the session: both end together.
async fn open(
    app: &Arc<App>,
    principal: Arc<Principal>,
    profile: Cow<'static, str>,
    trace: Option<Extension<TraceId>>,
) -> Response {
    if let Err(problem) = check_profile(app, &principal, &profile) {
        return problem.into_response();
    }
    let created = app.mcp.sessions.create(app, &principal, profile.clone(), Transport::Sse, None).await;
    let session = match created {
        Ok(session) => session,
        Err(why) => return without_session(&why).into_response(),
    };
    let (peer, said) = Peer::streaming(Some(Arc::clone(&session.questions)));
    session.connect(Line { peer: peer.clone(), principal: Arc::clone(&principal) });
    let trace = trace.map(|Extension(trace)| trace).unwrap_or_default();
    let name = Some(Arc::clone(&session.name));
    let caller = Caller { principal, profile, trace, edge: Edge::Mcp, session: name, dry_run: false };
    let replaced = session.listen();
    let conversation = Conversation { app: Arc::clone(app), session: Arc::clone(&session), caller, peer };
    let ends = Ends { app: Arc::clone(app), session: Arc::clone(&session) };
    let work: Work = Box::pin(async move {
        let _ends = ends;
        watch(conversation, replaced).await;
        None
    });
    let endpoint = format!("event: endpoint\ndata: /messages/{}\n\n", session.id);
    Flow::new(session, said, work).unnumbered(endpoint).answer()
}

/// The client has closed the stream.
struct Ends {
    app: Arc<App>,
    session: Arc<Session>,
}

impl Drop for Ends {
    fn drop(&mut self) {
        self.app.mcp.sessions.end_here(&self.app, &self.session);
    }
}

pub(crate) async fn post(
    State(app): State<Arc<App>>,
    Extension(who): Who,
    Path(id): Path<String>,
    request: HttpRequest,
) -> Response {
    match receive(app, who, &id, request).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    }
}

async fn receive(
    app: Arc<App>,
    principal: Arc<Principal>,
    id: &str,
    request: HttpRequest,
) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let trace = head.extensions.get().copied().unwrap_or_default();
    let dry_run = dry_run::is_wanted(&head.headers);
    let found = app.mcp.sessions.find(&app, id, &principal, None, Transport::Sse).await;
    let found = found.and_then(|session| Ok((session.line().ok_or(NoSession::Unknown)?, session)));
    let (line, session) = match found {
        Ok(found) => found,
        Err(NoSession::Unknown) => {
            let elsewhere = app.mcp.sessions.stream_elsewhere(&app, id, &principal).await;
            let replica = elsewhere.map_err(|why| without_session(&why))?;
            let body = strict_json::read(&head, body).await?;
            return pass_on(&app, replica, id, trace, dry_run, &body).await;
        }
        Err(why) => return Err(without_session(&why)),
    };
    let body = strict_json::read(&head, body).await?;
    let answered = match frame::read(&body) {
        Ok(frame) => take(&app, &session, Line { principal, ..line }, trace, dry_run, frame),
        Err(bad) => return Ok(plain(refusal(bad.id.as_ref(), bad.error))),
    };
    Ok(match answered {
        Ok(()) => StatusCode::ACCEPTED.into_response(),
        Err(error) => plain(refusal(None, error)),
    })
}

/// Works on a message; what there is to say goes down the stream.
fn take(
    app: &Arc<App>,
    session: &Arc<Session>,
    line: Line,
    trace: TraceId,
    dry_run: bool,
    frame: Frame<'_>,
) -> Result<(), RpcError> {
    let Line { peer, principal } = line;
    let caller = Caller {
        principal,
        profile: session.profile.clone(),
        trace,
        edge: Edge::Mcp,
        session: Some(Arc::clone(&session.name)),
        dry_run,
    };
    let (app, session) = (Arc::clone(app), Arc::clone(session));
    let conversation = Conversation { app, session, caller, peer: peer.clone() };
    if let Taken::Work(work) = conversation.take(frame)? {
        // It ends with the session, whose end it watches itself.
        tokio::spawn(async move {
            if let Some(answer) = work.await {
                peer.send(answer).await;
            }
        });
    }
    Ok(())
}

/// The stream is another server's: that one gets the message.
async fn pass_on(
    app: &Arc<App>,
    replica: RunId,
    id: &str,
    trace: TraceId,
    dry_run: bool,
    body: &[u8],
) -> Result<Response, Problem> {
    if let Err(bad) = frame::read(body) {
        return Ok(plain(refusal(bad.id.as_ref(), bad.error)));
    }
    let text = String::from_utf8_lossy(body).into_owned();
    let letter = Letter::Message { session: id.to_owned(), trace, dry_run, text }.seal();
    // A transaction, so that it is sent once.
    let sent = app.runtime.store.write(move |unit| mail::send(unit, replica, &letter)).await;
    match sent.map_err(|error: StoreError| without_session(&error.into()))? {
        true => Ok(StatusCode::ACCEPTED.into_response()),
        false => Err(without_session(&NoSession::Unknown)),
    }
}

/// A message that reached another server.
pub(crate) fn deliver(app: &Arc<App>, session: &Arc<Session>, trace: TraceId, dry_run: bool, text: &str) {
    let Some(line) = session.line().filter(|_| !session.ended.is_cancelled()) else { return };
    let peer = line.peer.clone();
    let taken = match frame::read(text.as_bytes()) {
        Ok(frame) => take(app, session, line, trace, dry_run, frame),
        Err(bad) => Err(bad.error),
    };
    if let Err(error) = taken {
        // Nobody else is left to be told.
        tokio::spawn(async move { peer.send(frame::response(None, Err(&error)).into()).await });
    }
}

fn without_session(why: &NoSession) -> Problem {
    match why {
        NoSession::Unknown | NoSession::TooLong => {
            problem(ErrorCode::NotFound, "Unknown session; open a stream at /sse first.")
        }
        NoSession::Full => too_many(),
        NoSession::Unreachable(error) => {
            tracing::error!(%error, "a session cannot be looked at");
            problem(ErrorCode::ServiceUnavailable, "The database cannot be reached; try again in a moment.")
        }
    }
}
