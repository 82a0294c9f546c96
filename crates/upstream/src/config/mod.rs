//! `mcp.json`: the servers that this Toolroom draws on.

mod filter;
mod oauth;
mod read;
mod sandbox;
mod secret;
mod variables;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use reqwest::Url;
use serde_json::Value;
use toolroom_worker::Openings;

pub use filter::ToolFilter;
pub use read::{TWICE, read_file, read_server};
pub use secret::Secret;
pub use variables::{Environment, SEAL_KEY, expand};

/// One server of `mcp.json`.
#[derive(Clone, Debug)]
pub struct ServerEntry {
    /// Its name, which is also the first half of its permission.
    pub name: String,
    /// The entry as it was written, with the fields of other clients.
    pub source: Value,
    /// What follows from it.
    pub standing: Standing,
}

/// Whether a server is used.
#[derive(Clone, Debug)]
pub enum Standing {
    /// It is.
    Enabled(Box<ServerConfig>),
    /// It is not, and why.
    Disabled(String),
    /// It cannot be: the entry is wrong. The others are used anyway.
    Invalid(ConfigError),
}

/// A server that is used, with every variable put in.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Its name.
    pub name: String,
    /// The name under which it is published; see [`crate::names::published`].
    pub published: String,
    /// How it is reached.
    pub reach: Reach,
    /// How long a call may take.
    pub timeout: Option<Duration>,
    /// Which of its tools are taken.
    pub filter: ToolFilter,
    /// What its tools' names begin with, instead of its name; empty for the bare names.
    pub prefix: Option<String>,
    /// How to get a token, for a server that wants one.
    pub oauth: Option<OAuthClient>,
    /// Whether its address may be on this machine or its network.
    pub allow_private: bool,
    /// Whether it is a Toolroom, which is told for whom a call is, and whose envelope is taken off.
    pub toolroom: bool,
}

/// How a server is reached.
#[derive(Clone)]
pub enum Reach {
    /// A program that we start, on its stdin and stdout.
    Stdio(Stdio),
    /// A URL.
    Url {
        /// Where it is.
        url: Url,
        /// What is spoken there.
        kind: UrlKind,
        /// Sent with every request.
        headers: BTreeMap<String, Secret>,
    },
}

/// A program that is a server.
#[derive(Clone)]
pub struct Stdio {
    /// A path, or a name to be found on PATH.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment, beyond the few variables that every server gets.
    pub env: BTreeMap<String, Secret>,
    /// Its working folder; the home if not given, and a temporary one in a sandbox.
    pub cwd: Option<PathBuf>,
    /// What it may reach, if it is confined.
    pub sandbox: Option<Openings>,
}

/// What is spoken at a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlKind {
    /// To be found out.
    Detect,
    /// Streamable HTTP, of whatever revision.
    Streamable,
    /// HTTP+SSE of 2024-11-05.
    Sse,
}

/// How to get a token. By default: by a person's consent, at the place that the server names.
#[derive(Clone, Debug, Default)]
pub struct OAuthClient {
    /// Who gives it.
    pub grant: Grant,
    /// Where tokens are given, if that is not to be found out.
    pub token_url: Option<Url>,
    /// The authorization server that it must be.
    pub issuer: Option<String>,
    /// Who we are there, if that was registered before.
    pub client_id: Option<String>,
    /// Our secret there.
    pub client_secret: Option<Secret>,
    /// Our key there, instead of a secret: PKCS #8 in PEM.
    pub private_key: Option<Secret>,
    /// A document of ours on the web that says who we are, for those who take that.
    pub client_metadata_url: Option<Url>,
    /// What is asked for; else what the server says.
    pub scope: Option<String>,
    /// Where a person is sent back to, if that was registered: a port of this machine.
    pub redirect_uri: Option<Url>,
    /// Whether the authorization server may be of this machine or its network.
    pub allow_private: bool,
    /// Who vouches for us, in an organization.
    pub identity: Option<IdentityProvider>,
}

/// Who gives a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grant {
    /// A person, in a browser.
    #[default]
    AuthorizationCode,
    /// Nobody: our own word is enough, or that of an identity provider.
    ClientCredentials,
}

/// Where an organization's people log in, and what it gave for us.
#[derive(Clone, Debug)]
pub struct IdentityProvider {
    /// Where it gives tokens.
    pub token_url: Url,
    /// Who we are there.
    pub client_id: String,
    /// The ID token of the one for whom we ask.
    pub id_token: Secret,
}

/// Who wrote an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// Someone who can write the home's files: private addresses are allowed unless the entry says no.
    File,
    /// Someone with a grant: private addresses are refused unless the entry says `allow_private`.
    Api,
}

/// What is wrong with `mcp.json`, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    /// The server, if it is about one.
    pub server: Option<String>,
    /// The field, as a path below the server.
    pub field: Option<String>,
    /// Line and column, where the file is not JSON.
    pub place: Option<(usize, usize)>,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }
        if let Some(server) = &self.server {
            write!(f, "server '{server}': ")?;
        }
        if let Some(field) = &self.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl ServerConfig {
    /// What the names of its tools begin with.
    pub fn name_prefix(&self) -> &str {
        self.prefix.as_deref().unwrap_or(&self.published)
    }
}

// Arguments, environment and headers often hold keys, so none of their values is ever printed.
impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio(stdio) => {
                f.debug_struct("Stdio").field("command", &stdio.command).finish_non_exhaustive()
            }
            Self::Url { url, kind, .. } => f
                .debug_struct("Url")
                .field("host", &url.host_str())
                .field("kind", kind)
                .finish_non_exhaustive(),
        }
    }
}
