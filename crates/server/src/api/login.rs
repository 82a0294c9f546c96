//! Logging in to the console and out of it, and the sessions that there are.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::{HeaderMap, StatusCode, header};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use toolroom_contract::confidence::Source;
use toolroom_contract::ids::{SessionId, UserId};
use toolroom_contract::permission::Grants;
use toolroom_contract::{ErrorCode, Principal, ToolError, User};
use toolroom_profiles::DEFAULT;
use toolroom_runtime::catalogue::View;
use toolroom_store::StoreError;
use toolroom_store::keys::{self, OwnedKey};
use toolroom_store::sessions::{self, NewSession, Session};

use super::Caller;
use crate::app::App;
use crate::auth::{LOCAL_USER, principal_of, unauthenticated};
use crate::listener::Peer;
use crate::middleware::{Problem, StrictJson};
use crate::problems::{of_error, problem};
use crate::session::{check_same_origin, is_https};

/// One of the two.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Login {
    /// The end of a link that `toolroom console` printed: what follows `#link=`.
    link: Option<String>,
    /// A person's key.
    key: Option<String>,
}

/// A session, as the one who has it sees it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Session")]
pub(crate) struct Begun {
    /// The user's name.
    user: String,
    /// Whether it is of the home's owner.
    owner: bool,
    /// Whether it may decide approvals; always true.
    person: bool,
    /// What it may do.
    grants: Grants,
    /// The profiles that it is confined to.
    profiles: Option<Vec<String>>,
    /// What the built-in tools are about that it may call, such as `tasks`.
    resources: BTreeSet<String>,
    /// The half that the page keeps, and sends as `X-Toolroom-Proof`. Only in the answer to the login.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
    /// When it ends unless it is used before.
    idle_expires_at: Timestamp,
    /// When it ends in any case.
    expires_at: Timestamp,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SessionList")]
pub(crate) struct Listing {
    /// The sessions that are alive, newest first: the owner's list has everybody's.
    sessions: Vec<Shown>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SessionListed")]
struct Shown {
    #[schemars(with = "String")]
    id: SessionId,
    user: String,
    /// Whether it is of the home's owner.
    owner: bool,
    created_at: Timestamp,
    /// When it was last used, to the minute.
    seen_at: Timestamp,
    expires_at: Timestamp,
    /// The browser, as it says of itself.
    agent: String,
    /// Where the login came from.
    address: String,
    /// Whether it is the one that asks.
    current: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ConsoleLink")]
pub(crate) struct NewLink {
    /// To be opened in a browser.
    url: String,
    /// Until when; it works once.
    expires_at: Timestamp,
}

/// The browser is remembered in so many characters.
const AGENT: usize = 200;

/// The session by which a request comes, if it is one.
type Mine = Option<Extension<Arc<Session>>>;

pub(crate) async fn begin(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    StrictJson(login): StrictJson<Login>,
) -> Result<Response, Problem> {
    check_same_origin(&headers)?;
    let Some(address) = peer.ip() else {
        return Err(problem(
            ErrorCode::InvalidInput,
            "A session is for browsers; the command line needs none.",
        ));
    };
    let now = app.runtime.clock.now();
    if let Some(wait) = app.auth.logins.failures.wait(address, now) {
        let wait = Duration::try_from(wait).unwrap_or_default();
        return Err(problem(
            ErrorCode::RateLimited,
            "Too many logins failed. Wait a minute, then try again.",
        )
        .retry_after(wait));
    }
    let who = match (login.link, login.key) {
        (Some(link), None) => by_link(&app, &link, now).await,
        (None, Some(key)) => by_key(&app, key).await,
        _ => return Err(problem(ErrorCode::InvalidInput, "Send {\"link\": …} or {\"key\": …}.")),
    };
    let who = who.inspect_err(|refused| {
        if refused.status == StatusCode::UNAUTHORIZED {
            app.auth.logins.failures.note(address, now);
        }
        tracing::warn!(%address, status = refused.status.as_u16(), "a login to the console was refused");
    })?;
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    let key = who.key.as_ref().map(|owned| owned.key.id);
    let agent = agent.chars().take(AGENT).collect();
    let new = NewSession { user: who.user, key, agent, address: address.to_string() };
    let begun = app.runtime.store.write(move |unit| sessions::begin(unit, now, &new)).await;
    let sessions::Begun { session, halves, ended } =
        begun.map_err(|error: StoreError| of_error(&error.into()))?;
    ended.into_iter().for_each(|oldest| app.auth.session_ended(oldest));
    tracing::info!(user = who.name, owner = session.owner, %address, "logged in to the console");
    let revoked = CancellationToken::new();
    let principal = match who.key {
        Some(key) => principal_of(key, revoked),
        None => Principal {
            user: User { id: who.user, key: who.name.into() },
            grants: Grants::all(),
            profiles: None,
            person: true,
            key: None,
            time_zone: None,
            revoked,
        },
    };
    let proof = Some(halves.proof.reveal().to_owned());
    let body = Begun { proof, ..shown(&app, &session, &principal) };
    let cookie = app.auth.logins.cookie(halves.cookie.reveal(), is_https(&headers));
    Ok((StatusCode::CREATED, [(header::SET_COOKIE, cookie)], Json(body)).into_response())
}

/// Whose session it will be.
struct Who {
    user: UserId,
    name: String,
    key: Option<OwnedKey>,
}

async fn by_link(app: &App, link: &str, now: Timestamp) -> Result<Who, Problem> {
    let taken = app.auth.logins.links.take(&app.runtime.store, link, now).await;
    if !taken.map_err(|error| of_error(&error.into()))? {
        return Err(unauthenticated(
            "The link was used before, or is older than ten minutes. Run 'toolroom console' for a new one.",
        ));
    }
    let user = app.runtime.users.ensure(LOCAL_USER).await;
    let user = user.map_err(|error| of_error(&ToolError::from(error)))?;
    Ok(Who { user: user.id, name: user.key.to_string(), key: None })
}

async fn by_key(app: &App, key: String) -> Result<Who, Problem> {
    let found = app.runtime.store.read(move |unit| keys::find_by_secret(unit, &key)).await;
    let found = found.map_err(|error: StoreError| of_error(&error.into()))?.ok_or_else(|| {
        unauthenticated("The key is not valid. It may have been revoked; 'toolroom keys list' shows them.")
    })?;
    if !found.key.person {
        let detail = "This is an agent's key, which gives no session: an agent could approve its own calls. Make one \
                      for a person: 'toolroom keys create --user NAME --person'.";
        return Err(problem(ErrorCode::Forbidden, detail));
    }
    Ok(Who { user: found.user.id, name: found.user.key.clone(), key: Some(found) })
}

fn shown(app: &App, session: &Session, principal: &Principal) -> Begun {
    Begun {
        user: principal.user.key.to_string(),
        owner: session.owner,
        person: true,
        grants: principal.grants.clone(),
        profiles: principal.profiles.clone(),
        resources: resources(app, principal),
        proof: None,
        idle_expires_at: session.idle_expires_at(),
        expires_at: session.expires_at,
    }
}

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    session: Mine,
) -> Result<Json<Begun>, Problem> {
    let Extension(session) = session.ok_or_else(nobody)?;
    Ok(Json(shown(&app, &session, &caller)))
}

fn resources(app: &App, caller: &Principal) -> BTreeSet<String> {
    let snapshot = app.runtime.registry.snapshot();
    let view = snapshot.view(caller, DEFAULT, app.runtime.today());
    let tools = view.iter().flat_map(View::tools).map(|shown| shown.tool);
    let native = tools.filter(|tool| tool.executor.source() == Source::Native);
    let needs = native.flat_map(|tool| &tool.definition().permissions);
    needs.map(|permission| permission.resource().to_owned()).collect()
}

pub(crate) async fn end(State(app): State<Arc<App>>, session: Mine) -> Result<Response, Problem> {
    let Extension(session) = session.ok_or_else(nobody)?;
    ended(&app, session.id).await?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, app.auth.logins.no_cookie())]).into_response())
}

fn nobody() -> Problem {
    unauthenticated("Nobody is logged in here. 'toolroom console' prints a link to log in by.")
}

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Extension(peer): Extension<Peer>,
    mine: Mine,
) -> Result<Json<Listing>, Problem> {
    let found = visible(&app, &caller, peer, &mine).await?;
    let current = mine.map(|Extension(session)| session.id);
    let sessions = found.into_iter().map(|(session, user)| Shown {
        id: session.id,
        user,
        owner: session.owner,
        created_at: session.created_at,
        seen_at: session.seen_at,
        expires_at: session.expires_at,
        agent: session.agent,
        address: session.address,
        current: current == Some(session.id),
    });
    Ok(Json(Listing { sessions: sessions.collect() }))
}

pub(crate) async fn end_one(
    State(app): State<Arc<App>>,
    Extension(caller): Caller,
    Extension(peer): Extension<Peer>,
    mine: Mine,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let missing = || problem(ErrorCode::NotFound, "There is no session with that id.");
    let id: SessionId = id.parse().map_err(|_| missing())?;
    let found = visible(&app, &caller, peer, &mine).await?;
    found.iter().find(|(session, _)| session.id == id).ok_or_else(missing)?;
    ended(&app, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Persons see their own sessions, the home's owner everybody's, and agents none.
async fn visible(
    app: &App,
    caller: &Principal,
    peer: Peer,
    mine: &Mine,
) -> Result<Vec<(Session, String)>, Problem> {
    if !caller.person {
        return Err(problem(
            ErrorCode::Forbidden,
            "Sessions are for persons; this is an agent's credential.",
        ));
    }
    let is_owner = peer == Peer::Owner || mine.as_ref().is_some_and(|Extension(session)| session.owner);
    let (user, now) = ((!is_owner).then_some(caller.user.id), app.runtime.clock.now());
    let found = app.runtime.store.read(move |unit| sessions::list(unit, now, user)).await;
    found.map_err(|error: StoreError| of_error(&error.into()))
}

async fn ended(app: &App, id: SessionId) -> Result<(), Problem> {
    let now = app.runtime.clock.now();
    let ended = app.runtime.store.write(move |unit| sessions::end(unit, now, id)).await;
    ended.map_err(|error: StoreError| of_error(&error.into()))?;
    app.auth.session_ended(id);
    Ok(())
}

/// A link into the console, for the one who asks on the owner's socket.
pub(crate) async fn link(State(app): State<Arc<App>>) -> Result<(StatusCode, Json<NewLink>), Problem> {
    let made = app.auth.new_link().await.map_err(|error| of_error(&error.into()))?.ok_or_else(|| {
        problem(ErrorCode::ServiceUnavailable, "No server is running. Start one: 'toolroom serve'.")
    })?;
    Ok((StatusCode::CREATED, Json(NewLink { url: made.url, expires_at: made.expires_at })))
}
