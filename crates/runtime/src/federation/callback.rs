//! Logins whose person comes back to an address of ours: to any of the servers that share a database, because a balancer
//! knows nothing of logins. What is needed to take the answer is kept, sealed, where all of them find it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolroom_store::parcels::{self, Kind, Parcel};
use toolroom_store::{Store, StoreError};
use toolroom_upstream::{LOGIN_LIMIT, OpenLogin};

use super::Federation;
use super::login::{LoginState, LoginView};
use crate::secret_file::{SealKey, SecretFile};

/// Where browsers come back to, below the public address.
pub const PATH: &str = "/login/callback";
/// How long it is kept what became of a login, for the server that waits for it.
const TOLD_FOR: Duration = Duration::from_secs(60);
/// Logins that one process keeps open by itself.
const MOST_HERE: usize = 100;

/// The logins that are open.
pub(super) struct Callback {
    /// Where browsers come back to.
    pub(super) address: String,
    kept: Kept,
}

enum Kept {
    /// By their states: since when, the server, the text.
    Here(Mutex<HashMap<String, (Instant, String, String)>>),
    Shared {
        store: Store,
        key: PathBuf,
    },
}

/// How a browser that came back is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CameBack {
    Done,
    Failed,
    /// No such login is open, or not any more.
    Unknown,
}

impl Callback {
    pub(super) fn new(public: &str, store: &Store, home: &Path) -> Self {
        let kept = match store.lease() {
            Some(_) => Kept::Shared { store: store.clone(), key: SecretFile::of_home(home).key() },
            None => Kept::Here(Mutex::default()),
        };
        Self { address: format!("{}{PATH}", public.trim_end_matches('/')), kept }
    }

    /// Keeps a login until its person comes back.
    pub(super) async fn keep(&self, server: &str, login: &OpenLogin) -> Result<(), String> {
        match &self.kept {
            Kept::Here(open) => {
                let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
                open.retain(|_, (since, ..)| since.elapsed() < LOGIN_LIMIT);
                if open.len() >= MOST_HERE {
                    return Err("too many logins are open; wait until some have ended".to_owned());
                }
                open.insert(login.state.clone(), (Instant::now(), server.to_owned(), login.text.clone()));
                Ok(())
            }
            Kept::Shared { key, .. } => {
                let key = SealKey::find_shared(key).map_err(|error| error.to_string())?;
                let sealed = key.seal(&sealed_as(server), &login.text).map_err(|error| error.to_string())?;
                let parcel = parcel(&login.state, server, "", sealed.into_bytes());
                self.put(parcel, LOGIN_LIMIT).await.map_err(|error| error.to_string())
            }
        }
    }

    /// The server and the text of a login, for whoever comes first.
    async fn take(&self, state: &str) -> Result<Option<(String, String)>, String> {
        match &self.kept {
            Kept::Here(open) => {
                let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
                let found = open.remove(state).filter(|(since, ..)| since.elapsed() < LOGIN_LIMIT);
                Ok(found.map(|(_, server, text)| (server, text)))
            }
            Kept::Shared { store, key } => {
                let id = id(state);
                let taken = store.write(move |unit| parcels::take(unit, Kind::Login, &id)).await;
                let taken = taken.map_err(|error: StoreError| error.to_string())?;
                let Some(Parcel { owner: server, body, .. }) = taken.filter(|found| !found.body.is_empty())
                else {
                    return Ok(None);
                };
                let open = || {
                    let sealed = String::from_utf8(body).map_err(std::io::Error::other)?;
                    SealKey::find_shared(key)?.open(&sealed_as(&server), &sealed, "log in again")
                };
                let text = open().map_err(|error| error.to_string())?;
                Ok(Some((server, text)))
            }
        }
    }

    /// Leaves word of what became of it, for the process that opened it.
    async fn tell(&self, state: &str, server: &str, view: &LoginView) {
        let about = match view.reason.as_deref() {
            Some(reason) => format!("failed {reason}"),
            None => "done".to_owned(),
        };
        if let Err(error) = self.put(parcel(state, server, &about, Vec::new()), TOLD_FOR).await {
            tracing::warn!(%error, server, "the server that opened a login was not told of its end");
        }
    }

    /// What became of it at another process, if anything did.
    pub(super) async fn told(&self, state: &str) -> Option<LoginView> {
        let Kept::Shared { store, .. } = &self.kept else { return None };
        let id = id(state);
        let found = store.read(move |unit| parcels::get(unit, Kind::Login, &id)).await;
        let about = found.unwrap_or(None::<Parcel>)?.about;
        match about.strip_prefix("failed ") {
            Some(reason) => Some(LoginView::failed(reason.to_owned())),
            None => (about == "done").then(LoginView::done),
        }
    }

    /// Nobody is to come back to it any more.
    pub(super) async fn forget(&self, state: &str) {
        let _ = self.take(state).await;
    }

    async fn put(&self, parcel: Parcel, life: Duration) -> Result<(), StoreError> {
        let Kept::Shared { store, .. } = &self.kept else { return Ok(()) };
        store.once(move |unit| parcels::put(unit, Kind::Login, &parcel, life)).await
    }
}

impl Federation {
    /// Browsers of persons who log in at servers come back below this address, which leads to this process or to others
    /// that share its database. Until this is said, they come back to a port of this machine.
    pub fn come_back_to(&self, public: &str, home: &Path) {
        let callback = Callback::new(public, &self.entries.runtime.store, home);
        let _ = self.entries.deps.callback.set(callback);
    }

    /// A browser has come back, with this query. Carried to its end even if it leaves.
    pub async fn came_back(self: &std::sync::Arc<Self>, query: &str) -> CameBack {
        let (me, query) = (std::sync::Arc::clone(self), query.to_owned());
        tokio::spawn(async move { me.take_back(&query).await }).await.unwrap_or(CameBack::Failed)
    }

    async fn take_back(&self, query: &str) -> CameBack {
        let (Some(callback), Some(state)) = (self.entries.deps.callback.get(), state(query)) else {
            return CameBack::Unknown;
        };
        let (name, text) = match callback.take(&state).await {
            Ok(Some(found)) => found,
            Ok(None) => return CameBack::Unknown,
            Err(error) => {
                tracing::warn!(%error, "a login that was begun cannot be ended here");
                return CameBack::Failed;
            }
        };
        let Some(server) = self.server(&name) else { return CameBack::Unknown };
        let view = server.end_login(&text, query).await;
        callback.tell(&state, &name, &view).await;
        if view.state == LoginState::Done { CameBack::Done } else { CameBack::Failed }
    }
}

fn parcel(state: &str, server: &str, about: &str, body: Vec<u8>) -> Parcel {
    Parcel { id: id(state), owner: server.to_owned(), about: about.to_owned(), body }
}

/// What the database knows it by: who reads that cannot come back in somebody's place.
fn id(state: &str) -> String {
    blake3::hash(state.as_bytes()).to_hex().to_string()
}

fn sealed_as(server: &str) -> String {
    format!("login callback:{server}")
}

/// The state in a query, if it stands there once.
fn state(query: &str) -> Option<String> {
    let mut found = query.split('&').filter_map(|pair| pair.strip_prefix("state="));
    let state = found.next().filter(|state| !state.is_empty() && state.len() <= 128)?;
    // Ours have no characters that are written otherwise in a query.
    let plain = state.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    (plain && found.next().is_none()).then(|| state.to_owned())
}
