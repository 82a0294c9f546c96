//! Step 3: do the parameters fit, and on whose behalf is the call?

use std::borrow::Cow;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::Value;
use toolroom_contract::text::{line_feeds, one_line};
use toolroom_contract::validator::{Effort, Fit, Validator};
use toolroom_contract::{ErrorCode, FieldError, ToolError, User};
use toolroom_profiles::{Caller, Input};

use super::Refusal;
use super::call::Call;
use super::permit::Permitted;
use super::resolve::{Resolved, point_outward};
use super::run;
use crate::catalogue::{Executor, Tool};
use crate::cpu_pool;

/// Parameters that fit the contract, for a user whom the caller may act for.
pub(super) struct Checked {
    pub(super) resolved: Resolved,
    /// Canonical parameters.
    pub(super) params: Arc<Value>,
    /// On whose behalf.
    pub(super) user: User,
}

/// The wait for a thread or for the database counts as time of the call.
pub(super) async fn check_in_time(call: &Call, permitted: Permitted) -> Result<Checked, Refusal> {
    let tool = Arc::clone(&permitted.0.tool);
    let mut checking = std::pin::pin!(check(call, permitted));
    // The timer is only armed for what does not end at once.
    if let Some(checked) = checking.as_mut().now_or_never() {
        return checked;
    }
    let in_time = tokio::time::timeout_at(call.deadline(&tool).into(), checking).await;
    in_time.unwrap_or_else(|_| Err(run::timed_out(&tool, None).into()))
}

async fn check(call: &Call, permitted: Permitted) -> Result<Checked, Refusal> {
    let mut resolved = permitted.0;
    let shape = resolved.shape.as_ref().and_then(|shape| Some((shape, shape.binding()?)));
    let mut input = match shape {
        None => Input { params: Value::Null, user_key: None, tool: None },
        Some((shape, binding)) => {
            let mut given = trimmed(&call.params, binding.trimmed);
            if let Some(validator) = &shape.validator {
                given = fit(call, given, validator).await?;
            }
            let caller = Caller { user: &call.principal.user, time_zone: &call.time_zone };
            binding.map(&given, &caller)?
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
    let params = canonical(call, &resolved.tool, &given).await?;
    let user = on_behalf_of(call, &resolved.tool, input.user_key.as_deref()).await?;
    Ok(Checked { resolved, params, user })
}

async fn canonical(call: &Call, tool: &Tool, given: &Arc<Value>) -> Result<Arc<Value>, ToolError> {
    let names = tool.executor.handler().map_or(&[][..], |handler| handler.trimmed());
    let params = fit(call, trimmed(given, names), &tool.parameters).await?;
    // Native tools have their own, and other servers apply theirs.
    let filled = match tool.executor {
        Executor::Script(_) => tool.parameters.with_defaults(&params),
        _ => None,
    };
    Ok(filled.map_or(params, Arc::new))
}

/// The parameters if they fit. Some do without their nulls: then those are what the call goes on with.
async fn fit(call: &Call, params: Arc<Value>, validator: &Arc<Validator>) -> Result<Arc<Value>, ToolError> {
    let fit = match validator.fit_within(&params, Effort::Small) {
        Some(fit) => fit,
        None => fit_aside(&params, validator).boxed().await?,
    };
    match fit {
        Fit::AsSent => Ok(params),
        Fit::WithoutNulls(params) => Ok(Arc::new(params)),
        Fit::Refused(mut refusals) => {
            point_outward(call, &mut refusals);
            Err(refused(refusals))
        }
    }
}

async fn fit_aside(params: &Arc<Value>, validator: &Arc<Validator>) -> Result<Fit, ToolError> {
    let (params, validator) = (Arc::clone(params), Arc::clone(validator));
    let fit = cpu_pool::run(move || validator.fit_within(&params, Effort::Full)).await;
    fit.map_err(ToolError::internal)?.ok_or_else(|| ToolError::internal("a validation without a verdict"))
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
/// lines ended by line feeds alone, and a title on one line. The same parameters if they are so already.
fn trimmed(params: &Arc<Value>, names: &[&str]) -> Arc<Value> {
    let Some(given) = params.as_object() else { return Arc::clone(params) };
    let differs =
        |name: &&str| given.get(*name).and_then(Value::as_str).is_some_and(|text| trim(name, text) != text);
    if !names.iter().any(differs) {
        return Arc::clone(params);
    }
    let mut copy = given.clone();
    for name in names {
        if let Some(Value::String(text)) = copy.get_mut(*name) {
            *text = trim(name, text).into_owned();
        }
    }
    Arc::new(Value::Object(copy))
}

fn trim<'a>(name: &str, text: &'a str) -> Cow<'a, str> {
    let lines = if name == "title" { one_line(text) } else { line_feeds(text) };
    match lines {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}

/// The user whom the parameters or the context name, if the caller may act for them.
async fn on_behalf_of(call: &Call, tool: &Tool, named: Option<&str>) -> Result<User, ToolError> {
    let own = &call.principal.user;
    let named = match (named, call.context.user_id.as_deref()) {
        // Whoever passes a call on for a user has said whose it is: its arguments come from that user.
        (Some(named), Some(caller)) if named != caller => return Err(nothing_there()),
        (named, caller) => named.or(caller),
    };
    match named {
        None => Ok(own.clone()),
        Some(key) if key == &*own.key => Ok(own.clone()),
        Some(key) if call.principal.grants.hold("users", "act-as") => {
            let changes = !tool.policy.read_only;
            // A question waits for its answer in a row, which is somebody's.
            let asks =
                tool.policy.needs_approval || tool.executor.handler().is_some_and(|handler| handler.asks());
            let create = (changes || asks) && !call.context.dry_run;
            call.runtime.users.act_as(key, create).boxed().await
        }
        Some(_) => Err(nothing_there()),
    }
}

/// Nobody learns whether a user exists.
fn nothing_there() -> ToolError {
    ToolError::new(ErrorCode::NotFound, "You have nothing with that name.")
}
