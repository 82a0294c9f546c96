//! Step 3: do the parameters fit, and on whose behalf is the call?

use futures_util::FutureExt;
use std::sync::Arc;

use serde_json::Value;
use toolroom_contract::validator::Validator;
use toolroom_contract::{ErrorCode, FieldError, ToolError, User};
use toolroom_profiles::{Caller, Input};

use super::Refusal;
use super::call::Call;
use super::permit::Permitted;
use super::resolve::{Resolved, point_outward};
use crate::catalogue::Tool;

/// Parameters that fit the contract, for a user whom the caller may act for.
pub(super) struct Checked {
    pub(super) resolved: Resolved,
    /// Canonical parameters.
    pub(super) params: Arc<Value>,
    /// On whose behalf.
    pub(super) user: User,
}

pub(super) async fn check(call: &Call, permitted: Permitted) -> Result<Checked, Refusal> {
    let mut resolved = permitted.0;
    let shape = resolved.shape.as_ref().and_then(|shape| Some((shape, shape.binding()?)));
    let mut input = match shape {
        None => Input { params: Value::Null, user_key: None, tool: None },
        Some((shape, binding)) => {
            let given = trim(&call.params, binding.trimmed);
            if let Some(validator) = &shape.validator {
                fit(call, given.as_ref().unwrap_or(&call.params), validator)?;
            }
            let caller = Caller { user: &call.principal.user, time_zone: &call.time_zone };
            (binding.input)(given.as_ref().unwrap_or(&call.params), &caller)?
        }
    };
    if let Some(other) = input.tool {
        resolved.tool = call.snapshot.tools.get(other).cloned().ok_or_else(|| {
            ToolError::internal(format!("a profile maps to '{other}', which is not in the catalogue"))
        })?;
        // The permission step saw the tool that the profile names.
        if !call.principal.grants.cover_all(&resolved.tool.definition().permissions) {
            return Err(Refusal::forbidden(&call.name));
        }
    }
    let given = match &resolved.shape {
        None => Arc::clone(&call.params),
        Some(_) => Arc::new(std::mem::take(&mut input.params)),
    };
    let params = canonical(call, &resolved.tool, given)?;
    let user = on_behalf_of(call, &resolved.tool, input.user_key.as_deref()).await?;
    Ok(Checked { resolved, params, user })
}

fn canonical(call: &Call, tool: &Tool, given: Arc<Value>) -> Result<Arc<Value>, ToolError> {
    let trimmed = tool.executor.handler().map_or(&[][..], |handler| handler.trimmed());
    let params = trim(&given, trimmed).map_or(given, Arc::new);
    fit(call, &params, &tool.parameters)?;
    Ok(params)
}

fn fit(call: &Call, params: &Value, validator: &Validator) -> Result<(), ToolError> {
    if validator.accepts(params) {
        return Ok(());
    }
    let mut refusals = validator.refusals(params);
    point_outward(call, &mut refusals);
    Err(refused(refusals))
}

/// The refusal of parameters that do not fit.
pub(super) fn refused(details: Vec<FieldError>) -> ToolError {
    let message = match details.as_slice() {
        [] => "The parameters do not fit the tool's schema.".to_owned(),
        [one] if one.pointer.is_empty() => format!("The parameters {}.", one.message),
        [one] => format!("{}: {}.", one.pointer, one.message),
        many => format!("{} fields are wrong; each is listed in details.", many.len()),
    };
    let mut error = ToolError::new(ErrorCode::InvalidInput, message);
    error.details = details;
    error
}

/// A copy with white space cut off the named strings; `None` if there is nothing to cut.
fn trim(params: &Value, names: &[&str]) -> Option<Value> {
    let given = params.as_object()?;
    let padded = |name: &&str| {
        given.get(*name).and_then(Value::as_str).is_some_and(|text| text.trim().len() != text.len())
    };
    if !names.iter().any(padded) {
        return None;
    }
    let mut copy = given.clone();
    for name in names {
        if let Some(Value::String(text)) = copy.get_mut(*name) {
            *text = text.trim().to_owned();
        }
    }
    Some(Value::Object(copy))
}

/// The user whom the parameters or the context name, if the caller may act for them.
async fn on_behalf_of(call: &Call, tool: &Tool, named: Option<&str>) -> Result<User, ToolError> {
    let own = &call.principal.user;
    let named = named.or(call.context.user_id.as_deref());
    match named {
        None => Ok(own.clone()),
        Some(key) if key == &*own.key => Ok(own.clone()),
        Some(key) if call.principal.grants.hold("users", "act-as") => {
            let create = !tool.policy.read_only && !call.context.dry_run;
            call.runtime.users.act_as(key, create).boxed().await
        }
        // Nobody learns whether that user exists.
        Some(_) => Err(ToolError::new(ErrorCode::NotFound, "There is nothing of that name that is yours.")),
    }
}
