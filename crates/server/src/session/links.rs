//! Links into the console: each works once, and not for long. They are kept as hashes, in memory; where several servers
//! share a database there, because a balancer may lead the browser to any of them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use toolroom_store::parcels::{self, Kind, Parcel};
use toolroom_store::{Secret, Store, StoreError, secret};

/// How long a link works.
const LIFETIME: Duration = Duration::from_secs(600);
/// More than these nobody has use for at once; the one that expires first goes.
const MOST: usize = 100;
/// Whose they are in the database: the home's owner's.
const OWNER: &str = "console";

#[derive(Default)]
pub(crate) struct Links(Mutex<HashMap<[u8; 32], Timestamp>>);

impl Links {
    /// A new link's secret, and until when it works.
    pub(super) async fn make(
        &self,
        store: &Store,
        now: Timestamp,
    ) -> Result<(Secret, Timestamp), StoreError> {
        let made = Secret::bare()?;
        let (hash, expires_at) = (secret::hash(made.reveal()), now + LIFETIME);
        match store.lease() {
            None => self.keep(hash, now, expires_at),
            Some(_) => {
                // One byte each, by which they are counted.
                let parcel =
                    Parcel { id: id(hash), owner: OWNER.into(), about: String::new(), body: vec![1] };
                let keep = store.write(move |unit| {
                    parcels::put(unit, Kind::Link, &parcel, LIFETIME)?;
                    parcels::trim(unit, Kind::Link, OWNER, MOST as u64)
                });
                keep.await?;
            }
        }
        Ok((made, expires_at))
    }

    fn keep(&self, hash: [u8; 32], now: Timestamp, expires_at: Timestamp) {
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|_, deadline| *deadline > now);
        if links.len() >= MOST
            && let Some(first) = links.iter().min_by_key(|(_, deadline)| **deadline).map(|(hash, _)| *hash)
        {
            links.remove(&first);
        }
        links.insert(hash, expires_at);
    }

    /// Uses a link up; `false` if there is none, or it is too old.
    pub(crate) async fn take(
        &self,
        store: &Store,
        presented: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let hash = secret::hash(presented);
        if store.lease().is_none() {
            let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&hash);
            return Ok(taken.is_some_and(|deadline| deadline > now));
        }
        let id = id(hash);
        let taken = store.write(move |unit| parcels::take(unit, Kind::Link, &id)).await?;
        Ok(taken.is_some())
    }
}

fn id(hash: [u8; 32]) -> String {
    blake3::Hash::from_bytes(hash).to_hex().to_string()
}
