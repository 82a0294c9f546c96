//! A login at a server that wants a token of a person's, one at a time for each server.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use toolroom_upstream::{LOGIN_LIMIT, Upstream};

use super::error::ServerError;
use super::server::Server;

/// How often it is looked whether a login has ended at another process.
const TICK: Duration = Duration::from_millis(500);

/// How a login is going.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoginView {
    /// In a word.
    pub state: LoginState,
    /// What the person is to open in a browser, while they are waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The browser may be on any machine; else it must be on the one that Toolroom runs on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub anywhere: bool,
    /// Why there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a login is going, in a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LoginState {
    /// Nobody has begun one.
    #[default]
    None,
    /// The person is waited for.
    Waiting,
    /// The server can be used.
    Done,
    /// It came to nothing.
    Failed,
}

/// The login that was last begun.
#[derive(Default)]
pub(super) struct LoginAttempts {
    view: watch::Sender<LoginView>,
    waiting: Mutex<Option<AbortHandle>>,
}

/// Why a login was called off, as its person and who began it are told.
const BEGUN_ANEW: &str = "another login at this server was begun after it";
const LOGGED_OUT: &str = "somebody has logged out of this server";

impl LoginAttempts {
    fn fail(&self, reason: &str) {
        self.view.send_replace(LoginView::failed(reason.to_owned()));
    }

    fn put(&self, next: Option<AbortHandle>) {
        let last = std::mem::replace(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner), next);
        if let Some(last) = last {
            last.abort();
        }
    }
}

impl Server {
    /// Begins a login, instead of one that was begun before. The outcome is given by [`Server::login`].
    pub async fn begin_login(self: &Arc<Self>) -> Result<LoginView, ServerError> {
        let upstream = self.upstream().ok_or_else(|| ServerError::Login("it is switched off".to_owned()))?;
        self.give_up_login(BEGUN_ANEW).await;
        if let Some(begun) = self.begin_open_login(upstream).await? {
            return Ok(begun);
        }
        let login = upstream.login().await.map_err(|error| ServerError::Login(error.to_string()))?;
        let url = Some(login.url().to_string());
        let begun = LoginView { state: LoginState::Waiting, url, ..LoginView::default() };
        self.logins.view.send_replace(begun.clone());
        let me = Arc::clone(self);
        let waiting = tokio::spawn(async move {
            let ended = match me.stop.run_until_cancelled(login.finish()).await {
                Some(Ok(())) => {
                    me.tell_others_of_login().await;
                    LoginView::done()
                }
                Some(Err(error)) => LoginView::failed(error.to_string()),
                None => LoginView::failed("the server was stopped".to_owned()),
            };
            me.logins.view.send_replace(ended);
        });
        self.logins.put(Some(waiting.abort_handle()));
        Ok(begun)
    }

    /// The same where the person comes back to any server that shares the database, or to this one at its public address.
    async fn begin_open_login(
        self: &Arc<Self>,
        upstream: &Upstream,
    ) -> Result<Option<LoginView>, ServerError> {
        let Some(callback) = self.callback.get() else { return Ok(None) };
        let opened = upstream.open_login(&callback.address(self.name())).await;
        let Some(login) = opened.map_err(|error| ServerError::Login(error.to_string()))? else {
            return Ok(None);
        };
        callback.logins.keep(self.name(), &login, BEGUN_ANEW).await.map_err(ServerError::Login)?;
        let url = Some(login.url.to_string());
        let begun = LoginView { state: LoginState::Waiting, url, anywhere: true, reason: None };
        self.logins.view.send_replace(begun.clone());
        let me = Arc::clone(self);
        let waiting = tokio::spawn(async move {
            let waited = tokio::time::timeout(LOGIN_LIMIT, me.login_ended_anywhere(&login.state));
            match me.stop.run_until_cancelled(waited).await {
                Some(Ok(())) => {}
                Some(Err(_)) => me.logins.fail("nobody came back in time"),
                None => me.logins.fail("the server was stopped"),
            }
        });
        self.logins.put(Some(waiting.abort_handle()));
        Ok(Some(begun))
    }

    /// Returns when a login has ended, here or at another process.
    async fn login_ended_anywhere(&self, state: &str) {
        let Some(callback) = self.callback.get() else { return };
        while tokio::time::timeout(TICK, self.login_ended()).await.is_err() {
            if let Some(ended) = callback.logins.told(state).await {
                self.logins.view.send_replace(ended);
            }
        }
    }

    /// Takes the answer to a login that was opened here or at another process.
    pub(super) async fn end_login(&self, text: &str, query: &str) -> LoginView {
        let ended = match self.upstream() {
            None => LoginView::failed("it is switched off".to_owned()),
            Some(upstream) => match upstream.finish_login(text, query).await {
                Ok(()) => {
                    self.tell_others_of_login().await;
                    LoginView::done()
                }
                Err(error) => LoginView::failed(error.to_string()),
            },
        };
        self.logins.view.send_replace(ended.clone());
        ended
    }

    /// A login that was opened here or at another process comes to nothing.
    pub(super) fn fail_login(&self, reason: &str) -> LoginView {
        self.logins.fail(reason);
        LoginView::failed(reason.to_owned())
    }

    /// Nobody is waited for any more, wherever the login was begun.
    async fn give_up_login(&self, reason: &str) {
        self.logins.put(None);
        if let Some(callback) = self.callback.get() {
            callback.logins.call_off(self.name(), reason).await;
        }
    }

    /// How the login is going that was last begun.
    pub fn login(&self) -> LoginView {
        self.logins.view.borrow().clone()
    }

    /// Waits until no person is waited for.
    pub async fn login_ended(&self) {
        let mut view = self.logins.view.subscribe();
        let _ = view.wait_for(|view| view.state != LoginState::Waiting).await;
    }

    /// Gives up the token that a login gave.
    pub async fn log_out(&self) -> Result<(), ServerError> {
        self.give_up_login(LOGGED_OUT).await;
        self.logins.view.send_replace(LoginView::default());
        let Some(upstream) = self.upstream() else { return Ok(()) };
        upstream.logout().await.map_err(|error| ServerError::Login(error.to_string()))?;
        self.tell_others_of_login().await;
        Ok(())
    }

    /// Where servers share a database: returns when all of them know.
    async fn tell_others_of_login(&self) {
        let shared = self.runtime.upgrade().and_then(|runtime| runtime.shared_registry().cloned());
        if let Some(shared) = shared
            && let Err(error) = shared.login_changed(self.name()).await
        {
            tracing::warn!(server = self.name(), %error, "other servers were not told of a login");
        }
    }
}

impl LoginView {
    pub(super) fn done() -> Self {
        Self { state: LoginState::Done, ..Self::default() }
    }

    pub(super) fn failed(reason: String) -> Self {
        Self { state: LoginState::Failed, reason: Some(reason), ..Self::default() }
    }
}
