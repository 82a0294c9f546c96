//! Ends everything that runs with a credential that is no longer valid: waiting requests, streams, and through the
//! token in the principal also sessions, deferred calls and chat runs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::response::Response;
use futures_util::StreamExt;
use moka::sync::Cache;
use tokio_util::sync::CancellationToken;
use toolroom_contract::ids::KeyId;
use toolroom_contract::{ErrorCode, Principal};
use toolroom_store::{Store, keys};

use crate::auth::challenge;
use crate::problems::problem;

/// How often keys in use are compared with the database, where another process may have revoked them.
const LOOK: Duration = Duration::from_millis(400);

/// The keys in use, and how to end what runs with them.
pub(crate) struct Revocations {
    keys: Mutex<HashMap<KeyId, InUse>>,
    /// Counts up with every revocation of this process.
    epoch: AtomicU64,
    /// Ended when the home gets its first key.
    keyless: CancellationToken,
    watching: AtomicBool,
}

/// Keys that were found valid a moment ago, by the secret itself, which stays in memory only.
pub(crate) type Recent = Cache<String, Arc<Principal>>;

#[derive(Default)]
struct InUse {
    revoked: CancellationToken,
    principals: Vec<Weak<Principal>>,
}

impl Revocations {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            keys: Mutex::default(),
            epoch: AtomicU64::new(0),
            keyless: CancellationToken::new(),
            watching: AtomicBool::new(false),
        })
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<KeyId, InUse>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compared before and after a key is looked up: in between it may have been revoked.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// What ends with the key.
    pub(crate) fn of_key(&self, key: KeyId) -> CancellationToken {
        self.keys().entry(key).or_default().revoked.clone()
    }

    /// What ends with access without a key.
    pub(crate) fn of_keyless(&self) -> CancellationToken {
        self.keyless.clone()
    }

    /// Notes that this key is in use, so that its revocation by another process is noticed.
    pub(crate) fn in_use(
        self: &Arc<Self>,
        key: KeyId,
        principal: &Arc<Principal>,
        store: &Store,
        recent: &Recent,
    ) {
        let mut keys = self.keys();
        let in_use = keys.entry(key).or_default();
        in_use.principals.retain(|one| one.strong_count() > 0);
        in_use.principals.push(Arc::downgrade(principal));
        drop(keys);
        if !self.watching.swap(true, Ordering::Relaxed) {
            tokio::spawn(watch(Arc::downgrade(self), store.clone(), recent.clone()));
        }
    }

    /// The key is revoked and that is durable: everything with it ends now.
    pub(crate) fn revoke(&self, key: KeyId) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
        let ended = self.keys().remove(&key);
        // Outside of the lock, because waiters are woken here.
        if let Some(ended) = ended {
            ended.revoked.cancel();
        }
    }

    /// The home has a key from now on.
    pub(crate) fn end_keyless(&self) {
        self.keyless.cancel();
    }

    /// The keys with which something runs.
    fn going_on(&self) -> Vec<KeyId> {
        let busy = |in_use: &InUse| in_use.principals.iter().any(|one| one.strong_count() > 0);
        self.keys().iter().filter(|(_, in_use)| busy(in_use)).map(|(key, _)| *key).collect()
    }
}

/// Another process on the same database may revoke keys without telling us.
async fn watch(revocations: Weak<Revocations>, store: Store, recent: Recent) {
    loop {
        tokio::time::sleep(LOOK).await;
        // Forgets keys that were not used for a while.
        recent.run_pending_tasks();
        let Some(revocations) = revocations.upgrade() else { return };
        let going_on = revocations.going_on();
        if going_on.is_empty() {
            continue;
        }
        match store.read(move |unit| keys::revoked_among(unit, &going_on)).await {
            Ok(revoked) => revoked.into_iter().for_each(|key| revocations.revoke(key)),
            Err::<Vec<KeyId>, toolroom_store::StoreError>(error) => {
                tracing::warn!(%error, "whether keys were revoked elsewhere cannot be seen");
            }
        }
    }
}

/// The answer of a handler, as long as its caller's credential is good: the handler is dropped when that ends, and so
/// is a stream that it answers with.
pub(crate) async fn while_valid(
    principal: Arc<Principal>,
    handler: impl Future<Output = Response>,
) -> Response {
    tokio::select! {
        biased;
        response = handler => bound(principal, response),
        () = principal.revoked.cancelled() => refused(),
    }
}

fn refused() -> Response {
    challenge(problem(ErrorCode::Unauthenticated, "The key was revoked while it was in use."))
}

/// A body of known length is complete already; a stream may last.
fn bound(principal: Arc<Principal>, response: Response) -> Response {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    response.map(|body| {
        let revoked = principal.revoked.clone().cancelled_owned();
        let frames = body.into_data_stream().take_until(revoked);
        // A holder of the principal means that something still runs with it.
        Body::from_stream(frames.inspect(move |_| _ = &principal))
    })
}
