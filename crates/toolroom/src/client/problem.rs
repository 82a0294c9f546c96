//! Problem documents as failures that say what to do.

use serde_json::Value;

use crate::failure::Failure;

/// What a problem document says, and what to do about it.
pub fn failure(problem: &Value) -> Failure {
    let text = |name: &str| problem.get(name).and_then(Value::as_str);
    let code = text("code").unwrap_or("internal");
    let mut message = format!("{code}: {}", text("detail").or(text("title")).unwrap_or("the request failed"));
    for error in problem["errors"].as_array().into_iter().flatten() {
        let (pointer, detail) = (error["pointer"].as_str(), error["detail"].as_str());
        if let (Some(pointer), Some(detail)) = (pointer, detail)
            && !message.contains(detail)
        {
            message.push_str(&format!("\n  {pointer}: {detail}"));
        }
    }
    Failure::new(message, hint(code, problem)).coded(code)
}

/// What to do about an error code.
pub fn hint(code: &str, problem: &Value) -> String {
    let wait = problem.get("retryAfter").and_then(Value::as_u64);
    match code {
        "tool_not_found" | "tool_removed" => {
            "'toolroom tools list' shows the tools, 'toolroom tools search WORDS' finds one.".into()
        }
        "not_found" => {
            "List what exists: 'toolroom tools list', 'toolroom keys list', 'toolroom approvals list'."
                .into()
        }
        "unauthenticated" => "Give a key: --key KEY, or the variable TOOLROOM_KEY.".into(),
        "invalid_input" => "Fix what is named above; --help shows an example.".into(),
        "already_exists" => {
            "Nothing was changed. 'toolroom tools update FILE' replaces a tool."
                .into()
        }
        "breaking_change" => {
            "Keep what callers use and run 'toolroom tools update' again; or add it under the new name with 'toolroom \
             tools add', then mark the old tool as deprecated with 'toolroom tools update'."
                .into()
        }
        "forbidden" => "Use a key with that grant: toolroom keys create --user NAME --grant G".into(),
        "approval_denied" => "A person said no. Call again only if they change their mind.".into(),
        "definition_pending" => "'toolroom servers show NAME' shows what changed.".into(),
        "version_conflict" => "Look at it again, then decide.".into(),
        "approval_expired" => "Call again without --approval.".into(),
        "rate_limited" | "busy" | "service_unavailable" | "journal_unavailable" | "in_progress" => match wait
        {
            Some(milliseconds) => format!("Try again in {:.1} s.", milliseconds as f64 / 1000.0),
            None => "Try again in a moment. If it still fails, run 'toolroom doctor'.".into(),
        },
        "idempotency_conflict" => "Use a different --idempotency-key: this one belongs to another call.".into(),
        _ => "'toolroom logs --limit 5' shows the latest calls; 'toolroom doctor' checks the home."
            .into(),
    }
}
