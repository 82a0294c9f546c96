//! Whether a call would be taken, without making it: nothing is run, written down or counted.

use std::sync::Arc;

use toolroom_contract::error::ErrorClass;
use toolroom_contract::{FieldError, ToolError};

use super::call::Call;
use super::request::CallRequest;
use super::{Refusal, params, permit, resolve};
use crate::Runtime;

/// What the check of the parameters found.
#[derive(Debug, Default)]
pub struct Validated {
    /// What is wrong with them; nothing if they fit.
    pub errors: Vec<FieldError>,
    /// How phrases in them are read: a JSON pointer to each, and its meaning.
    pub echoes: Vec<(String, String)>,
}

impl Runtime {
    /// Checks the parameters of a call as the call itself would. Fails if the caller has no such tool.
    pub async fn validate(self: &Arc<Self>, mut request: CallRequest) -> Result<Validated, ToolError> {
        // Nobody is made who is only named.
        request.context.dry_run = true;
        let mut call = Call::begin(self, request);
        call.set_answered();
        let found = check(&mut call).await;
        found.or_else(|refusal| match refusal.error {
            error if error.code.class() == ErrorClass::Validation && !error.details.is_empty() => {
                Ok(Validated { errors: error.details, echoes: Vec::new() })
            }
            error => Err(error),
        })
    }
}

async fn check(call: &mut Call) -> Result<Validated, Refusal> {
    let resolved = resolve::resolve(call)?;
    call.note_tool(&resolved);
    let permitted = permit::permit(call, resolved)?;
    let checked = params::check_in_time(call, permitted).await?;
    let context = call.tool_context(checked.user, Default::default());
    let Some(handler) = checked.resolved.tool.executor.handler() else { return Ok(Validated::default()) };
    let mut found = Validated { errors: Vec::new(), echoes: handler.echoes(&checked.params, &context) };
    // What a tool itself refuses about its parameters; whether there is such a thing is not about them.
    if let Err(error) = handler.rehearse(&checked.params, &context).await
        && error.code.class() == ErrorClass::Validation
    {
        found.errors = error.details;
    }
    Ok(found)
}
