//! Takes calls that other servers left, and makes them: a process that does so needs no listener. An idle one waits for
//! the bell.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolroom_contract::ResponseTime;
use toolroom_contract::ids::RunId;
use toolroom_mcp::{Code, Id, RpcError};
use toolroom_runtime::catalogue::Tool;
use toolroom_store::workers::{self, Waiting};
use toolroom_store::{Lease, StoreError};

use super::job::{Job, interrupted};
use super::queue::Ticket;
use crate::access::nobody;
use crate::app::App;
use crate::mcp::caller::Owner;
use crate::mcp::jobs;
use crate::mcp::methods::deferred_call::Owned;
use crate::mcp::peer::Peer;

/// How long a worker does without a look while the bell does not ring: nobody rings for a worker that was killed.
const LOOK: Duration = Duration::from_secs(5);

/// So many calls that no worker is there for are made by a server at a time.
const MOST_ABANDONED: usize = 4;

/// Which calls a worker takes: of these tools, and of those with one of these tags; of all slow ones if neither is given.
#[derive(Clone, Debug, Default)]
pub struct Takes {
    pub tools: Vec<String>,
    pub tags: Vec<String>,
}

impl Takes {
    fn takes(&self, tool: &Tool) -> bool {
        let definition = tool.definition();
        let is_named = self.tools.iter().any(|name| *name == definition.name)
            || self.tags.iter().any(|tag| definition.tags.contains(tag));
        let is_any = self.tools.is_empty() && self.tags.is_empty();
        (is_named || is_any) && definition.response_time == ResponseTime::Slow
    }
}

/// A process that makes calls which others left.
pub struct Worker {
    app: Arc<App>,
    lease: Arc<Lease>,
    /// `None`: a server, which makes what is left when no worker is there any more.
    takes: Option<Takes>,
    slots: Arc<Semaphore>,
    running: TaskTracker,
    /// The ids of what was begun and is not known to be closed in its row.
    begun: Arc<Mutex<HashSet<String>>>,
    /// How many calls in a row could not be begun, because nobody could tell whose they are.
    failures: Arc<AtomicU32>,
    /// Told when such a call may be begun again.
    again: Arc<Notify>,
}

impl Worker {
    /// One that makes so many calls at a time; `None` where no other server shares the database.
    pub fn new(app: &Arc<App>, takes: Takes, parallel: usize) -> Option<Self> {
        Self::with(app, Some(takes), parallel)
    }

    /// A server that makes calls which were left for workers of whom none is there any more.
    pub fn for_abandoned(app: &Arc<App>) -> Option<Self> {
        Self::with(app, None, MOST_ABANDONED)
    }

    fn with(app: &Arc<App>, takes: Option<Takes>, parallel: usize) -> Option<Self> {
        let lease = Arc::clone(app.runtime.store.lease()?);
        let slots = Arc::new(Semaphore::new(parallel.max(1)));
        let (running, begun) = (TaskTracker::new(), Arc::default());
        let (failures, again) = Default::default();
        Some(Self { app: Arc::clone(app), lease, takes, slots, running, begun, failures, again })
    }

    /// The tools whose calls it takes, as the catalogue is now.
    pub fn tools(&self) -> Vec<String> {
        let snapshot = self.app.runtime.registry.snapshot();
        let is_taken = |tool: &&Arc<Tool>| self.takes.as_ref().is_some_and(|takes| takes.takes(tool));
        snapshot.tools.values().filter(is_taken).map(|tool| tool.name().to_owned()).collect()
    }

    /// Says which calls it takes. Others leave them for it from now on.
    pub async fn take_on(&self) -> Result<(), StoreError> {
        let (me, tools) = (self.lease.run(), self.tools());
        self.app.runtime.store.once(move |unit| workers::take_on(unit, me, &tools)).await
    }

    /// Makes calls until it is told to stop; those that run go on.
    pub async fn run(&self, stop: &CancellationToken) {
        let mut bell = self.app.runtime.store.subscribe(workers::BELL, "");
        while let Some(Ok(slot)) = stop.run_until_cancelled(Arc::clone(&self.slots).acquire_owned()).await {
            // While calls cannot be begun here, others are left for those who can.
            let failures = self.failures.load(Ordering::Relaxed);
            if failures > 0 {
                let _ = stop.run_until_cancelled(tokio::time::sleep(pause_after(failures - 1))).await;
            }
            match self.next().await {
                Ok(Some(call)) => self.begin(call, slot),
                Ok(None) => {
                    drop(slot);
                    let looked = Instant::now();
                    // The bell rings for workers.
                    let is_for_us = self.takes.is_some();
                    let idle =
                        async { while !(bell.rung().await && is_for_us) && looked.elapsed() < LOOK {} };
                    tokio::select! {
                        () = idle => {}
                        () = self.again.notified() => {}
                        () = stop.cancelled() => {}
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "no call can be taken now");
                    let _ = stop.run_until_cancelled(tokio::time::sleep(Duration::from_secs(1))).await;
                }
            }
        }
    }

    /// Takes no more, and returns when nothing runs.
    pub async fn drained(&self) {
        let me = self.lease.run();
        let left = self.app.runtime.store.once(move |unit| workers::take_on(unit, me, &[])).await;
        if let Err::<(), StoreError>(error) = left {
            tracing::debug!(%error, "calls are left for this worker until its lease lapses");
        }
        self.running.close();
        self.running.wait().await;
    }

    async fn next(&self) -> Result<Option<Waiting>, StoreError> {
        let (store, me) = (&self.app.runtime.store, self.lease.run());
        if !self.lease.is_held() {
            return Ok(None);
        }
        let taken = match &self.takes {
            None => store.once(move |unit| workers::take_abandoned(unit, me)).await?,
            Some(_) => {
                // The catalogue may have changed, and a database that was restored knows nothing of us.
                self.take_on().await?;
                store.once(move |unit| workers::take(unit, me)).await?
            }
        };
        if taken.is_some() {
            return Ok(taken);
        }
        // The answer to a statement may get lost: what is ours and was never begun is begun now. Who has begun is looked at
        // first: a call that ends while the rows are read is open in them, and gone from here.
        let begun = locked(&self.begun).clone();
        let held = store.read(move |unit| workers::held(unit, me)).await?;
        Ok(held.into_iter().find(|call| !begun.contains(&call.id)))
    }

    fn begin(&self, call: Waiting, slot: OwnedSemaphorePermit) {
        let (app, me, begun) = (Arc::clone(&self.app), self.lease.run(), Arc::clone(&self.begun));
        let (failures, again) = (Arc::clone(&self.failures), Arc::clone(&self.again));
        locked(&begun).insert(call.id.clone());
        self.running.spawn(async move {
            let id = call.id.clone();
            match make(&app, me, call, slot).await {
                Made::Known => failures.store(0, Ordering::Relaxed),
                Made::Unknown => return,
                Made::NotBegun => {
                    let pause = pause_after(failures.fetch_add(1, Ordering::Relaxed));
                    let _ = app.draining.run_until_cancelled(tokio::time::sleep(pause)).await;
                    locked(&begun).remove(&id);
                    return again.notify_one();
                }
            }
            locked(&begun).remove(&id);
        });
    }
}

/// Longer each time, up to half a minute.
fn pause_after(failures: u32) -> Duration {
    Duration::from_millis(250).saturating_mul(1 << failures.min(7)).min(Duration::from_secs(30))
}

/// What came of a call.
enum Made {
    /// It is in its row.
    Known,
    /// Whether that is in its row is not known.
    Unknown,
    /// Nothing yet: it is among those that this worker holds, and begun later.
    NotBegun,
}

impl Made {
    fn told(is_told: bool) -> Self {
        if is_told { Self::Known } else { Self::Unknown }
    }
}

/// Makes a call to its end.
async fn make(app: &Arc<App>, me: RunId, call: Waiting, slot: OwnedSemaphorePermit) -> Made {
    let Waiting { id, request, is_repeatable, created_at } = call;
    // What its client says at another server comes by mail.
    let _mail = app.mcp.expect_mail(app);
    let ticket = serde_json::from_str::<Ticket>(&request);
    let redeemed = match ticket {
        Ok(ticket) => match ticket.redeem(app).await {
            Ok(redeemed) => redeemed,
            Err(_) => return Made::NotBegun,
        },
        Err(error) => {
            tracing::warn!(%error, task = id, "a call that was left by another release cannot be made");
            None
        }
    };
    let Some((caller, client, params)) = redeemed else {
        let job = Job::taken(&id, Owner::of(&nobody()), CancellationToken::new(), created_at);
        let refused =
            RpcError::new(Code::Internal, "The call was not made: whoever asked for it may not any more.");
        job.finish(Err(refused), app.runtime.clock.now());
        return Made::told(jobs::tell(app, &job).await);
    };
    let (owner, revoked) = (Owner::of(&caller.principal), caller.principal.revoked.clone());
    let job = Arc::new(Job::taken(&id, owner, revoked, created_at).in_slot(slot));
    app.mcp.jobs.add(&job);
    let owned = Owned {
        app: Arc::clone(app),
        id: Id::Text(id.as_str().into()),
        caller,
        client,
        params,
        peer: Peer::default(),
    };
    tokio::select! {
        outcome = owned.call(&job) => {
            job.finish(outcome, app.runtime.clock.now());
        }
        // By its client, or with the credential.
        () = job.stop.cancelled() => {
            job.cancel(app.runtime.clock.now());
        }
        () = app.stopping.cancelled() => {
            if is_repeatable {
                let given_back = app.runtime.store.write(move |unit| workers::give_back(unit, me, &id)).await;
                if let Err::<(), StoreError>(error) = &given_back {
                    tracing::warn!(%error, "a call is made again when the lease of this worker has lapsed");
                }
                app.mcp.jobs.forget(&job.id);
                return Made::told(given_back.is_ok());
            }
            job.finish(Err(interrupted()), app.runtime.clock.now());
        }
    }
    let is_told = jobs::tell(app, &job).await;
    app.mcp.jobs.forget(&job.id);
    Made::told(is_told)
}

fn locked(begun: &Mutex<HashSet<String>>) -> MutexGuard<'_, HashSet<String>> {
    begun.lock().unwrap_or_else(PoisonError::into_inner)
}
