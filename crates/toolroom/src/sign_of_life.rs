//! On PostgreSQL, where several processes may share a database: this one tells the others that it is alive.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::Result;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};
use toolroom_contract::ids::RunId;
use toolroom_store::replicas::{self, LEASE, Replica};
use toolroom_store::{Engine, Store, StoreError};

use crate::home::Home;

/// Renews the lease of this process until it is dropped.
pub struct SignOfLife {
    store: Store,
    id: RunId,
    renewing: JoinHandle<()>,
}

impl SignOfLife {
    /// The first sign is given when this returns. SQLite needs none: the home's lock says who works on it.
    pub async fn begin(store: &Store, id: RunId, home: &Home) -> Result<Option<Self>> {
        if store.engine() == Engine::Sqlite {
            return Ok(None);
        }
        let replica = Replica { id, home: place(home.root()), version: env!("CARGO_PKG_VERSION") };
        give(store, &replica).await?;
        let own = store.clone();
        let renewing = tokio::spawn(async move {
            let mut ticks = interval(LEASE / 5);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                if let Err(error) = give(&own, &replica).await {
                    tracing::warn!(%error, "the lease of this process was not renewed");
                }
            }
        });
        Ok(Some(Self { store: store.clone(), id, renewing }))
    }

    /// Ends in good order.
    pub async fn end(self) {
        self.renewing.abort();
        let (id, store) = (self.id, self.store.clone());
        if let Err::<(), StoreError>(error) = store.write(move |unit| replicas::leave(unit, id)).await {
            tracing::debug!(%error, "the lease of this process lapses by itself");
        }
    }
}

impl Drop for SignOfLife {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

async fn give(store: &Store, replica: &Replica) -> Result<(), StoreError> {
    let replica = replica.clone();
    store.write(move |unit| replicas::renew(unit, &replica)).await
}

/// A home is locked by one process; a copy of it, or the same path on another machine, is another home.
pub fn place(home: &Path) -> String {
    let machine = rustix::system::uname();
    let folder = std::fs::metadata(home).map_or((0, 0), |found| (found.dev(), found.ino()));
    format!("{}:{}:{}:{}", machine.nodename().to_string_lossy(), home.display(), folder.0, folder.1)
}
