//! Which era a server is of, found out as the specification says, and the first words in it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::sync::{OnceCell, mpsc};
use tokio_util::task::TaskTracker;
use toolroom_mcp::frame::Field;
use toolroom_mcp::meta::SERVER_INFO;
use toolroom_mcp::{Method, Revision, RpcError};
use toolroom_outgoing::{Limits, Outgoing};

use crate::config::{OAuthClient, Reach, Secret, ServerConfig, Stdio, UrlKind};
use crate::error::{Failure, excerpt};
use crate::http::Http;
use crate::identity::Identity;
use crate::notices::Notices;
use crate::oauth::Authority;
use crate::outbox;
use crate::pending_calls::PendingCalls;
use crate::session::{Era, Hello, OutgoingRequest, Session, initialize_params};
use crate::transport::Transport;
use crate::transport::http_sse::HttpSse;
use crate::transport::stdio::{self, SpawnEnv, StdioTransport, Tail};
use crate::transport::streamable::Streamable;

/// How long a program has to answer `server/discover` before it is also asked in the older way.
const PROBE: Duration = Duration::from_secs(10);

/// How connections to one server are made.
pub(crate) struct Connector {
    pub(crate) server: Arc<str>,
    reach: Way,
    spawn_env: SpawnEnv,
    identity: Arc<Identity>,
    changes: Arc<Notices>,
    tasks: TaskTracker,
    /// The last words of its program, which outlive it.
    stderr: Arc<Tail>,
}

enum Way {
    Program(Stdio),
    Url { http: Arc<Http>, kind: UrlKind },
}

/// A conversation that has begun.
pub(crate) struct Begun {
    pub(crate) session: Arc<Session>,
    pub(crate) era: Era,
    pub(crate) hello: Hello,
}

impl Connector {
    pub(crate) fn new(
        config: &ServerConfig,
        spawn_env: SpawnEnv,
        identity: Arc<Identity>,
        changes: Arc<Notices>,
        tasks: TaskTracker,
    ) -> Self {
        let reach = match &config.reach {
            Reach::Stdio(stdio) => Way::Program(stdio.clone()),
            Reach::Url { url, kind, headers } => {
                Way::Url { http: Arc::new(door(config, url, headers, &spawn_env)), kind: *kind }
            }
        };
        Self {
            server: config.name.as_str().into(),
            reach,
            spawn_env,
            identity,
            changes,
            tasks,
            stderr: Arc::default(),
        }
    }

    /// The end of what its program wrote to stderr, also of one that has ended.
    pub(crate) fn stderr_tail(&self) -> Option<String> {
        matches!(self.reach, Way::Program(_)).then(|| self.stderr.text())
    }

    /// The door of a server at a URL.
    pub(crate) fn http(&self) -> Option<&Arc<Http>> {
        match &self.reach {
            Way::Program(_) => None,
            Way::Url { http, .. } => Some(http),
        }
    }

    /// Connects; in the era that is known, if one is.
    pub(crate) async fn connect(&self, known: Option<Era>) -> Result<Begun, Failure> {
        match &self.reach {
            Way::Program(stdio) => self.connect_program(stdio, known).await,
            Way::Url { http, kind } => match (kind, known) {
                (UrlKind::Sse, _) | (_, Some(Era::HttpSse)) => self.open_sse(http).await,
                (_, Some(Era::Session)) => self.open_session(http).await,
                _ => self.detect(http, *kind).await,
            },
        }
    }

    async fn connect_program(&self, stdio: &Stdio, known: Option<Era>) -> Result<Begun, Failure> {
        if known == Some(Era::Session) {
            return self.initialize(self.program(stdio, false).await?, Era::Session).await;
        }
        let session = self.program(stdio, true).await?;
        // One that is known to speak so is only slow; how long it may be is the caller's matter.
        let patience = if known.is_some() { Duration::MAX } else { PROBE };
        match tokio::time::timeout(patience, discover(&session)).await {
            Ok(Found::Stateless(hello)) => {
                session.calls.say_cancelled();
                Ok(Begun { session, era: Era::Stateless, hello })
            }
            // Some older servers do not survive the question. One that has answered it before is not of those.
            Ok(Found::Failed(failure)) if failure.is_of_the_way() && known.is_none() => {
                session.end().await;
                tracing::debug!(server = %self.server, reason = failure.reason(), "retried with the older handshake");
                self.initialize(self.program(stdio, false).await?, Era::Session).await
            }
            Ok(Found::Failed(failure)) => {
                session.end().await;
                Err(failure)
            }
            // Without an answer it may be slow, or old and silent. The older way is the rule for those that do
            // not answer, and one that is only slow answers that too.
            Ok(Found::Older) | Err(_) => self.initialize(as_session(session), Era::Session).await,
        }
    }

    async fn detect(&self, http: &Arc<Http>, kind: UrlKind) -> Result<Begun, Failure> {
        let session = self.streamable(http, true);
        let found = discover(&session).await;
        if let Found::Stateless(hello) = found {
            return Ok(Begun { session, era: Era::Stateless, hello });
        }
        session.end().await;
        match found {
            Found::Failed(failure) if !may_be_older(&failure) => return Err(failure),
            _ => {}
        }
        match self.open_session(http).await {
            Err(Failure::Status { status: 400 | 404 | 405 | 406 | 415, .. }) if kind == UrlKind::Detect => {
                self.open_sse(http).await
            }
            other => other,
        }
    }

    async fn open_session(&self, http: &Arc<Http>) -> Result<Begun, Failure> {
        let begun = self.initialize(self.streamable(http, false), Era::Session).await?;
        if let Transport::Streamable(transport) = &begun.session.transport {
            transport.listen(&begun.session.calls).await;
        }
        Ok(begun)
    }

    async fn open_sse(&self, http: &Arc<Http>) -> Result<Begun, Failure> {
        let (outbox, jobs) = mpsc::channel(outbox::LENGTH);
        let calls = PendingCalls::new(Arc::clone(&self.server), outbox, Arc::clone(&self.changes));
        let transport = HttpSse::open(Arc::clone(http), &calls, jobs).await?;
        let session = self.session(calls, Transport::HttpSse(transport), false);
        self.initialize(session, Era::HttpSse).await
    }

    async fn program(&self, config: &Stdio, stateless: bool) -> Result<Arc<Session>, Failure> {
        let (outbox, jobs) = mpsc::channel(outbox::LENGTH);
        let calls = PendingCalls::new(Arc::clone(&self.server), outbox.clone(), Arc::clone(&self.changes));
        let program = stdio::program(config, &self.spawn_env)?;
        let tail = Arc::clone(&self.stderr);
        let transport =
            StdioTransport::start(program, &self.server, &calls, (outbox, jobs), tail, &self.tasks).await?;
        Ok(self.session(calls, Transport::Stdio(transport), stateless))
    }

    fn streamable(&self, http: &Arc<Http>, stateless: bool) -> Arc<Session> {
        let (outbox, jobs) = mpsc::channel(outbox::LENGTH);
        let calls = PendingCalls::new(Arc::clone(&self.server), outbox, Arc::clone(&self.changes));
        let transport = Streamable::new(Arc::clone(http), stateless, &calls, jobs);
        self.session(calls, Transport::Streamable(transport), stateless)
    }

    fn session(&self, calls: Arc<PendingCalls>, transport: Transport, stateless: bool) -> Arc<Session> {
        let (identity, stateless) = (Arc::clone(&self.identity), AtomicBool::new(stateless));
        Arc::new(Session { calls, transport, identity, stateless, ended: OnceCell::new() })
    }

    /// The first words of the older eras.
    async fn initialize(&self, session: Arc<Session>, era: Era) -> Result<Begun, Failure> {
        let params = initialize_params(&self.identity);
        let fields: Vec<(&str, Field<'_>)> =
            params.iter().map(|(name, value)| (*name, Field::Value(value))).collect();
        let done = async {
            let answer = session.ask(OutgoingRequest::plain(Method::Initialize, &fields)).await?;
            let hello = initialized(&answer)?;
            if let Transport::Streamable(transport) = &session.transport {
                transport.agreed(hello.revision);
            }
            session.initialized().await?;
            session.calls.say_cancelled();
            Ok(hello)
        };
        match done.await {
            Ok(hello) => Ok(Begun { session, era, hello }),
            Err(failure) => {
                session.end().await;
                Err(failure)
            }
        }
    }
}

fn door(config: &ServerConfig, url: &Url, headers: &BTreeMap<String, Secret>, spawn_env: &SpawnEnv) -> Http {
    let mut outgoing = Outgoing::new(Limits::default());
    if config.allow_private {
        outgoing = outgoing.allow_private(url.clone());
        let identity = |oauth: &OAuthClient| oauth.identity.as_ref().map(|one| one.token_url.clone());
        let named = config.oauth.iter().flat_map(|oauth| [oauth.token_url.clone(), identity(oauth)]);
        outgoing = named.flatten().fold(outgoing, Outgoing::allow_private);
    }
    let outgoing = Arc::new(outgoing);
    // Whoever writes the header sees to the token.
    let own = config.oauth.is_none() && headers.contains_key("authorization");
    let authority = (!own).then(|| {
        let (name, entry) = (config.published.as_str().into(), config.oauth.clone().unwrap_or_default());
        let (store, consent) = (spawn_env.tokens.clone(), spawn_env.consent.clone());
        Arc::new(Authority::new(name, url.clone(), entry, Arc::clone(&outgoing), store, consent))
    });
    let headers = headers.iter().map(|(name, value)| (name.clone(), value.clone()));
    Http::new(url.clone(), headers, authority, outgoing)
}

/// The same pipes, spoken over in the older way.
fn as_session(session: Arc<Session>) -> Arc<Session> {
    session.stateless.store(false, Ordering::Relaxed);
    session
}

enum Found {
    Stateless(Hello),
    Older,
    Failed(Failure),
}

/// Asks which era a server is of.
async fn discover(session: &Arc<Session>) -> Found {
    let ask = || session.ask(OutgoingRequest::plain(Method::Discover, &[]));
    match discovered(ask().await) {
        Some(found) => found,
        None => discovered(ask().await).unwrap_or_else(|| {
            Found::Failed(Failure::BadAnswer("it refuses a revision that it announced".to_owned()))
        }),
    }
}

/// What the answer to `server/discover` says of the era; `None` if it refuses the very revision that it names
/// as its own, so that it is to be asked once more.
fn discovered(answer: Result<Box<str>, Failure>) -> Option<Found> {
    Some(match answer {
        Ok(result) => match discover_result(&result) {
            Some(hello) => Found::Stateless(hello),
            None => Found::Older,
        },
        Err(Failure::Rpc(error) | Failure::Status { rpc: Some(error), .. }) if !error.is_modern() => {
            Found::Older
        }
        Err(Failure::Rpc(error) | Failure::Status { rpc: Some(error), .. }) => match supports(&error) {
            // A newer server that only speaks what we know with `initialize`.
            Some(versions) if !versions.iter().any(|one| one == Revision::LATEST.as_str()) => Found::Older,
            Some(_) => return None,
            None => Found::Failed(Failure::Rpc(error)),
        },
        Err(failure) => Found::Failed(failure),
    })
}

fn discover_result(result: &str) -> Option<Hello> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Discovered {
        supported_versions: Vec<String>,
        #[serde(default)]
        capabilities: Value,
        instructions: Option<String>,
        #[serde(rename = "_meta", default)]
        meta: Map<String, Value>,
    }
    let mut found: Discovered = serde_json::from_str(result).ok()?;
    let known = found.supported_versions.iter().filter_map(|version| Revision::parse(version));
    let revision = known.filter(|revision| revision.is_stateless()).max()?;
    let server = found.meta.remove(SERVER_INFO).unwrap_or(Value::Null);
    Some(Hello { revision, server, capabilities: found.capabilities, instructions: found.instructions })
}

fn supports(error: &RpcError) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Data {
        supported: Vec<String>,
    }
    let data: Data = serde_json::from_str(error.data.as_ref()?.get()).ok()?;
    Some(data.supported)
}

/// Whether a server that failed on `server/discover` may only be too old for it.
fn may_be_older(failure: &Failure) -> bool {
    match failure {
        Failure::Status { status, .. } => !matches!(status, 429 | 502..=504),
        Failure::BadAnswer(_) => true,
        _ => false,
    }
}

fn initialized(result: &str) -> Result<Hello, Failure> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialized {
        protocol_version: String,
        #[serde(default)]
        capabilities: Value,
        #[serde(default)]
        server_info: Value,
        instructions: Option<String>,
    }
    let found: Initialized = serde_json::from_str(result)
        .map_err(|_| Failure::BadAnswer("its answer to `initialize` is not valid".to_owned()))?;
    let revision = Revision::parse(&found.protocol_version).ok_or_else(|| {
        let version = excerpt(&found.protocol_version);
        Failure::BadAnswer(format!("it uses revision {version}, which is not supported"))
    })?;
    Ok(Hello {
        revision,
        server: found.server_info,
        capabilities: found.capabilities,
        instructions: found.instructions,
    })
}
