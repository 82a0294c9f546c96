//! The turn to see to a server's token, and the store that it is kept in, which other processes may share.

use std::sync::Arc;

use http::HeaderValue;
use tokio::sync::OwnedMutexGuard;

use super::challenge::Challenge;
use super::credentials::{Credentials, TokenStore, TokenTurn};
use super::{Authority, Held, Kept};
use crate::config::Grant;
use crate::error::Failure;

/// As long as this is held, nobody else sees to the token.
pub(super) struct Turn {
    _here: OwnedMutexGuard<()>,
    /// The turn among all processes that share what is kept.
    elsewhere: Option<TokenTurn>,
}

impl Turn {
    /// Whether other processes share what is kept.
    pub(super) fn is_shared(&self) -> bool {
        self.elsewhere.is_some()
    }
}

impl Authority {
    /// Waits for the turn. What is kept is known then, as another process may have changed it.
    pub(super) async fn turn(&self) -> Result<Turn, String> {
        let here = Arc::clone(&self.turn).lock_owned().await;
        let name = Arc::clone(&self.name);
        let elsewhere = match self.is_stored() {
            true => self.with_store(move |store| store.turn(&name)).await?,
            false => None,
        };
        if elsewhere.is_some() || !self.kept().loaded {
            self.load().await;
        }
        Ok(Turn { _here: here, elsewhere })
    }

    /// Renews the token, if that can be done without a person, and keeps it. It is carried to its end even if nobody waits
    /// for it any more: a refresh token that was used, and whose successor nobody has, is a lost login.
    pub(super) async fn renew(
        self: &Arc<Self>,
        turn: Turn,
        held: Credentials,
        challenge: Challenge,
    ) -> (Turn, Result<Option<HeaderValue>, Failure>) {
        let me = Arc::clone(self);
        let renewing = async move {
            let renewed = match me.refresh(&held, &challenge).await {
                Some(renewed) => me.keep(renewed).await.map(Some),
                None => Ok(None),
            };
            (turn, renewed)
        };
        match tokio::spawn(renewing).await {
            Ok(done) => done,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    pub(super) async fn keep(&self, credentials: Credentials) -> Result<HeaderValue, Failure> {
        let bearer = credentials.bearer();
        let bearer =
            bearer.ok_or_else(|| Failure::Unauthorized("its token does not fit into a header".to_owned()))?;
        self.kept().held = Some(Held { credentials: credentials.clone(), bearer: bearer.clone() });
        if self.is_stored() {
            self.save(credentials).await;
        }
        Ok(bearer)
    }

    /// The refresh token will never be taken again.
    pub(super) async fn drop_refresh_token(&self) {
        let without = self.kept().held.as_mut().map(|held| {
            held.credentials.refresh_token = None;
            held.credentials.clone()
        });
        if let Some(without) = without {
            self.save(without).await;
        }
    }

    pub(super) async fn drop_kept(&self) -> Result<(), String> {
        *self.kept() = Kept { loaded: true, ..Kept::default() };
        let name = Arc::clone(&self.name);
        self.with_store(move |store| store.remove(&name)).await
    }

    /// What another process has done counts, when it is next asked for.
    pub(crate) fn load_again(&self) {
        let mut kept = self.kept();
        if !kept.is_unsaved {
            kept.loaded = false;
            kept.held = None;
        }
    }

    /// What a person gave cannot be obtained again without them; the rest can.
    fn is_stored(&self) -> bool {
        self.entry.grant == Grant::AuthorizationCode && self.entry.token_url.is_none()
    }

    async fn save(&self, credentials: Credentials) {
        let name = Arc::clone(&self.name);
        let saved = self.with_store(move |store| store.save(&name, &credentials)).await;
        if let Err(reason) = &saved {
            tracing::warn!(server = %self.name, reason, "a login could not be saved; it lasts until Toolroom stops");
        }
        let mut kept = self.kept();
        kept.is_unsaved = saved.is_err();
        kept.trouble = saved.err();
    }

    /// Asks the store.
    pub(super) async fn load(&self) {
        // What could not be saved is newer than what is there.
        let unsaved = {
            let kept = self.kept();
            kept.held.as_ref().filter(|_| kept.is_unsaved).map(|held| held.credentials.clone())
        };
        if let Some(credentials) = unsaved {
            return self.save(credentials).await;
        }
        let name = Arc::clone(&self.name);
        let loaded = self.with_store(move |store| store.load(&name)).await;
        let trouble = loaded.as_ref().err().cloned();
        let loaded = loaded.unwrap_or_else(|reason| {
            tracing::warn!(server = %self.name, reason, "a saved login cannot be read");
            None
        });
        // A token is for one server. An entry that has got another URL gets another token.
        let held = loaded.filter(|credentials| credentials.server == self.url.as_str());
        let held = held.and_then(|credentials| Some(Held { bearer: credentials.bearer()?, credentials }));
        let mut kept = self.kept();
        (kept.loaded, kept.trouble) = (true, trouble);
        kept.held = held;
    }

    async fn with_store<T: Default + Send + 'static>(
        &self,
        work: impl FnOnce(&dyn TokenStore) -> std::io::Result<T> + Send + 'static,
    ) -> Result<T, String> {
        let Some(store) = self.store.clone() else { return Ok(T::default()) };
        let done = tokio::task::spawn_blocking(move || work(&*store)).await;
        done.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }
}
