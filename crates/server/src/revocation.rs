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
use toolroom_contract::ids::{KeyId, SessionId};
use toolroom_contract::{ErrorCode, Principal};
use toolroom_runtime::Runtime;
use toolroom_runtime::clock::Clock;
use toolroom_store::{Store, StoreError, Unit, keys, sessions};

use crate::access::challenge;
use crate::auth::Known;
use crate::problems::problem;

/// How often credentials in use are compared with the database, where another process may have ended them.
const LOOK: Duration = Duration::from_millis(400);

/// What can be revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Credential {
    Key(KeyId),
    Session(SessionId),
}

/// The credentials in use, and how to end what runs with them.
pub(crate) struct Revocations {
    in_use: Mutex<HashMap<Credential, InUse>>,
    /// Counts up with every revocation of this process.
    epoch: AtomicU64,
    /// Ended when the home gets its first key.
    keyless: CancellationToken,
    watching: AtomicBool,
}

/// Credentials that were found valid a moment ago, by the secret itself, which stays in memory only.
pub(crate) type Recent = Cache<String, Known>;

#[derive(Default)]
struct InUse {
    revoked: CancellationToken,
    principals: Vec<Weak<Principal>>,
    /// The key that a session stands for, and ends with.
    key: Option<KeyId>,
}

impl Revocations {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            in_use: Mutex::default(),
            epoch: AtomicU64::new(0),
            keyless: CancellationToken::new(),
            watching: AtomicBool::new(false),
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Credential, InUse>> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compared before and after a key is looked up: in between it may have been revoked.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// What ends with the credential, and for a session with its key.
    pub(crate) fn token(&self, credential: Credential, key: Option<KeyId>) -> CancellationToken {
        let mut in_use = self.lock();
        let entry = in_use.entry(credential).or_default();
        entry.key = key;
        entry.revoked.clone()
    }

    /// What ends with access without a key.
    pub(crate) fn of_keyless(&self) -> CancellationToken {
        self.keyless.clone()
    }

    /// Notes that this credential is in use, so that its end by another process is noticed.
    pub(crate) fn in_use(
        self: &Arc<Self>,
        credential: Credential,
        principal: &Arc<Principal>,
        runtime: &Runtime,
        recent: &Recent,
    ) {
        let mut lock = self.lock();
        let in_use = lock.entry(credential).or_default();
        in_use.principals.retain(|one| one.strong_count() > 0);
        in_use.principals.push(Arc::downgrade(principal));
        drop(lock);
        if !self.watching.swap(true, Ordering::Relaxed) {
            let (store, clock) = (runtime.store.clone(), Arc::clone(&runtime.clock));
            tokio::spawn(watch(Arc::downgrade(self), store, clock, recent.clone()));
        }
    }

    /// The credential is revoked and that is durable: everything with it ends now.
    pub(crate) fn end(&self, credential: Credential) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
        let of_key = |in_use: &InUse| in_use.key.is_some_and(|key| Credential::Key(key) == credential);
        let ended: Vec<InUse> = {
            let mut lock = self.lock();
            let ended = lock.extract_if(|one, in_use| *one == credential || of_key(in_use));
            ended.map(|(_, in_use)| in_use).collect()
        };
        // Outside of the lock, because waiters are woken here.
        for in_use in ended {
            in_use.revoked.cancel();
        }
    }

    /// The home has a key from now on.
    pub(crate) fn end_keyless(&self) {
        self.keyless.cancel();
    }

    /// The keys with which something runs, and the sessions.
    fn going_on(&self) -> (Vec<KeyId>, Vec<SessionId>) {
        let busy = |in_use: &InUse| in_use.principals.iter().any(|one| one.strong_count() > 0);
        let (mut keys, mut sessions) = (Vec::new(), Vec::new());
        for (credential, in_use) in self.lock().iter() {
            match credential {
                Credential::Key(key) if busy(in_use) => keys.push(*key),
                Credential::Key(_) => {}
                // Also those with which nothing runs: they end by themselves, and are forgotten then.
                Credential::Session(session) => sessions.push(*session),
            }
        }
        (keys, sessions)
    }
}

/// Another process on the same database may revoke keys and end sessions without telling us, and sessions expire.
async fn watch(revocations: Weak<Revocations>, store: Store, clock: Arc<dyn Clock>, recent: Recent) {
    loop {
        tokio::time::sleep(LOOK).await;
        // Forgets credentials that were not used for a while.
        recent.run_pending_tasks();
        let Some(revocations) = revocations.upgrade() else { return };
        let (keys, sessions) = revocations.going_on();
        if keys.is_empty() && sessions.is_empty() {
            continue;
        }
        let now = clock.now();
        let look = move |unit: &mut Unit<'_>| {
            let revoked = keys::revoked_among(unit, &keys)?.into_iter().map(Credential::Key);
            let ended = sessions::ended_among(unit, now, &sessions)?.into_iter().map(Credential::Session);
            Ok(revoked.chain(ended).collect())
        };
        match store.read(look).await {
            Ok(ended) => Vec::into_iter(ended).for_each(|one| revocations.end(one)),
            Err::<Vec<Credential>, StoreError>(error) => {
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
    challenge(problem(
        ErrorCode::Unauthenticated,
        "The key was revoked, or the session ended, while it was in use.",
    ))
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
