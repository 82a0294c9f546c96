//! What is said of a session after it began, where several servers may be asked about it: the log level, what is watched,
//! and that it has ended. It is kept as a parcel, which every server looks at again and again while the session is used.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use tokio::time::Instant;
use toolroom_contract::ids::RunId;
use toolroom_mcp::LogLevel;
use toolroom_store::parcels::{self, Kind, Parcel};
use toolroom_store::{Store, StoreError, mail};

use super::sealed_id::LIFE;
use super::{Session, held};
use crate::mcp::caller::Owner;
use crate::mcp::mail::{Letter, Mailbox};

/// For so long a server believes what it saw last.
const BELIEF: Duration = Duration::from_millis(400);

/// Where a session stands among several servers.
pub(crate) struct Shared {
    /// This server.
    pub(super) me: RunId,
    pub(super) expires: Timestamp,
    pub(super) mailbox: Arc<Mailbox>,
    /// When the parcel was last looked at.
    pub(super) looked: Mutex<Option<Instant>>,
}

/// What was said of a session.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Kept {
    #[serde(default)]
    pub(super) ended: bool,
    #[serde(default)]
    level: Option<LogLevel>,
    #[serde(default)]
    watched: BTreeSet<String>,
}

impl Kept {
    /// Nothing, if nothing was said.
    pub(super) async fn read(store: &Store, name: &str) -> Result<Self, StoreError> {
        let name = name.to_owned();
        let found = store.read(move |unit| parcels::get(unit, Kind::Session, &name)).await?;
        Ok(found.map(|parcel: Parcel| Self::parse(&parcel.body)).unwrap_or_default())
    }

    fn parse(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }

    fn parcel(&self, name: &str, owner: &Owner) -> Parcel {
        let body = serde_json::to_vec(self).unwrap_or_default();
        Parcel { id: name.to_owned(), owner: owner.to_string(), about: String::new(), body }
    }
}

/// Something is said of a session.
#[derive(Clone)]
pub(crate) enum Change {
    Level(LogLevel),
    Watched { uri: String, watched: bool },
    Ended,
}

impl Change {
    fn apply(&self, kept: &mut Kept) {
        match self {
            Self::Level(level) => kept.level = Some(*level),
            Self::Watched { uri, watched: true } => _ = kept.watched.insert(uri.clone()),
            Self::Watched { uri, watched: false } => _ = kept.watched.remove(uri),
            Self::Ended => *kept = Kept { ended: true, ..Kept::default() },
        }
    }
}

impl Session {
    /// Takes over what was said at other servers.
    pub(super) fn take_over(&self, kept: Kept) {
        if kept.ended {
            return self.end();
        }
        if let Some(level) = kept.level {
            self.set_level(level);
        }
        *held(&self.watched) = kept.watched;
    }

    /// Whether the session has not ended elsewhere, as far as is known. Asks no more often than it must.
    pub(super) async fn is_alive(&self, store: &Store) -> Result<bool, StoreError> {
        let Some(shared) = &self.shared else { return Ok(!self.ended.is_cancelled()) };
        let mut looked = shared.looked.lock().await;
        if looked.is_none_or(|at| at.elapsed() >= BELIEF) {
            let now = Instant::now();
            self.take_over(Kept::read(store, &self.name).await?);
            *looked = Some(now);
        }
        Ok(!self.ended.is_cancelled())
    }

    /// Looks at once, because something was said elsewhere.
    pub(crate) async fn look_again(&self, store: &Store) {
        if let Some(shared) = &self.shared {
            *shared.looked.lock().await = None;
        }
        if let Err(error) = self.is_alive(store).await {
            tracing::debug!(%error, "what was said of a session elsewhere cannot be read now");
        }
    }

    /// Tells all servers what was said of the session here.
    pub(crate) async fn share(&self, store: &Store, change: Change) -> Result<(), StoreError> {
        let Some(shared) = &self.shared else { return Ok(()) };
        let (me, name, owner) = (shared.me, Arc::clone(&self.name), self.owner.clone());
        let letter = Letter::Session { session: self.id.to_string() }.seal();
        // Nobody looks meanwhile: what was there before must not come back.
        let mut looked = shared.looked.lock().await;
        let now = Instant::now();
        let kept = store.write(move |unit| {
            let body = parcels::lock(unit, Kind::Session, &name, &owner.to_string(), LIFE)?;
            let mut kept = Kept::parse(&body);
            if !kept.ended {
                change.apply(&mut kept);
            }
            parcels::put(unit, Kind::Session, &kept.parcel(&name, &owner), LIFE)?;
            mail::send_to_others(unit, me, &letter)?;
            Ok::<_, StoreError>(kept)
        });
        self.take_over(kept.await?);
        *looked = Some(now);
        Ok(())
    }

    /// Tells all servers that the session has ended, and waits for nothing.
    pub(super) fn share_end(&self, store: &Store) {
        if self.shared.is_some() {
            let ended = Kept { ended: true, ..Kept::default() };
            let parcel = ended.parcel(&self.name, &self.owner);
            store.once_unheard(move |unit| parcels::put(unit, Kind::Session, &parcel, LIFE));
        }
    }

    /// Sends a letter to the server that has asked, or is to be told, if this is a session of several servers.
    pub(super) fn post(&self, store: &Store, to: To, letter: &Letter) {
        let Some(shared) = &self.shared else { return };
        let (me, letter) = (shared.me, letter.seal());
        store.once_unheard(move |unit| match to {
            To::One(replica) => mail::send(unit, replica, &letter).map(drop),
            To::Others => mail::send_to_others(unit, me, &letter),
        });
    }

    pub(super) fn is_too_old(&self, now: Timestamp) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.expires <= now)
    }

    /// Whether another server has asked what this is an answer to.
    pub(super) fn asked_elsewhere(&self, asker: Option<RunId>) -> Option<RunId> {
        let me = self.shared.as_ref()?.me;
        asker.filter(|asker| *asker != me)
    }
}

/// Who gets a letter.
#[derive(Clone, Copy)]
pub(crate) enum To {
    One(RunId),
    Others,
}
