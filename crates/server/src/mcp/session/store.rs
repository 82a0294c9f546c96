//! All sessions of a server: found by their owner, bounded in number, forgotten when nobody uses them. Where several
//! servers share a database, a session that is not here is made again from its id.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::time::Instant;
use toolroom_contract::Principal;
use toolroom_contract::ids::{RunId, UserId};
use toolroom_store::StoreError;

use super::sealed_id::{Content, SealedIds};
use super::shared::{Change, Kept, Shared};
use super::{Introduced, Session, Transport, held};
use crate::app::App;
use crate::mcp::caller::Owner;
use crate::mcp::settings::McpSettings;

/// The sessions.
#[derive(Default)]
pub(crate) struct Sessions {
    all: Mutex<HashMap<Arc<str>, Arc<Session>>>,
    ids: SealedIds,
    settings: McpSettings,
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoSession {
    /// It has ended, was never there, or is another's.
    #[error("unknown session")]
    Unknown,
    /// No session is idle, so that none can make room.
    #[error("too many sessions")]
    Full,
    /// The client says so much of itself that no id can hold it.
    #[error("the client's capabilities are too long")]
    TooLong,
    /// Whether it has ended elsewhere cannot be read.
    #[error(transparent)]
    Unreachable(#[from] StoreError),
}

impl Sessions {
    pub(crate) fn new(settings: McpSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// A new session, of a client that has introduced itself or is going to.
    pub(crate) async fn create(
        &self,
        app: &Arc<App>,
        principal: &Principal,
        profile: Cow<'static, str>,
        transport: Transport,
        introduced: Option<Introduced>,
    ) -> Result<Arc<Session>, NoSession> {
        let store = &app.runtime.store;
        let session = match store.lease() {
            None => Session::new(principal, profile, transport),
            Some(lease) => {
                let now = app.runtime.clock.now();
                let content = Content::new(profile, transport, lease.run(), introduced.as_ref(), now);
                let id = self.ids.seal(store, principal, &content).await?.ok_or(NoSession::TooLong)?;
                sealed(app, id, &content, principal, lease.run())
            }
        };
        if let Some(introduced) = introduced {
            session.introduce(introduced);
        }
        self.insert(session)
    }

    /// The session of that id, if it is this caller's, under this profile and on this transport.
    pub(crate) async fn find(
        &self,
        app: &Arc<App>,
        id: &str,
        principal: &Principal,
        profile: Option<&str>,
        transport: Transport,
    ) -> Result<Arc<Session>, NoSession> {
        let store = &app.runtime.store;
        let now = app.runtime.clock.now();
        match self.find_here(id, principal, profile, transport) {
            Some(session) if store.lease().is_none() => Ok(session),
            Some(session) if !session.is_too_old(now) && session.is_alive(store).await? => Ok(session),
            Some(session) => {
                self.remove(&session);
                Err(NoSession::Unknown)
            }
            // A stream is where it was opened, or nowhere.
            None if transport == Transport::Http => self.bring_here(app, id, principal, profile).await,
            None => Err(NoSession::Unknown),
        }
    }

    /// Makes the session again that another server began.
    async fn bring_here(
        &self,
        app: &Arc<App>,
        id: &str,
        principal: &Principal,
        profile: Option<&str>,
    ) -> Result<Arc<Session>, NoSession> {
        let (content, kept) = self.open(app, id, principal, Transport::Http).await?;
        let (Some(introduced), Some(lease)) = (content.introduced(), app.runtime.store.lease()) else {
            return Err(NoSession::Unknown);
        };
        if profile.is_some_and(|profile| content.profile != profile) {
            return Err(NoSession::Unknown);
        }
        let session = sealed(app, id.to_owned(), &content, principal, lease.run());
        session.introduce(introduced);
        session.take_over(kept);
        self.insert(session)
    }

    /// The server that has the stream of this session, if it is this caller's and that is another server.
    pub(crate) async fn stream_elsewhere(
        &self,
        app: &Arc<App>,
        id: &str,
        principal: &Principal,
    ) -> Result<RunId, NoSession> {
        let (content, _) = self.open(app, id, principal, Transport::Sse).await?;
        let me = app.runtime.store.lease().map(|lease| lease.run());
        if me == Some(content.begun_at) { Err(NoSession::Unknown) } else { Ok(content.begun_at) }
    }

    /// What the id says, and what was said since; unless the session has ended.
    async fn open(
        &self,
        app: &Arc<App>,
        id: &str,
        principal: &Principal,
        transport: Transport,
    ) -> Result<(Content, Kept), NoSession> {
        let store = &app.runtime.store;
        if store.lease().is_none() {
            return Err(NoSession::Unknown);
        }
        let opened = self.ids.open(store, principal, id, app.runtime.clock.now()).await?;
        let content = opened
            .filter(|content| content.transport == transport && principal.may_use_profile(&content.profile))
            .ok_or(NoSession::Unknown)?;
        let kept = Kept::read(store, &content.name.simple().to_string()).await?;
        if kept.ended { Err(NoSession::Unknown) } else { Ok((content, kept)) }
    }

    /// A session that was used here, whoever asks.
    pub(crate) fn here(&self, id: &str) -> Option<Arc<Session>> {
        held(&self.all).get(id).cloned()
    }

    /// The profile of a session, whoever asks: only to answer in its form while callers cannot be checked.
    pub(crate) fn profile_of(&self, id: &str) -> Option<Cow<'static, str>> {
        self.here(id).map(|session| session.profile.clone())
    }

    /// Ends a session and all that goes on in it, at every server.
    pub(crate) async fn end(&self, app: &App, session: &Session) -> Result<(), StoreError> {
        session.share(&app.runtime.store, Change::Ended).await?;
        self.remove(session);
        Ok(())
    }

    /// The same for a session that was only ever here.
    pub(crate) fn end_here(&self, app: &App, session: &Session) {
        session.share_end(&app.runtime.store);
        self.remove(session);
    }

    fn remove(&self, session: &Session) {
        forget(&mut held(&self.all), &session.id);
    }

    /// Where there are too many, the one that has rested longest makes room.
    fn insert(&self, session: Arc<Session>) -> Result<Arc<Session>, NoSession> {
        let mut all = held(&self.all);
        let now = Instant::now();
        // Another request may have brought it here meanwhile.
        if let Some(first) = all.get(&session.id).filter(|first| !self.is_stale(first, now)) {
            return Ok(Arc::clone(first));
        }
        let stale: Vec<Arc<str>> = all
            .values()
            .filter(|session| self.is_stale(session, now))
            .map(|session| session.id.clone())
            .collect();
        for id in stale {
            forget(&mut all, &id);
        }
        let user = session.owner.user;
        if all.values().filter(|session| session.owner.user == user).count()
            >= self.settings.sessions_per_user
        {
            make_room(&mut all, Some(user))?;
        }
        if all.len() >= self.settings.sessions {
            make_room(&mut all, None)?;
        }
        all.insert(Arc::clone(&session.id), Arc::clone(&session));
        Ok(session)
    }

    fn find_here(
        &self,
        id: &str,
        principal: &Principal,
        profile: Option<&str>,
        transport: Transport,
    ) -> Option<Arc<Session>> {
        let mut all = held(&self.all);
        let session = all.get(id)?;
        let theirs = session.owner == Owner::of(principal)
            && session.transport == transport
            && profile.is_none_or(|profile| session.profile == profile)
            && principal.may_use_profile(&session.profile);
        if !theirs {
            return None;
        }
        if self.is_stale(session, Instant::now()) {
            forget(&mut all, id);
            return None;
        }
        *held(&session.used) = Instant::now();
        Some(Arc::clone(session))
    }

    fn is_stale(&self, session: &Session, now: Instant) -> bool {
        session.ended.is_cancelled()
            || session
                .idle_since()
                .is_some_and(|since| now.duration_since(since) >= self.settings.session_idle)
    }
}

/// A session as its id says it.
fn sealed(app: &Arc<App>, id: String, content: &Content, principal: &Principal, me: RunId) -> Arc<Session> {
    let mailbox = Arc::clone(&app.mcp.mailbox);
    mailbox.open(app);
    let looked = tokio::sync::Mutex::new(Some(Instant::now()));
    let shared = Shared { me, expires: content.expires(), mailbox, looked };
    let name = content.name.simple().to_string();
    let profile = content.profile.clone();
    Arc::new(Session::with(id.into(), name.into(), principal, profile, content.transport, Some(shared)))
}

fn forget(all: &mut HashMap<Arc<str>, Arc<Session>>, id: &str) {
    if let Some(session) = all.remove(id) {
        session.end();
    }
}

fn make_room(all: &mut HashMap<Arc<str>, Arc<Session>>, user: Option<UserId>) -> Result<(), NoSession> {
    let rested = all
        .values()
        .filter(|session| user.is_none_or(|user| session.owner.user == user))
        .filter_map(|session| Some((session.idle_since()?, Arc::clone(&session.id))))
        .min_by_key(|(since, _)| *since);
    let (_, id) = rested.ok_or(NoSession::Full)?;
    forget(all, &id);
    Ok(())
}
