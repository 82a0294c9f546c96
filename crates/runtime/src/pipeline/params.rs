//! Step 3: do the parameters fit, and on whose behalf is the call?

use std::borrow::Cow;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::Value;
use toolroom_contract::text::{line_feeds, one_line};
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
            let mut given = trim(&call.params, binding.trimmed);
            if let Some(validator) = &shape.validator {
                let fitted = fit(call, given.as_ref().unwrap_or(&call.params), validator)?;
                given = fitted.or(given);
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
        super::permit::allow(call, &resolved.tool)?;
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
    Ok(fit(call, &params, &tool.parameters)?.map_or(params, Arc::new))
}

/// Whether parameters fit. Some do without their nulls: then those are what the call goes on with.
fn fit(call: &Call, params: &Value, validator: &Validator) -> Result<Option<Value>, ToolError> {
    if validator.accepts(params) {
        return Ok(None);
    }
    let stripped = validator.without_nulls(params);
    if stripped.as_ref().is_some_and(|params| validator.accepts(params)) {
        return Ok(stripped);
    }
    let mut refusals = validator.refusals(stripped.as_ref().unwrap_or(params));
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

/// A copy in which the named strings are as they are counted and kept: without white space around them, their
/// lines ended by line feeds alone, and a title on one line. `None` if they are so already.
fn trim(params: &Value, names: &[&str]) -> Option<Value> {
    let given = params.as_object()?;
    let differs = |name: &&str| {
        given.get(*name).and_then(Value::as_str).is_some_and(|text| trimmed(name, text) != text)
    };
    if !names.iter().any(differs) {
        return None;
    }
    let mut copy = given.clone();
    for name in names {
        if let Some(Value::String(text)) = copy.get_mut(*name) {
            *text = trimmed(name, text).into_owned();
        }
    }
    Some(Value::Object(copy))
}

fn trimmed<'a>(name: &str, text: &'a str) -> Cow<'a, str> {
    let lines = if name == "title" { one_line(text) } else { line_feeds(text) };
    match lines {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
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
        Some(_) => Err(ToolError::new(ErrorCode::NotFound, "You have nothing with that name.")),
    }
}
