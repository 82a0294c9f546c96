//! A person approves definitions that wait for review: exactly those that they were shown, by their hash.

use std::io;
use std::sync::{Arc, PoisonError};

use serde_json::{Map, Value, json};
use toolroom_contract::canonical;
use toolroom_upstream::pins;

use super::pins::{Change, Pin};
use super::publish::{Seen, SeenTool};
use super::server::Server;

/// Why nothing was approved.
pub(super) enum LetIn {
    NoSuchTool,
    /// What waits is not what the hash stands for.
    Other,
    Disk(io::Error),
    Refused(String),
}

impl SeenTool {
    /// The hash of the definition that waits for review.
    pub(super) fn pending_hash(&self) -> Option<String> {
        let now = self.now.as_ref().filter(|_| self.standing.is_held())?;
        Some(pins::hash(&now.raw))
    }
}

impl Seen {
    /// One hash for all that waits for review; `None` if nothing does.
    pub(super) fn pending_hash(&self) -> Option<String> {
        let hash = |(name, tool): (&String, &SeenTool)| Some((name.clone(), tool.pending_hash()?.into()));
        let tools: Map<String, Value> = self.held().filter_map(hash).collect();
        let nothing = tools.is_empty() && !self.unreviewed;
        let what = json!({ "server": self.unreviewed, "tools": tools });
        (!nothing).then(|| canonical::digest("pending definitions", &what).to_hex().to_string())
    }
}

impl Server {
    /// Approves what waits for review, all of it or one tool, if it is what that hash stands for. The names that were
    /// approved. For threads that may block.
    pub(super) fn let_in(self: &Arc<Self>, tool: Option<&str>, hash: &str) -> Result<Vec<String>, LetIn> {
        let _turn = self.publishing.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = self.seen.load_full();
        let pending = match tool {
            Some(tool) => seen.tools.get(tool).ok_or(LetIn::NoSuchTool)?.pending_hash(),
            None => seen.pending_hash(),
        };
        if pending.as_deref() != Some(hash) {
            return Err(LetIn::Other);
        }
        let wanted = |name: &str| tool.is_none_or(|tool| tool == name);
        let held = seen.held().filter(|(name, _)| wanted(name));
        let approved: Vec<(String, Pin)> =
            held.filter_map(|(name, held)| Some((name.clone(), Pin::of(held.now.as_ref()?)))).collect();
        let names = approved.iter().map(|(name, _)| name.clone()).collect();
        let change = self.book.change(self.name(), |known| {
            let mut pinned = known.cloned().unwrap_or_default();
            pinned.tools.extend(approved);
            pinned.unreviewed &= tool.is_some();
            Change::To(Some(pinned))
        });
        let pinned = change.map_err(LetIn::Disk)?.unwrap_or_default();
        self.publish_again(&pinned, &seen).map_err(LetIn::Refused)?;
        Ok(names)
    }
}
