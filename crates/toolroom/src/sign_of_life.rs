//! On PostgreSQL, where several processes may share a database: this one tells the others that it is alive.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use toolroom_contract::ids::RunId;
use toolroom_runtime::shared_registry::fields;
use toolroom_store::replicas::{self, Joined, Mode, Renewed, Replica};
use toolroom_store::{Engine, Lease, Store, StoreError};

use crate::failure::Failure;
use crate::home::Home;

/// Between two renewals.
const PERIOD: Duration = Duration::from_secs(2);
/// The same while the database does not answer, so that this process is back soon after it.
const SOON: Duration = Duration::from_millis(200);
/// How long commands are waited for that do not share the database; a process that was killed is noticed in less.
const PATIENCE: Duration = Duration::from_secs(12);

/// Renews the lease of this process until it is dropped.
pub struct SignOfLife {
    store: Store,
    id: RunId,
    renewing: JoinHandle<()>,
}

impl SignOfLife {
    /// The first sign is given when this returns, and the store knows whether others share it. SQLite needs none: the
    /// home's lock says who works on it.
    pub async fn begin(store: &Store, id: RunId, home: &Home, mode: Mode) -> Result<Option<Self>> {
        if store.engine() == Engine::Sqlite {
            return Ok(None);
        }
        let (home, version) = (place(home.root()), env!("CARGO_PKG_VERSION"));
        let knows = serde_json::to_string(&fields::known())?;
        let mut replica = Replica { id, home, version, mode, registry_version: 0, knows };
        let lease = wait_and_join(store, &replica).await?;
        replica.mode = if lease.is_some() { Mode::Shared } else { Mode::Alone };
        if let Some(lease) = &lease {
            store.share(Arc::clone(lease));
        }
        let renewing = tokio::spawn(renew(store.clone(), replica, lease));
        Ok(Some(Self { store: store.clone(), id, renewing }))
    }

    /// Ends in good order.
    pub async fn end(self) {
        self.renewing.abort();
        let id = self.id;
        if let Err::<(), StoreError>(error) = self.store.once(move |unit| replicas::leave(unit, id)).await {
            tracing::debug!(%error, "the lease of this process lapses by itself");
        }
    }
}

impl Drop for SignOfLife {
    fn drop(&mut self) {
        self.renewing.abort();
        let id = self.id;
        self.store.once_unheard(move |unit| replicas::leave(unit, id));
    }
}

async fn wait_and_join(store: &Store, replica: &Replica) -> Result<Option<Arc<Lease>>> {
    let began = Instant::now();
    loop {
        let asked = Instant::now();
        match join(store, replica).await? {
            Joined::Shared(count) => return Ok(Some(Arc::new(Lease::new(replica.id, asked, count)))),
            Joined::Alone => return Ok(None),
            Joined::Conflict(other) if replica.mode == Mode::Alone || began.elapsed() > PATIENCE => {
                return Err(conflict(replica.mode, &other).into());
            }
            Joined::Conflict(_) => sleep(SOON).await,
        }
    }
}

async fn join(store: &Store, replica: &Replica) -> Result<Joined, StoreError> {
    let replica = replica.clone();
    store.write(move |unit| replicas::join(unit, &replica)).await
}

async fn renew(store: Store, mut replica: Replica, lease: Option<Arc<Lease>>) {
    let mut is_away = false;
    // How far the registry has come is asked at the next renewal.
    let joined = |replicas| Renewed { replicas, registry_version: i64::MAX };
    loop {
        sleep(if is_away { SOON } else { PERIOD }).await;
        let (asked, id) = (Instant::now(), replica.id);
        let renewed = match store.once_ahead(move |unit| replicas::renew(unit, id)).await {
            Ok(Some(known)) => Ok(known),
            Ok(None) => {
                replica.registry_version = lease.as_ref().map_or(0, |lease| lease.registry_version());
                match join(&store, &replica).await {
                    Ok(Joined::Shared(count)) => Ok(joined(count)),
                    Ok(Joined::Alone) => Ok(joined(1)),
                    Ok(Joined::Conflict(other)) => Err(conflict(replica.mode, &other).to_string()),
                    Err(error) => Err(error.to_string()),
                }
            }
            Err::<_, StoreError>(error) => Err(error.to_string()),
        };
        let was_away = std::mem::replace(&mut is_away, renewed.is_err());
        match renewed {
            Ok(known) => {
                if let Some(lease) = &lease {
                    lease.renew(asked, known);
                }
                if was_away {
                    tracing::info!("the lease of this process is renewed again");
                }
            }
            Err(error) if !was_away => tracing::warn!(%error, "the lease of this process was not renewed"),
            Err(_) => {}
        }
    }
}

fn conflict(mode: Mode, other: &str) -> Failure {
    let mut parts = other.splitn(3, ':');
    let (machine, home) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    match mode {
        Mode::Alone => Failure::new(
            format!("other servers share this database, such as the one in {home} on {machine}"),
            "Share it too: toolroom serve --shared, or 'shared = true' under [database] in toolroom.toml.",
        ),
        Mode::Shared | Mode::AsOthers => Failure::new(
            format!("a process in {home} on {machine} works on this database without sharing it"),
            "Stop it, or restart it with 'toolroom serve --shared'; then start this one.",
        ),
    }
}

/// A home is locked by one process; a copy of it, or the same path on another machine, is another home.
pub fn place(home: &Path) -> String {
    let folder = std::fs::metadata(home).map_or((0, 0), |found| (found.dev(), found.ino()));
    format!("{}:{}:{}", address(home), folder.0, folder.1)
}

/// The machine and the path of a home.
pub fn address(home: &Path) -> String {
    format!("{}:{}", rustix::system::uname().nodename().to_string_lossy(), home.display())
}
