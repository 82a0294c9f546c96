//! A login at a server that wants a token: a URL for a person, and what follows when they come back.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;

use crate::error::UpstreamError;
use crate::oauth::{Authority, Challenge, Loopback, Pending};
use crate::supervisor::ConnectionSupervisor;

/// How long a person has.
pub const LIMIT: Duration = Duration::from_secs(600);

/// A login that has begun. Dropping it calls it off.
pub struct Login {
    supervisor: Arc<ConnectionSupervisor>,
    authority: Arc<Authority>,
    loopback: Loopback,
    pending: Pending,
}

/// A login whose person comes back elsewhere. Whoever has its text can take their answer: it has secrets in it.
pub struct OpenLogin {
    /// What the person is to open in a browser.
    pub url: Url,
    /// What the answer will be known by.
    pub state: String,
    pub text: String,
}

impl OpenLogin {
    /// Asks the server where its tokens come from. `None` if its entry says that the browser comes back elsewhere.
    pub(crate) async fn begin(
        supervisor: &ConnectionSupervisor,
        back: &str,
    ) -> Result<Option<Self>, UpstreamError> {
        let authority = authority(supervisor)?;
        let back = Url::parse(back).map_err(|error| wrong(format!("public_url of its settings: {error}")))?;
        if authority.fixed_redirect().is_some_and(|fixed| *fixed != back) {
            return Ok(None);
        }
        let challenge = knock(supervisor).await?;
        let pending = authority.ask_person(&challenge, back).await.map_err(wrong)?;
        let text = authority.written_question(&pending).map_err(wrong)?;
        Ok(Some(Self { url: pending.url, state: pending.state, text }))
    }

    /// Takes the answer, the query of the URL that the browser came back with, and connects to the server.
    pub(crate) async fn finish(
        supervisor: &Arc<ConnectionSupervisor>,
        text: &str,
        query: &str,
    ) -> Result<(), UpstreamError> {
        let authority = authority(supervisor)?;
        let pending = authority.read_question(text).map_err(wrong)?;
        let mut returned = pending.redirect_uri.clone();
        returned.set_query(Some(query));
        authority.take_answer(&pending, &returned).await?;
        supervisor.retry_now();
        supervisor.connect().await
    }
}

fn wrong(reason: String) -> UpstreamError {
    UpstreamError::Unauthorized { reason }
}

fn authority(supervisor: &ConnectionSupervisor) -> Result<Arc<Authority>, UpstreamError> {
    let http = supervisor.http().ok_or_else(|| wrong("it is a program: it needs no login".to_owned()))?;
    let authority = http.authority().cloned();
    authority.ok_or_else(|| wrong("its entry has an `Authorization` header, so it needs no login".to_owned()))
}

async fn knock(supervisor: &ConnectionSupervisor) -> Result<Challenge, UpstreamError> {
    let http = supervisor.http().ok_or_else(|| wrong("it is a program: it needs no login".to_owned()))?;
    Ok(http.knock().await?)
}

impl Login {
    /// Asks the server where its tokens come from, and listens on this machine for the browser's return.
    pub(crate) async fn begin(supervisor: Arc<ConnectionSupervisor>) -> Result<Self, UpstreamError> {
        let authority = authority(&supervisor)?;
        let challenge = knock(&supervisor).await?;
        let loopback = match authority.fixed_redirect() {
            Some(fixed) => Loopback::open(Some(fixed)).await.map_err(wrong)?,
            None => match Loopback::open(authority.preferred_redirect().await.as_ref()).await {
                Ok(loopback) => loopback,
                // Somebody else has that port by now.
                Err(_) => Loopback::open(None).await.map_err(wrong)?,
            },
        };
        let back = loopback.redirect_uri().clone();
        let pending = authority.ask_person(&challenge, back).await.map_err(wrong)?;
        Ok(Self { supervisor, authority, loopback, pending })
    }

    /// What the person is to open in a browser on this machine.
    pub fn url(&self) -> &Url {
        &self.pending.url
    }

    /// Waits until the person comes back, at most ten minutes, and connects to the server with what they brought.
    pub async fn finish(self) -> Result<(), UpstreamError> {
        let returned = self.loopback.returned(|url| self.pending.is_answered_by(url));
        let returned = tokio::time::timeout(LIMIT, returned).await;
        let late = |_| UpstreamError::Timeout { seconds: LIMIT.as_secs_f64(), sent: false };
        let returned = returned.map_err(late)?.map_err(wrong)?;
        self.authority.take_answer(&self.pending, &returned).await?;
        self.supervisor.retry_now();
        self.supervisor.connect().await
    }
}
