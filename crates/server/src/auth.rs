//! Turns a credential into a principal, before anything else happens.

use futures_util::future::BoxFuture;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::Request;
use axum::handler::Handler;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use jiff::tz::TimeZone;
use moka::sync::Cache;
use tokio_util::sync::CancellationToken;
use toolroom_contract::ids::{KeyId, UserId};
use toolroom_contract::{ErrorCode, Grants, Principal, ToolError, User};
use toolroom_runtime::Runtime;
use toolroom_store::keys::{self, OwnedKey};
use toolroom_store::{StoreError, users};

use crate::app::App;
use crate::listener::Peer;
use crate::middleware::{Problem, dry_run, is_forwarded};
use crate::problems::{of_error, problem};
use crate::revocation::{Recent, Revocations, while_valid};

/// Who is who.
pub struct Auth {
    runtime: Arc<Runtime>,
    recent: Recent,
    /// Set once a key was created; never unset.
    keyed: AtomicBool,
    /// A file that survives an emptied or replaced database: keyless access must not come back.
    mark: PathBuf,
    revocations: Arc<Revocations>,
}

/// What a route asks of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    Open,
    /// Nothing from this machine while the home has no keys; else the grant `executions:read`.
    OpenLocally,
    /// A principal.
    Caller,
    /// A principal with this grant.
    Granted(&'static str, &'static str),
    /// The owner of the home.
    Owner,
}

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// The user whom the owner's socket speaks for, if not `local`.
pub const USER_HEADER: &str = "x-toolroom-user";
/// Who acts when nobody says who they are.
pub const LOCAL_USER: &str = "local";
/// A revoked key may still be accepted for this long by another process on the same database.
const BELIEF: Duration = Duration::from_millis(500);

impl Auth {
    pub(crate) fn new(runtime: Arc<Runtime>, mark: PathBuf) -> Self {
        let recent = Cache::builder().max_capacity(10_000).time_to_live(BELIEF).build();
        Self { runtime, recent, keyed: AtomicBool::new(false), mark, revocations: Revocations::new() }
    }

    /// Users have changed: forget what was cached.
    pub fn forget(&self) {
        self.recent.invalidate_all();
    }

    /// A key was revoked: forget it, and end everything that runs with it.
    pub(crate) fn revoked(&self, key: KeyId) {
        self.revocations.revoke(key);
        self.forget();
    }

    /// There is a key now: end everything that runs without one.
    fn key_seen(&self) {
        self.keyed.store(true, Ordering::Relaxed);
        self.revocations.end_keyless();
    }

    /// Whether a key was ever created in this home.
    pub async fn ever_keyed(&self) -> Result<bool, StoreError> {
        if self.keyed.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let marked = self.mark.exists();
        let keyed = marked || self.runtime.store.read(keys::any_ever_made).await?;
        if keyed {
            if !marked {
                self.set_mark();
            }
            self.key_seen();
        }
        Ok(keyed)
    }

    /// A key was created.
    pub(crate) fn set_keyed(&self) {
        if !self.mark.exists() {
            self.set_mark();
        }
        self.key_seen();
    }

    fn set_mark(&self) {
        let text = "This home has had keys, so requests without a key are refused.\n\
                    To allow requests from this machine without a key again, remove this file; the database must have no key either.\n";
        if let Err(error) = std::fs::write(&self.mark, text) {
            tracing::error!(%error, path = %self.mark.display(), "could not record that this home has keys");
        }
    }

    /// Whether the request is from the home's owner or a key with `executions:read` that is not confined to profiles.
    pub(crate) async fn may_look_after(&self, peer: Option<Peer>, headers: &HeaderMap) -> bool {
        if peer == Some(Peer::Owner) {
            return true;
        }
        let shown = credential(headers).is_ok_and(|secret| secret.is_some());
        shown
            && self.principal(peer, headers).await.is_ok_and(|principal| {
                principal.grants.hold("executions", "read") && principal.profiles.is_none()
            })
    }

    async fn principal(&self, peer: Option<Peer>, headers: &HeaderMap) -> Result<Arc<Principal>, Problem> {
        if peer == Some(Peer::Owner) {
            return self.owner(headers).await;
        }
        let Some(secret) = credential(headers)? else { return self.keyless(peer, headers).await };
        match self.recent.get(secret) {
            Some(principal) if !principal.revoked.is_cancelled() => Ok(principal),
            _ => self.by_key(secret).await,
        }
    }

    /// Only the home's owner can open its socket.
    async fn owner(&self, headers: &HeaderMap) -> Result<Arc<Principal>, Problem> {
        let name = headers.get(USER_HEADER).and_then(|value| value.to_str().ok()).unwrap_or(LOCAL_USER);
        self.named(name, Grants::all(), true, CancellationToken::new()).await
    }

    /// The owner of the home, or a user whom they name.
    pub(crate) async fn owner_as(&self, user: Option<&str>) -> Result<Arc<Principal>, ToolError> {
        self.look_up(user.unwrap_or(LOCAL_USER), Grants::all(), true, CancellationToken::new()).await
    }

    /// In a home that never had a key, this machine's requests act as `local`.
    async fn keyless(&self, peer: Option<Peer>, headers: &HeaderMap) -> Result<Arc<Principal>, Problem> {
        let keyed = self.ever_keyed().await.map_err(|error| of_error(&error.into()))?;
        if keyed || !peer.is_some_and(|peer| peer.is_local()) {
            return Err(unauthenticated("Send a key: 'X-API-Key: KEY' or 'Authorization: Bearer KEY'."));
        }
        if is_forwarded(headers) {
            return Err(unauthenticated(
                "Requests through a proxy need a key: create one with 'toolroom keys create --user NAME'.",
            ));
        }
        self.named(LOCAL_USER, Grants::without_a_key(), false, self.revocations.of_keyless()).await
    }

    async fn named(
        &self,
        name: &str,
        grants: Grants,
        person: bool,
        revoked: CancellationToken,
    ) -> Result<Arc<Principal>, Problem> {
        self.look_up(name, grants, person, revoked).await.map_err(|error| of_error(&error))
    }

    async fn look_up(
        &self,
        name: &str,
        grants: Grants,
        person: bool,
        revoked: CancellationToken,
    ) -> Result<Arc<Principal>, ToolError> {
        let user = self.runtime.users.ensure(name).await?;
        let id = user.id;
        let zone = self.runtime.store.read(move |unit| users::by_id(unit, id)).await;
        let zone = zone.map_err(|error: StoreError| ToolError::from(error))?.and_then(|user| user.time_zone);
        Ok(Arc::new(Principal {
            user,
            grants,
            profiles: None,
            person,
            key: None,
            time_zone: zone.and_then(|name| TimeZone::get(&name).ok()),
            revoked,
        }))
    }

    async fn by_key(&self, secret: &str) -> Result<Arc<Principal>, Problem> {
        loop {
            let (presented, epoch) = (secret.to_owned(), self.revocations.epoch());
            let found = self.runtime.store.read(move |unit| keys::find_by_secret(unit, &presented)).await;
            let found = found.map_err(|error: StoreError| of_error(&error.into()))?.ok_or_else(|| {
                unauthenticated(
                    "The key is not valid. It may have been revoked; 'toolroom keys list' shows them.",
                )
            })?;
            let key = found.key.id;
            let principal = Arc::new(principal_of(found, self.revocations.of_key(key)));
            self.recent.insert(secret.to_owned(), Arc::clone(&principal));
            self.revocations.in_use(key, &principal, &self.runtime.store, &self.recent);
            // A key that was revoked while it was looked up is looked up again.
            if self.revocations.epoch() == epoch {
                return Ok(principal);
            }
            self.recent.invalidate(secret);
        }
    }
}

fn principal_of(owned: OwnedKey, revoked: CancellationToken) -> Principal {
    let OwnedKey { key, user } = owned;
    Principal {
        user: User { id: user.id, key: user.key.into() },
        grants: key.grants.iter().filter_map(|grant| grant.parse().ok()).collect(),
        profiles: key.profiles,
        person: key.person,
        key: Some(key.id),
        time_zone: user.time_zone.and_then(|name| TimeZone::get(&name).ok()),
        revoked,
    }
}

/// The one credential of a request. With two it would be unclear which one counts.
fn credential(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut found = None;
    let bearer = headers.get_all(header::AUTHORIZATION).iter().map(|value| {
        let text = value.to_str().ok()?;
        let (scheme, token) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    let keys = headers.get_all(&API_KEY).iter().map(|value| value.to_str().ok().map(str::trim));
    for given in bearer.chain(keys) {
        match given {
            Some(secret) if found.is_none() && !secret.is_empty() => found = Some(secret),
            Some(_) if found.is_some() => return Err(unauthenticated("Send one credential, not several.")),
            _ => {
                return Err(unauthenticated(
                    "Send the key as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'.",
                ));
            }
        }
    }
    Ok(found)
}

fn unauthenticated(detail: &'static str) -> Problem {
    problem(ErrorCode::Unauthenticated, detail)
}

/// The handler of a route, behind what the route asks of its caller.
#[derive(Clone)]
pub(crate) struct Guarded<H> {
    pub(crate) access: Access,
    /// How the route reports that the credential cannot be checked now, if not by a problem document. What is posted to
    /// such a route are calls.
    pub(crate) unserved: Option<Unserved>,
    pub(crate) handler: H,
}

/// Answers a request with this error, in the form of its route, while the caller cannot be known.
pub(crate) type Unserved = fn(Arc<App>, Request, ToolError) -> BoxFuture<'static, Response>;

impl<H: Handler<T, Arc<App>>, T: 'static> Handler<T, Arc<App>> for Guarded<H> {
    type Future = Pin<Box<dyn Future<Output = Response> + Send>>;

    fn call(self, mut request: Request, app: Arc<App>) -> Self::Future {
        Box::pin(async move {
            let peer = request.extensions().get().copied();
            let admitted = admit(&app, self.access, peer, request.headers()).await;
            let calls = self.unserved.is_some() && request.method() == Method::POST;
            if !calls
                && admitted.is_ok()
                && let Err(problem) = dry_run::refuse(request.method(), request.headers())
            {
                return problem.into_response();
            }
            match admitted {
                Ok(Some(principal)) => {
                    request.extensions_mut().insert(Arc::clone(&principal));
                    while_valid(principal, self.handler.call(request, app)).await
                }
                Ok(None) => self.handler.call(request, app).await,
                Err(problem) => match self.unserved.filter(|_| problem.status.is_server_error()) {
                    Some(answer) => answer(app, request, unchecked(problem)).await,
                    None => challenge(problem),
                },
            }
        })
    }
}

/// Why the credential of a caller cannot be checked, as the error of a call.
fn unchecked(problem: Problem) -> ToolError {
    let detail = problem.detail.unwrap_or("The database cannot be reached. Try again in a moment.".into());
    ToolError::new(ErrorCode::ServiceUnavailable, detail).retry_after_ms(problem.retry_after.unwrap_or(1000))
}

/// An unknown caller, who may do nothing.
pub(crate) fn nobody() -> Arc<Principal> {
    Arc::new(Principal {
        user: User { id: UserId(0), key: "unknown".into() },
        grants: Grants::default(),
        profiles: None,
        person: false,
        key: None,
        time_zone: None,
        revoked: CancellationToken::new(),
    })
}

/// Who may pass, and as whom; open routes need no principal.
async fn admit(
    app: &App,
    access: Access,
    peer: Option<Peer>,
    headers: &HeaderMap,
) -> Result<Option<Arc<Principal>>, Problem> {
    if access == Access::Open {
        return Ok(None);
    }
    if access == Access::OpenLocally
        && peer.is_some_and(|peer| peer.is_local())
        && !is_forwarded(headers)
        && !app.auth.ever_keyed().await.map_err(|error| of_error(&error.into()))?
    {
        return Ok(None);
    }
    let principal = app.auth.principal(peer, headers).await?;
    let needed = match access {
        Access::OpenLocally if !principal.grants.hold("executions", "read") => {
            "This needs the grant executions:read.".to_owned()
        }
        Access::OpenLocally if principal.profiles.is_some() => {
            "These figures are of the whole server, and this key is confined to profiles. Use a key without --profile."
                .to_owned()
        }
        Access::Granted(resource, action) if !principal.grants.hold(resource, action) => {
            format!("This needs the grant {resource}:{action}.")
        }
        Access::Granted(..) if principal.profiles.is_some() => {
            "This concerns the whole server, and this key is confined to profiles. Use a key without --profile."
                .to_owned()
        }
        Access::Owner if peer != Some(Peer::Owner) => {
            "Only the owner of the home can do this: use the command line.".to_owned()
        }
        _ => return Ok(Some(principal)),
    };
    Err(problem(ErrorCode::Forbidden, needed))
}

/// The answer to a refused request.
pub(crate) fn challenge(problem: Problem) -> Response {
    let refused = problem.status == StatusCode::UNAUTHORIZED;
    let mut response = problem.into_response();
    if refused {
        let scheme = HeaderValue::from_static("Bearer realm=\"toolroom\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    response
}
