//! A login at a server that wants a token of a person's, one at a time for each server.

use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::error::ServerError;
use super::server::Server;

/// How a login is going.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoginView {
    /// In a word.
    pub state: LoginState,
    /// What the person is to open in a browser on the machine that Toolroom runs on, while they are waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
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

impl LoginAttempts {
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
        self.logins.put(None);
        let login = upstream.login().await.map_err(|error| ServerError::Login(error.to_string()))?;
        let url = Some(login.url().to_string());
        let begun = LoginView { state: LoginState::Waiting, url, reason: None };
        self.logins.view.send_replace(begun.clone());
        let me = Arc::clone(self);
        let waiting = tokio::spawn(async move {
            let ended = match me.stop.run_until_cancelled(login.finish()).await {
                Some(Ok(())) => {
                    me.tell_others_of_login().await;
                    LoginView { state: LoginState::Done, ..LoginView::default() }
                }
                Some(Err(error)) => LoginView::failed(error.to_string()),
                None => LoginView::failed("the server was stopped".to_owned()),
            };
            me.logins.view.send_replace(ended);
        });
        self.logins.put(Some(waiting.abort_handle()));
        Ok(begun)
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
        self.logins.put(None);
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
    fn failed(reason: String) -> Self {
        Self { state: LoginState::Failed, url: None, reason: Some(reason) }
    }
}
