//! From the text of `mcp.json` to servers, with each error naming its server and field.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value};
use toolroom_contract::sandbox::SandboxEntry;
use toolroom_contract::text::plain_reason;

use super::oauth::WrittenOAuth;
use super::sandbox::openings;
use super::variables::{Environment, Expander, LONGEST};
use super::{
    Author, ConfigError, Reach, Secret, ServerConfig, ServerEntry, Standing, Stdio, ToolFilter, UrlKind,
};
use crate::names::published;

/// The servers of a file, in its order; `mcpServers` and `mcp_servers` are both read. An entry that is wrong is one of
/// them, with what is wrong with it; only what is wrong with the whole file ends the reading.
pub fn read_file(text: &str, environment: Environment<'_>) -> Result<Vec<ServerEntry>, Vec<ConfigError>> {
    let file: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
        let place = Some((error.line(), error.column()));
        vec![ConfigError { place, ..whole(format!("not valid JSON: {error}")) }]
    })?;
    let mut entries: Vec<ServerEntry> = Vec::new();
    let mut errors = Vec::new();
    for key in ["mcpServers", "mcp_servers"] {
        let servers = match file.get(key) {
            None | Some(Value::Null) => continue,
            Some(Value::Object(servers)) => servers,
            Some(_) => {
                errors.push(whole(format!("{key} must be an object with a field for each server")));
                continue;
            }
        };
        for (name, source) in servers {
            if let Some(twice) = entries.iter_mut().find(|known| known.name == *name) {
                let error = ConfigError { server: Some(name.clone()), ..whole(TWICE) };
                twice.standing = Standing::Invalid(error);
                continue;
            }
            entries.push(read_server(name, source, environment, Author::File).unwrap_or_else(|error| {
                ServerEntry { name: name.clone(), source: source.clone(), standing: Standing::Invalid(error) }
            }));
        }
    }
    tell_collisions(&mut entries);
    if errors.is_empty() { Ok(entries) } else { Err(errors) }
}

/// What is wrong with an entry whose name another one has.
pub const TWICE: &str = "appears twice in the file: remove or rename one of the two";

/// Two servers must not be published under one name: who may call one could call the other. A server that is published
/// as it is called comes first, then the one that stands first.
fn tell_collisions(entries: &mut [ServerEntry]) {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|at| published(&entries[*at].name) != entries[*at].name);
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    for at in order {
        let entry = &mut entries[at];
        let name = published(&entry.name);
        match taken.get(&name.to_ascii_lowercase()) {
            None => drop(taken.insert(name.to_ascii_lowercase(), entry.name.clone())),
            Some(other) => {
                let message = format!(
                    "is published as '{name}', and so is the server '{other}': rename one of the two"
                );
                entry.standing =
                    Standing::Invalid(ConfigError { server: Some(entry.name.clone()), ..whole(message) });
            }
        }
    }
}

/// One server out of its fields.
pub fn read_server(
    name: &str,
    source: &Value,
    environment: Environment<'_>,
    author: Author,
) -> Result<ServerEntry, ConfigError> {
    let wrong = |field: &str, message: String| ConfigError {
        server: Some(name.to_owned()),
        field: (!field.is_empty()).then(|| field.to_owned()),
        place: None,
        message,
    };
    if name.trim().is_empty() || name.len() > LONGEST_NAME || name.contains(char::is_control) {
        let rule = format!("a name is any text of 1 to {LONGEST_NAME} bytes without control characters");
        return Err(wrong("", rule));
    }
    let written: Written = serde_path_to_error::deserialize(source).map_err(|error| {
        let path = error.path().to_string();
        wrong(if path == "." { "" } else { &path }, plain_reason(&error.inner().to_string()))
    })?;
    let mut expander = Expander::new(environment);
    let config = written.config(name, author, &mut expander);
    let standing = if written.enabled == Some(false) || written.disabled == Some(true) {
        Standing::Disabled("it is switched off in mcp.json".to_owned())
    } else if expander.too_long {
        let most = LONGEST >> 10;
        Standing::Disabled(format!(
            "a value is longer than {most} KiB after its variables are filled in; shorten it"
        ))
    } else if expander.unset.is_empty() {
        Standing::Enabled(Box::new(config.map_err(|(field, message)| wrong(&field, message))?))
    } else {
        Standing::Disabled(unset(&expander.unset))
    };
    Ok(ServerEntry { name: name.to_owned(), source: source.clone(), standing })
}

/// An entry as it is written. Fields that other clients need are let be.
#[derive(Deserialize)]
struct Written {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    sandbox: Option<SandboxEntry>,
    #[serde(alias = "serverUrl", alias = "httpUrl")]
    url: Option<String>,
    #[serde(rename = "type", alias = "transport")]
    kind: Option<WrittenKind>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    timeout: Option<f64>,
    enabled: Option<bool>,
    disabled: Option<bool>,
    #[serde(alias = "includeTools", alias = "allow_tools")]
    allow: Option<Vec<String>>,
    #[serde(default, alias = "excludeTools", alias = "deny_tools")]
    deny: Vec<String>,
    prefix: Option<String>,
    oauth: Option<WrittenOAuth>,
    allow_private: Option<bool>,
    #[serde(default)]
    toolroom: bool,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum WrittenKind {
    Stdio,
    #[serde(alias = "streamable-http", alias = "streamableHttp", alias = "streamable_http")]
    Http,
    Sse,
}

/// A field, and what is wrong with it.
pub(super) type Wrong = (String, String);

impl Written {
    fn config(&self, name: &str, author: Author, expander: &mut Expander<'_>) -> Result<ServerConfig, Wrong> {
        let reach = match (&self.command, &self.url) {
            (Some(command), None) => self.stdio(command, expander),
            (None, Some(url)) => self.at_url(url, expander),
            (Some(_), Some(_)) => Err(at("url", "has both `command` and `url`: keep one of them")),
            (None, None) => {
                Err(at("command", "has neither `command` (a program) nor `url`: give one of them"))
            }
        };
        let oauth = self.oauth.as_ref().map(|oauth| oauth.client(expander)).transpose();
        let timeout = match self.timeout {
            Some(seconds) if seconds > 0.0 && seconds <= 3600.0 => Some(Duration::from_secs_f64(seconds)),
            Some(_) => return Err(at("timeout", "is in seconds: above 0, and at most 3600")),
            None => None,
        };
        if let Some(prefix) = &self.prefix
            && !(prefix.is_empty() || is_prefix(prefix))
        {
            return Err(at("prefix", "has at most 48 letters, digits, '_' or '-'; empty for bare names"));
        }
        Ok(ServerConfig {
            name: name.to_owned(),
            published: published(name),
            reach: reach?,
            timeout,
            filter: ToolFilter::new(self.allow.clone(), self.deny.clone()),
            prefix: self.prefix.clone(),
            oauth: oauth?,
            allow_private: self.allow_private.unwrap_or(author == Author::File),
            toolroom: self.toolroom,
        })
    }

    fn stdio(&self, command: &str, expander: &mut Expander<'_>) -> Result<Reach, Wrong> {
        if !matches!(self.kind, None | Some(WrittenKind::Stdio)) {
            return Err(at("type", "must be stdio for a server with `command`"));
        }
        let command = expander.expand(command);
        let args = self.args.iter().map(|arg| expander.expand(arg)).collect();
        let mut env = BTreeMap::new();
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(at(&format!("env.{name}"), "is not a variable name"));
            }
            env.insert(name.clone(), Secret::new(expander.expand(value)));
        }
        let cwd = self.cwd.as_deref().map(|cwd| PathBuf::from(expander.expand(cwd)));
        if command.trim().is_empty() && expander.unset.is_empty() {
            return Err(at("command", "is empty"));
        }
        let sandbox = self.sandbox.as_ref().and_then(SandboxEntry::openings);
        let sandbox = sandbox.map(|wanted| openings(&wanted, expander)).transpose()?;
        Ok(Reach::Stdio(Stdio { command, args, env, cwd, sandbox }))
    }

    fn at_url(&self, url: &str, expander: &mut Expander<'_>) -> Result<Reach, Wrong> {
        let kind = match self.kind {
            None => UrlKind::Detect,
            Some(WrittenKind::Http) => UrlKind::Streamable,
            Some(WrittenKind::Sse) => UrlKind::Sse,
            Some(WrittenKind::Stdio) => return Err(at("type", "is stdio, which needs `command`, not `url`")),
        };
        if self.sandbox.is_some() {
            return Err(at("sandbox", "is for a program: it needs `command`, not `url`"));
        }
        let url = expander.expand(url);
        let mut headers = BTreeMap::new();
        for (name, value) in &self.headers {
            let value = expander.expand(value);
            let field = format!("headers.{name}");
            HeaderName::try_from(name.as_str()).map_err(|_| at(&field, "is not a header name"))?;
            HeaderValue::try_from(&value)
                .map_err(|_| at(&field, "has a character that is not allowed in a header"))?;
            headers.insert(name.to_ascii_lowercase(), Secret::new(value));
        }
        // An unset variable disables the server: what is left of the URL need not make sense.
        let url = if expander.unset.is_empty() { parse_url("url", &url)? } else { placeholder()? };
        Ok(Reach::Url { url, kind, headers })
    }
}

pub(super) fn parse_url(field: &str, text: &str) -> Result<Url, Wrong> {
    let url = Url::parse(text).map_err(|error| at(field, &format!("is not a URL: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(at(field, "must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(at(field, "must not contain a name or password: use `headers` or `oauth`"));
    }
    Ok(url)
}

pub(super) fn placeholder() -> Result<Url, Wrong> {
    Url::parse("http://unset.invalid").map_err(|error| at("url", &error.to_string()))
}

pub(super) fn at(field: &str, message: &str) -> Wrong {
    (field.to_owned(), message.to_owned())
}

fn whole(message: impl Into<String>) -> ConfigError {
    ConfigError { server: None, field: None, place: None, message: message.into() }
}

fn unset(names: &[String]) -> String {
    match names {
        [one] => format!("the environment variable {one} is not set"),
        many => format!("the environment variables {} are not set", many.join(", ")),
    }
}

/// The longest name of a server.
const LONGEST_NAME: usize = 256;

fn is_prefix(name: &str) -> bool {
    name.len() <= 48
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}
