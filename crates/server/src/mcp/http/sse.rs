//! HTTP+SSE, the transport of 2024-11-05: `GET /sse` opens the stream that carries all answers, `POST
//! /messages/{session}` takes the messages.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Request as HttpRequest, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use toolroom_contract::{ErrorCode, Principal, TraceId};
use toolroom_mcp::frame;
use toolroom_runtime::Edge;

use super::session::too_many;
use super::{check_profile, plain, refusal};
use crate::api::Caller as Who;
use crate::app::App;
use crate::mcp::caller::Caller;
use crate::mcp::peer::Peer;
use crate::mcp::session::events::Flow;
use crate::mcp::session::{Conversation, Session, Taken, Transport, Work, watch};
use crate::middleware::{Problem, dry_run, strict_json};
use crate::problems::problem;

pub(crate) async fn get(state: State<Arc<App>>, who: Who, trace: Option<Extension<TraceId>>) -> Response {
    open(&state.0, who.0, Cow::Borrowed(toolroom_profiles::DEFAULT), trace)
}

pub(crate) async fn get_profile(
    State(app): State<Arc<App>>,
    Extension(who): Who,
    Path(profile): Path<String>,
    trace: Option<Extension<TraceId>>,
) -> Response {
    open(&app, who, Cow::Owned(profile), trace)
}

/// The stream is the session: both end together.
fn open(
    app: &Arc<App>,
    principal: Arc<Principal>,
    profile: Cow<'static, str>,
    trace: Option<Extension<TraceId>>,
) -> Response {
    if let Err(problem) = check_profile(app, &principal, &profile) {
        return problem.into_response();
    }
    let Ok(session) = app.mcp.sessions.create(&principal, profile.clone(), Transport::Sse) else {
        return too_many().into_response();
    };
    let (peer, said) = Peer::streaming(Some(Arc::clone(&session.questions)));
    session.connect(peer.clone());
    let trace = trace.map(|Extension(trace)| trace).unwrap_or_default();
    let id = Some(Arc::clone(&session.id));
    let caller = Caller { principal, profile, trace, edge: Edge::Mcp, session: id, dry_run: false };
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
        self.app.mcp.sessions.remove(&self.session.id);
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
    let found = app.mcp.sessions.find(id, &principal, None, Transport::Sse);
    let found = found.and_then(|session| Some((session.line()?, session)));
    let Some((peer, session)) = found else {
        return Err(problem(ErrorCode::NotFound, "Unknown session; open a stream at /sse first."));
    };
    let (head, body) = request.into_parts();
    let trace = head.extensions.get().copied().unwrap_or_default();
    let body = strict_json::read(&head, body).await?;
    let caller = Caller {
        principal,
        profile: session.profile.clone(),
        trace,
        edge: Edge::Mcp,
        session: Some(Arc::clone(&session.id)),
        dry_run: dry_run::is_wanted(&head.headers),
    };
    let conversation = Conversation { app, session: Arc::clone(&session), caller, peer: peer.clone() };
    let taken = match frame::read(&body) {
        Ok(frame) => conversation.take(frame),
        Err(bad) => return Ok(plain(refusal(bad.id.as_ref(), bad.error))),
    };
    match taken {
        Ok(Taken::Nothing) => {}
        Ok(Taken::Work(work)) => {
            // It ends with the session, whose end it watches itself.
            tokio::spawn(async move {
                if let Some(answer) = work.await {
                    peer.send(answer).await;
                }
            });
        }
        Err(error) => return Ok(plain(refusal(None, error))),
    }
    Ok(StatusCode::ACCEPTED.into_response())
}
