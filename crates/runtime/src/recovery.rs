//! What the caller of a failed call can do about it: at least one step for every failure, in the caller's own names.

use serde_json::{Map, Value};
use toolroom_contract::error::{ErrorBody, ErrorClass, PendingNotice};
use toolroom_contract::hints::ActionCategory;
use toolroom_contract::{ErrorCode, Priority, SuggestedAction};

use crate::hints::Seen;
use crate::journal::Masked;

/// How the step relates to the call that failed.
enum Step {
    /// The same call again, with the same parameters.
    Again(String),
    /// The same tool, with something changed: its parameters would not help.
    Otherwise(String),
}

/// Whether the step goes before what the contract suggests: that is made for the domain, which had no say in these.
pub(crate) fn comes_first(code: ErrorCode) -> bool {
    let domain = matches!(code, ErrorCode::NotFound | ErrorCode::VersionConflict | ErrorCode::Ambiguous);
    !domain && code.class() != ErrorClass::Validation
}

/// The step that the code calls for; nothing where there is no tool to call.
pub(crate) fn step(seen: &Seen<'_>, error: &ErrorBody) -> Option<SuggestedAction> {
    seen.tool?;
    let (category, text, data) = match choose(seen, error) {
        Step::Again(text) => {
            let mut params = seen.params.as_object().cloned().unwrap_or_default();
            let text = format!("{text}{}", strip(seen, &mut params));
            (None, text, (!params.is_empty()).then_some(params))
        }
        Step::Otherwise(text) => (Some(ActionCategory::Correction), text, None),
    };
    let mut action = SuggestedAction::new(seen.name, Priority::High).described(text);
    action.category = category;
    action.data = data;
    action.estimated_time = error.retry_after.map(|milliseconds| milliseconds as f64);
    Some(action)
}

fn choose(seen: &Seen<'_>, error: &ErrorBody) -> Step {
    let id = seen.execution;
    let wait = match error.retry_after {
        Some(milliseconds) => format!("in {milliseconds} ms"),
        None => "in a moment".to_owned(),
    };
    // A change that may have happened is never to be repeated blindly.
    if error.outcome.is_some() && !error.retryable {
        return Step::Otherwise(format!(
            "Check whether the call took effect before you repeat it. The owner can find execution {id} in the log."
        ));
    }
    let again = |text: &str| Step::Again(text.to_owned());
    let otherwise = |text: &str| Step::Otherwise(text.to_owned());
    match error.code {
        ErrorCode::InvalidInput => otherwise("Correct the fields named in 'details' and call again."),
        ErrorCode::NotFound => {
            otherwise("Call again with something that exists: list or search for it first.")
        }
        ErrorCode::VersionConflict => otherwise("Read the current version, then call again with it."),
        ErrorCode::IdempotencyConflict => {
            again("Make this call with a new idempotency key: the one you sent belongs to another call.")
        }
        ErrorCode::Ambiguous => otherwise("Call again with the id of the one that you mean."),
        ErrorCode::ApprovalRequired => {
            let with = match &error.pending {
                Some(PendingNotice { id, server: None, .. }) => format!(", with context.approvalId {id}"),
                Some(PendingNotice { server: Some(server), .. }) => format!(" at the server '{server}'"),
                None => String::new(),
            };
            Step::Again(format!("Make the same call again once a person has decided{with}."))
        }
        ErrorCode::ApprovalDenied => otherwise("Ask the person why before you make this call again."),
        ErrorCode::ApprovalExpired => again("Call again without approvalId to ask again."),
        ErrorCode::InputRequired => otherwise("Make this call over MCP with a client that can be asked."),
        ErrorCode::RateLimited | ErrorCode::Busy => Step::Again(format!("Make the same call again {wait}.")),
        ErrorCode::ToolTimeout if error.retryable => {
            again("Make the same call again, or ask for less at once.")
        }
        ErrorCode::ToolTimeout => otherwise(
            "Look whether it is still to be done before you call again. With an idempotency key the same call can be \
             repeated safely.",
        ),
        ErrorCode::OutputTooLarge => {
            otherwise("Call again and ask for less: a narrower query or a smaller limit.")
        }
        ErrorCode::ToolExecutionError | ErrorCode::InvalidOutput | ErrorCode::Internal => {
            Step::Otherwise(format!(
                "Try other parameters, or tell the tool's owner: execution {id} has the reason in the log."
            ))
        }
        ErrorCode::NotConfigured => {
            otherwise("Ask the owner to set what the message names, then call again.")
        }
        _ if error.retryable => Step::Again(format!("Make the same call again {wait}.")),
        _ => otherwise("Change the call as the message says, then make it again."),
    }
}

/// Takes secrets out of parameters that are suggested, and says so: an agent must not send "[masked]" for one.
pub(crate) fn strip(seen: &Seen<'_>, params: &mut Map<String, Value>) -> String {
    if seen.secrets.is_empty() {
        return String::new();
    }
    let whole = Value::Object(std::mem::take(params));
    let masked =
        serde_json::to_value(Masked::new(&whole, seen.mask).without(seen.secrets)).unwrap_or_default();
    let Value::Object(whole) = whole else { return String::new() };
    let mut left_out = Vec::new();
    for (name, value) in whole {
        if masked.get(&name) == Some(&value) {
            params.insert(name, value);
        } else {
            left_out.push(seen.secrets.hide(&name).into_owned());
        }
    }
    match left_out.as_slice() {
        [] => String::new(),
        names => format!(" Add {} yourself: secrets are not repeated here.", names.join(", ")),
    }
}
