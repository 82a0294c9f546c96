//! Where the database is: a SQLite file or a PostgreSQL server. Never shows a password.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use postgres::config::{Host, SslMode};

use crate::StoreError;
use crate::engine::postgres::tls::{Mode, Roots, Tls};

/// A parsed database URL: `sqlite:PATH`, a plain path, or `postgres://…`.
#[derive(Clone)]
pub struct DatabaseUrl(pub(crate) Target);

#[derive(Clone)]
pub(crate) enum Target {
    Sqlite(PathBuf),
    Postgres(Box<PostgresServer>),
}

/// A PostgreSQL server and the way to it.
#[derive(Clone)]
pub(crate) struct PostgresServer {
    pub config: postgres::Config,
    pub tls: Tls,
}

impl DatabaseUrl {
    /// The SQLite database in this file.
    pub fn sqlite(path: impl Into<PathBuf>) -> Self {
        Self(Target::Sqlite(path.into()))
    }

    /// The file, if this is a SQLite database.
    pub fn sqlite_path(&self) -> Option<&Path> {
        match &self.0 {
            Target::Sqlite(path) => Some(path),
            Target::Postgres(_) => None,
        }
    }
}

impl FromStr for DatabaseUrl {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let bad = |reason| Err(StoreError::BadUrl { reason });
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return postgres_server(text).map(|server| Self(Target::Postgres(Box::new(server))));
        }
        let path = match text.strip_prefix("sqlite:") {
            Some(rest) => rest.strip_prefix("//").unwrap_or(rest),
            None if text.contains("://") => return bad("it must start with sqlite: or postgres://"),
            None => text,
        };
        match path {
            "" => bad("it names no file"),
            ":memory:" => bad("a database in memory is not supported; name a file"),
            path if path.contains('\0') => bad("the path has U+0000"),
            path => Ok(Self::sqlite(path)),
        }
    }
}

/// The parser's own message is dropped: with a malformed URL it can quote a piece of the password.
fn postgres_server(text: &str) -> Result<PostgresServer, StoreError> {
    let (rest, tls) = split_off_tls(text)?;
    let mut config: postgres::Config = rest.parse().map_err(|_| StoreError::BadUrl {
        reason: "expected postgres://user:password@host:port/database, special characters percent-encoded",
    })?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(2));
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(10));
    }
    if config.get_application_name().is_none() {
        config.application_name("toolroom");
    }
    // A socket in the file system is not encrypted, whatever the mode says; psql has it so, too.
    let is_local = config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
    config.ssl_mode(if is_local { SslMode::Disable } else { tls.driver_mode() });
    Ok(PostgresServer { config, tls })
}

/// Takes what concerns TLS out of the URL: the driver knows only some of it.
fn split_off_tls(text: &str) -> Result<(String, Tls), StoreError> {
    let (address, query) = text.split_once('?').unwrap_or((text, ""));
    let (mut mode, mut roots, mut certificate, mut key) = (None, None, None, None);
    let mut rest = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let slot = match name {
            "sslmode" => &mut mode,
            "sslrootcert" => &mut roots,
            "sslcert" => &mut certificate,
            "sslkey" => &mut key,
            _ => {
                rest.push(pair);
                continue;
            }
        };
        *slot = Some(percent_decoded(value)?);
    }
    let bad = |reason| StoreError::BadUrl { reason };
    let file = |text: String| match Path::new(&text).is_absolute() {
        true => Ok(PathBuf::from(text)),
        false => Err(bad("sslrootcert, sslcert and sslkey are files, named from the root: /etc/…")),
    };
    let has_files = roots.is_some() || certificate.is_some() || key.is_some();
    let mode = match mode.as_deref() {
        Some("disable") => Mode::Disable,
        Some("prefer") => Mode::Prefer,
        Some("require") => Mode::Require,
        Some("verify-ca") => Mode::VerifyCa,
        Some("verify-full") => Mode::VerifyFull,
        Some(_) => return Err(bad("sslmode is disable, prefer, require, verify-ca or verify-full")),
        None if has_files => return Err(bad("with sslrootcert, sslcert or sslkey, say sslmode=verify-full")),
        None => Mode::default(),
    };
    let roots = match roots {
        None => Roots::Unnamed,
        Some(system) if system == "system" => Roots::System,
        Some(path) => Roots::File(file(path)?),
    };
    let identity = match (certificate, key) {
        (Some(certificate), Some(key)) => Some((file(certificate)?, file(key)?)),
        (None, None) => None,
        _ => return Err(bad("sslcert and sslkey belong together")),
    };
    let mark = if rest.is_empty() { "" } else { "?" };
    Ok((format!("{address}{mark}{}", rest.join("&")), Tls { mode, roots, identity }))
}

fn percent_decoded(text: &str) -> Result<String, StoreError> {
    let bad = || StoreError::BadUrl { reason: "a percent sign must be followed by two hexadecimal digits" };
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2).ok_or_else(bad)?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| bad())?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).map_err(|_| bad())
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = match &self.0 {
            Target::Sqlite(path) => return write!(f, "sqlite:{}", path.display()),
            Target::Postgres(server) => &server.config,
        };
        f.write_str("postgres://")?;
        match config.get_hosts().first() {
            Some(Host::Tcp(host)) => f.write_str(host)?,
            Some(Host::Unix(path)) => write!(f, "{}", path.display())?,
            None => f.write_str("localhost")?,
        }
        if let Some(port) = config.get_ports().first() {
            write!(f, ":{port}")?;
        }
        write!(f, "/{}", config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
