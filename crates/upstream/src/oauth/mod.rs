//! Tokens for servers that want one: how they are obtained, kept, renewed and extended.

mod assertion;
mod challenge;
mod consent;
mod credentials;
mod exchange;
mod grants;
mod loopback;
mod metadata;
mod registration;
mod turn;
mod well_known;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderValue;
use reqwest::Url;
use toolroom_contract::text::shell_word;
use toolroom_outgoing::Outgoing;

pub(crate) use assertion::Key;
pub(crate) use challenge::Challenge;
pub(crate) use consent::Pending;
pub use consent::{Consent, Visit};
pub use credentials::{Credentials, TokenFolder, TokenStore, TokenTurn};
pub use exchange::client_credentials;
pub(crate) use loopback::Loopback;

use crate::config::{Grant, OAuthClient};
use crate::error::Failure;
use grants::union;

/// The tokens of one server.
pub(crate) struct Authority {
    name: Arc<str>,
    url: Url,
    entry: OAuthClient,
    key: Option<Key>,
    outgoing: Arc<Outgoing>,
    store: Option<Arc<dyn TokenStore>>,
    consent: Option<Arc<dyn Consent>>,
    kept: Mutex<Kept>,
    /// One sees to a token, the others wait for what it gets.
    turn: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct Kept {
    /// Whether the store was asked.
    loaded: bool,
    held: Option<Held>,
    /// Whether the store does not have it: then it is newer than what is there.
    is_unsaved: bool,
    /// Why the store could not tell.
    trouble: Option<String>,
    /// What the server wanted a token to be good for while no person was there to ask.
    wanted: Option<String>,
}

#[derive(Clone)]
struct Held {
    credentials: Credentials,
    bearer: HeaderValue,
}

/// What a challenge led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Got {
    /// A token that was renewed, here or by another request.
    Renewed,
    /// A token that was newly given.
    Given,
}

impl Authority {
    pub(crate) fn new(
        name: Arc<str>,
        url: Url,
        entry: OAuthClient,
        outgoing: Arc<Outgoing>,
        store: Option<Arc<dyn TokenStore>>,
        consent: Option<Arc<dyn Consent>>,
    ) -> Self {
        // What is not a key was refused when the entry was read.
        let key = entry.private_key.as_ref().and_then(|pem| Key::read(pem.reveal()).ok());
        let (kept, turn) = Default::default();
        Self { name, url, entry, key, outgoing, store, consent, kept, turn }
    }

    /// The `Authorization` header for the server, if there is a token.
    pub(crate) async fn bearer(self: &Arc<Self>) -> Result<Option<HeaderValue>, Failure> {
        if let Some(known) = self.known() {
            return Ok(known);
        }
        let turn = self.turn().await.map_err(Failure::NotSent)?;
        if let Some(known) = self.known() {
            return Ok(known);
        }
        let held = self.kept().held.clone();
        let renewed = match (&self.entry.token_url, held) {
            (Some(token_url), _) => self.at_known_place(token_url).await.map(Some),
            // The server tells us where to go if it does not take the token, or none.
            (None, Some(held)) => {
                return self.renew(turn, held.credentials, Challenge::default()).await.1;
            }
            (None, None) => Ok(None),
        };
        match renewed.map_err(Failure::Unauthorized)? {
            Some(credentials) => Ok(Some(self.keep(credentials).await?)),
            None => Ok(None),
        }
    }

    /// The server did not take a request as it was. `Some` if there is another token now, so that it is to be
    /// made again; `so_far` is what that gave for the same request before.
    pub(crate) async fn challenged(
        self: &Arc<Self>,
        challenge: &Challenge,
        used: Option<&HeaderValue>,
        so_far: Option<Got>,
    ) -> Result<Option<Got>, Failure> {
        let mut turn = self.turn().await.map_err(Failure::NotSent)?;
        let held = self.kept().held.clone();
        // Another request, or another process, has seen to it in the meantime.
        if held.as_ref().is_some_and(|held| Some(&held.bearer) != used && held.credentials.is_fresh()) {
            return Ok(Some(Got::Renewed));
        }
        let held = held.map(|held| held.credentials);
        let asked = held.as_ref().and_then(|held| held.scope.clone());
        let in_vain = match challenge.insufficient_scope {
            // More of what we already asked for would not help.
            true => union([&asked, &challenge.scope]) == asked,
            false => so_far == Some(Got::Given),
        };
        if in_vain {
            return Ok(None);
        }
        let may_renew = so_far.is_none() && !challenge.insufficient_scope;
        if let Some(held) = held.as_ref().filter(|_| may_renew) {
            let renewed;
            (turn, renewed) = self.renew(turn, held.clone(), challenge.clone()).await;
            if renewed?.is_some() {
                return Ok(Some(Got::Renewed));
            }
        }
        let given = match self.newly(challenge, held.as_ref()).await.map_err(Failure::Unauthorized)? {
            Some(given) => self.keep(given).await.map(|_| Some(Got::Given)),
            None => Ok(None),
        };
        drop(turn);
        given
    }

    /// A token that does not come of one that we had.
    async fn newly(
        &self,
        challenge: &Challenge,
        held: Option<&Credentials>,
    ) -> Result<Option<Credentials>, String> {
        if let Some(token_url) = &self.entry.token_url {
            return self.at_known_place(token_url).await.map(Some);
        }
        match (self.entry.grant, &self.consent) {
            (Grant::ClientCredentials, _) => self.on_our_own(challenge, held).await.map(Some),
            (Grant::AuthorizationCode, Some(consent)) => {
                let pending = self.begin(challenge, held, consent.redirect_uri()).await?;
                let returned = consent.visit(&self.name, &pending.url).await?;
                self.redeem(&pending, &returned).await.map(Some)
            }
            // Nobody is here to ask. A server that does not speak of tokens may want something else.
            (Grant::AuthorizationCode, None) if !challenge.bearer => Ok(None),
            (Grant::AuthorizationCode, None) => {
                let mut kept = self.kept();
                kept.wanted = challenge.scope.clone();
                Err(match &kept.trouble {
                    Some(trouble) => format!("its login cannot be read: {trouble}"),
                    None => {
                        format!("it wants a login: run `toolroom servers login {}`", shell_word(&self.name))
                    }
                })
            }
        }
    }

    /// A question for a person, who is to come back to the URI.
    pub(crate) async fn ask_person(&self, challenge: &Challenge, back: Url) -> Result<Pending, String> {
        if self.entry.grant != Grant::AuthorizationCode || self.entry.token_url.is_some() {
            return Err("it needs no login: its entry says how to get a token".to_owned());
        }
        let _turn = self.turn().await?;
        let (held, wanted) = {
            let kept = self.kept();
            (kept.held.as_ref().map(|held| held.credentials.clone()), kept.wanted.clone())
        };
        let challenge = Challenge { scope: union([&challenge.scope, &wanted]), ..challenge.clone() };
        self.begin(&challenge, held.as_ref(), back).await
    }

    /// A question as a text, for whoever takes the answer. It has secrets in it.
    pub(crate) fn written_question(&self, pending: &Pending) -> Result<String, String> {
        pending.written(&self.url)
    }

    /// A question that was written down, here or by another process.
    pub(crate) fn read_question(&self, text: &str) -> Result<Pending, String> {
        Pending::read(text, &self.url, |issuer| match Url::parse(issuer) {
            Ok(issuer) if self.entry.allow_private => {
                Arc::new(Outgoing::new(toolroom_outgoing::Limits::default()).allow_private(issuer))
            }
            _ => Arc::clone(&self.outgoing),
        })
    }

    /// Takes the person's answer, and keeps what follows from it.
    pub(crate) async fn take_answer(&self, pending: &Pending, returned: &Url) -> Result<(), Failure> {
        let turn = self.turn().await.map_err(Failure::NotSent)?;
        let credentials = self.redeem(pending, returned).await.map_err(Failure::Unauthorized)?;
        self.kept().wanted = None;
        self.keep(credentials).await?;
        let kept = self.kept();
        match &kept.trouble {
            // Alone, a login that cannot be saved is good until the process ends.
            Some(trouble) if turn.is_shared() => {
                Err(Failure::Unauthorized(format!("the login cannot be kept for all servers: {trouble}")))
            }
            _ => Ok(()),
        }
    }

    /// Where a person is best sent back to: where it was registered, or else anywhere.
    pub(crate) async fn preferred_redirect(&self) -> Option<Url> {
        self.load().await;
        let kept = self.kept();
        kept.held.as_ref()?.credentials.client.redirect_uri.as_deref()?.parse().ok()
    }

    /// Where a person must be sent back to, by the entry.
    pub(crate) fn fixed_redirect(&self) -> Option<&Url> {
        self.entry.redirect_uri.as_ref()
    }

    /// Gives up what was kept.
    pub(crate) async fn forget(&self) -> Result<(), String> {
        let _turn = self.turn().await?;
        self.drop_kept().await
    }

    /// The header, if nothing is to be done for it.
    fn known(&self) -> Option<Option<HeaderValue>> {
        let kept = self.kept();
        match &kept.held {
            Some(held) if held.credentials.is_fresh() => Some(Some(held.bearer.clone())),
            Some(_) => None,
            None => (kept.loaded && self.entry.token_url.is_none()).then_some(None),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
