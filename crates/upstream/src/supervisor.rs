//! Keeps one server connected: who connects, who waits, what counts as a failure, and what is tried again.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::client::Client;
use crate::config::ServerConfig;
use crate::error::{Failure, UpstreamError};
use crate::handshake::Connector;
use crate::health::{self, Gate, Health};
use crate::http::Http;
use crate::identity::Identity;
use crate::notices::Notices;
use crate::review::{Review, Reviews};
use crate::session::Era;
use crate::status::{State, Status};
use crate::transport::stdio::SpawnEnv;

/// How long making a connection may take; programs are often fetched first.
const CONNECT_LIMIT: Duration = Duration::from_secs(60);
/// How often a call is made again at most.
const MOST_RETRIES: usize = 3;
/// How often a server that is down is looked at without anyone asking for it.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Resources of one server whose changes are told.
const MOST_FOLLOWED: usize = 200;

/// What is known of a server, and the tasks that look after it.
pub(crate) struct ConnectionSupervisor {
    pub(crate) config: ServerConfig,
    connector: Connector,
    pub(crate) changes: Arc<Notices>,
    pub(crate) status: watch::Sender<Status>,
    now: Mutex<Now>,
    pub(crate) reviews: Reviews,
    /// Held by the one who connects.
    turn: tokio::sync::Mutex<()>,
    /// Addresses of resources whose changes are to be told.
    followed: Mutex<BTreeSet<String>>,
    /// Whether someone is seeing to it that a lost connection comes back.
    healing: AtomicBool,
    stop: CancellationToken,
    tasks: TaskTracker,
}

#[derive(Default)]
struct Now {
    client: Option<Arc<Client>>,
    era: Option<Era>,
    health: Health,
    /// What last went wrong.
    failure: Option<Failure>,
}

impl ConnectionSupervisor {
    pub(crate) fn new(
        config: ServerConfig,
        identity: Arc<Identity>,
        spawn_env: SpawnEnv,
        stop: CancellationToken,
    ) -> Self {
        let changes = Arc::<Notices>::default();
        let tasks = TaskTracker::new();
        let connector = Connector::new(&config, spawn_env, identity, Arc::clone(&changes), tasks.clone());
        Self {
            config,
            connector,
            changes,
            status: watch::Sender::new(Status::idle()),
            now: Mutex::default(),
            reviews: Reviews::default(),
            turn: tokio::sync::Mutex::default(),
            followed: Mutex::default(),
            healing: AtomicBool::new(false),
            stop,
            tasks,
        }
    }

    /// The client, if there is one.
    pub(crate) fn client(&self) -> Option<Arc<Client>> {
        self.now().client.clone()
    }

    /// Connects, if it is not connected.
    pub(crate) async fn connect(self: &Arc<Self>) -> Result<(), UpstreamError> {
        let came_at = self.now().health.total();
        self.ready(came_at).await.map(drop)
    }

    /// Has changes of a resource told, on this connection and every later one; false if there are too many.
    pub(crate) fn follow(&self, uri: &str) -> bool {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        if followed.contains(uri) {
            return true;
        }
        if followed.len() >= MOST_FOLLOWED {
            return false;
        }
        followed.insert(uri.to_owned());
        if let Some(client) = self.client() {
            client.follow(uri);
        }
        true
    }

    pub(crate) fn stderr_tail(&self) -> Option<String> {
        self.connector.stderr_tail()
    }

    /// Its door, if it is at a URL.
    pub(crate) fn http(&self) -> Option<&Arc<Http>> {
        self.connector.http()
    }

    /// What stood in the way is gone, so what has failed so far means nothing.
    pub(crate) fn retry_now(&self) {
        let mut now = self.now();
        now.health.answered();
        now.failure = None;
    }

    /// Gives up the connection that there is, and makes a new one at once, whatever failed before.
    pub(crate) async fn reconnect(self: &Arc<Self>) -> Result<(), UpstreamError> {
        let client = self.now().client.take();
        if let Some(client) = client {
            // What is under way on it may have run: it ends as on a lost connection.
            client.session().calls.close(Failure::Lost("it was reconnected".to_owned()));
            client.session().end().await;
        }
        self.retry_now();
        self.connect().await
    }

    /// Ends everything, and waits until nothing is left.
    pub(crate) async fn shutdown(&self) {
        self.stop.cancel();
        // A connection attempt sees that, and leaves nothing behind.
        let _turn = self.turn.lock().await;
        let client = self.now().client.take();
        if let Some(client) = client {
            client.session().end().await;
        }
        self.tasks.close();
        self.tasks.wait().await;
        self.status.send_modify(|status| status.turn(State::Stopped));
    }

    /// Makes a request, and makes it again only if it was never sent or may be repeated. Each time what the server
    /// lists is reviewed first.
    pub(crate) async fn attempts<T, F: Future<Output = Result<T, Failure>>>(
        self: &Arc<Self>,
        repeatable: bool,
        sent: &AtomicBool,
        review: Option<&Arc<dyn Review>>,
        attempt: impl Fn(Arc<Client>) -> F,
    ) -> Result<T, UpstreamError> {
        let came_at = self.now().health.total();
        let mut retries = 0;
        loop {
            let client = self.ready(came_at).await?;
            let began = Instant::now();
            let outcome = match self.permitted(&client, review, began).await {
                Ok(()) => {
                    sent.store(true, Ordering::Relaxed);
                    // Boxed: what the request itself needs of the stack is much already.
                    let request = Box::pin(attempt(Arc::clone(&client)));
                    self.over_reviewed_connections(&client, review, request).await
                }
                Err(failure) => Err(failure),
            };
            let failure = match outcome {
                Ok(answer) => {
                    self.answered();
                    return Ok(answer);
                }
                Err(failure) if !failure.is_of_the_way() => {
                    self.answered();
                    return Err(failure.into());
                }
                Err(failure) => failure,
            };
            if review.is_some() {
                // The next one to answer may be another server.
                self.changes.send_modify(|changes| changes.tools += 1);
            }
            // A server that forgot us is well; it only has to be greeted again.
            if !matches!(failure, Failure::SessionLost) {
                self.failed(&failure, |health, now| client.count_loss_once(|| health.failed(began, now)));
            }
            if retries == MOST_RETRIES || !(failure.never_ran() || repeatable) {
                return Err(failure.into());
            }
            sent.store(!failure.never_ran(), Ordering::Relaxed);
            // The server's own waits are shorter if others have been answered in between.
            if !matches!(failure, Failure::SessionLost) {
                tokio::time::sleep(health::wait(retries)).await;
            }
            retries += 1;
        }
    }

    /// A connected client, once waiting, connecting and other callers allow.
    async fn ready(self: &Arc<Self>, came_at: u64) -> Result<Arc<Client>, UpstreamError> {
        loop {
            if self.stop.is_cancelled() {
                return Err(UpstreamError::Stopped);
            }
            let (gate, client) = {
                let now = self.now();
                (now.health.gate(came_at, Instant::now()), now.client.clone())
            };
            match (gate, client.filter(|client| !client.is_closed())) {
                (Gate::Shut(wait), _) => return Err(self.unavailable(wait)),
                (Gate::Wait(until), _) => {
                    let waiting = tokio::time::sleep_until(until.into());
                    self.stop.run_until_cancelled(waiting).await;
                }
                (Gate::Open, Some(client)) => return Ok(client),
                (Gate::Open, None) => self.connect_in_turn().await,
            }
        }
    }

    fn unavailable(&self, wait: Duration) -> UpstreamError {
        let retry_after = Some(wait.as_millis() as u64);
        match self.now().failure.clone() {
            Some(failure) if !failure.is_of_the_way() => failure.into(),
            Some(failure) => UpstreamError::Unavailable { reason: failure.reason(), retry_after },
            None => {
                UpstreamError::Unavailable { reason: "it was tried several times".to_owned(), retry_after }
            }
        }
    }

    /// One attempt to connect, for all who wait for it. The result is in `now`.
    async fn connect_in_turn(self: &Arc<Self>) {
        let total = self.now().health.total();
        let _turn = self.turn.lock().await;
        {
            let now = self.now();
            let connected = now.client.as_ref().is_some_and(|client| !client.is_closed());
            // Someone else has tried in the meantime.
            if connected || now.health.total() != total || self.stop.is_cancelled() {
                return;
            }
        }
        self.status.send_modify(|status| status.turn(State::Connecting));
        let own = Arc::clone(self);
        // In its own task: a caller that leaves takes nothing away from the others.
        let attempt = self.tasks.spawn(async move { own.connect_once().await });
        let _ = attempt.await;
    }

    async fn connect_once(self: Arc<Self>) {
        let began = Instant::now();
        let era = self.now().era;
        let work = async {
            match self.connector.connect(era).await {
                // The server may have become another since.
                Err(failure) if era.is_some() && !failure.is_of_the_way() => {
                    self.connector.connect(None).await
                }
                other => other,
            }
        };
        let limited = tokio::time::timeout(CONNECT_LIMIT, work);
        let begun = match self.stop.run_until_cancelled(limited).await {
            None => return,
            Some(Err(_)) => Err(Failure::NotSent(format!("no answer within {} s", CONNECT_LIMIT.as_secs()))),
            Some(Ok(begun)) => begun,
        };
        match begun {
            Ok(begun) => self.connected(Client::new(begun)),
            Err(failure) if failure.is_of_the_way() => {
                self.failed(&failure, |health, now| health.failed(began, now));
            }
            Err(failure) => self.failed(&failure, |health, now| health.unusable(began, now)),
        }
    }

    fn connected(self: &Arc<Self>, client: Arc<Client>) {
        let (era, hello) = (client.era, Arc::clone(&client.hello));
        {
            let mut now = self.now();
            now.era = Some(era);
            now.health.connected();
            now.client = Some(Arc::clone(&client));
        }
        for uri in self.followed.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            client.follow(uri);
        }
        tracing::info!(server = self.config.name, revision = %hello.revision, "connected to a server");
        self.status.send_modify(|status| {
            status.turn(State::Ready);
            status.era = Some(era);
            status.hello = Some(hello);
            status.connections += 1;
        });
        // What was listed before may no longer be so.
        if self.status.borrow().connections > 1 {
            self.changes.all_may_differ();
        }
        let own = Arc::clone(self);
        self.tasks.spawn(async move { own.watch(client).await });
    }

    /// Waits for the end of a connection, and sees to what comes after.
    async fn watch(self: Arc<Self>, client: Arc<Client>) {
        let closed = client.session().calls.closed().clone();
        if self.stop.run_until_cancelled(closed.cancelled()).await.is_none() {
            client.session().end().await;
            return;
        }
        let failure = client.session().calls.close_failure();
        match failure {
            Failure::SessionLost => {
                tracing::info!(server = self.config.name, "a server has forgotten our session");
                self.status.send_modify(|status| status.turn(State::Waiting));
                self.heal();
            }
            failure => {
                self.failed(&failure, |health, now| client.count_loss_once(|| health.lost(client.made, now)))
            }
        }
        client.session().end().await;
    }

    fn answered(&self) {
        let mut now = self.now();
        now.health.answered();
        drop(now);
        self.status.send_if_modified(|status| {
            let changed = status.state != State::Ready && status.state != State::Stopped;
            if changed {
                status.turn(State::Ready);
            }
            changed
        });
    }

    fn failed(self: &Arc<Self>, failure: &Failure, count: impl FnOnce(&mut Health, Instant) -> bool) {
        // What we end ourselves is not a failure.
        if self.stop.is_cancelled() {
            return;
        }
        let reason = failure.reason();
        let down = {
            let mut now = self.now();
            if !count(&mut now.health, Instant::now()) {
                return;
            }
            now.failure = Some(failure.clone());
            now.health.is_down()
        };
        tracing::warn!(server = self.config.name, reason, down, "a server cannot be reached");
        self.status.send_modify(|status| {
            status.turn(if down { State::Down } else { State::Waiting });
            status.last_error = Some(reason);
        });
        self.heal();
    }

    /// Brings a lost connection back though nobody asks, so that status and lists stay true.
    fn heal(self: &Arc<Self>) {
        if self.stop.is_cancelled() || self.healing.swap(true, Ordering::AcqRel) {
            return;
        }
        let own = Arc::clone(self);
        self.tasks.spawn(async move {
            own.stop.run_until_cancelled(own.heal_until_well()).await;
            own.healing.store(false, Ordering::Release);
        });
    }

    async fn heal_until_well(self: &Arc<Self>) {
        loop {
            let came_at = self.now().health.total();
            if let Ok(client) = self.ready(came_at).await {
                let began = Instant::now();
                match tokio::time::timeout(CONNECT_LIMIT, client.ping()).await {
                    Ok(Err(failure)) if failure.is_of_the_way() => {
                        self.failed(&failure, |health, now| {
                            client.count_loss_once(|| health.failed(began, now))
                        });
                        continue;
                    }
                    Err(_) => client.session().calls.close(Failure::Lost("it stopped answering".to_owned())),
                    Ok(_) => {
                        // It is there; whether it does its work, only an answer to a call shows.
                        self.now().health.connected();
                        return self.status.send_modify(|status| status.turn(State::Ready));
                    }
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
