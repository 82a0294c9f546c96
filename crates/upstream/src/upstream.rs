//! A server that we draw on: connected when it is needed, tried again when it is lost, never asked twice for
//! what may have been done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use toolroom_mcp::completion::Completing;

use crate::client::{CallOptions, Client, Reply, Target};
use crate::config::ServerConfig;
use crate::error::UpstreamError;
use crate::identity::Identity;
use crate::items::{Item, Listing};
use crate::notices::Changes;
use crate::review::Review;
use crate::session::Era;
use crate::status::Status;
use crate::supervisor::ConnectionSupervisor;
use crate::transport::stdio::SpawnEnv;

/// How long a list may take in total.
const LIST_LIMIT: Duration = Duration::from_secs(60);
/// How long a call may take where neither it nor the server's entry says.
const CALL_LIMIT: Duration = Duration::from_secs(120);

/// A server that we draw on. Clones are the same server. Dropping the last ends its connection.
#[derive(Clone)]
pub struct Upstream {
    supervisor: Arc<ConnectionSupervisor>,
    _last: Arc<StopOnDrop>,
}

struct StopOnDrop(CancellationToken);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Upstream {
    /// Nothing is started or connected before it is needed.
    pub fn new(config: ServerConfig, identity: Arc<Identity>, spawn_env: SpawnEnv) -> Self {
        let stop = CancellationToken::new();
        let supervisor = ConnectionSupervisor::new(config, identity, spawn_env, stop.clone());
        Self { supervisor: Arc::new(supervisor), _last: Arc::new(StopOnDrop(stop)) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.supervisor.config.name
    }

    /// Its configuration.
    pub fn config(&self) -> &ServerConfig {
        &self.supervisor.config
    }

    /// How it is doing.
    pub fn status(&self) -> Status {
        self.supervisor.status.borrow().clone()
    }

    /// How often a connection was made.
    pub fn connections(&self) -> u64 {
        self.supervisor.status.borrow().connections
    }

    /// How it is spoken to, once that is known.
    pub fn era(&self) -> Option<Era> {
        self.supervisor.status.borrow().era
    }

    /// Tells whenever that changes.
    pub fn watch_status(&self) -> watch::Receiver<Status> {
        self.supervisor.status.subscribe()
    }

    /// Tells when its lists change; a new connection counts as a change.
    pub fn watch_changes(&self) -> watch::Receiver<Changes> {
        self.supervisor.changes.subscribe()
    }

    /// Tells of resources that have changed, by their addresses, as far as they are followed.
    pub fn watch_updates(&self) -> broadcast::Receiver<Arc<str>> {
        self.supervisor.changes.updates()
    }

    /// Follows a resource from now on; false if too many are.
    pub fn follow(&self, uri: &str) -> bool {
        self.supervisor.follow(uri)
    }

    /// The end of what its program wrote to stderr, for the administrator.
    pub fn stderr_tail(&self) -> Option<String> {
        self.supervisor.stderr_tail()
    }

    /// Connects, if it is not connected.
    pub async fn connect(&self) -> Result<(), UpstreamError> {
        self.supervisor.connect().await
    }

    /// Reconnects, whether it is connected or has failed too often.
    pub async fn reconnect(&self) -> Result<(), UpstreamError> {
        self.supervisor.reconnect().await
    }

    /// All tools, resources, templates or prompts, as far as the limits go.
    pub async fn list<T: Item>(&self) -> Result<Listing<T>, UpstreamError> {
        let limit = self.supervisor.config.timeout.unwrap_or(LIST_LIMIT);
        let sent = AtomicBool::new(false);
        let attempts =
            self.supervisor.attempts(true, &sent, None, |client| async move { client.list().await });
        within(limit, &sent, attempts).await
    }

    /// Calls a tool, reads a resource or gets a prompt. Dropping the future calls it off.
    pub async fn reach(&self, target: Target<'_>, options: &CallOptions) -> Result<Reply, UpstreamError> {
        let limit = options.timeout.or(self.supervisor.config.timeout).unwrap_or(CALL_LIMIT);
        let repeatable = options.repeatable || !matches!(target, Target::Tool { .. });
        let sent = AtomicBool::new(false);
        let attempt = |client: Arc<Client>| async move { client.reach(target, options).await };
        let attempts = self.supervisor.attempts(repeatable, &sent, options.review.as_ref(), attempt);
        let reached = within(limit, &sent, attempts).await;
        let failed = matches!(&reached, Err(error) if !matches!(error, UpstreamError::NotPermitted));
        if failed && matches!(target, Target::Tool { .. }) {
            self.expect_changes();
        }
        reached
    }

    /// What was listed before counts for nothing from now on.
    pub fn expect_changes(&self) {
        self.supervisor.changes.send_modify(|changes| changes.tools += 1);
    }

    /// Has the list of tools compared, unless the last comparison still holds.
    pub async fn review(&self, review: &dyn Review) -> Result<(), UpstreamError> {
        let limit = self.supervisor.config.timeout.unwrap_or(LIST_LIMIT);
        let (sent, came) = (AtomicBool::new(false), Instant::now());
        let attempt =
            |client: Arc<Client>| async move { self.supervisor.reviewed(&client, review, came).await };
        within(limit, &sent, self.supervisor.attempts(true, &sent, None, attempt)).await
    }

    /// What an argument of a prompt or a resource template could be, given what was typed so far.
    pub async fn complete(&self, asked: Completing<'_>) -> Result<Vec<String>, UpstreamError> {
        let limit = self.supervisor.config.timeout.unwrap_or(LIST_LIMIT);
        let sent = AtomicBool::new(false);
        let attempt = |client: Arc<Client>| async move { client.complete(asked).await };
        within(limit, &sent, self.supervisor.attempts(true, &sent, None, attempt)).await
    }

    /// Begins a login, for a server that wants a token of a person's. Who sent the person off is told by
    /// [`crate::Login::finish`] when they are back.
    pub async fn login(&self) -> Result<crate::Login, UpstreamError> {
        crate::Login::begin(Arc::clone(&self.supervisor)).await
    }

    /// The same, where the person comes back to this address, whoever answers there; `None` if the server's entry names
    /// another.
    pub async fn open_login(&self, back: &str) -> Result<Option<crate::OpenLogin>, UpstreamError> {
        crate::OpenLogin::begin(&self.supervisor, back).await
    }

    /// Takes the answer to such a login, which this process or another has opened.
    pub async fn finish_login(&self, text: &str, query: &str) -> Result<(), UpstreamError> {
        crate::OpenLogin::finish(&self.supervisor, text, query).await
    }

    /// Gives up the token that a login gave.
    pub async fn logout(&self) -> Result<(), UpstreamError> {
        let authority = self.supervisor.http().and_then(|http| http.authority());
        match authority {
            Some(authority) => {
                authority.forget().await.map_err(|reason| UpstreamError::Unauthorized { reason })
            }
            None => Ok(()),
        }
    }

    /// Another process has logged in, or out: what it left counts from now on.
    pub async fn login_changed(&self) -> Result<(), UpstreamError> {
        if let Some(authority) = self.supervisor.http().and_then(|http| http.authority()) {
            authority.load_again();
            self.supervisor.retry_now();
        }
        self.supervisor.connect().await
    }

    /// Ends its connection, its session and its processes, and waits until nothing is left.
    pub async fn shutdown(&self) {
        self.supervisor.shutdown().await;
    }
}

/// The limit holds for everything: waiting, connecting, and making the request again.
async fn within<T>(
    limit: Duration,
    sent: &AtomicBool,
    work: impl Future<Output = Result<T, UpstreamError>>,
) -> Result<T, UpstreamError> {
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
        let sent = sent.load(Ordering::Relaxed);
        Err(UpstreamError::Timeout { seconds: limit.as_secs_f64(), sent })
    })
}
