//! Tokens by OAuth's client credentials, for servers that want one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use reqwest::Url;
use serde::Deserialize;
use toolroom_outgoing::{Outgoing, Request};

use crate::config::OAuthClient;
use crate::error::Failure;

/// The tokens of one server. The last one is kept until shortly before it lapses.
pub(crate) struct Tokens {
    client: OAuthClient,
    kept: Mutex<Option<Kept>>,
    /// One fetches, the others wait for what it gets.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Clone)]
struct Kept {
    bearer: HeaderValue,
    until: Instant,
}

/// Used when the answer does not say how long a token is good.
const DEFAULT_LIFE: u64 = 300;
/// A token is renewed this long before it lapses.
const MARGIN: Duration = Duration::from_secs(20);

impl Tokens {
    pub(crate) fn new(client: OAuthClient) -> Self {
        Self { client, kept: Mutex::default(), fetching: tokio::sync::Mutex::default() }
    }

    /// The `Authorization` header for a server.
    pub(crate) async fn bearer(
        &self,
        server: &Url,
        outgoing: &Arc<Outgoing>,
    ) -> Result<HeaderValue, Failure> {
        if let Some(bearer) = self.current() {
            return Ok(bearer);
        }
        let _one = self.fetching.lock().await;
        if let Some(bearer) = self.current() {
            return Ok(bearer);
        }
        let kept = self.fetch(server, outgoing).await.map_err(Failure::Unauthorized)?;
        let bearer = kept.bearer.clone();
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        Ok(bearer)
    }

    /// The server no longer takes the token.
    pub(crate) fn forget(&self) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn current(&self) -> Option<HeaderValue> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|kept| Instant::now() < kept.until).map(|kept| kept.bearer.clone())
    }

    async fn fetch(&self, server: &Url, outgoing: &Outgoing) -> Result<Kept, String> {
        #[derive(Deserialize)]
        struct Granted {
            access_token: String,
            #[serde(default)]
            token_type: String,
            expires_in: Option<u64>,
        }
        let request = self.request(server)?;
        let said = |what: &str| format!("the token server {what}");
        let reply = outgoing.send(request).await.map_err(|error| said(&format!("gives none: {error}")))?;
        if !reply.status.is_success() {
            return Err(said(&format!("answered with status {}", reply.status.as_u16())));
        }
        let granted: Granted = serde_json::from_slice(&reply.body)
            .map_err(|_| said("answered with something else than a token"))?;
        if !(granted.token_type.is_empty() || granted.token_type.eq_ignore_ascii_case("bearer")) {
            return Err(said("gives another kind of token than Bearer"));
        }
        let mut bearer = HeaderValue::try_from(format!("Bearer {}", granted.access_token))
            .map_err(|_| said("gives a token that no header can hold"))?;
        bearer.set_sensitive(true);
        let life = Duration::from_secs(granted.expires_in.unwrap_or(DEFAULT_LIFE));
        Ok(Kept { bearer, until: Instant::now() + life.saturating_sub(MARGIN) })
    }

    fn request(&self, server: &Url) -> Result<Request, String> {
        let OAuthClient { token_url, client_id, client_secret, scope } = &self.client;
        // The URL's own encoder for forms.
        let mut form = Url::parse("http://form.invalid").map_err(|error| error.to_string())?;
        let mut resource = server.clone();
        resource.set_query(None);
        resource.set_fragment(None);
        form.query_pairs_mut()
            .append_pair("grant_type", "client_credentials")
            .append_pair("resource", resource.as_str())
            .extend_pairs(scope.iter().map(|scope| ("scope", scope)));
        let encoded = |text: &str| -> Result<String, String> {
            let mut url = Url::parse("http://form.invalid").map_err(|error| error.to_string())?;
            url.query_pairs_mut().append_key_only(text);
            Ok(url.query().unwrap_or_default().to_owned())
        };
        let pair = format!("{}:{}", encoded(client_id)?, encoded(client_secret.reveal())?);
        let mut basic = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair)))
            .map_err(|error| error.to_string())?;
        basic.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, basic);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        let body = form.query().unwrap_or_default().as_bytes().to_vec();
        Ok(Request { method: Method::POST, url: token_url.clone(), headers, body: Some(body) })
    }
}
