//! Who we are at an authorization server: registered before, by a document of our own, or just now.

use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::exchange::{self, TokenError};
use super::metadata::{AuthorizationServer, Found};
use crate::config::OAuthClient;

/// Who we are at one authorization server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Client {
    pub(crate) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<String>,
    pub(crate) method: Method,
    /// Where answers may be sent, if that was registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) redirect_uri: Option<String>,
}

/// How we show who we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Method {
    None,
    ClientSecretBasic,
    ClientSecretPost,
    PrivateKeyJwt,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ClientSecretBasic => "client_secret_basic",
            Self::ClientSecretPost => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    /// The first of these that the authorization server takes. One that does not say takes Basic.
    fn first(of: &[Self], at: &AuthorizationServer) -> Option<Self> {
        let Some(supported) = &at.token_endpoint_auth_methods_supported else {
            return of.contains(&Self::ClientSecretBasic).then_some(Self::ClientSecretBasic);
        };
        of.iter().copied().find(|method| supported.iter().any(|one| one == method.name()))
    }
}

const WITH_SECRET: [Method; 2] = [Method::ClientSecretBasic, Method::ClientSecretPost];

/// Who the entry says we are; the authorization server says how that is shown.
pub(crate) fn registered_before(entry: &OAuthClient, at: Option<&AuthorizationServer>) -> Option<Client> {
    let id = entry.client_id.clone()?;
    let secret = entry.client_secret.as_ref().map(|secret| secret.reveal().to_owned());
    let method = match (&entry.private_key, &secret) {
        (Some(_), _) => Method::PrivateKeyJwt,
        (None, Some(_)) => {
            at.and_then(|at| Method::first(&WITH_SECRET, at)).unwrap_or(Method::ClientSecretBasic)
        }
        (None, None) => Method::None,
    };
    Some(Client { id, secret, method, redirect_uri: None })
}

/// Who we are there, in the order of the specification: as registered before, by our document, as we
/// registered last time, newly registered.
pub(crate) async fn client(
    entry: &OAuthClient,
    found: &Found,
    redirect_uri: &Url,
    last_time: Option<&Client>,
) -> Result<Client, String> {
    if let Some(client) = registered_before(entry, Some(&found.at)) {
        return Ok(client);
    }
    if let Some(document) = &entry.client_metadata_url
        && found.at.client_id_metadata_document_supported
    {
        let id = document.to_string();
        return Ok(Client { id, secret: None, method: Method::None, redirect_uri: None });
    }
    match last_time.filter(|client| client.redirect_uri.as_deref() == Some(redirect_uri.as_str())) {
        Some(client) => Ok(client.clone()),
        None => register(found, redirect_uri).await,
    }
}

async fn register(found: &Found, redirect_uri: &Url) -> Result<Client, String> {
    #[derive(Deserialize)]
    struct Registered {
        client_id: String,
        client_secret: Option<String>,
        token_endpoint_auth_method: Option<Method>,
    }
    let endpoint = found.at.registration_endpoint.clone().ok_or(
        "its authorization server does not let programs register themselves: register Toolroom there, and put `oauth.client_id` into the server's entry",
    )?;
    let [basic, post] = WITH_SECRET;
    let wanted = Method::first(&[Method::None, basic, post], &found.at).unwrap_or(Method::None);
    let body = json!({
        "client_name": "Toolroom",
        "redirect_uris": [redirect_uri.as_str()],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted.name(),
        "application_type": "native",
    });
    let answer = exchange::post(
        &found.outgoing,
        endpoint,
        http::HeaderMap::new(),
        "application/json",
        body.to_string(),
    )
    .await
    .map_err(|TokenError { text, .. }| format!("{text} (when Toolroom registered there)"))?;
    let registered: Registered = serde_json::from_slice(&answer)
        .map_err(|_| "its authorization server did not answer the registration with a client".to_owned())?;
    let method = match (registered.token_endpoint_auth_method, &registered.client_secret) {
        (Some(method), _) => method,
        (None, None) => Method::None,
        (None, Some(_)) => wanted,
    };
    Ok(Client {
        id: registered.client_id,
        secret: registered.client_secret,
        method,
        redirect_uri: Some(redirect_uri.to_string()),
    })
}
