//! Where Redis is: `redis://user:password@host:port/number`, or `rediss://` for TLS. Never shows a password.

use std::fmt;
use std::str::FromStr;

use crate::tls::options::{percent_decoded, split_off};
use crate::tls::{Mode, Tls};
use crate::{Secret, StoreError};

/// A parsed address of a Redis or Valkey server.
#[derive(Clone)]
pub struct RedisUrl {
    pub(super) host: String,
    pub(super) port: u16,
    /// Which of the server's numbered databases.
    pub(super) number: u32,
    pub(super) login: Option<Login>,
    pub(super) tls: Option<Tls>,
}

/// Who we say we are.
#[derive(Clone)]
pub(super) struct Login {
    pub user: Option<String>,
    pub password: Secret,
}

const FORM: &str = "expected redis://user:password@host:port/number, special characters percent-encoded";

impl FromStr for RedisUrl {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let bad = |reason| StoreError::BadUrl { reason };
        let (rest, tls) = match text.split_once("://") {
            Some(("redis", rest)) if !rest.contains('?') => (rest.to_owned(), None),
            Some(("redis", _)) => return Err(bad("what follows a question mark is for TLS: use rediss://")),
            Some(("rediss", rest)) => match split_off(rest, Some(Mode::VerifyFull))? {
                (_, tls) if matches!(tls.mode, Mode::Disable | Mode::Prefer) => {
                    return Err(bad(
                        "rediss:// is always encrypted: sslmode is require, verify-ca or verify-full",
                    ));
                }
                (rest, _) if rest.contains('?') => {
                    return Err(bad(
                        "it takes sslmode, sslrootcert, sslcert and sslkey, and no other option",
                    ));
                }
                (rest, tls) => (rest, Some(tls)),
            },
            _ => return Err(bad("it must start with redis:// or rediss://")),
        };
        let (login, place) = match rest.rsplit_once('@') {
            None => (None, &*rest),
            Some((login, place)) => (Some(login_of(login)?), place),
        };
        let (address, number) = place.split_once('/').unwrap_or((place, ""));
        let (host, port) = match address.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port),
            _ => (address, "6379"),
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if host.is_empty()
            || host.contains(|c: char| c.is_whitespace() || c.is_control() || "/?#[]".contains(c))
        {
            return Err(bad(FORM));
        }
        let number = if number.is_empty() { "0" } else { number };
        Ok(Self {
            host: host.to_owned(),
            port: port.parse().map_err(|_| bad(FORM))?,
            number: number.parse().map_err(|_| bad(FORM))?,
            login,
            tls,
        })
    }
}

/// `user:password`, `:password`, or, as some write it, `password`.
fn login_of(text: &str) -> Result<Login, StoreError> {
    let (user, password) = text.split_once(':').unwrap_or(("", text));
    let user = Some(percent_decoded(user)?).filter(|user| !user.is_empty());
    Ok(Login { user, password: Secret::of(percent_decoded(password)?) })
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls.is_some() { "rediss" } else { "redis" };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        write!(f, "{scheme}://{host}:{}/{}", self.port, self.number)
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> RedisUrl {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn a_url_names_a_server_and_shows_no_password() {
        for (text, shown) in [
            ("redis://cache", "redis://cache:6379/0"),
            ("redis://ada:p%40ss@cache:7000/3", "redis://cache:7000/3"),
            ("rediss://:pass@[::1]:7000", "rediss://[::1]:7000/0"),
            ("rediss://[::1]/1?sslrootcert=/ca.pem", "rediss://[::1]:6379/1"),
            ("rediss://pass@cache?sslmode=require", "rediss://cache:6379/0"),
        ] {
            let url = read(text);
            assert_eq!(format!("{url:?}"), shown);
            assert_eq!(url.tls.is_some(), text.starts_with("rediss"));
        }
        let login = read("redis://ada:p%40ss@cache").login.unwrap();
        assert_eq!((login.user.as_deref(), login.password.reveal()), (Some("ada"), "p@ss"));
        assert_eq!(read("redis://:only@cache").login.unwrap().user, None);
    }

    #[test]
    fn a_url_that_is_not_one_is_refused_without_being_quoted() {
        for text in [
            "cache:6379",
            "http://cache",
            "redis://",
            "redis://cache:port",
            "redis://cache:70000",
            "redis://cache/one",
            "redis://secret%zz@cache",
            "redis://cache?sslrootcert=/ca.pem",
            "rediss://cache?sslmode=disable",
            "rediss://cache?sslrootcert=ca.pem",
            "rediss://cache?secret=1",
            "redis://a b",
        ] {
            let refused = text.parse::<RedisUrl>().expect_err(text).to_string();
            assert!(!refused.contains("secret"), "{refused}");
        }
    }
}
