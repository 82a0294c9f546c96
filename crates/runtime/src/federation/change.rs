//! One change of `mcp.json`: checked whole, written, then visible.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use toolroom_upstream::config::{Author, Standing, ToolFilter, read_server};
use toolroom_upstream::names::published;

use super::approval::ApproveError;
use super::approved::ApprovedServer;
use super::error::ServerError;
use super::server::Server;
use super::{Federation, file};
use crate::registry_file::{FileError, InForce};

/// How long a server is waited for when a person lets its tools in.
const PATIENCE: Duration = Duration::from_secs(30);

impl Federation {
    /// Adds a server under a new name.
    pub async fn add(
        self: &Arc<Self>,
        name: &str,
        entry: Map<String, Value>,
        by: By,
    ) -> Result<Arc<Server>, ServerError> {
        let name = name.to_owned();
        self.in_turn(move |me, turn| me.store(turn, &name, entry, false, by)).await.map(|(server, _)| server)
    }

    /// Adds a server, or replaces the one of its name; whether it is new.
    pub async fn put(
        self: &Arc<Self>,
        name: &str,
        entry: Map<String, Value>,
        by: By,
    ) -> Result<(Arc<Server>, bool), ServerError> {
        let name = name.to_owned();
        self.in_turn(move |me, turn| me.store(turn, &name, entry, true, by)).await
    }

    /// Takes a server out; with `forget`, also what was approved of it, so that it can be met again.
    pub async fn remove(self: &Arc<Self>, name: &str, forget: bool) -> Result<(), ServerError> {
        let name = self.server(name).map_or_else(|| name.to_owned(), |server| server.name().to_owned());
        self.in_turn(move |me, turn| me.take_out(turn, &name, forget)).await
    }

    /// Approves the definitions of a server that wait for review, or one of them, if the server lists what that hash
    /// stands for. The server's own names of those that were approved.
    pub async fn approve(
        self: &Arc<Self>,
        name: &str,
        tool: Option<&str>,
        hash: &str,
    ) -> Result<Vec<String>, ServerError> {
        let server = self.server(name).ok_or_else(|| ServerError::NotFound(name.to_owned()))?;
        if server.upstream.is_none() {
            return Err(ServerError::Unavailable(server.off()));
        }
        let looked = tokio::time::timeout(PATIENCE, server.reviewed_again()).await;
        let slow = || ServerError::Unavailable("it does not answer".to_owned());
        looked.map_err(|_| slow())?.map_err(|error| ServerError::Unavailable(error.reason()))?;
        let wanted = tool.map(|tool| self.remote_name(&server, tool));
        let (server, of, hash) = (Arc::clone(&server), wanted.clone(), hash.to_owned());
        let approved = tokio::task::spawn_blocking(move || server.approve(of.as_deref(), &hash)).await;
        match approved.map_err(|error| FileError::Aborted(error.to_string()))? {
            Ok(names) => {
                if let Some(shared) = &self.shared {
                    shared.settle().await;
                }
                tracing::info!(server = name, tools = names.len(), "definitions of a server were approved");
                Ok(names)
            }
            Err(ApproveError::NoSuchTool) => Err(ServerError::NoSuchTool(wanted.unwrap_or_default())),
            Err(ApproveError::Other) => Err(ServerError::Changed(name.to_owned())),
            Err(ApproveError::Disk(error)) => Err(FileError::from(error).into()),
            Err(ApproveError::Refused(reason)) => Err(FileError::Aborted(reason).into()),
        }
    }

    /// The server's own name for a tool, which may be given by either of its names.
    fn remote_name(&self, server: &Server, tool: &str) -> String {
        let seen = server.seen.load();
        if seen.tools.contains_key(tool) {
            return tool.to_owned();
        }
        let found = seen.tools.iter().find(|(_, seen)| seen.name.as_deref() == Some(tool));
        found.map_or_else(|| tool.to_owned(), |(remote, _)| remote.clone())
    }

    fn store(
        &self,
        turn: &mut InForce<()>,
        name: &str,
        mut entry: Map<String, Value>,
        replace: bool,
        by: By,
    ) -> Result<(Arc<Server>, bool), ServerError> {
        let known = self.entries.servers.load();
        let new = !known.contains_key(name);
        if !new && !replace {
            return Err(ServerError::Exists(name.to_owned()));
        }
        let same = |other: &&String| published(other).eq_ignore_ascii_case(&published(name));
        if let Some(other) = known.keys().find(|other| *other != name && same(other)) {
            return Err(ServerError::Exists(other.clone()));
        }
        let known_source = known.get(name).map(|server| server.entry.source.clone());
        drop(known);
        // In the file it would read as written by the owner of the home, who may name any address.
        if entry.contains_key("url") && !entry.contains_key("allow_private") {
            entry.insert("allow_private".to_owned(), Value::Bool(false));
        }
        let source = Value::Object(entry);
        read_server(name, &source, &|variable| (self.entries.environment)(variable), Author::Api)
            .and_then(|mut entry| entry.resolve_sandbox(file::home_of(&self.path)))
            .map_err(ServerError::Invalid)?;
        let text = file::with(&self.path, &turn.text, name, &source).map_err(FileError::from)?;
        let before = self.entries.deps.approved.of(name);
        let redirected = known_source.as_ref().is_none_or(|known| leads_elsewhere(known, &source));
        // What a person left out of a server is not an agent's to take in.
        let repicked = known_source.as_ref().filter(|known| picks_others(known, &source));
        let marked = match (by, &before) {
            (By::Agent, Some(before)) if !redirected && let Some(known) = repicked => {
                let filter = self.filter_of(name, known);
                let taken = |tool: &str| filter.as_ref().is_some_and(|filter| filter.takes(tool));
                Some(Some(before.clone().without_left_out(taken)))
            }
            (By::Agent, None) if repicked.is_some() => Some(Some(ApprovedServer::default().unreviewed())),
            _ if !redirected => None,
            (By::Agent, _) => Some(Some(before.clone().unwrap_or_default().unreviewed())),
            (By::Person, Some(before)) if before.unreviewed => Some(before.clone().put_there_by_a_person()),
            (By::Person, _) => None,
        };
        // Marked first: what no person has seen must never be taken for approved.
        let is_marked = marked.is_some();
        if let Some(after) = marked {
            self.entries.deps.approved.set(name, after).map_err(FileError::from)?;
        }
        if let Err(error) = self.write(turn, text) {
            if is_marked && let Err(error) = self.entries.deps.approved.set(name, before) {
                tracing::warn!(server = name, %error, "a server is marked for review although it was not changed");
            }
            return Err(error.into());
        }
        let server = self.server(name).ok_or_else(|| FileError::Aborted("it does not exist".to_owned()))?;
        // Who adds a server wants to see its tools.
        server.start();
        Ok((server, new))
    }

    /// Which tools an entry takes, also while it is switched off; `None` if it cannot be told.
    fn filter_of(&self, name: &str, source: &Value) -> Option<ToolFilter> {
        let mut fields = source.as_object()?.clone();
        fields.retain(|field, _| !matches!(field.as_str(), "enabled" | "disabled"));
        let environment = |variable: &str| (self.entries.environment)(variable);
        let entry = read_server(name, &Value::Object(fields), &environment, Author::File).ok()?;
        match entry.standing {
            Standing::Enabled(config) => Some(config.filter),
            Standing::Disabled(_) | Standing::Invalid(_) => None,
        }
    }

    fn take_out(&self, turn: &mut InForce<()>, name: &str, forget: bool) -> Result<(), ServerError> {
        if !self.entries.servers.load().contains_key(name) {
            return Err(ServerError::NotFound(name.to_owned()));
        }
        let text = file::without(&self.path, &turn.text, name).map_err(FileError::from)?;
        self.write(turn, text)?;
        if forget && let Err(error) = self.entries.deps.approved.set(name, None) {
            tracing::warn!(server = name, %error, "the approved definitions of a removed server are still kept");
        }
        // Another server of that name must not find a token that was not given to it.
        let removed = self
            .entries
            .deps
            .spawn_env
            .tokens
            .as_ref()
            .map_or(Ok(()), |tokens| tokens.remove(&published(name)));
        if let Err(error) = removed {
            tracing::warn!(server = name, %error, "the login of a removed server is still kept");
        }
        Ok(())
    }

    /// Writes a text that was checked, then applies it.
    fn write(&self, turn: &mut InForce<()>, text: String) -> Result<(), FileError> {
        let entries = file::read(&self.path, &text, &*self.entries.environment)?;
        self.save(turn, text)?;
        self.entries.put_in_force(entries);
        Ok(())
    }
}

/// Who puts a server there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A person: what the server lists when it is first seen is approved by that.
    Person,
    /// An agent's key: a person reviews what the server lists before it is used.
    Agent,
}

/// How an entry picks tools.
const PICKING: [&str; 6] = ["allow", "deny", "allow_tools", "deny_tools", "includeTools", "excludeTools"];

/// Whether another server may answer than before: anything differs but how its tools are named, picked and limited.
fn leads_elsewhere(old: &Value, new: &Value) -> bool {
    let harmless =
        |name: &str| PICKING.contains(&name) || matches!(name, "prefix" | "timeout" | "enabled" | "disabled");
    let reach = |entry: &Value| {
        let mut fields = entry.as_object().cloned().unwrap_or_default();
        fields.retain(|name, _| !harmless(name));
        fields
    };
    reach(old) != reach(new)
}

/// Whether other tools of the server may be taken than before.
fn picks_others(old: &Value, new: &Value) -> bool {
    PICKING.iter().any(|name| old.get(name) != new.get(name))
}
