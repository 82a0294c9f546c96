//! The client: one for the world, one for the servers that the administrator named.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::address::is_public;
use crate::connection_check::{self, CheckLayer};
use crate::error::OutgoingError;
use crate::lookup::{Guard, Lookup, SystemLookup};
use crate::request::{Reply, Request};

/// What a request may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For everything, redirects included.
    pub timeout: Duration,
    /// Bytes of body.
    pub body: usize,
    /// How many redirects are followed.
    pub redirects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(15), body: 2 << 20, redirects: 3 }
    }
}

/// Makes requests to other servers. Nothing is set up before the first.
pub struct Outgoing {
    limits: Limits,
    lookup: Arc<dyn Lookup>,
    /// Servers that may be anywhere, because the administrator named them.
    exempt: Vec<Url>,
    clients: OnceLock<Result<Clients, String>>,
}

struct Clients {
    guarded: Client,
    open: Client,
    /// The same two, for requests whose new connections are checked: nobody else's connection is lent to them.
    checked_guarded: Client,
    checked_open: Client,
}

impl Outgoing {
    /// A client that reaches public addresses only.
    pub fn new(limits: Limits) -> Self {
        Self { limits, lookup: Arc::new(SystemLookup), exempt: Vec::new(), clients: OnceLock::new() }
    }

    /// With a server that may be anywhere: the same scheme, host and port as this URL. Only for what an
    /// administrator wrote into the home's files.
    pub fn allow_private(mut self, url: Url) -> Self {
        self.exempt.push(url);
        self
    }

    /// With another way to look names up.
    pub fn with_lookup(mut self, lookup: Arc<dyn Lookup>) -> Self {
        self.lookup = lookup;
        self
    }

    /// Makes a request and follows its redirects.
    pub async fn send(&self, request: Request) -> Result<Reply, OutgoingError> {
        let work = tokio::time::timeout(self.limits.timeout, self.follow(request));
        work.await.unwrap_or(Err(OutgoingError::Timeout))
    }

    /// The client for this URL and for no other: it connects to checked addresses and follows no redirects.
    pub fn client_for(&self, url: &Url) -> Result<Client, OutgoingError> {
        let exempt = self.exempt.iter().any(|one| one.origin() == url.origin());
        if !matches!(url.scheme(), "http" | "https") || (!exempt && is_inner_host(url)) {
            return Err(OutgoingError::Refused);
        }
        let clients = self.clients.get_or_init(|| self.build());
        let clients = clients.as_ref().map_err(|cause| OutgoingError::Setup(cause.clone()))?;
        let client = match (exempt, connection_check::current().is_some()) {
            (true, false) => &clients.open,
            (false, false) => &clients.guarded,
            (true, true) => &clients.checked_open,
            (false, true) => &clients.checked_guarded,
        };
        Ok(client.clone())
    }

    async fn follow(&self, mut request: Request) -> Result<Reply, OutgoingError> {
        for _ in 0..=self.limits.redirects {
            let client = self.client_for(&request.url)?;
            let mut asked = client.request(request.method.clone(), request.url.clone());
            asked = asked.headers(request.headers.clone());
            if let Some(body) = &request.body {
                asked = asked.body(body.clone());
            }
            let response = asked.send().await?;
            match request.redirected(response.status(), response.headers())? {
                Some(next) => request = next,
                None => return self.read(response).await,
            }
        }
        Err(OutgoingError::Redirects)
    }

    /// The body, as far as it may go: an announced length is not a promise.
    async fn read(&self, mut response: reqwest::Response) -> Result<Reply, OutgoingError> {
        let limit = self.limits.body;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > limit {
                return Err(OutgoingError::TooLarge { limit });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Reply { status: response.status(), headers: std::mem::take(response.headers_mut()), body })
    }

    fn build(&self) -> Result<Clients, String> {
        let tls = tls().map_err(|error| error.to_string())?;
        let builder = |open: bool| {
            Client::builder()
                .user_agent(concat!("toolroom/", env!("CARGO_PKG_VERSION")))
                .redirect(Policy::none())
                .no_proxy()
                .no_gzip()
                .no_brotli()
                .no_zstd()
                .no_deflate()
                .connect_timeout(self.limits.timeout)
                .dns_resolver(Guard { lookup: Arc::clone(&self.lookup), open })
                .tls_backend_preconfigured(tls.clone())
        };
        let built = |builder: ClientBuilder| builder.build().map_err(|error| error.to_string());
        Ok(Clients {
            guarded: built(builder(false))?,
            open: built(builder(true))?,
            checked_guarded: built(builder(false).connector_layer(CheckLayer))?,
            checked_open: built(builder(true).connector_layer(CheckLayer))?,
        })
    }
}

/// A host that needs no look-up to be known. Whatever form an address was written in, it is parsed by now;
/// names of this machine are known even where the system does not know them.
fn is_inner_host(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return true };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let name = host.trim_end_matches('.');
    name == "localhost"
        || name.ends_with(".localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| !is_public(address))
}

/// The roots of this system. Without any, plain HTTP still works and HTTPS trusts nobody.
fn tls() -> Result<ClientConfig, rustls::Error> {
    let start = || {
        ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
    };
    match start()?.with_platform_verifier() {
        Ok(verified) => Ok(verified.with_no_client_auth()),
        Err(error) => {
            tracing::warn!(%error, "no certificate authorities were found: HTTPS servers cannot be reached");
            Ok(start()?.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
        }
    }
}
