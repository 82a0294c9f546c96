//! Calls that a person has agreed to before they are made: this tool, for this caller, for some hours.

use serde_json::{Value, json};
use toolroom_contract::effect::line;
use toolroom_contract::ids::PendingId;
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
        taken: Option<Taken>,
        id: Option<PendingId>,
    ) -> Result<(Option<Taken>, Option<PendingId>), StoreError> {
        let open = match &taken {
            None => None,
            Some(Taken::StillOpen(request)) if request.state == State::Open => Some(request.id),
            Some(_) => return Ok((taken, id)),
        };
        let found = standing::find(unit, asker, Some(&self.agent), tool, &self.definition)?;
        let Some(found) = found else { return Ok((taken, id)) };
        if !standing::note_use(unit, &found, &self.noted)? {
            return Ok((taken, id));
        }
        if let Some(open) = open {
            pending::use_standing(unit, open, found.decided_by)?;
        }
        Ok((Some(Taken::Approved), Some(found.id)))
    }
}
