//! Renders the table of errors for users and for machines, and compares it with the committed files.

use std::fmt::Write;

use serde_json::{Value, json};
use toolroom_contract::ErrorCode;
use toolroom_contract::error::Retry;

use crate::committed::compare;

const INTRO: &str = "\
# Errors

<!-- Generated from the table of error codes. To change it: UPDATE_EXPECT=1 cargo nextest run -p toolroom-contract -->

A call that fails answers with the same envelope as one that succeeds, with `error` instead of `data`:

```json
{
  \"error\": {
    \"code\": \"invalid_input\",
    \"class\": \"validation\",
    \"message\": \"/title: must not be empty\",
    \"retryable\": false,
    \"details\": [{ \"pointer\": \"/title\", \"message\": \"must not be empty\" }]
  },
  \"agentHints\": { },
  \"metadata\": { }
}
```

- `code` is one of the table below. Codes may be added, never renamed: compare codes, not messages.
- `class` says whose problem it is: `validation` (the input, or who sent it), `business` (a rule of the domain),
  `system` (the server or the tool).
- `retryable` says whether the same call can succeed later; `retryAfter` says when, in milliseconds from now.
- `details` names each bad field by a JSON pointer into the parameters.
- `outcome` is there when the tool may have run: `applied` (the effect took place) or `unknown` (check before you
  repeat). Unless the tool is a query or idempotent, `retryable` is then false.
- `agentHints.suggestedNextActions` says what to do next.

An error never contains a stack trace, path, SQL or secret. Find the rest in the log by `metadata.traceId`.

";

const PROFILES_INTRO: &str = "
## How the profiles spell them

The profiles `todo-chatbot`, `todo_tasks`, `assistant` and `executor` answer in their own published shapes.
`todo-chatbot` has no codes, only a message. A dash means that the error does not reach that profile under a spelling
of its own. `<verb>` is what was tried: create, retrieve, update, delete.

";

/// What a profile makes of a code: todo-chatbot's message, and the codes of the other three.
fn spelling(code: ErrorCode) -> [&'static str; 4] {
    const NONE: &str = "-";
    const FAILED: &str = "Failed to \\<verb\\> task: \\<reason\\>";
    use ErrorCode as Code;
    match code {
        Code::InvalidInput => [
            FAILED,
            "`invalid_input` (priority: `invalid_priority`, date: `invalid_date`)",
            "`VALIDATION_ERROR`",
            "`InvalidInput`",
        ],
        Code::NotFound => ["Task not found with ID: N", "`not_found`", "`NOT_FOUND`", "`NotFound`"],
        Code::ToolNotFound | Code::ToolRemoved => [NONE, NONE, NONE, "`ToolNotFound`"],
        Code::NoChanges => ["(a success)", "`invalid_input`", "`NO_CHANGES` (a success)", NONE],
        Code::VersionConflict => [FAILED, "`processing_error`", "`CONFLICT`", "`Conflict`"],
        Code::IdempotencyConflict | Code::AlreadyExists | Code::BreakingChange | Code::InProgress => {
            [NONE, NONE, NONE, "`Conflict`"]
        }
        Code::Ambiguous => [NONE, NONE, "(`match_type` is `multiple`)", NONE],
        Code::ApprovalRequired => [NONE, NONE, NONE, "(`status` is `pending`)"],
        Code::InputRequired => [NONE, NONE, NONE, "`InputRequired`"],
        Code::ApprovalDenied | Code::DefinitionPending | Code::ApprovalExpired => {
            [NONE, NONE, NONE, "`Denied`"]
        }
        Code::Unauthenticated => [NONE, NONE, "`UNAUTHORIZED`", NONE],
        Code::Forbidden
        | Code::BodyTooLarge
        | Code::UnsupportedMediaType
        | Code::NotAcceptable
        | Code::RequestTimeout => [NONE; 4],
        Code::RateLimited => [FAILED, "`processing_error`", "`RATE_LIMITED`", "`RateLimited`"],
        Code::Busy | Code::JournalUnavailable => {
            [FAILED, "`processing_error`", "`DATABASE_ERROR`", "`ServiceUnavailable`"]
        }
        Code::ToolTimeout => [FAILED, "`processing_error`", "`DATABASE_ERROR`", "`ToolTimeout`"],
        Code::ToolExecutionError => {
            [FAILED, "`processing_error`", "`DATABASE_ERROR`", "`ToolExecutionError`"]
        }
        Code::InvalidOutput => [NONE, NONE, NONE, "`InvalidOutput`"],
        Code::OutputTooLarge => [NONE, NONE, NONE, "`ToolExecutionError`"],
        Code::Cancelled => [NONE, NONE, NONE, "`Cancelled`"],
        Code::ServiceUnavailable => [
            "Failed to \\<verb\\> task: Database connection error",
            "`processing_error`",
            "`DATABASE_ERROR`",
            "`ServiceUnavailable`",
        ],
        Code::NotConfigured => [NONE, NONE, NONE, "`NotConfigured`"],
        Code::Internal => [
            "Failed to \\<verb\\> task: Unexpected error",
            "`processing_error`",
            "`DATABASE_ERROR`",
            "`ToolExecutionError`",
        ],
    }
}

fn retry_in_words(retry: Retry) -> &'static str {
    match retry {
        Retry::No => "no",
        Retry::Yes => "yes",
        Retry::After(how) => how,
        Retry::IfIdempotent => "if the tool is a query or idempotent",
    }
}

fn page() -> String {
    let mut page = String::from(INTRO);
    page.push_str("| code | class | HTTP | retry helps? | when |\n| --- | --- | --- | --- | --- |\n");
    for &code in ErrorCode::ALL {
        let class = json!(code.class());
        let class = class.as_str().unwrap();
        let (http, retry, when) = (code.http_status(), retry_in_words(code.retry()), code.when());
        writeln!(page, "| `{code}` | {class} | {http} | {retry} | {when} |").unwrap();
    }
    page.push_str(PROFILES_INTRO);
    page.push_str("| code | todo-chatbot | todo_tasks | assistant | executor |\n");
    page.push_str("| --- | --- | --- | --- | --- |\n");
    for &code in ErrorCode::ALL {
        writeln!(page, "| `{code}` | {} |", spelling(code).join(" | ")).unwrap();
    }
    page
}

fn table() -> Value {
    let entry = |&code: &ErrorCode| {
        let (retry, change) = match code.retry() {
            Retry::No => ("no", None),
            Retry::Yes => ("yes", None),
            Retry::After(how) => ("changed", Some(how)),
            Retry::IfIdempotent => ("ifIdempotent", None),
        };
        let mut entry = json!({
            "code": code, "class": code.class(), "http": code.http_status(), "retry": retry
        });
        if let Some(how) = change {
            entry["change"] = json!(how);
        }
        entry["when"] = json!(code.when());
        entry
    };
    json!({ "errors": ErrorCode::ALL.iter().map(entry).collect::<Vec<_>>() })
}

#[test]
fn the_page_for_users_is_what_the_table_renders() {
    compare("docs/errors.md", &page());
}

#[test]
fn the_file_for_machines_is_what_the_table_renders() {
    compare("schema/errors.json", &format!("{:#}\n", table()));
}
