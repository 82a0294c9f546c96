//! HTTP to a server elsewhere, which `--url` names: with a key, and with that key's rights alone.

use anyhow::{Context, Result};
use axum::body::Body;
use http::{HeaderValue, Request, Response, header};
use http_body_util::BodyExt;
use toolroom_outgoing::{Limits, Outgoing, Url};

use crate::failure::Failure;

/// A server elsewhere.
pub struct Remote {
    url: Url,
    key: Option<HeaderValue>,
    outgoing: Outgoing,
}

impl Remote {
    /// The server at an address; a path in it is kept.
    pub fn new(url: &str, key: Option<&str>) -> Result<Self> {
        let example = "Write it as https://tools.example.com.";
        let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url =
            parsed.ok_or_else(|| Failure::usage(format!("--url: '{url}' is not an address"), example))?;
        let key = key.map(|key| HeaderValue::try_from(format!("Bearer {key}"))).transpose();
        let mut key =
            key.map_err(|_| Failure::usage("--key: it cannot be sent", "Give the key as it was printed."))?;
        key.iter_mut().for_each(|key| key.set_sensitive(true));
        // Who types an address may name any.
        let outgoing = Outgoing::new(Limits::default()).allow_private(url.clone());
        Ok(Self { url, key, outgoing })
    }

    /// Sends one request and returns when the answer begins.
    pub async fn open(&self, request: Request<Body>) -> Result<Response<Body>> {
        let (mut parts, body) = request.into_parts();
        let base = self.url.as_str().trim_end_matches('/');
        let url = Url::parse(&format!("{base}{}", parts.uri)).context("the address cannot be used")?;
        parts.headers.remove(header::HOST);
        if let Some(key) = &self.key {
            parts.headers.insert(header::AUTHORIZATION, key.clone());
        }
        let body = body.collect().await?.to_bytes();
        let unreachable = |error: &dyn std::error::Error| {
            // The last cause says what happened, those before it where.
            let mut causes = vec![error.to_string()];
            let mut inner = error.source();
            while let Some(cause) = inner {
                causes.push(cause.to_string());
                inner = cause.source();
            }
            causes.dedup();
            let causes = causes[causes.len().saturating_sub(2)..].join(": ");
            Failure::new(
                format!("{} cannot be reached: {causes}", self.url),
                "Check --url, and that the server runs.",
            )
        };
        let client = self.outgoing.client_for(&url).map_err(|error| unreachable(&error))?;
        let sent = client.request(parts.method, url).headers(parts.headers).body(body).send().await;
        let response: Response<_> = sent.map_err(|error| unreachable(&error))?.into();
        Ok(response.map(Body::new))
    }
}
