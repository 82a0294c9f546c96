//! Calls that an edge refuses before they begin. They are answered in the same forms as all others.

use std::sync::Arc;

use toolroom_contract::ToolError;

use super::call::Call;
use super::request::{CallRequest, Reply};
use super::{Refusal, answer, permit, resolve};
use crate::Runtime;

impl Runtime {
    /// A call that cannot be made as it was sent: refused and journaled like any other.
    pub fn refuse(self: &Arc<Self>, request: CallRequest, error: ToolError) -> Reply {
        let mut call = Call::begin(self, request);
        let refusal = refusal(&mut call, error);
        answer::answer(call, Err(refusal))
    }

    /// A call whose caller cannot be known now. It is not journaled: anonymous callers could fill the log.
    pub fn unserved(self: &Arc<Self>, request: CallRequest, error: ToolError) -> Reply {
        let mut call = Call::begin(self, request);
        // The shape alone: the answer is the same whether there is such a tool or not.
        if let Ok(resolved) = resolve::resolve(&mut call) {
            call.shape = resolved.shape;
        }
        answer::unlogged(call, error)
    }
}

/// What is wrong with the call is told to those alone who may make it.
fn refusal(call: &mut Call, error: ToolError) -> Refusal {
    let resolved = match resolve::resolve(call) {
        Ok(resolved) => resolved,
        Err(unknown) => return unknown.into(),
    };
    call.note_tool(&resolved);
    call.steps.now = "permission";
    match permit::permit(call, resolved) {
        Ok(_) => {
            call.steps.now = "parameters";
            error.into()
        }
        Err(refusal) => refusal,
    }
}
