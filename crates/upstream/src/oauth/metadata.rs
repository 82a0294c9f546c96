//! Where a server's tokens come from: the metadata of the server and of its authorization server.

use std::sync::Arc;

use reqwest::Url;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use toolroom_outgoing::{Outgoing, OutgoingError, Request};

use super::challenge::Challenge;
use super::well_known::{authorization_server_urls, canonical, covers, resource_urls};
use crate::error::excerpt;

/// What is known of the way to a token.
pub(crate) struct Found {
    /// The authorization server, exactly as it names itself.
    pub(crate) issuer: String,
    /// What the token is to be good for, as the server names itself.
    pub(crate) resource: String,
    /// What it is to allow, where the server's challenge does not say.
    pub(crate) scopes: Option<Vec<String>>,
    pub(crate) at: AuthorizationServer,
    /// Reaches the authorization server.
    pub(crate) outgoing: Arc<Outgoing>,
}

/// What an authorization server says about itself.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct AuthorizationServer {
    issuer: Option<String>,
    #[serde(default, deserialize_with = "optional_url")]
    pub(crate) authorization_endpoint: Option<Url>,
    #[serde(deserialize_with = "url")]
    pub(crate) token_endpoint: Url,
    #[serde(default, deserialize_with = "optional_url")]
    pub(crate) registration_endpoint: Option<Url>,
    #[serde(default)]
    code_challenge_methods_supported: Vec<String>,
    pub(crate) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) scopes_supported: Vec<String>,
    #[serde(default)]
    pub(crate) client_id_metadata_document_supported: bool,
    #[serde(default)]
    pub(crate) authorization_response_iss_parameter_supported: bool,
}

impl AuthorizationServer {
    /// As far as a code is redeemed there.
    pub(super) fn redeeming(token_endpoint: Url, names_itself: bool) -> Self {
        Self {
            issuer: None,
            authorization_endpoint: None,
            token_endpoint,
            registration_endpoint: None,
            code_challenge_methods_supported: Vec::new(),
            token_endpoint_auth_methods_supported: None,
            scopes_supported: Vec::new(),
            client_id_metadata_document_supported: false,
            authorization_response_iss_parameter_supported: names_itself,
        }
    }
}

/// What a server says about itself.
#[derive(Deserialize)]
struct ProtectedResource {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    scopes_supported: Option<Vec<String>>,
}

fn url<'de, D: Deserializer<'de>>(from: D) -> Result<Url, D::Error> {
    Url::parse(&String::deserialize(from)?).map_err(D::Error::custom)
}

fn optional_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Url>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| Url::parse(&text).map_err(D::Error::custom)).transpose()
}

/// Finds an authorization server.
pub(crate) struct Finder<'a> {
    pub(crate) server: &'a Url,
    /// Reaches the server.
    pub(crate) outgoing: &'a Arc<Outgoing>,
    /// Whether the authorization server may be of this machine or its network.
    pub(crate) allow_private: bool,
    /// The authorization server that it must be.
    pub(crate) issuer: Option<&'a str>,
    /// The one that it should be, if there are several.
    pub(crate) known: Option<&'a str>,
}

impl Finder<'_> {
    /// Follows a challenge to the authorization server. Whatever is found on the way was written by the server
    /// or by the server it names, and every address is checked like any other.
    pub(crate) async fn find(&self, challenge: &Challenge) -> Result<Found, String> {
        let Some(resource) = self.resource(challenge).await? else { return self.find_as_of_old().await };
        if !covers(&resource.resource, self.server) {
            return Err(format!("its metadata is about another server, '{}'", excerpt(&resource.resource)));
        }
        let issuer = self.choose(&resource.authorization_servers)?.to_owned();
        let url = Url::parse(&issuer).map_err(|_| "its authorization server is not a URL".to_owned())?;
        let outgoing = self.outgoing_to(&url);
        self.check(&url)?;
        for place in authorization_server_urls(&url) {
            let Some(at) = get::<AuthorizationServer>(&outgoing, place).await? else { continue };
            if at.issuer.as_deref() != Some(issuer.as_str()) {
                return Err("its authorization server's metadata names another issuer".to_owned());
            }
            self.check_endpoints(&at)?;
            let (resource, scopes) = (resource.resource, resource.scopes_supported);
            return Ok(Found { issuer, resource, scopes, at, outgoing });
        }
        Err("its authorization server has no metadata".to_owned())
    }

    /// The server's metadata: where its challenge says, else at the places that are agreed upon.
    async fn resource(&self, challenge: &Challenge) -> Result<Option<ProtectedResource>, String> {
        let places = match &challenge.resource_metadata {
            Some(named) => {
                let url =
                    Url::parse(named).map_err(|_| "the address of its metadata is not a URL".to_owned())?;
                vec![url]
            }
            None => resource_urls(self.server),
        };
        for place in places {
            if let Some(found) = get(self.outgoing, place).await? {
                return Ok(Some(found));
            }
        }
        match &challenge.resource_metadata {
            Some(_) => Err("its metadata was not found where it says".to_owned()),
            None => Ok(None),
        }
    }

    fn choose<'b>(&self, named: &'b [String]) -> Result<&'b str, String> {
        let first = named.first().ok_or("its metadata names no authorization server")?;
        let find = |wanted: &str| named.iter().find(|one| *one == wanted);
        match self.issuer {
            Some(wanted) => Ok(find(wanted).ok_or("its authorization server is not the one of its entry")?),
            None => Ok(self.known.and_then(find).unwrap_or(first)),
        }
    }

    /// As in 2025-03-26: a server without metadata is its own authorization server.
    async fn find_as_of_old(&self) -> Result<Found, String> {
        let origin = self.server.origin().ascii_serialization();
        if self.issuer.is_some_and(|wanted| wanted != origin) {
            return Err("it does not name the authorization server of its entry".to_owned());
        }
        let at = |path: &str| self.server.join(path).map_err(|error| error.to_string());
        let place = at("/.well-known/oauth-authorization-server")?;
        let found = match get::<AuthorizationServer>(self.outgoing, place).await? {
            Some(found) => {
                // That revision asked for no certain issuer; one of another origin is still another's.
                let issuer = found.issuer.as_deref().and_then(|issuer| Url::parse(issuer).ok());
                if issuer.is_none_or(|issuer| issuer.origin() != self.server.origin()) {
                    return Err("its metadata names another issuer".to_owned());
                }
                found
            }
            None => AuthorizationServer {
                issuer: Some(origin.clone()),
                authorization_endpoint: Some(at("/authorize")?),
                token_endpoint: at("/token")?,
                registration_endpoint: Some(at("/register")?),
                // Nothing says so; a server that does not know of it lets it be.
                code_challenge_methods_supported: vec!["S256".to_owned()],
                token_endpoint_auth_methods_supported: None,
                scopes_supported: Vec::new(),
                client_id_metadata_document_supported: false,
                authorization_response_iss_parameter_supported: false,
            },
        };
        self.check_endpoints(&found)?;
        let issuer = found.issuer.clone().unwrap_or(origin);
        let outgoing = Arc::clone(self.outgoing);
        Ok(Found { issuer, resource: canonical(self.server), scopes: None, at: found, outgoing })
    }

    fn outgoing_to(&self, url: &Url) -> Arc<Outgoing> {
        match self.allow_private {
            true => Arc::new(Outgoing::new(toolroom_outgoing::Limits::default()).allow_private(url.clone())),
            false => Arc::clone(self.outgoing),
        }
    }

    fn check_endpoints(&self, at: &AuthorizationServer) -> Result<(), String> {
        let all =
            [Some(&at.token_endpoint), at.authorization_endpoint.as_ref(), at.registration_endpoint.as_ref()];
        all.into_iter().flatten().try_for_each(|url| self.check(url))
    }

    /// Codes and secrets go over HTTPS, unless the administrator says that the way is their own.
    fn check(&self, url: &Url) -> Result<(), String> {
        let own = self.allow_private || url.origin() == self.server.origin();
        match url.scheme() {
            "https" => Ok(()),
            "http" if own => Ok(()),
            _ => Err("its authorization server does not use https".to_owned()),
        }
    }
}

impl AuthorizationServer {
    /// Whether a code can be bound to us, so that nobody else can use it.
    pub(crate) fn binds_codes(&self) -> bool {
        self.code_challenge_methods_supported.iter().any(|method| method == "S256")
    }
}

/// A document, or `None` if there is none at that place.
async fn get<T: DeserializeOwned>(outgoing: &Outgoing, url: Url) -> Result<Option<T>, String> {
    let mut request = Request::get(url);
    request.headers.insert(http::header::ACCEPT, http::HeaderValue::from_static("application/json"));
    let reply = outgoing.send(request).await.map_err(|error| unreachable_because(&error))?;
    if !reply.status.is_success() {
        return Ok(None);
    }
    let read = serde_json::from_slice(&reply.body);
    read.map(Some).map_err(|_| "its authorization metadata cannot be read".to_owned())
}

/// Why metadata or a token could not be asked for.
pub(crate) fn unreachable_because(error: &OutgoingError) -> String {
    match error {
        OutgoingError::Refused => "the address of its metadata or its authorization server is not allowed: for an authorization server, set `oauth.allow_private` in its entry to allow it"
            .to_owned(),
        other => format!("its authorization server gave no token: {other}"),
    }
}
