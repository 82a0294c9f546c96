//! Calls that a person has agreed to before they are made: this tool, for this caller, for some hours.

use serde_json::{Value, json};
use toolroom_contract::effect::line;
use toolroom_contract::ids::PendingId;
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_store::pending::{self, Asker, State, Taken};
use toolroom_store::{StoreError, Unit, standing};

use super::approval::masked;
use super::call::Call;
use crate::catalogue::Tool;

/// A call that a person has agreed to before it was made.
pub(super) struct StandingUse {
    definition: String,
    agent: String,
    /// What is noted of it.
    noted: Value,
}

impl StandingUse {
    pub(super) fn new(call: &Call, tool: &Tool, params: &Value) -> Option<Self> {
        // A conversation asks in its own words, and hears the answer itself.
        if !tool.policy.standing_approval || call.context.dialogue.is_some() {
            return None;
        }
        let targets = tool.effect.targets(&masked(tool, params).ok()?, &Value::Null);
        let target = targets.iter().map(|one| one.in_words(&[])).collect::<Vec<_>>().join(", ");
        let noted = json!({ "executionId": call.id, "at": call.at, "target": target });
        Some(Self { definition: tool.reviewed_state(), agent: line(&call.agent_id), noted })
    }

    /// Where nobody has decided about the call itself, what stands for its caller and its tool decides.
    pub(super) fn instead_of(
        &self,
        unit: &mut Unit<'_>,
        asker: Asker,
        tool: &str,
        taken: Option<&Taken>,
    ) -> Result<Option<PendingId>, StoreError> {
        let open = match taken {
            None => None,
            Some(Taken::StillOpen(request)) if request.state == State::Open => Some(request.id),
            Some(_) => return Ok(None),
        };
        let found = standing::find(unit, asker, Some(&self.agent), tool, &self.definition)?;
        let Some(found) = found else { return Ok(None) };
        if !standing::note_use(unit, &found, &self.noted)? {
            return Ok(None);
        }
        if let Some(open) = open {
            pending::use_standing(unit, open, found.decided_by)?;
        }
        Ok(Some(found.id))
    }
}

/// A call that was refused before its tool ran was not let through.
pub(super) async fn take_back(call: &mut Call, error: &ToolError) {
    let refused =
        matches!(error.code, ErrorCode::Busy | ErrorCode::RateLimited | ErrorCode::JournalUnavailable);
    if !std::mem::take(&mut call.by_standing) || !refused {
        return;
    }
    let Some(id) = call.approval else { return };
    let execution = call.id.to_string();
    let taken = call.runtime.store.write(move |unit| standing::take_back(unit, id, &execution)).await;
    if let Err::<_, StoreError>(error) = taken {
        tracing::warn!(%error, executionId = %call.id, "a refused call stays among those that a standing approval let through");
    }
}
