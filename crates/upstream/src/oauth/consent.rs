//! The step that needs a person: to the authorization server and back, with a code that only we can use.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use ring::digest::{SHA256, digest};

use serde::{Deserialize, Serialize};
use toolroom_outgoing::Outgoing;

use super::assertion::random_text;
use super::metadata::{AuthorizationServer, Found};
use super::registration::Client;

/// Brings a person to an authorization server, and its answer back.
pub trait Consent: fmt::Debug + Send + Sync {
    /// Where the authorization server is to send the person back to.
    fn redirect_uri(&self) -> Url;
    /// Shows the person a URL, and brings back the one to which they were sent; else why not.
    fn visit<'a>(&'a self, server: &'a str, url: &'a Url) -> Visit<'a>;
}

/// The future of one visit.
pub type Visit<'a> = Pin<Box<dyn Future<Output = Result<Url, String>> + Send + 'a>>;

/// A question to a person that has not been answered yet.
pub(crate) struct Pending {
    pub(crate) found: Found,
    pub(crate) client: Client,
    pub(crate) scope: Option<String>,
    pub(crate) redirect_uri: Url,
    /// Proves that the code is ours.
    pub(crate) verifier: String,
    /// Proves that the answer is to our question.
    pub(crate) state: String,
    /// What the person is to be shown.
    pub(crate) url: Url,
}

impl Pending {
    pub(crate) fn new(
        found: Found,
        client: Client,
        scope: Option<String>,
        redirect_uri: Url,
    ) -> Result<Self, String> {
        let mut url =
            found.at.authorization_endpoint.clone().ok_or("its authorization server has no login")?;
        let (verifier, state) = (random_text()?, random_text()?);
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.id)
            .append_pair("redirect_uri", redirect_uri.as_str())
            .append_pair("state", &state)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("resource", &found.resource)
            .extend_pairs(scope.iter().map(|scope| ("scope", scope)));
        Ok(Self { found, client, scope, redirect_uri, verifier, state, url })
    }

    /// As a text, for whoever takes the answer. It has secrets in it.
    pub(crate) fn written(&self, server: &Url) -> Result<String, String> {
        let written = Written {
            server: server.to_string(),
            issuer: self.found.issuer.clone(),
            resource: self.found.resource.clone(),
            token_endpoint: self.found.at.token_endpoint.to_string(),
            names_itself: self.found.at.authorization_response_iss_parameter_supported,
            client: self.client.clone(),
            scope: self.scope.clone(),
            redirect_uri: self.redirect_uri.to_string(),
            verifier: self.verifier.clone(),
            state: self.state.clone(),
        };
        serde_json::to_string(&written).map_err(|error| error.to_string())
    }

    /// What was written for this server, where `reach` gives the way to its authorization server.
    pub(crate) fn read(
        text: &str,
        server: &Url,
        reach: impl FnOnce(&str) -> Arc<Outgoing>,
    ) -> Result<Self, String> {
        let written: Written = serde_json::from_str(text).map_err(|error| error.to_string())?;
        // A token for one address is never sent to another.
        if written.server != server.as_str() {
            return Err("its address was changed since this login began: log in again".to_owned());
        }
        let url = |text: &str| Url::parse(text).map_err(|error| error.to_string());
        let (outgoing, token_endpoint) = (reach(&written.issuer), url(&written.token_endpoint)?);
        let redirect_uri = url(&written.redirect_uri)?;
        let found = Found {
            issuer: written.issuer,
            resource: written.resource,
            scopes: None,
            at: AuthorizationServer::redeeming(token_endpoint, written.names_itself),
            outgoing,
        };
        let (client, scope) = (written.client, written.scope);
        let (verifier, state, url) = (written.verifier, written.state, redirect_uri.clone());
        Ok(Self { found, client, scope, redirect_uri, verifier, state, url })
    }

    /// Whether an answer is to this question.
    pub(crate) fn is_answered_by(&self, returned: &Url) -> bool {
        parameter(returned, "state").as_deref() == Some(self.state.as_str())
    }

    /// The code in the answer. Nothing of an answer is believed, errors included, before it is known to be from
    /// the authorization server that was asked.
    pub(crate) fn code(&self, returned: &Url) -> Result<String, String> {
        if !self.is_answered_by(returned) {
            return Err("the authorization server answered another request".to_owned());
        }
        // Every one counts, if it stands there more than once.
        let mut issuers = returned.query_pairs().filter(|(name, _)| name == "iss").peekable();
        if issuers.peek().is_none() && self.found.at.authorization_response_iss_parameter_supported {
            return Err("the answer does not say which authorization server it is from".to_owned());
        }
        if issuers.any(|(_, issuer)| issuer != self.found.issuer) {
            return Err("the answer came from another authorization server".to_owned());
        }
        if let Some(error) = parameter(returned, "error") {
            let plain = error.len() <= 60 && error.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            let error = if plain { error.as_str() } else { "error" };
            return Err(format!("the authorization server refused ({error})"));
        }
        parameter(returned, "code").ok_or_else(|| "the authorization server sent no code".to_owned())
    }
}

/// What is needed to take the answer.
#[derive(Serialize, Deserialize)]
struct Written {
    /// The address that the token is for.
    server: String,
    issuer: String,
    resource: String,
    token_endpoint: String,
    names_itself: bool,
    client: Client,
    scope: Option<String>,
    redirect_uri: String,
    verifier: String,
    state: String,
}

/// A parameter that stands there once.
fn parameter(url: &Url, name: &str) -> Option<String> {
    let mut found = url.query_pairs().filter(|(known, _)| known == name);
    let (_, value) = found.next()?;
    found.next().is_none().then(|| value.into_owned())
}
