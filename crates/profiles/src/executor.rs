//! Profile `executor`: the built-in tools under the names that executors know, and every tool that others
//! registered under its own; each answer is a ToolResponse.

use serde_json::{Map, Value, json};
use toolroom_contract::confidence::Source;
use toolroom_contract::error::{ErrorBody, PendingKind, PendingNotice};
use toolroom_contract::{ErrorCode, ToolResult};

use crate::canonical::carry;
use crate::profile::{Binding, ChatRules, Input, Pick, Picked, Profile, Published, Show, Style, Tools};

/// Built-in tools: the name that executors know each by, and ours.
pub const BUILT_IN: [(&str, &str); 3] = [
    ("code_execution", "execute-code"),
    ("web_search", "search-web"),
    ("request_human_input", "request-human-input"),
];

/// The profile.
pub fn profile() -> Profile {
    Profile {
        name: "executor".into(),
        description:
            "Web search, code, questions to a person, and every tool of tools.json and of other servers; \
                      answers are {status, data, message, execution_id, error}."
                .into(),
        requires_approval: true,
        show: Show::List,
        chat: ChatRules::default(),
        tools: Tools::Picked(Picked {
            listed: vec![web_search(), code_execution(), request_human_input()],
            picks: vec![Pick::Source(Source::Script), Pick::Source(Source::Upstream)],
            style: Style::Answer(respond),
            ..Picked::default()
        }),
    }
}

fn web_search() -> Binding {
    Binding {
        name: "web_search".into(),
        canonical: "search-web".into(),
        description: "Searches the web and returns titles, addresses, snippets and dates of pages. Use it for what is \
                      recent or may have changed (news, weather, prices, releases) and for facts that you are not \
                      sure of. Do not use it for common knowledge that you have, for arithmetic or data (use \
                      code_execution), or for what only the user knows (use request_human_input)."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string", "minLength": 1, "maxLength": 400,
                    "description": "What to search for: a few telling words"
                },
                "max_results": {
                    "type": "integer", "minimum": 1, "maximum": 20, "default": 5,
                    "description": "How many results at most"
                }
            },
            "required": ["query"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &["query"],
        input: |params, _| Ok(Input::of(carry(params, &[("query", "query"), ("max_results", "maxResults")]))),
        output: respond,
    }
}

fn code_execution() -> Binding {
    Binding {
        name: "code_execution".into(),
        canonical: "execute-code".into(),
        description: "Runs a Python or shell program in a sandbox and returns what it printed. Use it for arithmetic, \
                      dates, data processing and whatever is better computed than guessed. Do not use it to look \
                      things up on the web: it has no network (use web_search). Nothing is kept between runs. Print \
                      the result."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "code": {
                    "type": "string", "minLength": 1, "maxLength": 200_000,
                    "description": "The whole program"
                },
                "language": {
                    "type": "string", "enum": ["python", "shell"], "default": "python",
                    "description": "The language of the code"
                }
            },
            "required": ["code"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &[],
        input: |params, _| Ok(Input::of(carry(params, &[("code", "code"), ("language", "language")]))),
        output: respond_to_code,
    }
}

fn request_human_input() -> Binding {
    Binding {
        name: "request_human_input".into(),
        canonical: "request-human-input".into(),
        description: "Asks a person a question and returns their answer. Use it when you lack something that only a \
                      person knows or may decide, and no other tool can find out. The first call answers with status \
                      pending; make the same call again once the person has answered. Give choices where the answer \
                      is one of a few."
            .into(),
        parameters: json!({
            "type": "object",
            "properties": {
                "question": {
                    "type": "string", "minLength": 1, "maxLength": 2000,
                    "description": "What the person is asked, in whole sentences"
                },
                "choices": {
                    "type": "array", "maxItems": 20,
                    "items": { "type": "string", "minLength": 1, "maxLength": 200 },
                    "description": "What they may choose from; free text if not given"
                }
            },
            "required": ["question"],
            "additionalProperties": false
        }),
        plain: None,
        trimmed: &["question"],
        input: |params, _| Ok(Input::of(carry(params, &[("question", "question"), ("choices", "choices")]))),
        output: respond,
    }
}

/// A result as a ToolResponse.
fn respond(published: &Published<'_>) -> Value {
    let result = published.result;
    match result.error() {
        None => {
            let data = with_blocks(result.data().cloned().unwrap_or_default(), published);
            response("success", data, remarks(result), result, None)
        }
        Some(ErrorBody { pending: Some(notice), .. }) => pending(notice, result),
        Some(error) => {
            let data = error.data.clone().unwrap_or_else(|| details(error));
            failure(error, with_blocks(data, published), result)
        }
    }
}

/// The data with the blocks that are not text, where they would be lost: the data has the texts.
pub(crate) fn with_blocks(data: Value, published: &Published<'_>) -> Value {
    let Some(content) = published.result.content.as_ref().filter(|_| published.alone) else { return data };
    let blocks = content.blocks.iter().filter_map(|block| serde_json::from_str(block.get()).ok());
    let blocks: Vec<Value> = blocks.filter(|block: &Value| block["type"] != "text").collect();
    if blocks.is_empty() {
        return data;
    }
    match data {
        Value::Object(mut fields) if !fields.contains_key("content") => {
            fields.insert("content".into(), blocks.into());
            fields.into()
        }
        Value::Null => json!({ "content": blocks }),
        // It has no room for a field, or one of that name.
        data => json!({ "value": data, "content": blocks }),
    }
}

/// Code answers with what it wrote, failed code too.
fn respond_to_code(published: &Published<'_>) -> Value {
    let result = published.result;
    match (result.error(), result.data()) {
        (None, Some(data)) if data.get("exitCode").is_some() => {
            let mut shown = written(data);
            if let (Some(shown), Some(data)) = (shown.as_object_mut(), data.as_object()) {
                let more = data
                    .iter()
                    .filter(|(name, _)| matches!(name.as_str(), "files" | "truncated" | "sandbox"));
                shown.extend(more.map(|(name, value)| (name.clone(), value.clone())));
            }
            response("success", shown, remarks(result), result, None)
        }
        (Some(error @ ErrorBody { data: Some(data), .. }), _) if data.get("exitCode").is_some() => {
            failure(error, written(data), result)
        }
        _ => respond(published),
    }
}

/// What the code wrote; and whether that is not all of it, where it is not.
fn written(data: &Value) -> Value {
    let mut shown = carry(data, &[("stdout", "stdout"), ("stderr", "stderr"), ("exitCode", "exit_code")]);
    if data.get("truncated") == Some(&Value::Bool(true)) {
        shown.insert("truncated".into(), true.into());
    }
    shown.into()
}

/// What a caller needs to continue once a person has decided.
fn pending(notice: &PendingNotice, result: &ToolResult) -> Value {
    let who = match notice.kind {
        PendingKind::Question => "A person must answer a question first.",
        PendingKind::Approval => "A person must agree first.",
    };
    let id = notice.id;
    let message = match &notice.server {
        None => {
            format!("{who} When they have, make the same call again (with the header X-Approval-Id: {id}).")
        }
        Some(server) => {
            format!("{who} They do so at the server '{server}'. When they have, make the same call again.")
        }
    };
    let data = json!({ "pending": notice });
    response("pending", data, Some(message), result, None)
}

fn failure(error: &ErrorBody, data: Value, result: &ToolResult) -> Value {
    let mut shown = Map::new();
    shown.insert("code".into(), code(error.code).into());
    shown.insert("retryable".into(), error.retryable.into());
    shown.extend(error.outcome.map(|outcome| ("outcome".into(), json!(outcome))));
    shown.extend(error.retry_after.map(|wait| ("retryAfter".into(), wait.into())));
    response("error", data, Some(error.message.clone()), result, Some(shown.into()))
}

/// The bad fields, if there are any.
fn details(error: &ErrorBody) -> Value {
    if error.details.is_empty() { Value::Null } else { json!({ "details": error.details }) }
}

/// What the hints say that an agent must not miss: this shape has no place for the others.
fn remarks(result: &ToolResult) -> Option<String> {
    let hints = &result.agent_hints;
    let said: Vec<&str> = hints
        .warnings
        .iter()
        .map(|one| one.message.as_str())
        .chain(hints.constraints.iter().map(String::as_str))
        .collect();
    (!said.is_empty()).then(|| said.join(" "))
}

fn response(
    status: &str,
    data: Value,
    message: Option<String>,
    result: &ToolResult,
    error: Option<Value>,
) -> Value {
    let mut response = Map::new();
    response.insert("status".into(), status.into());
    response.insert("data".into(), data);
    response.extend(message.map(|message| ("message".into(), message.into())));
    response.insert("execution_id".into(), json!(result.metadata.execution_id));
    response.extend(error.map(|error| ("error".into(), error)));
    response.into()
}

/// The code that executors know. A call through this profile never ends in some of the canonical ones; they
/// are told by what they come to.
fn code(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::InvalidInput
        | ErrorCode::BodyTooLarge
        | ErrorCode::UnsupportedMediaType
        | ErrorCode::NotAcceptable
        | ErrorCode::RequestTimeout => "InvalidInput",
        ErrorCode::NotFound => "NotFound",
        ErrorCode::ToolNotFound | ErrorCode::ToolRemoved => "ToolNotFound",
        ErrorCode::VersionConflict
        | ErrorCode::IdempotencyConflict
        | ErrorCode::AlreadyExists
        | ErrorCode::BreakingChange
        | ErrorCode::InProgress
        | ErrorCode::NoChanges
        | ErrorCode::Ambiguous => "Conflict",
        ErrorCode::InputRequired => "InputRequired",
        ErrorCode::ApprovalRequired
        | ErrorCode::ApprovalDenied
        | ErrorCode::DefinitionPending
        | ErrorCode::ApprovalExpired
        | ErrorCode::Unauthenticated
        | ErrorCode::Forbidden => "Denied",
        ErrorCode::RateLimited => "RateLimited",
        ErrorCode::Busy | ErrorCode::ServiceUnavailable | ErrorCode::JournalUnavailable => {
            "ServiceUnavailable"
        }
        ErrorCode::ToolTimeout => "ToolTimeout",
        ErrorCode::ToolExecutionError | ErrorCode::OutputTooLarge | ErrorCode::Internal => {
            "ToolExecutionError"
        }
        ErrorCode::InvalidOutput => "InvalidOutput",
        ErrorCode::Cancelled => "Cancelled",
        ErrorCode::NotConfigured => "NotConfigured",
    }
}
