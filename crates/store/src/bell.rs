//! The bell: a process tells those that share a PostgreSQL database with it that something rare has changed, and they
//! look.
//!
//! It carries a name and no news: it may be rung for nothing, and may go unheard while a connection is made again. So
//! whoever waits looks at the rows when it rings, and every [`TICK`] in any case. Never rung for changes of data: each
//! ring takes a lock over the whole database when it is committed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use tokio::sync::watch;

use crate::engine::args;
use crate::engine::postgres::Connection;
use crate::url::PostgresServer;
use crate::{StoreError, Unit, spawn};

/// How long a ring that was not heard can go unnoticed.
pub const TICK: Duration = Duration::from_millis(500);

pub(crate) const CHANNEL: &str = "toolroom";

/// Rings for everybody who waits for this, when the unit is committed. Only where processes share the database; elsewhere
/// [`Store::ring`](crate::Store::ring) does what is needed.
pub fn ring(unit: &mut Unit<'_>, kind: &str, key: &str) -> Result<(), StoreError> {
    unit.execute("SELECT pg_notify($1::text, $2::text)", args![CHANNEL, name(kind, key)]).map(drop)
}

/// Who waits for what in this process.
#[derive(Clone, Default)]
pub(crate) struct Bell(Arc<Waiting>);

type Waiting = Mutex<HashMap<String, watch::Sender<()>>>;

/// Hears of one kind of change of one thing, until it is dropped.
pub struct Subscription {
    bell: Bell,
    name: String,
    /// `None` while it is dropped.
    rung: Option<watch::Receiver<()>>,
}

impl Subscription {
    /// Returns when it was rung since the last time, or after a [`TICK`]; whether it was rung.
    pub async fn rung(&mut self) -> bool {
        match &mut self.rung {
            Some(rung) => matches!(tokio::time::timeout(TICK, rung.changed()).await, Ok(Ok(()))),
            None => std::future::pending().await,
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut waiting = locked(&self.bell.0);
        self.rung = None;
        if waiting.get(&self.name).is_some_and(|rope| rope.receiver_count() == 0) {
            waiting.remove(&self.name);
        }
    }
}

impl Bell {
    pub fn subscribe(&self, kind: &str, key: &str) -> Subscription {
        let name = name(kind, key);
        let rung = locked(&self.0).entry(name.clone()).or_insert_with(|| watch::channel(()).0).subscribe();
        Subscription { bell: self.clone(), name, rung: Some(rung) }
    }

    /// Rings in this process alone.
    pub fn ring_here(&self, kind: &str, key: &str) {
        ring_name(&self.0, &name(kind, key));
    }

    /// Passes on what others ring, on a connection of its own, for as long as the bell is there.
    pub fn attend(&self, server: PostgresServer) -> Result<(), StoreError> {
        let waiting = Arc::downgrade(&self.0);
        // Nobody waits for its end: it would take a tick.
        spawn("store-bell", move || attend(&server, &waiting)).map(drop)
    }
}

fn attend(server: &PostgresServer, waiting: &Weak<Waiting>) {
    let mut is_told = false;
    while waiting.strong_count() > 0 {
        let mut is_first = true;
        let mut heard = |rung: Option<&str>| {
            let Some(waiting) = waiting.upgrade() else { return false };
            match rung {
                Some(name) => ring_name(&waiting, name),
                // While nobody listened, anything may have been rung.
                None if is_first => locked(&waiting).values().for_each(|rope| rope.send_replace(())),
                None => {}
            }
            is_first = false;
            true
        };
        let ended = Connection::open(server).and_then(|mut open| open.listen(CHANNEL, TICK, &mut heard));
        match ended {
            Err(error) if !is_told => {
                is_told = true;
                tracing::warn!(%error, "changes by other servers are noticed by looking, twice a second");
            }
            Err(_) => {}
            Ok(()) => is_told = false,
        }
        thread::sleep(TICK);
    }
}

fn ring_name(waiting: &Waiting, name: &str) {
    if let Some(rope) = locked(waiting).get(name) {
        rope.send_replace(());
    }
}

fn name(kind: &str, key: &str) -> String {
    format!("{kind}:{key}")
}

fn locked(waiting: &Waiting) -> MutexGuard<'_, HashMap<String, watch::Sender<()>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
