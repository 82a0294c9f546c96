//! Logins whose person comes back to an address of ours: to any of the servers that share a database, because a balancer
//! knows nothing of logins. What is needed to take the answer is kept, sealed, where all of them find it.
//!
//! Each MCP server has an address of its own to come back to. So one that is false cannot have the answer of another's
//! authorization server sent to itself: that arrives at the other's address, and does not fit.

use std::path::Path;
use std::sync::Arc;

use super::Federation;
use super::login::{LoginState, LoginView};
use super::open_logins::{Known, OpenLogins};

/// Where browsers come back to, below the public address.
pub const PATH: &str = "/login/callback/{server}";

/// Where browsers come back to, and the logins that are open.
pub(super) struct Callback {
    public: String,
    pub(super) logins: OpenLogins,
}

/// How a browser that came back is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CameBack {
    Done,
    Failed,
    /// The login was called off, for this reason.
    CalledOff(String),
    /// The server of the login is not there any more.
    Removed(String),
    /// The answer is to a login at another server than the one whose address it came to.
    WrongAddress,
    /// No such login is open, or not any more.
    Unknown,
}

impl Callback {
    /// Where browsers come back to from a login at a server.
    pub(super) fn address(&self, server: &str) -> String {
        format!("{}{}", self.public, PATH.replace("{server}", &segment(server)))
    }
}

impl Federation {
    /// Browsers of persons who log in at servers come back below this address, which leads to this process or to others
    /// that share its database. Until this is said, they come back to a port of this machine.
    pub fn come_back_to(&self, public: &str, home: &Path) {
        let public = public.trim_end_matches('/').to_owned();
        let logins = OpenLogins::new(&self.entries.runtime.store, home);
        let _ = self.entries.deps.callback.set(Callback { public, logins });
    }

    /// A browser has come back to the address of a server, with this query. Carried to its end even if it leaves.
    pub async fn came_back(self: &Arc<Self>, at: &str, query: &str) -> CameBack {
        let (me, at, query) = (Arc::clone(self), at.to_owned(), query.to_owned());
        tokio::spawn(async move { me.take_back(&at, &query).await }).await.unwrap_or(CameBack::Failed)
    }

    async fn take_back(&self, at: &str, query: &str) -> CameBack {
        let (Some(callback), Some(state)) = (self.entries.deps.callback.get(), state(query)) else {
            return CameBack::Unknown;
        };
        let cannot = |error: String| {
            tracing::warn!(%error, "a login that was begun cannot be ended here");
            CameBack::Failed
        };
        let logins = &callback.logins;
        let name = match logins.look(&state).await {
            Ok(Some(Known::Open { server })) => server,
            Ok(Some(Known::CalledOff { reason })) => return CameBack::CalledOff(reason),
            Ok(None) => return CameBack::Unknown,
            Err(error) => return cannot(error),
        };
        let Some(server) = self.server(&name) else { return CameBack::Removed(name) };
        let text = match logins.take(&state, &name).await {
            Ok(Some(text)) => text,
            Ok(None) => return CameBack::Unknown,
            Err(error) => return cannot(error),
        };
        let fits = at == segment(&name);
        let view = match fits {
            true => server.end_login(&text, query).await,
            false => server.fail_login("the answer came to the address of another server, and was not used"),
        };
        logins.tell(&state, &name, &view).await;
        match view {
            _ if !fits => CameBack::WrongAddress,
            LoginView { state: LoginState::Done, .. } => CameBack::Done,
            _ => CameBack::Failed,
        }
    }
}

/// A server's name as a part of an address: itself where that is plain, which no balancer writes otherwise.
fn segment(server: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if !server.is_empty() && server.len() <= 64 && server.bytes().all(plain) {
        return server.to_owned();
    }
    // No plain name begins so.
    format!("~{}", &blake3::hash(server.as_bytes()).to_hex()[..32])
}

/// The state in a query, if it stands there once.
fn state(query: &str) -> Option<String> {
    let mut found = query.split('&').filter_map(|pair| pair.strip_prefix("state="));
    let state = found.next().filter(|state| !state.is_empty() && state.len() <= 128)?;
    // Ours have no characters that are written otherwise in a query.
    let plain = state.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    (plain && found.next().is_none()).then(|| state.to_owned())
}
