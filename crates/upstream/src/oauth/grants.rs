//! The ways to a token: a person's consent, a refresh token, our own word, an identity provider's.

use jiff::Timestamp;
use reqwest::Url;
use serde::Deserialize;

use super::Authority;
use super::challenge::Challenge;
use super::consent::Pending;
use super::credentials::Credentials;
use super::exchange::{Asker, Granted, TokenError};
use super::metadata::{Finder, Found};
use super::registration::{self, Client, Method, registered_before};
use super::well_known::canonical;
use crate::config::{Grant, IdentityProvider};

impl Authority {
    pub(super) async fn begin(
        &self,
        challenge: &Challenge,
        held: Option<&Credentials>,
        back: Url,
    ) -> Result<Pending, String> {
        let found = self.find(challenge, held).await?;
        if !found.at.binds_codes() {
            return Err("its authorization server does not bind codes (PKCE with S256)".to_owned());
        }
        let same = held.filter(|held| held.issuer == found.issuer);
        let scope = self.scope(challenge, same, &found);
        let client = registration::client(&self.entry, &found, &back, same.map(|held| &held.client)).await?;
        Pending::new(found, client, scope, back)
    }

    pub(super) async fn redeem(&self, pending: &Pending, returned: &Url) -> Result<Credentials, String> {
        let code = pending.code(returned)?;
        let form = [
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", pending.redirect_uri.as_str()),
            ("code_verifier", &pending.verifier),
            ("resource", &pending.found.resource),
        ];
        let granted = match self.asker(&pending.found, &pending.client).token(&form).await {
            Ok(granted) => granted,
            Err(TokenError { code, text }) => {
                // It no longer knows whom it registered: the next login registers again.
                if code.as_deref() == Some("invalid_client") {
                    self.drop_kept().await?;
                }
                return Err(text);
            }
        };
        Ok(self.credentials(granted, &pending.found.issuer, &pending.client, pending.scope.clone()))
    }

    /// By the refresh token, if there is one and the authorization server is still the same.
    pub(super) async fn refresh(&self, held: &Credentials, challenge: &Challenge) -> Option<Credentials> {
        let token = held.refresh_token.as_deref()?;
        let work = async {
            let found = self.find(challenge, Some(held)).await?;
            if found.issuer != held.issuer {
                return Err("its authorization server has changed".to_owned());
            }
            let mut form = vec![
                ("grant_type", "refresh_token"),
                ("refresh_token", token),
                ("resource", &*found.resource),
            ];
            form.extend(held.scope.as_deref().map(|scope| ("scope", scope)));
            let granted = match self.asker(&found, &held.client).token(&form).await {
                Ok(granted) => granted,
                Err(TokenError { code, text }) => {
                    if code.as_deref() == Some("invalid_grant") {
                        self.drop_refresh_token().await;
                    }
                    return Err(text);
                }
            };
            let renewed = self.credentials(granted, &found.issuer, &held.client, held.scope.clone());
            // Not every server gives a new one each time.
            let refresh_token = renewed.refresh_token.clone().or_else(|| held.refresh_token.clone());
            Ok(Credentials { refresh_token, ..renewed })
        };
        work.await
            .inspect_err(
                |reason: &String| tracing::info!(server = %self.name, reason, "a token was not renewed"),
            )
            .ok()
    }

    /// By our own word, at the place that the entry names.
    pub(super) async fn at_known_place(&self, token_url: &Url) -> Result<Credentials, String> {
        let client = registered_before(&self.entry, None).ok_or("its entry has no client_id")?;
        let (resource, audience) = (canonical(&self.url), self.entry.issuer.as_deref());
        let audience = audience.unwrap_or(token_url.as_str());
        let outgoing = &self.outgoing;
        let asker =
            Asker { outgoing, endpoint: token_url, audience, client: &client, key: self.key.as_ref() };
        let mut form = vec![("grant_type", "client_credentials"), ("resource", resource.as_str())];
        form.extend(self.entry.scope.as_deref().map(|scope| ("scope", scope)));
        let granted = asker.token(&form).await?;
        Ok(self.credentials(granted, audience, &client, self.entry.scope.clone()))
    }

    /// By our own word or that of our identity provider, at the place that the server names.
    pub(super) async fn on_our_own(
        &self,
        challenge: &Challenge,
        held: Option<&Credentials>,
    ) -> Result<Credentials, String> {
        let found = self.find(challenge, held).await?;
        let client = registered_before(&self.entry, Some(&found.at)).ok_or("its entry has no client_id")?;
        let scope = self.scope(challenge, held, &found);
        let given;
        let mut form = match &self.entry.identity {
            Some(provider) => {
                given = self.vouched_for(provider, &found, scope.as_deref()).await?;
                vec![
                    ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                    ("assertion", given.as_str()),
                ]
            }
            None => vec![("grant_type", "client_credentials")],
        };
        form.push(("resource", &found.resource));
        form.extend(scope.as_deref().map(|scope| ("scope", scope)));
        let granted = self.asker(&found, &client).token(&form).await?;
        Ok(self.credentials(granted, &found.issuer, &client, scope))
    }

    /// The word of an organization's identity provider, for one authorization server and one resource.
    async fn vouched_for(
        &self,
        provider: &IdentityProvider,
        found: &Found,
        scope: Option<&str>,
    ) -> Result<String, String> {
        #[derive(Deserialize)]
        struct Answer {
            access_token: String,
            issued_token_type: String,
        }
        const GRANT: &str = "urn:ietf:params:oauth:token-type:id-jag";
        let client =
            Client { id: provider.client_id.clone(), secret: None, method: Method::None, redirect_uri: None };
        let asker = Asker {
            outgoing: &self.outgoing,
            endpoint: &provider.token_url,
            audience: provider.token_url.as_str(),
            client: &client,
            key: None,
        };
        let mut form = vec![
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("requested_token_type", GRANT),
            ("audience", &*found.issuer),
            ("resource", &found.resource),
            ("subject_token", provider.id_token.reveal()),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
        ];
        form.extend(scope.map(|scope| ("scope", scope)));
        let answer = asker
            .ask(&form)
            .await
            .map_err(|TokenError { text, .. }| format!("its identity provider refused: {text}"))?;
        let answer: Answer = serde_json::from_slice(&answer)
            .map_err(|_| "its identity provider did not answer with a token".to_owned())?;
        match answer.issued_token_type == GRANT {
            true => Ok(answer.access_token),
            false => Err("its identity provider gave another kind of token".to_owned()),
        }
    }

    async fn find(&self, challenge: &Challenge, held: Option<&Credentials>) -> Result<Found, String> {
        let finder = Finder {
            server: &self.url,
            outgoing: &self.outgoing,
            allow_private: self.entry.allow_private,
            issuer: self.entry.issuer.as_deref(),
            known: held.map(|held| held.issuer.as_str()),
        };
        let found = finder.find(challenge).await?;
        // Who was registered by hand was registered somewhere: elsewhere it is nobody, and its secret stays here.
        match held {
            Some(held) if self.entry.client_id.as_ref() == Some(&held.client.id) && held.issuer != found.issuer => {
                Err("its authorization server has changed, and `oauth.client_id` of its entry is for the old one"
                    .to_owned())
            }
            _ => Ok(found),
        }
    }

    fn asker<'a>(&'a self, found: &'a Found, client: &'a Client) -> Asker<'a> {
        let (outgoing, endpoint, audience) = (&*found.outgoing, &found.at.token_endpoint, &*found.issuer);
        Asker { outgoing, endpoint, audience, client, key: self.key.as_ref() }
    }

    /// What to ask for: what was asked for so far, and what the server's challenge, the entry or its metadata say.
    fn scope(&self, challenge: &Challenge, held: Option<&Credentials>, found: &Found) -> Option<String> {
        let supported = || found.scopes.as_ref().map(|scopes| scopes.join(" "));
        let wanted = union([&self.entry.scope, &challenge.scope]).or_else(supported);
        let scope = union([&held.and_then(|held| held.scope.clone()), &wanted]);
        const OFFLINE: &str = "offline_access";
        let renewable = self.entry.grant == Grant::AuthorizationCode
            && found.at.scopes_supported.iter().any(|scope| scope == OFFLINE);
        // Alone it would stand instead of the defaults.
        if renewable && scope.is_some() { union([&scope, &Some(OFFLINE.to_owned())]) } else { scope }
    }

    fn credentials(
        &self,
        granted: Granted,
        issuer: &str,
        client: &Client,
        scope: Option<String>,
    ) -> Credentials {
        Credentials {
            server: self.url.to_string(),
            issuer: issuer.to_owned(),
            client: client.clone(),
            access_token: granted.access_token,
            refresh_token: granted.refresh_token,
            scope,
            expires_at: granted.life.map(|life| Timestamp::now() + life),
            life_seconds: granted.life.map(|life| life.as_secs()),
        }
    }
}

/// All the words of these scopes, each once.
pub(super) fn union<const N: usize>(scopes: [&Option<String>; N]) -> Option<String> {
    let mut words: Vec<&str> = Vec::new();
    for word in scopes.into_iter().flatten().flat_map(|scope| scope.split_whitespace()) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    (!words.is_empty()).then(|| words.join(" "))
}
