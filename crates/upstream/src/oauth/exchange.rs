//! The token endpoint: a code, a refresh token or our own word for a token.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;
use toolroom_outgoing::{Outgoing, OutgoingError};

use super::assertion::{self, Key};
use super::metadata::unreachable_because;
use super::registration::{Client, Method};

/// How long an authorization server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(15);
/// What its answer may have at most.
const MOST_BYTES: usize = 256 << 10;
/// The longest life of a token that is believed.
const LONGEST_LIFE: u64 = 10 * 365 * 24 * 3600;

/// Who asks, and where.
pub(crate) struct Asker<'a> {
    pub(crate) outgoing: &'a Outgoing,
    pub(crate) endpoint: &'a Url,
    /// To whom an assertion is addressed.
    pub(crate) audience: &'a str,
    pub(crate) client: &'a Client,
    pub(crate) key: Option<&'a Key>,
}

/// What was given.
pub(crate) struct Granted {
    pub(crate) access_token: String,
    pub(crate) refresh_token: Option<String>,
    pub(crate) life: Option<Duration>,
}

/// Why there is no token.
#[derive(Debug)]
pub(crate) struct TokenError {
    /// OAuth's own name for it.
    pub(crate) code: Option<String>,
    pub(crate) text: String,
}

impl From<String> for TokenError {
    fn from(text: String) -> Self {
        Self { code: None, text }
    }
}

impl From<TokenError> for String {
    fn from(error: TokenError) -> Self {
        error.text
    }
}

impl Asker<'_> {
    /// Asks for a Bearer token.
    pub(crate) async fn token(&self, form: &[(&str, &str)]) -> Result<Granted, TokenError> {
        #[derive(Deserialize)]
        struct Answer {
            access_token: String,
            #[serde(default)]
            token_type: String,
            refresh_token: Option<String>,
            #[serde(default)]
            expires_in: Value,
        }
        let answer = self.ask(form).await?;
        let said = |what: &str| TokenError::from(format!("its authorization server {what}"));
        let answer: Answer =
            serde_json::from_slice(&answer).map_err(|_| said("did not answer with a token"))?;
        if !(answer.token_type.is_empty() || answer.token_type.eq_ignore_ascii_case("bearer")) {
            return Err(said("gave a token that is not of type Bearer"));
        }
        if HeaderValue::try_from(&answer.access_token).is_err() || answer.access_token.is_empty() {
            return Err(said("gave a token that does not fit into a header"));
        }
        // Some write the number as a text.
        let life = answer.expires_in.as_u64().or_else(|| answer.expires_in.as_str()?.parse().ok());
        let life = life.map(|seconds| Duration::from_secs(seconds.min(LONGEST_LIFE)));
        Ok(Granted { access_token: answer.access_token, refresh_token: answer.refresh_token, life })
    }

    /// Asks for whatever the form is about.
    pub(crate) async fn ask(&self, form: &[(&str, &str)]) -> Result<Vec<u8>, TokenError> {
        let mut pairs: Vec<(&str, &str)> = form.to_vec();
        let mut headers = HeaderMap::new();
        let Client { id, secret, method, .. } = self.client;
        let secret = secret.as_deref().unwrap_or_default();
        let assertion;
        match method {
            Method::None => pairs.push(("client_id", id)),
            Method::ClientSecretPost => pairs.extend([("client_id", id.as_str()), ("client_secret", secret)]),
            Method::ClientSecretBasic => {
                let pair = STANDARD.encode(format!("{}:{}", encoded(id)?, encoded(secret)?));
                let mut basic = HeaderValue::try_from(format!("Basic {pair}"))
                    .map_err(|error| TokenError::from(error.to_string()))?;
                basic.set_sensitive(true);
                headers.insert(AUTHORIZATION, basic);
            }
            Method::PrivateKeyJwt => {
                let key =
                    self.key.ok_or_else(|| TokenError::from("its entry has no private key".to_owned()))?;
                assertion = assertion::sign(key, id, self.audience)?;
                pairs.extend([
                    ("client_id", id.as_str()),
                    ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                    ("client_assertion", &assertion),
                ]);
            }
        }
        let form = written(&pairs)?;
        post(self.outgoing, self.endpoint.clone(), headers, "application/x-www-form-urlencoded", form).await
    }
}

/// A token for a client and its secret at a known place, and how long it lives. Most places take the two as Basic; the
/// others as fields of the form.
pub async fn client_credentials(
    outgoing: &Outgoing,
    token_url: &Url,
    (id, secret): (&str, &str),
    scope: Option<&str>,
) -> Result<(String, Option<Duration>), String> {
    let mut form = vec![("grant_type", "client_credentials")];
    form.extend(scope.map(|scope| ("scope", scope)));
    let mut granted = Err(TokenError::from(String::new()));
    for method in [Method::ClientSecretBasic, Method::ClientSecretPost] {
        let client =
            Client { id: id.to_owned(), secret: Some(secret.to_owned()), method, redirect_uri: None };
        let audience = token_url.as_str();
        let asker = Asker { outgoing, endpoint: token_url, audience, client: &client, key: None };
        granted = asker.token(&form).await;
        if !granted.as_ref().is_err_and(|error| error.code.as_deref() == Some("invalid_client")) {
            break;
        }
    }
    let granted = granted?;
    Ok((granted.access_token, granted.life))
}

/// Posts to an authorization server. Redirects are not followed: what is posted is for it alone.
pub(crate) async fn post(
    outgoing: &Outgoing,
    url: Url,
    mut headers: HeaderMap,
    kind: &'static str,
    body: String,
) -> Result<Vec<u8>, TokenError> {
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    let unreachable = |error: OutgoingError| TokenError::from(unreachable_because(&error));
    let work = async {
        let client = outgoing.client_for(&url).map_err(unreachable)?;
        let sent = client.post(url).headers(headers).body(body).send().await;
        let response = sent.map_err(|error| unreachable(error.into()))?;
        let status = response.status();
        let body = crate::http::body(response, MOST_BYTES).await;
        let body = body.map_err(|failure| TokenError::from(failure.reason()))?;
        if status.is_success() { Ok(body) } else { Err(refused(status.as_u16(), &body)) }
    };
    tokio::time::timeout(TIMEOUT, work).await.unwrap_or_else(|_| Err(unreachable(OutgoingError::Timeout)))
}

/// Only OAuth's own words for an error are passed on.
fn refused(status: u16, body: &[u8]) -> TokenError {
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
    }
    let plain =
        |text: &String| text.len() <= 60 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let code = serde_json::from_slice(body).ok().map(|Refusal { error }| error).filter(plain);
    let what = code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
    TokenError { text: format!("its authorization server answered with status {status}{what}"), code }
}

/// Pairs in the form of a form, by the URL's own encoder.
pub(crate) fn written(pairs: &[(&str, &str)]) -> Result<String, String> {
    let mut url = Url::parse("http://form.invalid").map_err(|error| error.to_string())?;
    url.query_pairs_mut().extend_pairs(pairs);
    Ok(url.query().unwrap_or_default().to_owned())
}

fn encoded(text: &str) -> Result<String, String> {
    let mut url = Url::parse("http://form.invalid").map_err(|error| error.to_string())?;
    url.query_pairs_mut().append_key_only(text);
    Ok(url.query().unwrap_or_default().to_owned())
}
