//! Turns a credential into a principal, before anything else happens.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::Request;
use http::{HeaderMap, HeaderName, header};
use jiff::tz::TimeZone;
use moka::sync::Cache;
use tokio_util::sync::CancellationToken;
use toolroom_contract::ids::{KeyId, SessionId};
use toolroom_contract::{ErrorCode, Grants, Principal, ToolError, User};
use toolroom_runtime::Runtime;
use toolroom_store::keys::{self, OwnedKey};
use toolroom_store::sessions::Session;
use toolroom_store::{StoreError, users};

use crate::listener::Peer;
use crate::middleware::{Problem, is_forwarded};
use crate::problems::{of_error, problem};
use crate::revocation::{Credential, Recent, Revocations};
use crate::session::{Logins, Shown};

/// Who is who.
pub struct Auth {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) recent: Recent,
    /// Set once a key was created; never unset.
    keyed: AtomicBool,
    /// A file that survives an emptied or replaced database: keyless access must not come back.
    mark: PathBuf,
    pub(crate) revocations: Arc<Revocations>,
    /// How people log in to the console.
    pub(crate) logins: Logins,
}

/// Who makes a request, and by what.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) principal: Arc<Principal>,
    /// The session of the console, if that is what they showed.
    pub(crate) session: Option<Arc<Session>>,
}

impl From<Arc<Principal>> for Known {
    fn from(principal: Arc<Principal>) -> Self {
        Self { principal, session: None }
    }
}

/// A request, as far as it tells who makes it.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) peer: Option<Peer>,
    pub(crate) headers: &'a HeaderMap,
    /// Whether sessions count on its path.
    takes_sessions: bool,
}

impl<'a> Asked<'a> {
    pub(crate) fn of(request: &'a Request) -> Self {
        Self {
            peer: request.extensions().get().copied(),
            headers: request.headers(),
            takes_sessions: request.uri().path().starts_with("/api/v1/"),
        }
    }
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
        // A home is known by its place.
        let logins = Logins::new(mark.parent().unwrap_or(&mark), &runtime.store);
        Self { runtime, recent, keyed: AtomicBool::new(false), mark, revocations: Revocations::new(), logins }
    }

    /// Users have changed: forget what was cached.
    pub fn forget(&self) {
        self.recent.invalidate_all();
    }

    /// A key was revoked: forget it, and end everything that runs with it.
    pub(crate) fn revoked(&self, key: KeyId) {
        self.revocations.end(Credential::Key(key));
        self.forget();
    }

    /// A session was ended: forget it, and end everything that runs with it.
    pub(crate) fn session_ended(&self, session: SessionId) {
        self.revocations.end(Credential::Session(session));
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

    /// Whether this home has had keys and its database knows of none: it was emptied or replaced. Asked at the start, it
    /// also makes the mark for a home whose keys are older than the mark.
    pub async fn keys_are_lost(&self) -> Result<bool, StoreError> {
        Ok(self.ever_keyed().await? && !self.runtime.store.read(keys::any_ever_made).await?)
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

    /// Whether the request is from the home's owner or a credential with `executions:read` that is not confined to
    /// profiles.
    pub(crate) async fn may_look_after(&self, asked: Asked<'_>) -> bool {
        if asked.peer == Some(Peer::Owner) {
            return true;
        }
        let has_session = asked.takes_sessions && matches!(self.logins.shown(asked.headers), Shown::Both(..));
        let shown = has_session || credential(asked.headers).is_ok_and(|secret| secret.is_some());
        shown
            && self.known(asked).await.is_ok_and(|Known { principal, .. }| {
                principal.grants.hold("executions", "read") && principal.profiles.is_none()
            })
    }

    pub(crate) async fn known(&self, asked: Asked<'_>) -> Result<Known, Problem> {
        let Asked { peer, headers, takes_sessions } = asked;
        if peer == Some(Peer::Owner) {
            return self.owner(headers).await.map(Known::from);
        }
        let session = if takes_sessions { self.logins.shown(headers) } else { Shown::Nothing };
        match (credential(headers)?, session) {
            (None, Shown::Nothing) => self.keyless(peer, headers).await.map(Known::from),
            (None, Shown::Both(cookie, proof)) => self.by_session(headers, cookie, proof).await,
            // Not even what a request without credentials may do: another page may have sent it.
            (None, Shown::Half) => Err(unauthenticated(
                "A session needs its cookie and its proof. Log in again: 'toolroom console' prints a link.",
            )),
            (Some(_), Shown::Both(..)) => Err(unauthenticated("Send a session or a key, not both.")),
            (Some(secret), _) => match self.recent.get(secret) {
                Some(known) if !known.principal.revoked.is_cancelled() => Ok(known),
                _ => self.by_key(secret).await,
            },
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

    /// Nobody waits for that.
    fn note_use(&self, key: KeyId) {
        let store = self.runtime.store.clone();
        tokio::spawn(async move {
            if let Err::<bool, StoreError>(error) = store.write(move |unit| keys::note_use(unit, key)).await {
                tracing::debug!(%error, "the last use of a key was not noted");
            }
        });
    }

    async fn by_key(&self, secret: &str) -> Result<Known, Problem> {
        loop {
            let (presented, epoch) = (secret.to_owned(), self.revocations.epoch());
            let found = self.runtime.store.read(move |unit| keys::find_by_secret(unit, &presented)).await;
            let found = found.map_err(|error: StoreError| of_error(&error.into()))?.ok_or_else(|| {
                unauthenticated(
                    "The key is not valid. It may have been revoked or have expired; 'toolroom keys list' shows them.",
                )
            })?;
            if found.key.use_is_news(self.runtime.clock.now()) {
                self.note_use(found.key.id);
            }
            let key = Credential::Key(found.key.id);
            let known = Known::from(Arc::new(principal_of(found, self.revocations.token(key, None))));
            self.recent.insert(secret.to_owned(), known.clone());
            self.in_use(key, &known);
            // A key that was revoked while it was looked up is looked up again.
            if self.revocations.epoch() == epoch {
                return Ok(known);
            }
            self.recent.invalidate(secret);
        }
    }

    /// Who asked for something that is done now; `None` if their credential is no longer good.
    pub(crate) async fn again(
        &self,
        user: &str,
        key: Option<KeyId>,
        person: bool,
    ) -> Result<Option<Arc<Principal>>, ToolError> {
        let Some(id) = key else {
            return match person {
                true => self.owner_as(Some(user)).await.map(Some),
                false if self.ever_keyed().await? => Ok(None),
                false => {
                    let (grants, revoked) = (Grants::without_a_key(), self.revocations.of_keyless());
                    self.look_up(user, grants, false, revoked).await.map(Some)
                }
            };
        };
        let found = self.runtime.store.read(move |unit| keys::find(unit, id)).await?;
        Ok(found.map(|found| {
            let credential = Credential::Key(id);
            let known = Known::from(Arc::new(principal_of(found, self.revocations.token(credential, None))));
            self.in_use(credential, &known);
            known.principal
        }))
    }

    pub(crate) fn in_use(&self, credential: Credential, known: &Known) {
        self.revocations.in_use(credential, &known.principal, &self.runtime, &self.recent);
    }
}

pub(crate) fn principal_of(owned: OwnedKey, revoked: CancellationToken) -> Principal {
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

pub(crate) fn unauthenticated(detail: &'static str) -> Problem {
    problem(ErrorCode::Unauthenticated, detail)
}
