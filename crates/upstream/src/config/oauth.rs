//! `oauth` of an entry: how to get a token.

use reqwest::Url;
use serde::Deserialize;

use super::read::{Wrong, at, parse_url, placeholder};
use super::variables::Expander;
use super::{Grant, IdentityProvider, OAuthClient, Secret};
use crate::oauth::Key;

/// `oauth` as it is written.
#[derive(Deserialize)]
pub(super) struct WrittenOAuth {
    grant: Option<WrittenGrant>,
    token_url: Option<String>,
    issuer: Option<String>,
    client_id: Option<String>,
    client_secret: Option<String>,
    client_secret_env: Option<String>,
    private_key: Option<String>,
    private_key_env: Option<String>,
    client_metadata_url: Option<String>,
    scope: Option<String>,
    redirect_uri: Option<String>,
    #[serde(default)]
    allow_private: bool,
    identity: Option<WrittenIdentity>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenGrant {
    AuthorizationCode,
    ClientCredentials,
}

#[derive(Deserialize)]
struct WrittenIdentity {
    token_url: String,
    client_id: String,
    id_token: Option<String>,
    id_token_env: Option<String>,
}

impl WrittenOAuth {
    pub(super) fn client(&self, expander: &mut Expander<'_>) -> Result<OAuthClient, Wrong> {
        let secret = secret("client_secret", &self.client_secret, &self.client_secret_env, expander)?;
        let key = secret_key(self, expander)?;
        let token_url = url("token_url", &self.token_url, expander)?;
        let mut text = |field: &Option<String>| field.as_deref().map(|text| expander.expand(text));
        let (issuer, client_id, scope) = (text(&self.issuer), text(&self.client_id), text(&self.scope));
        let client_metadata_url = url("client_metadata_url", &self.client_metadata_url, expander)?;
        let redirect_uri = url("redirect_uri", &self.redirect_uri, expander)?;
        let identity = self.identity.as_ref().map(|one| one.read(expander)).transpose()?;
        // An entry of old with `token_url` says all that there is to say.
        let on_our_own = token_url.is_some() || identity.is_some();
        let grant = match self.grant {
            Some(WrittenGrant::ClientCredentials) => Grant::ClientCredentials,
            None if on_our_own => Grant::ClientCredentials,
            Some(WrittenGrant::AuthorizationCode) if on_our_own => {
                return Err(at("oauth.grant", "must be client_credentials with `token_url` or `identity`"));
            }
            _ => Grant::AuthorizationCode,
        };
        if grant == Grant::ClientCredentials && client_id.is_none() {
            return Err(at("oauth.client_id", "is required if no person is asked"));
        }
        if grant == Grant::ClientCredentials && secret.is_none() && key.is_none() {
            return Err(at("oauth.client_secret", "give either client_secret or client_secret_env"));
        }
        check(&client_metadata_url, &redirect_uri)?;
        Ok(OAuthClient {
            grant,
            token_url,
            issuer,
            client_id,
            client_secret: secret,
            private_key: key,
            client_metadata_url,
            scope,
            redirect_uri,
            allow_private: self.allow_private,
            identity,
        })
    }
}

impl WrittenIdentity {
    fn read(&self, expander: &mut Expander<'_>) -> Result<IdentityProvider, Wrong> {
        let id_token = secret("identity.id_token", &self.id_token, &self.id_token_env, expander)?;
        let id_token = id_token.ok_or_else(|| at("oauth.identity.id_token", "is missing"))?;
        let token_url = url("identity.token_url", &Some(self.token_url.clone()), expander)?;
        let token_url = token_url.ok_or_else(|| at("oauth.identity.token_url", "is missing"))?;
        Ok(IdentityProvider { token_url, client_id: expander.expand(&self.client_id), id_token })
    }
}

/// A secret, or the name of a variable that has it.
fn secret(
    field: &str,
    value: &Option<String>,
    variable: &Option<String>,
    expander: &mut Expander<'_>,
) -> Result<Option<Secret>, Wrong> {
    match (value, variable) {
        (Some(value), None) => Ok(Some(Secret::new(expander.expand(value)))),
        (None, Some(variable)) => Ok(Some(Secret::new(expander.expand(&format!("${{{variable}}}"))))),
        (None, None) => Ok(None),
        (Some(_), Some(_)) => {
            Err(at(&format!("oauth.{field}"), &format!("give either {field} or {field}_env")))
        }
    }
}

fn secret_key(written: &WrittenOAuth, expander: &mut Expander<'_>) -> Result<Option<Secret>, Wrong> {
    let key = secret("private_key", &written.private_key, &written.private_key_env, expander)?;
    if let Some(key) = key.as_ref().filter(|_| expander.unset.is_empty()) {
        Key::read(key.reveal()).map_err(|wrong| at("oauth.private_key", &wrong))?;
    }
    Ok(key)
}

/// An unset variable disables the server: what is left of a URL need not make sense.
fn url(field: &str, text: &Option<String>, expander: &mut Expander<'_>) -> Result<Option<Url>, Wrong> {
    let Some(text) = text else { return Ok(None) };
    let text = expander.expand(text);
    match expander.unset.is_empty() {
        true => parse_url(&format!("oauth.{field}"), &text).map(Some),
        false => placeholder().map(Some),
    }
}

fn check(document: &Option<Url>, redirect: &Option<Url>) -> Result<(), Wrong> {
    if let Some(url) = document
        && (url.scheme() != "https" || url.path() == "/")
    {
        return Err(at("oauth.client_metadata_url", "must begin with https:// and have a path"));
    }
    if let Some(url) = redirect
        && (url.scheme() != "http"
            || !matches!(url.host_str(), Some("127.0.0.1" | "localhost"))
            || url.port().is_none())
    {
        return Err(at("oauth.redirect_uri", "must be http://127.0.0.1 or http://localhost with a port"));
    }
    Ok(())
}
