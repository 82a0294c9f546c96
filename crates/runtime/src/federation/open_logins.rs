//! The logins whose persons have not come back yet: in this process, or sealed in the database that several share.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolroom_store::parcels::{self, Kind, Parcel};
use toolroom_store::{Store, StoreError};
use toolroom_upstream::{LOGIN_LIMIT, OpenLogin};

use super::login::LoginView;
use crate::secret_file::{SealKey, SecretFile};

/// How long it is kept what became of a login, for the server that waits for it.
const TOLD_FOR: Duration = Duration::from_secs(60);
/// Logins that one process keeps by itself.
const MOST_HERE: usize = 100;

/// The logins that are open, by their states.
pub(super) enum OpenLogins {
    Here(Mutex<HashMap<String, Here>>),
    Shared { store: Store, key: PathBuf },
}

pub(super) struct Here {
    since: Instant,
    server: String,
    /// The text of the login, or why it was called off.
    login: Result<String, String>,
}

/// What is known by a state.
pub(super) enum Known {
    /// A login at this server.
    Open { server: String },
    /// One that is over, and why.
    CalledOff { reason: String },
}

impl OpenLogins {
    pub(super) fn new(store: &Store, home: &Path) -> Self {
        match store.lease() {
            Some(_) => Self::Shared { store: store.clone(), key: SecretFile::of_home(home).key() },
            None => Self::Here(Mutex::default()),
        }
    }

    /// Keeps a login until its person comes back, in place of any other at the same server.
    pub(super) async fn keep(&self, server: &str, login: &OpenLogin, instead: &str) -> Result<(), String> {
        match self {
            Self::Here(logins) => {
                let mut logins = logins.lock().unwrap_or_else(PoisonError::into_inner);
                logins.retain(|_, one| one.since.elapsed() < LOGIN_LIMIT);
                call_off_here(&mut logins, server, instead);
                make_room(&mut logins)?;
                let (since, server, text) = (Instant::now(), server.to_owned(), login.text.clone());
                logins.insert(login.state.clone(), Here { since, server, login: Ok(text) });
                Ok(())
            }
            Self::Shared { store, key } => {
                let key = SealKey::find_shared(key).map_err(|error| error.to_string())?;
                let sealed = key.seal(&sealed_as(server), &login.text).map_err(|error| error.to_string())?;
                let parcel = parcel(&login.state, server, "", sealed.into_bytes());
                let (turn, about) = (turn(server), called_off(instead));
                // One after the other, or two that begin at once would not see each other.
                let kept = store.write(move |unit| {
                    parcels::lock(unit, Kind::Login, &turn, &parcel.owner, LOGIN_LIMIT)?;
                    parcels::empty(unit, Kind::Login, &parcel.owner, &about)?;
                    parcels::put(unit, Kind::Login, &parcel, LOGIN_LIMIT)
                });
                kept.await.map_err(|error: StoreError| error.to_string())
            }
        }
    }

    /// Nobody is to come back to a login at this server any more.
    pub(super) async fn call_off(&self, server: &str, reason: &str) {
        match self {
            Self::Here(logins) => {
                let mut logins = logins.lock().unwrap_or_else(PoisonError::into_inner);
                call_off_here(&mut logins, server, reason);
            }
            Self::Shared { store, .. } => {
                let (owner, about) = (server.to_owned(), called_off(reason));
                let done = store.once(move |unit| parcels::empty(unit, Kind::Login, &owner, &about)).await;
                if let Err(error) = done {
                    tracing::warn!(%error, server, "a login that was begun could not be called off");
                }
            }
        }
    }

    /// What a state stands for. Changes nothing.
    pub(super) async fn look(&self, state: &str) -> Result<Option<Known>, String> {
        match self {
            Self::Here(logins) => {
                let logins = logins.lock().unwrap_or_else(PoisonError::into_inner);
                let found = logins.get(state).filter(|one| one.since.elapsed() < LOGIN_LIMIT);
                Ok(found.map(|one| match &one.login {
                    Ok(_) => Known::Open { server: one.server.clone() },
                    Err(reason) => Known::CalledOff { reason: reason.clone() },
                }))
            }
            Self::Shared { .. } => {
                let found = self.parcel(state).await.map_err(|error| error.to_string())?;
                Ok(found.and_then(|Parcel { owner: server, about, body, .. }| match body.is_empty() {
                    false => Some(Known::Open { server }),
                    true => Some(Known::CalledOff { reason: about.strip_prefix(CALLED_OFF)?.to_owned() }),
                }))
            }
        }
    }

    /// The text of a login at this server, for whoever comes first.
    pub(super) async fn take(&self, state: &str, server: &str) -> Result<Option<String>, String> {
        match self {
            Self::Here(logins) => {
                let mut logins = logins.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(logins.remove(state).and_then(|one| one.login.ok()))
            }
            Self::Shared { store, key } => {
                let id = id(state);
                let taken = store.write(move |unit| parcels::take(unit, Kind::Login, &id)).await;
                let taken = taken.map_err(|error: StoreError| error.to_string())?;
                let Some(Parcel { body, .. }) = taken else { return Ok(None) };
                let open = || {
                    let sealed = String::from_utf8(body).map_err(std::io::Error::other)?;
                    SealKey::find_shared(key)?.open(&sealed_as(server), &sealed, "log in again")
                };
                open().map(Some).map_err(|error| error.to_string())
            }
        }
    }

    /// Leaves word of what became of it, for the process that opened it.
    pub(super) async fn tell(&self, state: &str, server: &str, view: &LoginView) {
        let Self::Shared { store, .. } = self else { return };
        let about = match view.reason.as_deref() {
            Some(reason) => format!("{FAILED}{reason}"),
            None => DONE.to_owned(),
        };
        let parcel = parcel(state, server, &about, Vec::new());
        let told = store.once(move |unit| parcels::put(unit, Kind::Login, &parcel, TOLD_FOR)).await;
        if let Err(error) = told {
            tracing::warn!(%error, server, "the server that opened a login was not told of its end");
        }
    }

    /// What became of it at another process, if anything did.
    pub(super) async fn told(&self, state: &str) -> Option<LoginView> {
        let about = self.parcel(state).await.unwrap_or_default()?.about;
        let reason = about.strip_prefix(FAILED).or_else(|| about.strip_prefix(CALLED_OFF));
        match reason {
            Some(reason) => Some(LoginView::failed(reason.to_owned())),
            None => (about == DONE).then(LoginView::done),
        }
    }

    async fn parcel(&self, state: &str) -> Result<Option<Parcel>, StoreError> {
        let Self::Shared { store, .. } = self else { return Ok(None) };
        let id = id(state);
        store.read(move |unit| parcels::get(unit, Kind::Login, &id)).await
    }
}

fn call_off_here(logins: &mut HashMap<String, Here>, server: &str, reason: &str) {
    for one in logins.values_mut().filter(|one| one.server == server && one.login.is_ok()) {
        one.login = Err(reason.to_owned());
    }
}

/// What was called off goes first; what is open stays.
fn make_room(logins: &mut HashMap<String, Here>) -> Result<(), String> {
    if logins.len() < MOST_HERE {
        return Ok(());
    }
    let over = logins.iter().filter(|(_, one)| one.login.is_err()).min_by_key(|(_, one)| one.since);
    let oldest = over.map(|(state, _)| state.clone());
    let oldest = oldest.ok_or("too many logins are open; wait until some have ended")?;
    logins.remove(&oldest);
    Ok(())
}

/// How the note about a login begins that has ended.
const FAILED: &str = "failed ";
const CALLED_OFF: &str = "called off ";
const DONE: &str = "done";

fn called_off(reason: &str) -> String {
    format!("{CALLED_OFF}{reason}")
}

fn parcel(state: &str, server: &str, about: &str, body: Vec<u8>) -> Parcel {
    Parcel { id: id(state), owner: server.to_owned(), about: about.to_owned(), body }
}

/// What the database knows it by: who reads that cannot come back in somebody's place.
fn id(state: &str) -> String {
    blake3::hash(state.as_bytes()).to_hex().to_string()
}

/// What whoever begins a login at a server locks. No state has a space in it.
fn turn(server: &str) -> String {
    id(&format!("turn of {server}"))
}

fn sealed_as(server: &str) -> String {
    format!("login callback:{server}")
}
