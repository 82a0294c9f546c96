//! HTTP to one server: its headers, its token, and what its answers may be.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use reqwest::{Response, Url};
use serde_json::Map;
use toolroom_mcp::{Message, frame};
use toolroom_outgoing::{Outgoing, OutgoingError};

use crate::config::Secret;
use crate::error::{Failure, excerpt};
use crate::oauth::{Authority, Challenge};

/// What a message may have at most: a line, an event or a body.
pub(crate) const MOST_BYTES: usize = 16 << 20;
/// What is read of a refusal.
const MOST_REFUSAL: usize = 64 << 10;
/// How long a server may take to begin an answer that no caller waits for.
const POST_TIMEOUT: Duration = Duration::from_secs(30);
/// Redirects that are followed, on the same server.
const MOST_REDIRECTS: usize = 3;
/// How often a request is made again with another token.
const MOST_TOKENS: usize = 3;

/// One server's door.
pub(crate) struct Http {
    url: Url,
    headers: HeaderMap,
    authority: Option<Arc<Authority>>,
    outgoing: Arc<Outgoing>,
}

/// A request to it.
pub(crate) struct Ask {
    pub(crate) method: Method,
    /// Where else than at its own URL.
    pub(crate) url: Option<Url>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
}

impl Http {
    pub(crate) fn new(
        url: Url,
        headers: impl Iterator<Item = (String, Secret)>,
        authority: Option<Arc<Authority>>,
        outgoing: Arc<Outgoing>,
    ) -> Self {
        let pair = |(name, value): (String, Secret)| {
            let mut value = HeaderValue::try_from(value.reveal()).ok()?;
            value.set_sensitive(true);
            Some((HeaderName::try_from(name).ok()?, value))
        };
        Self { url, headers: headers.filter_map(pair).collect(), authority, outgoing }
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Who has its tokens.
    pub(crate) fn authority(&self) -> Option<&Arc<Authority>> {
        self.authority.as_ref()
    }

    /// What it says to a request without a token.
    pub(crate) async fn knock(&self) -> Result<Challenge, Failure> {
        let ping = frame::request(&0.into(), toolroom_mcp::Method::Ping.name(), &Map::new());
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let ask = Ask { method: Method::POST, url: None, headers, body: Some(ping.into()) };
        let response = tokio::time::timeout(POST_TIMEOUT, self.send(&ask, None));
        let response = response.await.map_err(|_| Failure::NotSent("no answer in time".to_owned()))??;
        Ok(Challenge::of(response.status(), response.headers()).unwrap_or_default())
    }

    /// Posts a message.
    pub(crate) async fn post(
        &self,
        url: Option<Url>,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response, Failure> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        self.ask(Ask { method: Method::POST, url, headers, body: Some(body) }).await
    }

    /// Posts a message that gets no answer.
    pub(crate) async fn post_only(
        &self,
        url: Option<Url>,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<(), Failure> {
        let late = |_| Failure::Lost("no answer in time".to_owned());
        let response =
            tokio::time::timeout(POST_TIMEOUT, self.post(url, headers, body)).await.map_err(late)??;
        if response.status().is_success() { Ok(()) } else { Err(refusal(response).await) }
    }

    /// Opens a stream of events.
    pub(crate) async fn listen(&self, mut headers: HeaderMap) -> Result<Response, Failure> {
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        self.ask(Ask { method: Method::GET, url: None, headers, body: None }).await
    }

    /// Sends a request, with another token if the server does not take the one that we have.
    pub(crate) async fn ask(&self, ask: Ask) -> Result<Response, Failure> {
        let Some(authority) = &self.authority else { return self.send(&ask, None).await };
        let mut got = None;
        for _ in 0..MOST_TOKENS {
            let token = authority.bearer().await?;
            let response = self.send(&ask, token.clone()).await?;
            let Some(challenge) = Challenge::of(response.status(), response.headers()) else {
                return Ok(response);
            };
            got = authority.challenged(&challenge, token.as_ref(), got).await?;
            if got.is_none() {
                return Ok(response);
            }
        }
        self.send(&ask, authority.bearer().await?).await
    }

    async fn send(&self, ask: &Ask, token: Option<HeaderValue>) -> Result<Response, Failure> {
        let mut url = ask.url.clone().unwrap_or_else(|| self.url.clone());
        let mut headers = self.headers.clone();
        if let Some(token) = token {
            headers.insert(AUTHORIZATION, token);
        }
        headers.extend(ask.headers.clone());
        for _ in 0..=MOST_REDIRECTS {
            let client = self.outgoing.client_for(&url).map_err(not_sent)?;
            let mut request = client.request(ask.method.clone(), url.clone()).headers(headers.clone());
            if let Some(body) = &ask.body {
                request = request.body(body.clone());
            }
            let response = request.send().await.map_err(failure)?;
            match same_server_redirect(&url, &response) {
                Some(next) => url = next,
                None => return check_encoding(response),
            }
        }
        Err(Failure::BadAnswer("it redirects too often".to_owned()))
    }
}

/// A request that never got a connection was not sent.
fn failure(error: reqwest::Error) -> Failure {
    let connecting = error.is_connect() || error.is_builder();
    let error = OutgoingError::from(error);
    if connecting { not_sent(error) } else { Failure::Lost(broken(error)) }
}

fn not_sent(error: OutgoingError) -> Failure {
    match error {
        OutgoingError::Refused => Failure::NotAllowed,
        // Whoever tells of it says that the server cannot be reached.
        OutgoingError::Unreachable(_) => Failure::NotSent("nothing answers at its address".to_owned()),
        error => Failure::NotSent(error.to_string()),
    }
}

/// Our headers hold keys, so they go to no other server.
fn same_server_redirect(url: &Url, response: &Response) -> Option<Url> {
    let same = matches!(response.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let location = response.headers().get(LOCATION).filter(|_| same)?.to_str().ok()?;
    url.join(location).ok().filter(|next| next.origin() == url.origin())
}

/// We never ask for packed answers: what is not unpacked cannot burst.
fn check_encoding(response: Response) -> Result<Response, Failure> {
    match response.headers().get(CONTENT_ENCODING) {
        Some(encoding) if encoding != "identity" => {
            Err(Failure::BadAnswer("it is compressed, although that was not requested".to_owned()))
        }
        _ => Ok(response),
    }
}

/// Whether the answer is a stream of events.
pub(crate) fn is_stream(response: &Response) -> bool {
    content_type(response).is_some_and(|kind| kind.eq_ignore_ascii_case("text/event-stream"))
}

/// Whether the answer is JSON.
pub(crate) fn is_json(response: &Response) -> bool {
    content_type(response).is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"))
}

fn content_type(response: &Response) -> Option<&str> {
    response.headers().get(CONTENT_TYPE)?.to_str().ok()?.split(';').next().map(str::trim)
}

/// The body, up to the limit: an announced length is no promise.
pub(crate) async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, Failure> {
    if response.content_length().is_some_and(|length| length > limit as u64) {
        return Err(Failure::TooLarge(limit));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(lost)? {
        if body.len() + chunk.len() > limit {
            return Err(Failure::TooLarge(limit));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// A connection that broke while the answer came.
pub(crate) fn lost(error: reqwest::Error) -> Failure {
    Failure::Lost(broken(OutgoingError::from(error)))
}

fn broken(error: OutgoingError) -> String {
    match error {
        OutgoingError::Unreachable(_) => "the connection broke".to_owned(),
        error => error.to_string(),
    }
}

/// What a status other than success means.
pub(crate) async fn refusal(response: Response) -> Failure {
    let status = response.status();
    let text = body(response, MOST_REFUSAL).await.unwrap_or_default();
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        let said = String::from_utf8_lossy(&text);
        return Failure::Unauthorized(format!("status {}: {}", status.as_u16(), excerpt(&said)));
    }
    let mut rpc = None;
    // Whatever is not JSON-RPC is a page for people.
    let _ = frame::read_leniently(&text, |message| {
        if let Message::Response { outcome: Err(error), .. } = message {
            rpc = Some(error);
        }
    });
    Failure::Status { status: status.as_u16(), rpc }
}
