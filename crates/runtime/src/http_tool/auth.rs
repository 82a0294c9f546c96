//! Who a request is from: secrets go only to hosts that a person approved for them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderName, HeaderValue};
use serde_json::json;
use toolroom_contract::canonical::digest;
use toolroom_contract::http_request::{HttpAuth, HttpPlace};
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_outgoing::{Request, Url};

use super::{HttpTool, origin};
use crate::journal::Secrets;

/// What a request was given.
#[derive(Default)]
pub(super) struct Identity {
    /// Nothing that comes back may show these.
    pub(super) secrets: Secrets,
    /// Tokens that were fetched for it, by the name that they are kept under.
    pub(super) tokens: Vec<String>,
    /// Whether one of them was fetched for an earlier call.
    pub(super) is_kept: bool,
}

/// Adds the first way to show who calls whose secrets are all set.
pub(super) async fn add(http: &HttpTool, tool: &str, request: &mut Request) -> Result<Identity, ToolError> {
    let refuse = |message: String| {
        ToolError::new(ErrorCode::NotConfigured, format!("'{tool}' was not called: {message}."))
    };
    let mut missing: Vec<&str> = Vec::new();
    for way in &http.request.auth {
        let mut values = Vec::new();
        for part in way {
            let value = http.secrets.get(part.secret());
            match value.map_err(|error| refuse(format!("its secret cannot be read: {error}")))? {
                Some(value) => values.push(value),
                None if missing.contains(&part.secret()) => {}
                None => missing.push(part.secret()),
            }
        }
        if values.len() < way.len() {
            continue;
        }
        let mut identity = Identity::default();
        let mut given = values.clone();
        for (part, value) in way.iter().zip(&values) {
            approved(http, part, &origin(&request.url)).map_err(refuse)?;
            match part {
                HttpAuth::ClientCredentials { token_url, scope, .. } => {
                    let key = digest("token", &json!([token_url, scope, value])).to_hex();
                    let token = match http.clients.kept_token(&key) {
                        Some(token) => {
                            identity.is_kept = true;
                            token
                        }
                        None => {
                            fetch(http, &key, token_url, scope.as_deref(), value).await.map_err(refuse)?
                        }
                    };
                    identity.tokens.push(key);
                    put(request, AUTHORIZATION, &format!("Bearer {token}")).map_err(refuse)?;
                    given.push(token);
                }
                HttpAuth::Bearer { .. } => {
                    put(request, AUTHORIZATION, &format!("Bearer {value}")).map_err(refuse)?;
                }
                HttpAuth::Basic { .. } => {
                    let pair = STANDARD.encode(value);
                    put(request, AUTHORIZATION, &format!("Basic {pair}")).map_err(refuse)?;
                    given.extend(value.split_once(':').map(|(_, password)| password.to_owned()));
                    given.push(pair);
                }
                HttpAuth::ApiKey { place: HttpPlace::Query, name, .. } => {
                    request.url.query_pairs_mut().append_pair(name, value);
                }
                HttpAuth::ApiKey { place: HttpPlace::Cookie, name, .. } => {
                    let before = request.headers.get(COOKIE).and_then(|cookies| cookies.to_str().ok());
                    let cookies = before.map_or_else(String::new, |cookies| format!("{cookies}; "));
                    put(request, COOKIE, &format!("{cookies}{name}={value}")).map_err(refuse)?;
                }
                HttpAuth::ApiKey { name, .. } => {
                    let header = HeaderName::try_from(name.as_str())
                        .map_err(|_| refuse(format!("'{name}' is not the name of a header")))?;
                    put(request, header, value).map_err(refuse)?;
                }
            }
        }
        identity.secrets = Secrets::of_values(&given);
        return Ok(identity);
    }
    if http.request.auth.is_empty() {
        return Ok(Identity::default());
    }
    let (names, first) = (missing.join("' or '"), missing.first().copied().unwrap_or_default());
    Err(refuse(format!("the secret '{names}' is not set. Run: toolroom secrets set {first}")))
}

/// Whether a person has approved that the host gets the secret.
fn approved(http: &HttpTool, part: &HttpAuth, host: &str) -> Result<(), String> {
    let secret = part.secret();
    let hosts = http.secrets.hosts(secret).map_err(|error| format!("its secret cannot be read: {error}"))?;
    let token_host = part.token_url().and_then(|url| Url::parse(url).ok()).map(|url| origin(&url));
    match std::iter::once(host.to_owned()).chain(token_host).find(|host| !hosts.contains(host)) {
        None => Ok(()),
        Some(host) => Err(format!(
            "nobody has approved that {host} gets the secret '{secret}'. A person can: toolroom secrets allow {secret} {host}"
        )),
    }
}

async fn fetch(
    http: &HttpTool,
    key: &str,
    token_url: &str,
    scope: Option<&str>,
    secret: &str,
) -> Result<String, String> {
    let url = Url::parse(token_url).map_err(|error| format!("'{token_url}' is not an address: {error}"))?;
    let Some(client) = secret.split_once(':') else {
        return Err("its secret is not CLIENT_ID:CLIENT_SECRET".to_owned());
    };
    let outgoing = http.clients.get(&url, http.request.allow_private, false, super::clients::LARGEST_ANSWER);
    let granted = toolroom_upstream::client_credentials(&outgoing, &url, client, scope).await;
    let (token, life) = granted.map_err(|reason| format!("it was given no token: {reason}"))?;
    http.clients.keep_token(key.to_owned(), token.clone(), life);
    Ok(token)
}

fn put(request: &mut Request, name: HeaderName, value: &str) -> Result<(), String> {
    let mut value = HeaderValue::try_from(value)
        .map_err(|_| format!("its secret does not fit into the header {name}"))?;
    value.set_sensitive(true);
    request.headers.insert(name, value);
    Ok(())
}
