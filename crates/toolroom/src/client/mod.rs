//! How every command reaches the API: through a running server's socket, or the same routes in this process.

mod events;
pub mod problem;
mod remote;
mod socket;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use axum::body::{Body, Bytes};
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use serde::Serialize;
use serde_json::Value;
use tokio::time::{sleep, timeout};
use toolroom_runtime::federation::Federation;
use toolroom_runtime::shared_registry::Following;
use toolroom_server::auth::USER_HEADER;
use toolroom_server::listener::Peer;
use toolroom_server::middleware::HttpService;
use toolroom_store::replicas::Mode;

use crate::config::{Config, Overrides};
use crate::failure::Failure;
use crate::home::{Home, HomeLock, Role, Taking};
use crate::sign_of_life::SignOfLife;
use crate::wiring::Service;
use crate::{terminal, wiring};

pub use events::Events;
pub use problem::hint;
use remote::Remote;
use socket::Gone;
pub use socket::{answers, hung};

/// How long another command is waited for.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How long servers may take that were never connected before.
const MEETING: Duration = Duration::from_secs(20);
/// Who makes a request.
const AGENT_HEADER: &str = "x-agent-id";
/// How long that is not said.
const SILENCE: Duration = Duration::from_secs(1);
/// Between two checks.
const PAUSE: Duration = Duration::from_millis(50);

/// A client of the API, with the rights of the home's owner.
pub struct Client {
    line: Line,
    user: Option<String>,
}

enum Line {
    /// A server runs. If it ends, there is another way.
    Socket(Home, Box<Overrides>),
    /// One runs elsewhere.
    Remote(Box<Remote>),
    /// No server runs. The lock is dropped after the router, so that the store is closed before others open it.
    InProcess {
        router: HttpService,
        federation: Arc<Federation>,
        alive: Option<SignOfLife>,
        _following: Option<Following>,
        _lock: HomeLock,
    },
}

/// An answer of the API.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: StatusCode,
    /// The body.
    pub json: Value,
}

/// How the home can be reached.
enum Way {
    /// A server answers on its socket.
    Socket,
    /// Through its files, which nobody else uses.
    Files(HomeLock),
}

/// A server's socket if it answers, else the files, once no other command uses them.
async fn find_way(home: &Home) -> Result<Way> {
    let (since, mut told) = (Instant::now(), false);
    let mut began = since;
    loop {
        if socket::answers(home).await? {
            return Ok(Way::Socket);
        }
        let holder = match home.try_lock(Role::Command)? {
            Taking::Taken(lock) => return Ok(Way::Files(lock)),
            Taking::Held(holder) => holder,
        };
        // A command may take as long as its call does, and ends.
        if holder.as_ref().is_some_and(|holder| holder.role == Role::Command) {
            began = Instant::now();
        }
        let holder = holder.map_or("another process".to_owned(), |holder| holder.to_string());
        if began.elapsed() > PATIENCE {
            return Err(Failure::new(
                format!("{} is in use by {holder}", home.root().display()),
                "Wait until it ends, or start 'toolroom serve' so that commands can run in parallel.",
            )
            .into());
        }
        if !told && since.elapsed() > SILENCE {
            told = true;
            terminal::remark(&format!("waiting for {holder}, which uses {}", home.root().display()));
        }
        sleep(PAUSE).await;
    }
}

impl Client {
    /// Finds the way: a server's socket if it answers, else the files, once no other command works on them.
    pub async fn open(home: &Home, overrides: &Overrides) -> Result<Self> {
        match find_way(home).await? {
            Way::Socket => Ok(Self::served(home, overrides)),
            Way::Files(lock) => Self::in_process(home, overrides, lock).await,
        }
    }

    /// The same without waiting: `None` if a server does not answer in time, or another process has the files.
    pub async fn open_at_once(home: &Home, overrides: &Overrides, patience: Duration) -> Option<Self> {
        match timeout(patience, socket::answers(home)).await.ok()?.ok()? {
            true => Some(Self::served(home, overrides)),
            false => match home.try_lock(Role::Command).ok()? {
                Taking::Taken(lock) => Self::in_process(home, overrides, lock).await.ok(),
                Taking::Held(_) => None,
            },
        }
    }

    fn served(home: &Home, overrides: &Overrides) -> Self {
        Self { line: Line::Socket(home.clone(), Box::new(overrides.clone())), user: None }
    }

    async fn in_process(home: &Home, overrides: &Overrides, lock: HomeLock) -> Result<Self> {
        let config = Config::load(home, overrides)?;
        let Service { app, router, alive, following } =
            wiring::build(home, &config, config.mode(Mode::AsOthers)).await?;
        let federation = Arc::clone(&app.federation);
        let line = Line::InProcess { router, federation, alive, _following: following, _lock: lock };
        Ok(Self { line, user: None })
    }

    /// A server elsewhere, with the rights of a key.
    pub fn remote(url: &str, key: Option<&str>) -> Result<Self> {
        Ok(Self { line: Line::Remote(Box::new(Remote::new(url, key)?)), user: None })
    }

    /// Acts for this user instead of `local`.
    pub fn acting_as(mut self, user: Option<String>) -> Result<Self> {
        if user.is_some() && matches!(self.line, Line::Remote(_)) {
            let message = "a server elsewhere knows you by your key, and --user names another";
            return Err(
                Failure::usage(message, "Leave out --user, or use that user's key with --key.").into()
            );
        }
        self.user = user;
        Ok(self)
    }

    /// Waits a while for servers of mcp.json that were never connected, unless a running server has done so. Returns
    /// whether there were any.
    pub async fn meet_servers(&self) -> bool {
        match &self.line {
            Line::Socket(..) | Line::Remote(_) => false,
            Line::InProcess { federation, .. } => federation.meet(MEETING).await,
        }
    }

    /// Servers of mcp.json whose tools are not known yet: commands that only look start no program.
    pub fn unmet_servers(&self) -> Option<String> {
        let Line::InProcess { federation, .. } = &self.line else { return None };
        let unmet = federation.unmet();
        (!unmet.is_empty()).then(|| {
            format!(
                "not started yet: {}; 'toolroom servers show NAME --start' or 'toolroom serve' starts them",
                unmet.join(", ")
            )
        })
    }

    /// Stops what was started for this command, such as servers of mcp.json.
    pub async fn close(self) {
        if let Line::InProcess { federation, alive, .. } = self.line {
            federation.shutdown().await;
            if let Some(alive) = alive {
                alive.end().await;
            }
        }
    }

    /// Whether a server answers.
    pub fn is_served(&self) -> bool {
        !matches!(self.line, Line::InProcess { .. })
    }

    /// Sends a request and returns its answer, whatever the status.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        headers: &[(&'static str, String)],
    ) -> Result<Answer> {
        let body = body.map(serde_json::to_vec).transpose()?.map(Bytes::from);
        self.send_text(method, path, body, headers).await
    }

    async fn send_text(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
        headers: &[(&'static str, String)],
    ) -> Result<Answer> {
        let request = self.build(method.clone(), path, body.clone(), headers)?;
        match &self.line {
            Line::Socket(home, overrides) => match socket::send(home, request).await {
                Err(error) if error.is::<Gone>() => {
                    let other = Self { user: self.user.clone(), ..Self::open(home, overrides).await? };
                    let answer = Box::pin(other.send_text(method, path, body, headers)).await;
                    other.close().await;
                    answer
                }
                answer => answer,
            },
            Line::Remote(remote) => Answer::whole(remote.open(request).await?).await,
            Line::InProcess { router, .. } => Answer::whole(router.answer(request).await).await,
        }
    }

    /// Sends a request whose answer is a stream of events; a problem document becomes an error.
    pub async fn events(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Events> {
        let accept = ("accept", "text/event-stream".to_owned());
        let body = body.map(serde_json::to_vec).transpose()?.map(Bytes::from);
        let request = self.build(method, path, body, &[accept])?;
        let response = match &self.line {
            Line::Socket(home, _) => socket::open(home, request).await?,
            Line::Remote(remote) => remote.open(request).await?,
            Line::InProcess { router, .. } => router.answer(request).await,
        };
        if response.status().is_success() {
            return Ok(Events::new(response.into_body()));
        }
        let refused = Answer::whole(response).await?;
        Err(problem::failure(&refused.json).into())
    }

    /// Sends a request that must succeed; a problem document becomes an error.
    pub async fn request(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        self.send(method, path, body, &[]).await?.success()
    }

    /// The same with a large body, which is dropped before it is sent: as text it takes much less memory.
    pub async fn request_large(&self, method: Method, path: &str, body: impl Serialize) -> Result<Value> {
        let text = serde_json::to_vec(&body)?;
        drop(body);
        self.send_text(method, path, Some(text.into()), &[]).await?.success()
    }

    /// Reads.
    pub async fn get(&self, path: &str) -> Result<Value> {
        self.request(Method::GET, path, None).await
    }

    fn build(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
        headers: &[(&'static str, String)],
    ) -> Result<Request<Body>> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "localhost")
            .header("x-agent-version", env!("CARGO_PKG_VERSION"))
            .extension(Peer::Owner);
        let user = self.user.iter().map(|user| (USER_HEADER, user.clone()));
        let is_named = headers.iter().any(|(name, _)| *name == AGENT_HEADER);
        let agent = (!is_named).then(|| (AGENT_HEADER, "toolroom-cli".to_owned()));
        for (name, value) in user.chain(agent).chain(headers.iter().cloned()) {
            let value = HeaderValue::try_from(&value).map_err(|_| {
                Failure::usage(format!("'{value}' cannot be sent as {name}"), "Use plain ASCII characters.")
            })?;
            request = request.header(HeaderName::from_static(name), value);
        }
        let body = match body {
            Some(text) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Body::from(text)
            }
            None => Body::empty(),
        };
        request.body(body).context("the request cannot be built")
    }
}

impl Answer {
    async fn whole(response: http::Response<Body>) -> Result<Self> {
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.context("the connection was lost during the answer")?.to_bytes();
        Self::read(parts.status, &bytes)
    }

    fn read(status: StatusCode, bytes: &[u8]) -> Result<Self> {
        if status == StatusCode::NO_CONTENT {
            return Ok(Self { status, json: Value::Null });
        }
        let json =
            serde_json::from_slice(bytes).with_context(|| format!("the answer ({status}) is not JSON"))?;
        Ok(Self { status, json })
    }

    /// The body of a success; a problem document becomes an error.
    pub fn success(self) -> Result<Value> {
        if self.status.is_success() { Ok(self.json) } else { Err(problem::failure(&self.json).into()) }
    }

    /// Whether this is a problem document, not the envelope of a call.
    pub fn is_problem(&self) -> bool {
        self.json.get("title").is_some() && self.json.get("agentHints").is_none()
    }
}

/// A path piece or a query value, percent-encoded.
pub fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}
