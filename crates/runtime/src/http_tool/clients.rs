//! The HTTP clients of all tools that make requests, and the tokens that they were given.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolroom_outgoing::{Limits, Outgoing, Url};

/// Bytes of an answer, unless the entry says otherwise.
pub(super) const LARGEST_ANSWER: usize = 4 << 20;
/// The pipeline ends calls by the timeout of their tool; this one is never reached.
const TIMEOUT: Duration = Duration::from_secs(3600);
/// Redirects of a request that changes nothing. Others are not followed: what they send is for their server alone.
const REDIRECTS: usize = 3;
/// A token is not used in the last moments of its life.
const MARGIN: Duration = Duration::from_secs(30);
/// The life of a token that does not say how long it lives.
const USUAL_LIFE: Duration = Duration::from_secs(300);

/// Clients and tokens.
#[derive(Default)]
pub(crate) struct HttpClients {
    clients: Mutex<BTreeMap<Kind, Arc<Outgoing>>>,
    tokens: Mutex<BTreeMap<String, (String, Instant)>>,
}

/// What clients differ in.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    /// A server that may be on this machine or its network.
    private: Option<String>,
    follows: bool,
    limit: usize,
}

/// Scheme, host and port of an address: what is approved to get a secret.
pub(crate) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

impl HttpClients {
    /// The client for an address.
    pub(super) fn get(&self, url: &Url, allow_private: bool, follows: bool, limit: usize) -> Arc<Outgoing> {
        let kind = Kind { private: allow_private.then(|| origin(url)), follows, limit };
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let made = clients.entry(kind).or_insert_with(|| {
            let redirects = if follows { REDIRECTS } else { 0 };
            let outgoing = Outgoing::new(Limits { timeout: TIMEOUT, body: limit, redirects });
            Arc::new(if allow_private { outgoing.allow_private(url.clone()) } else { outgoing })
        });
        Arc::clone(made)
    }

    pub(super) fn kept_token(&self, key: &str) -> Option<String> {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let (token, end) = tokens.get(key)?;
        (Instant::now() < *end).then(|| token.clone())
    }

    pub(super) fn keep_token(&self, key: String, token: String, life: Option<Duration>) {
        let life = life.map_or(USUAL_LIFE, |life| life.saturating_sub(MARGIN)).min(TIMEOUT * 24);
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.retain(|_, (_, end)| Instant::now() < *end);
        tokens.insert(key, (token, Instant::now() + life));
    }

    pub(super) fn forget_tokens(&self, keys: &[String]) {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.retain(|key, _| !keys.contains(key));
    }
}
