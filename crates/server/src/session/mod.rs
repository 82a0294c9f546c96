//! Sessions of the console. A person logs in by a link of the home's owner or by a key of their own, and gets two
//! secrets: a cookie that no script can read, and a proof that only our own page has. Cookies do not know ports, so
//! the one alone could come from any page of this machine, and counts for nothing.

mod cookie;
mod failures;
mod known;
mod links;
mod same_origin;

use std::path::Path;
use std::sync::OnceLock;

use http::HeaderMap;
use jiff::Timestamp;
use toolroom_store::{Store, StoreError};

pub(crate) use cookie::Shown;
pub(crate) use same_origin::{check as check_same_origin, is_https};

use crate::auth::Auth;
use failures::Failures;
use links::Links;

/// How people log in.
pub(crate) struct Logins {
    /// The name of its cookie. Its own for each home: two servers of one machine get each other's cookies.
    cookie: String,
    pub(crate) links: Links,
    pub(crate) failures: Failures,
    /// Where browsers find this server.
    address: OnceLock<String>,
}

/// A way into the console that works once.
#[derive(Clone, Debug)]
pub struct Link {
    /// To be opened in a browser. The secret is behind the `#`, which browsers send to nobody.
    pub url: String,
    /// Until when.
    pub expires_at: Timestamp,
}

impl Logins {
    pub(crate) fn new(home: &Path, store: &Store) -> Self {
        let id = blake3::hash(home.as_os_str().as_encoded_bytes()).to_hex();
        Self {
            cookie: match store.lease() {
                // One session at all of them, wherever their homes are.
                Some(_) => "toolroom_shared".to_owned(),
                None => format!("toolroom_{}", &id[..8]),
            },
            links: Links::default(),
            failures: Failures::default(),
            address: OnceLock::new(),
        }
    }

    /// What a request shows of a session.
    pub(crate) fn shown<'a>(&self, headers: &'a HeaderMap) -> Shown<'a> {
        cookie::shown(headers, &self.cookie)
    }

    /// The header that gives a browser its cookie.
    pub(crate) fn cookie(&self, value: &str, is_https: bool) -> String {
        cookie::set(&self.cookie, value, is_https)
    }

    /// The header that takes it away.
    pub(crate) fn no_cookie(&self) -> String {
        cookie::remove(&self.cookie)
    }
}

impl Auth {
    /// Where browsers find this server, such as `http://127.0.0.1:7878`.
    pub fn announce(&self, address: String) {
        // A server listens once.
        let _ = self.logins.address.set(address);
    }

    /// A new link into the console; `None` while no server listens.
    pub async fn new_link(&self) -> Result<Option<Link>, StoreError> {
        let Some(address) = self.logins.address.get() else { return Ok(None) };
        let (store, now) = (&self.runtime.store, self.runtime.clock.now());
        let (secret, expires_at) = self.logins.links.make(store, now).await?;
        Ok(Some(Link { url: format!("{address}/console/login#link={}", secret.reveal()), expires_at }))
    }
}
