//! All sessions of a server: found by their owner, bounded in number, forgotten when nobody uses them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::time::Instant;
use toolroom_contract::Principal;
use toolroom_contract::ids::UserId;

use super::{Session, Transport, held};
use crate::mcp::caller::Owner;
use crate::mcp::settings::McpSettings;

/// The sessions.
#[derive(Default)]
pub(crate) struct Sessions {
    all: Mutex<HashMap<Arc<str>, Arc<Session>>>,
    settings: McpSettings,
}

/// No session is idle, so that none can make room.
#[derive(Debug)]
pub(crate) struct Full;

impl Sessions {
    pub(crate) fn new(settings: McpSettings) -> Self {
        Self { all: Mutex::default(), settings }
    }

    /// A new session. Where there are too many, the one that has rested longest makes room.
    pub(crate) fn create(
        &self,
        principal: &Principal,
        profile: Cow<'static, str>,
        transport: Transport,
    ) -> Result<Arc<Session>, Full> {
        let mut all = held(&self.all);
        let now = Instant::now();
        let stale: Vec<Arc<str>> = all
            .values()
            .filter(|session| self.is_stale(session, now))
            .map(|session| session.id.clone())
            .collect();
        for id in stale {
            forget(&mut all, &id);
        }
        let user = principal.user.id;
        if all.values().filter(|session| session.owner.user == user).count()
            >= self.settings.sessions_per_user
        {
            make_room(&mut all, Some(user))?;
        }
        if all.len() >= self.settings.sessions {
            make_room(&mut all, None)?;
        }
        let session = Session::new(principal, profile, transport);
        all.insert(Arc::clone(&session.id), Arc::clone(&session));
        Ok(session)
    }

    /// The session of that id, if it is this caller's, under this profile and on this transport.
    pub(crate) fn find(
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

    /// The profile of a session, whoever asks: only to answer in its form while callers cannot be checked.
    pub(crate) fn profile_of(&self, id: &str) -> Option<Cow<'static, str>> {
        held(&self.all).get(id).map(|session| session.profile.clone())
    }

    /// Ends a session and all that goes on in it.
    pub(crate) fn remove(&self, id: &str) {
        forget(&mut held(&self.all), id);
    }

    fn is_stale(&self, session: &Session, now: Instant) -> bool {
        session.ended.is_cancelled()
            || session
                .idle_since()
                .is_some_and(|since| now.duration_since(since) >= self.settings.session_idle)
    }
}

fn forget(all: &mut HashMap<Arc<str>, Arc<Session>>, id: &str) {
    if let Some(session) = all.remove(id) {
        session.end();
    }
}

fn make_room(all: &mut HashMap<Arc<str>, Arc<Session>>, user: Option<UserId>) -> Result<(), Full> {
    let rested = all
        .values()
        .filter(|session| user.is_none_or(|user| session.owner.user == user))
        .filter_map(|session| Some((session.idle_since()?, Arc::clone(&session.id))))
        .min_by_key(|(since, _)| *since);
    let (_, id) = rested.ok_or(Full)?;
    forget(all, &id);
    Ok(())
}
