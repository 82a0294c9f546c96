//! The answer to a call, for people: data on stdout, everything else in short lines on stderr.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};
use toolroom_contract::text::shell_word;

use super::{attachments, table};
use crate::client::{Answer, hint};
use crate::failure::Exit;
use crate::terminal::{self, Tint, plain};

/// The request that a person must decide first.
pub fn pending_id(answer: &Value) -> Option<String> {
    // Profile `executor` has it in its data.
    let carrier = if answer["status"] == "pending" { &answer["data"] } else { answer };
    carrier["pending"]["id"].as_str().map(str::to_owned)
}

/// Prints the answer of a tool; the exit code says whether the call succeeded.
pub fn show(answer: Answer, tool: &str, json: bool) -> Result<ExitCode> {
    if answer.is_problem() {
        return answer.success().map(|_| ExitCode::SUCCESS);
    }
    let Answer { json: body, status } = answer;
    let envelope = body.get("agentHints").is_some();
    let failed = if envelope {
        body.get("error").is_some()
    } else {
        toolroom_profiles::is_failure(&body) || status.is_client_error() || status.is_server_error()
    };
    if json {
        terminal::say_json(&body)?;
    } else if !envelope {
        data(&body)?;
    } else {
        let is_empty = |shown: &&Value| attachments::is_any(&body) && **shown == json!({ "text": "" });
        if let Some(shown) = body.get("data").filter(|shown| !is_empty(shown)) {
            data(shown)?;
        }
        remarks(&body, tool);
    }
    Ok(if failed { Exit::Failed.code() } else { ExitCode::SUCCESS })
}

/// A table where a person reads it and its shape is known, else JSON.
fn data(data: &Value) -> Result<()> {
    if !(std::io::stdout().is_terminal() && table::say(data)?) {
        terminal::say_json(data)?;
    }
    Ok(())
}

fn remarks(body: &Value, tool: &str) {
    if body["metadata"]["dryRun"] == true {
        terminal::complain(Tint::Quiet, "dry run", "nothing was changed");
    }
    match (body.get("error"), pending_id(body)) {
        (Some(_), Some(id)) => waiting(body, &id),
        (Some(error), None) => failure(error, tool),
        (None, _) => {}
    }
    for warning in body["agentHints"]["warnings"].as_array().into_iter().flatten() {
        terminal::complain(Tint::Warn, "warning", &plain(&warning["message"]));
    }
    // The same call with other values is what the hint says already.
    let is_news = |action: &&Value| action["category"] != "correction" || action["action"] != tool;
    for action in body["agentHints"]["suggestedNextActions"].as_array().into_iter().flatten().filter(is_news)
    {
        terminal::complain(Tint::Quiet, "next", &next(action));
    }
}

fn waiting(body: &Value, id: &str) {
    let question = body["pending"]["kind"] == "question";
    let asked = plain(&body["pending"]["prompt"]["message"]);
    let word = if question { "a person must answer" } else { "a person must agree" };
    terminal::complain(Tint::Warn, "waiting", &format!("{word}: {asked} (request {id})"));
    let decide = if question {
        format!("toolroom approvals answer {id} TEXT")
    } else {
        format!("toolroom approvals approve {id}   (or deny)")
    };
    terminal::complain(
        Tint::Quiet,
        "hint",
        &format!("{decide}; then make the same call with --approval {id}"),
    );
}

fn failure(error: &Value, tool: &str) {
    let code = plain(&error["code"]);
    let mut text = format!("{code}: {}", plain(&error["message"]));
    for detail in error["details"].as_array().into_iter().flatten() {
        let line = format!("{}: {}", plain(&detail["pointer"]), plain(&detail["message"]));
        if text.contains(&line) {
            continue;
        }
        text.push_str(&format!("\n  {line}"));
        if let Some(example) = detail.get("example") {
            text.push_str(&format!(" (for example {example})"));
        }
    }
    if let Some(outcome) = error.get("outcome") {
        text.push_str(&format!("\n  outcome: {}", plain(outcome)));
    }
    terminal::complain(Tint::Bad, "error", &text);
    let hint = match code.as_str() {
        "invalid_input" => {
            format!("Fix what is named above; its parameters: toolroom tools show {}", shell_word(tool))
        }
        code => hint(code, error),
    };
    terminal::complain(Tint::Quiet, "hint", &hint);
}

fn next(action: &Value) -> String {
    let mut line = plain(&action["action"]);
    if let Some(data) = action.get("data").filter(|data| data.as_object().is_some_and(|map| !map.is_empty()))
    {
        line.push_str(&format!(" {data}"));
    }
    if let Some(description) = action.get("description") {
        line.push_str(&format!("  {}", plain(description)));
    }
    line
}
