//! Links into the console: each works once, and not for long. They are kept in memory alone, as hashes.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use toolroom_store::{Secret, StoreError, secret};

/// How long a link works.
const LIFETIME: SignedDuration = SignedDuration::from_mins(10);
/// More than these nobody has use for at once; the one that expires first goes.
const MOST: usize = 100;

#[derive(Default)]
pub(crate) struct Links(Mutex<HashMap<[u8; 32], Timestamp>>);

impl Links {
    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new link's secret, and until when it works.
    pub(super) fn make(&self, now: Timestamp) -> Result<(Secret, Timestamp), StoreError> {
        let made = Secret::bare()?;
        let expires_at = now + LIFETIME;
        let mut links = self.lock();
        links.retain(|_, deadline| *deadline > now);
        if links.len() >= MOST
            && let Some(first) = links.iter().min_by_key(|(_, deadline)| **deadline).map(|(hash, _)| *hash)
        {
            links.remove(&first);
        }
        links.insert(secret::hash(made.reveal()), expires_at);
        Ok((made, expires_at))
    }

    /// Uses a link up; `false` if there is none, or it is too old.
    pub(crate) fn take(&self, presented: &str, now: Timestamp) -> bool {
        self.lock().remove(&secret::hash(presented)).is_some_and(|deadline| deadline > now)
    }
}
