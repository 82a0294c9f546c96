//! Logins of servers that share a database: a sealed row for each server that is drawn on. Who renews a token has its turn
//! over all processes, and the others read again: authorization servers end a login whose refresh token is used twice.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OwnedMutexGuard;
use toolroom_contract::ids::RunId;
use toolroom_store::{Store, StoreError, logins, slots};
use toolroom_upstream::{Credentials, TokenFolder, TokenStore, TokenTurn};
use uuid::Uuid;

use crate::secret_file::{SealKey, SecretFile};

/// Where a home has its logins while it is alone.
pub(super) const FOLDER: &str = "logins";
/// How long others may take to renew a token.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a token that was renewed is tried to be kept: nobody else has it.
const PERSISTENCE: Duration = Duration::from_secs(40);
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(250);

/// The rows. For threads that may block.
pub(super) struct SharedLogins {
    store: Store,
    run: RunId,
    key: PathBuf,
    /// This process asks for one turn at a time.
    asking: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

impl SharedLogins {
    pub(super) fn new(store: &Store, run: RunId, home: &Path) -> Self {
        let key = SecretFile::of_home(home).key();
        Self { store: store.clone(), run, key, asking: Mutex::default() }
    }

    fn open(&self, server: &str, sealed: &str) -> io::Result<Credentials> {
        let else_do =
            format!("log in again: toolroom servers logout {server}, then toolroom servers login {server}");
        let text = SealKey::find_shared(&self.key)?.open(&name(server), sealed, &else_do)?;
        Ok(serde_json::from_str(&text)?)
    }

    fn sealed(&self, server: &str) -> io::Result<Option<String>> {
        let server = server.to_owned();
        waited(self.store.read(move |unit| logins::get(unit, &server)))
    }
}

impl TokenStore for SharedLogins {
    fn load(&self, server: &str) -> io::Result<Option<Credentials>> {
        self.sealed(server)?.map(|sealed| self.open(server, &sealed)).transpose()
    }

    fn save(&self, server: &str, credentials: &Credentials) -> io::Result<()> {
        let text = serde_json::to_string(credentials)?;
        let (began, mut is_ours) = (Instant::now(), false);
        loop {
            let saved = || {
                // What another server sealed with another key is its login still.
                if !is_ours && let Some(sealed) = self.sealed(server)? {
                    self.open(server, &sealed)?;
                }
                is_ours = true;
                let sealed = SealKey::find_shared(&self.key)?.seal(&name(server), &text)?;
                let server = server.to_owned();
                waited(self.store.once(move |unit| logins::put(unit, &server, &sealed)))
            };
            match { saved }() {
                Err(error) if error.kind() == io::ErrorKind::Other && began.elapsed() < PERSISTENCE => {
                    std::thread::sleep(PAUSE);
                }
                done => return done,
            }
        }
    }

    fn remove(&self, server: &str) -> io::Result<()> {
        let server = server.to_owned();
        waited(self.store.once(move |unit| logins::remove(unit, &server)))
    }

    fn turn(&self, server: &str) -> io::Result<Option<TokenTurn>> {
        let asking = {
            let mut all = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(server.to_owned()).or_default())
        };
        let asking = asking.blocking_lock_owned();
        let (token, began) = (Uuid::now_v7().to_string(), Instant::now());
        loop {
            let (server, run, asked) = (server.to_owned(), self.run, token.clone());
            if waited(self.store.once(move |unit| logins::take_turn(unit, &server, run, &asked)))? {
                break;
            }
            if began.elapsed() > PATIENCE {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "another server renews its token for too long",
                ));
            }
            std::thread::sleep(slots::TICK);
        }
        let turn = Turn { store: self.store.clone(), server: server.to_owned(), token, _asking: asking };
        Ok(Some(Box::new(turn)))
    }
}

impl std::fmt::Debug for SharedLogins {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedLogins").finish_non_exhaustive()
    }
}

/// Gives the turn back when it is dropped.
struct Turn {
    store: Store,
    server: String,
    token: String,
    _asking: OwnedMutexGuard<()>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let (server, token) = (std::mem::take(&mut self.server), std::mem::take(&mut self.token));
        self.store.once_unheard(move |unit| logins::end_turn(unit, &server, &token));
    }
}

/// Moves the logins of the first home that shares a database there. What cannot be moved is said, and left.
pub(crate) fn bring_in(store: &Store, run: RunId, home: &Path) {
    let shared = SharedLogins::new(store, run, home);
    let folder = TokenFolder::new(home.join(FOLDER));
    for file in fs::read_dir(home.join(FOLDER)).into_iter().flatten().flatten() {
        let file = file.path();
        let Some(server) = file.file_stem().and_then(|stem| stem.to_str()) else { continue };
        let moved = folder.load(server).and_then(|login| match login {
            Some(login) => shared.save(server, &login).and_then(|()| folder.remove(server)),
            None => Ok(()),
        });
        if let Err(error) = moved {
            tracing::warn!(server, %error, "a login of this home is not that of all servers: log in again");
        }
    }
}

/// What a row is sealed as.
fn name(server: &str) -> String {
    format!("login:{server}")
}

/// A failing database is told as an error of no special kind.
fn waited<T>(work: impl Future<Output = Result<T, StoreError>>) -> io::Result<T> {
    tokio::runtime::Handle::current().block_on(work).map_err(io::Error::other)
}
