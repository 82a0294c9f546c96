//! Which calls need a person's yes, what the person is asked, and what they said. Worked out from the contract and
//! the profile, whatever a model says.

mod question;
mod words;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom_contract::EffectKind;
use toolroom_contract::ids::PendingId;
use toolroom_profiles::Confirm;
use toolroom_runtime::catalogue::Tool;

use crate::toolset::asks;

pub use question::{ask, question};
pub use words::{Utterance, read};

/// A confirmation that waits, as the chat's answer shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingConfirmation {
    /// The request; the first, where several calls are asked about at once.
    pub id: PendingId,
    /// The published name of the tool; `several` where they differ.
    pub action: String,
    /// The id of the task, or of whatever it is; a list where there are several.
    pub task_id: Value,
    /// Its title, or the list of titles.
    pub task_title: Value,
    /// When the question expires.
    pub expires_at: Timestamp,
    /// What the person was asked.
    pub message: String,
}

/// A question that waits, as the chat's answer shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingQuestion {
    /// The request.
    pub id: PendingId,
    /// What the person is asked.
    pub question: String,
    /// What they may choose from.
    pub choices: Vec<String>,
    /// When the question expires.
    pub expires_at: Timestamp,
}

/// Whether a call of this tool changes something, as opposed to asking a person.
pub fn changes(tool: &Tool) -> bool {
    !tool.policy.read_only && !asks(tool)
}

/// Whether a call must have a yes for what its tool is, bulk aside.
pub fn needs_yes(confirm: Confirm, tool: &Tool) -> bool {
    match confirm {
        Confirm::Never => false,
        Confirm::Deletes => {
            tool.policy.needs_approval || tool.effect.kinds().any(|kind| kind == EffectKind::Delete)
        }
        Confirm::Changes => changes(tool),
    }
}
