//! One server of `mcp.json`: started in the background, listed, looked after until it is stopped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolroom_upstream::config::{ServerConfig, ServerEntry, Standing};
use toolroom_upstream::names::published;
use toolroom_upstream::{Changes, Identity, SpawnEnv, State, Status, Upstream};

use super::approved::ApprovedDefinitions;
use super::bridge::Parking;
use super::callback::Callback;
use super::login::LoginAttempts;
use super::news::{News, Told};
use super::parked_elsewhere::ParkedMail;
use super::pending_review::Seen;
use super::remote_resources::{Lists, RemoteResources};
use crate::Runtime;
use crate::metrics::ServerMetrics;

/// How long a list that changes is left alone before it is read: changes come in bunches.
const QUIET: Duration = Duration::from_millis(200);
/// The least time between two readings of a list.
const LEAST_REST: Duration = Duration::from_secs(1);
/// The longest time between two attempts at a list that cannot be read.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// A server of `mcp.json`, as it is in use.
pub struct Server {
    pub(super) entry: ServerEntry,
    published: String,
    /// `None` while it is switched off.
    pub(super) upstream: Option<Upstream>,
    pub(super) approved: Arc<ApprovedDefinitions>,
    /// Weak, because the catalogue in it holds the tools of this server.
    pub(super) runtime: Weak<Runtime>,
    pub(super) seen: ArcSwap<Seen>,
    pub(super) remote_resources: ArcSwap<RemoteResources>,
    /// Held while its tools are put into the catalogue.
    pub(super) publishing: Mutex<()>,
    settled: watch::Sender<Settled>,
    started: AtomicBool,
    pub(super) stop: CancellationToken,
    pub(super) parking: Arc<Parking>,
    pub(super) mail: Arc<ParkedMail>,
    pub(super) logins: LoginAttempts,
    pub(super) callback: Arc<OnceLock<Callback>>,
    pub(super) metrics: ServerMetrics,
    news: Arc<News>,
}

/// The result of reading the list of tools.
#[derive(Clone, Debug, Default)]
pub(super) struct Settled {
    /// How often it was tried.
    pub(super) rounds: u64,
    /// What went wrong the last time.
    pub(super) failure: Option<String>,
    /// How often the lists beside that of the tools were read, or could not be.
    pub(super) remote_resources: u64,
}

/// What servers have around them.
#[derive(Clone)]
pub(super) struct ServerDeps {
    pub(super) approved: Arc<ApprovedDefinitions>,
    pub(super) runtime: Weak<Runtime>,
    pub(super) identity: Arc<Identity>,
    pub(super) spawn_env: SpawnEnv,
    pub(super) news: Arc<News>,
    pub(super) mail: Arc<ParkedMail>,
    /// Where browsers come back to, once that is known.
    pub(super) callback: Arc<OnceLock<Callback>>,
}

impl Server {
    /// Nothing is started yet.
    pub(super) fn new(entry: ServerEntry, deps: &ServerDeps, metrics: ServerMetrics) -> Arc<Self> {
        let upstream = match &entry.standing {
            Standing::Enabled(config) => {
                let (identity, spawn_env) = (Arc::clone(&deps.identity), deps.spawn_env.clone());
                Some(Upstream::new((**config).clone(), identity, spawn_env))
            }
            Standing::Disabled(_) | Standing::Invalid(_) => None,
        };
        Arc::new(Self {
            published: published(&entry.name),
            entry,
            upstream,
            approved: Arc::clone(&deps.approved),
            runtime: deps.runtime.clone(),
            seen: ArcSwap::default(),
            remote_resources: ArcSwap::default(),
            publishing: Mutex::new(()),
            settled: watch::Sender::new(Settled::default()),
            started: AtomicBool::new(false),
            stop: CancellationToken::new(),
            parking: Arc::default(),
            mail: Arc::clone(&deps.mail),
            logins: LoginAttempts::default(),
            callback: Arc::clone(&deps.callback),
            metrics,
            news: Arc::clone(&deps.news),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.entry.name
    }

    /// The name under which it is published: the first half of its permission and of its tools' names.
    pub fn published(&self) -> &str {
        &self.published
    }

    /// The client, unless the server is switched off.
    pub fn upstream(&self) -> Option<&Upstream> {
        self.upstream.as_ref()
    }

    pub(super) fn config(&self) -> Option<&ServerConfig> {
        self.upstream.as_ref().map(Upstream::config)
    }

    /// How its connection is; `None` while it is switched off.
    pub fn status(&self) -> Option<Status> {
        self.upstream.as_ref().map(Upstream::status)
    }

    /// Why it cannot be used now, for those who look after it.
    pub fn trouble(&self) -> Option<String> {
        if let Standing::Invalid(error) = &self.entry.standing {
            return Some(error.to_string());
        }
        let status = self.status()?;
        match status.state {
            State::Waiting | State::Down => {
                Some(status.last_error.unwrap_or_else(|| "it cannot be reached".to_owned()))
            }
            State::Ready => self.settled.borrow().failure.clone(),
            State::Idle | State::Connecting | State::Stopped => None,
        }
    }

    /// Looks after it from now on, in the background. Once is enough.
    pub(super) fn start(self: &Arc<Self>) {
        if self.upstream.is_some() && !self.started.swap(true, Ordering::AcqRel) {
            let me = Arc::clone(self);
            tokio::spawn(async move {
                let work = async { tokio::join!(me.look_after(), me.pass_updates_on()) };
                me.stop.run_until_cancelled(work).await;
            });
        }
    }

    async fn pass_updates_on(&self) {
        let Some(mut updates) = self.upstream.as_ref().map(Upstream::watch_updates) else { return };
        loop {
            match updates.recv().await {
                Ok(uri) => self.news.tell(self.published(), Told::Resource(uri)),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    /// Ends its connection and its processes, and waits until nothing is left.
    pub(super) async fn shutdown(&self) {
        self.stop.cancel();
        self.parking.clear();
        if let Some(upstream) = &self.upstream {
            upstream.shutdown().await;
        }
        self.metrics.up.set(0);
    }

    /// Waits until its tools were read once, or could not be.
    pub async fn settled(self: &Arc<Self>) {
        if self.upstream.is_some() {
            self.start();
            let mut settled = self.settled.subscribe();
            let _ = settled.wait_for(|settled| settled.rounds > 0).await;
        }
    }

    /// Reconnects to it, and reads what it has. Whether that went well is in its view.
    pub async fn reconnect(self: &Arc<Self>) {
        let Some(upstream) = &self.upstream else { return };
        self.start();
        if let Err(error) = upstream.reconnect().await {
            tracing::info!(server = self.name(), %error, "a server was not reconnected");
        }
        upstream.expect_changes();
    }

    /// Why it is switched off.
    pub(super) fn off(&self) -> String {
        match &self.entry.standing {
            Standing::Disabled(reason) => reason.clone(),
            Standing::Invalid(error) => error.to_string(),
            Standing::Enabled(_) => String::new(),
        }
    }

    /// The same, or until a first attempt has failed: a person who looks wants to know that at once.
    pub async fn settled_or_failing(self: &Arc<Self>) {
        let Some(mut status) = self.upstream.as_ref().map(Upstream::watch_status) else { return };
        let failing = status.wait_for(|status| matches!(status.state, State::Waiting | State::Down));
        tokio::select! {
            () = self.settled() => {}
            _ = failing => {}
        }
    }

    /// Whether it was asked what it has beside tools.
    pub(super) fn has_read_offers(&self) -> bool {
        self.settled.borrow().remote_resources > 0
    }

    /// Its list was taken in, or could not be.
    pub(super) fn note_listing(&self, failure: Option<String>) {
        self.settled.send_modify(|settled| {
            settled.rounds += 1;
            settled.failure = failure;
        });
    }

    async fn look_after(self: &Arc<Self>) {
        let Some(upstream) = &self.upstream else { return };
        let (mut changes, mut status) = (upstream.watch_changes(), upstream.watch_status());
        let (mut rest, mut read) = (LEAST_REST, None);
        loop {
            let seen = *changes.borrow_and_update();
            let well = self.read_tools(upstream).await;
            if well {
                self.read_changed(upstream, read.replace(seen), seen).await;
            }
            rest = if well { LEAST_REST } else { (rest * 2).min(LONGEST_REST) };
            let reached = {
                let now = status.borrow_and_update();
                self.note_status(&now);
                now.state == State::Ready
            };
            // One that cannot be reached is tried again by its client; here it is only waited for.
            let again = match (well, reached) {
                (true, _) => Again::Changed,
                (false, true) => Again::After(rest),
                (false, false) => Again::Reached,
            };
            if !self.wait(&mut changes, &mut status, again).await {
                return;
            }
            // A server that cries change without end is not read without end.
            tokio::time::sleep(if well { LEAST_REST } else { Duration::ZERO }).await;
        }
    }

    /// Reads the lists beside that of the tools that have changed since they were last read.
    async fn read_changed(&self, upstream: &Upstream, before: Option<Changes>, now: Changes) {
        let lists = before.map_or(Lists::ALL, |before| Lists {
            resources: before.resources != now.resources,
            prompts: before.prompts != now.prompts,
        });
        if lists.resources || lists.prompts {
            // What could not be read is in the log, and stays as it was.
            let _ = self.read_offers(upstream, lists).await;
            self.news.tell(self.published(), Told::Lists);
        }
        self.settled.send_modify(|settled| settled.remote_resources += 1);
    }

    /// Waits until the tools are to be read again; false when there is nothing more to look after.
    async fn wait(
        self: &Arc<Self>,
        changes: &mut watch::Receiver<Changes>,
        status: &mut watch::Receiver<Status>,
        again: Again,
    ) -> bool {
        let later = async {
            match again {
                Again::After(rest) => tokio::time::sleep(rest).await,
                Again::Changed | Again::Reached => std::future::pending().await,
            }
        };
        tokio::pin!(later);
        let Some(mut registry) = self.runtime.upgrade().map(|runtime| runtime.registry.changes()) else {
            return false;
        };
        registry.mark_unchanged();
        loop {
            let shadowed = self.seen.load().has_taken_names();
            tokio::select! {
                changed = changes.changed() => {
                    if changed.is_err() {
                        return false;
                    }
                    return self.quiet(changes).await;
                }
                changed = status.changed() => {
                    if changed.is_err() {
                        return false;
                    }
                    let came_back = {
                        let now = status.borrow_and_update();
                        self.note_status(&now);
                        now.state == State::Ready && again != Again::Changed
                    };
                    if came_back {
                        return true;
                    }
                }
                // A name that was another's may be free now.
                changed = registry.changed(), if shadowed => {
                    let me = Arc::clone(self);
                    let taken = tokio::task::spawn_blocking(move || me.take_free_names()).await;
                    if changed.is_err() || !matches!(taken, Ok(Ok(()))) {
                        return changed.is_ok();
                    }
                }
                () = &mut later => return true,
            }
        }
    }

    /// Lets a bunch of changes come to its end.
    async fn quiet(&self, changes: &mut watch::Receiver<Changes>) -> bool {
        for _ in 0..5 {
            match tokio::time::timeout(QUIET, changes.changed()).await {
                Ok(Ok(())) => drop(changes.borrow_and_update()),
                Ok(Err(_)) => return false,
                Err(_) => break,
            }
        }
        true
    }

    /// Has the list of tools compared, if needed; whether that went well.
    async fn read_tools(self: &Arc<Self>, upstream: &Upstream) -> bool {
        let failure = self.reviewed().await.err();
        if let Some(failure) = &failure {
            if upstream.status().state == State::Ready {
                tracing::warn!(server = self.name(), reason = %failure, "the tools of a server could not be read");
            }
            self.note_listing(Some(failure.reason()));
        }
        failure.is_none()
    }

    fn note_status(&self, status: &Status) {
        self.metrics.up.set(i64::from(status.state == State::Ready));
        self.metrics.note_connections(status.connections);
    }
}

/// When a list is to be read again, beside when it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
    Changed,
    /// When the server is there.
    Reached,
    After(Duration),
}
