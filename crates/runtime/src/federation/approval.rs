//! A person approves definitions that wait for review: exactly those that they were shown, by their hash.

use std::io;
use std::sync::{Arc, PoisonError};

use serde_json::{Map, Value, json};
use toolroom_contract::canonical;

use super::approved::{ApprovedTool, Change};
use super::pending_review::{Seen, SeenTool};
use super::server::Server;

/// Why nothing was approved.
pub(super) enum ApproveError {
    NoSuchTool,
    /// What waits is not what the hash stands for.
    Other,
    Disk(io::Error),
    Refused(String),
}

impl SeenTool {
    /// The hash of the definition that waits for review.
    pub(super) fn pending_hash(&self) -> Option<String> {
        let now = self.now.as_ref().filter(|_| self.standing.is_pending_review())?;
        Some(now.definition_hash())
    }
}

impl Seen {
    /// One hash for everything pending review; `None` if nothing is.
    pub(super) fn pending_hash(&self) -> Option<String> {
        let hash = |(name, tool): (&String, &SeenTool)| Some((name.clone(), tool.pending_hash()?.into()));
        let tools: Map<String, Value> = self.pending_review().filter_map(hash).collect();
        let nothing = tools.is_empty() && !self.unreviewed;
        let what = json!({ "server": self.unreviewed, "tools": tools });
        (!nothing).then(|| canonical::digest("pending definitions", &what).to_hex().to_string())
    }
}

impl Server {
    /// Approves what waits for review, all of it or one tool, if it is what that hash stands for. The names that were
    /// approved. For threads that may block.
    pub(super) fn approve(
        self: &Arc<Self>,
        tool: Option<&str>,
        hash: &str,
    ) -> Result<Vec<String>, ApproveError> {
        let _turn = self.publishing.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = self.seen.load_full();
        let pending = match tool {
            Some(tool) => seen.tools.get(tool).ok_or(ApproveError::NoSuchTool)?.pending_hash(),
            None => seen.pending_hash(),
        };
        if pending.as_deref() != Some(hash) {
            return Err(ApproveError::Other);
        }
        let wanted = |name: &str| tool.is_none_or(|tool| tool == name);
        let waiting = seen.pending_review().filter(|(name, _)| wanted(name));
        let tools: Vec<(String, ApprovedTool)> = waiting
            .filter_map(|(name, tool)| Some((name.clone(), ApprovedTool::of(tool.now.as_ref()?))))
            .collect();
        let names = tools.iter().map(|(name, _)| name.clone()).collect();
        let change = self.approved.change(self.name(), |known| {
            let mut approved = known.cloned().unwrap_or_default();
            approved.tools.extend(tools.iter().cloned());
            approved.unreviewed &= tool.is_some();
            Change::To(Some(approved))
        });
        let approved = change.map_err(ApproveError::Disk)?.unwrap_or_default();
        self.publish_again(&approved, &seen).map_err(ApproveError::Refused)?;
        Ok(names)
    }
}
