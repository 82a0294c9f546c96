//! What waits for a person, as a form that the client puts before them; and what their answer decides.

use serde_json::{Value, json};
use toolroom_contract::error::{PendingKind, PendingNotice};
use toolroom_contract::ids::PendingId;
use toolroom_contract::{ClientRequest, Principal};
use toolroom_mcp::{Code, RpcError};
use toolroom_store::pending::{self, DecideError, Decision, Kind, PendingRequest};

use super::input::Requests;
use crate::app::App;

/// The key of the form among the requests to the client.
pub(crate) const KEY: &str = "toolroom_decision";

/// The outcome of the form.
#[derive(Debug, PartialEq)]
pub(crate) enum Settled {
    /// The person decided, now or before; the call may be made again.
    Decided,
    /// No usable answer came: the form is to be shown again.
    Undecided,
    /// The person put it off. The request stands, and can be decided elsewhere.
    PutOff,
}

/// The form of a request, as requests to the client.
pub(crate) fn form(notice: &PendingNotice) -> Requests {
    let request = ClientRequest { method: "elicitation/create".into(), params: elicitation(notice) };
    [(KEY.to_owned(), request)].into()
}

fn elicitation(notice: &PendingNotice) -> Value {
    let asked = notice.prompt["message"].as_str().unwrap_or_default();
    let (message, name, field) = match notice.kind {
        PendingKind::Approval => {
            let decision = json!({
                "type": "string",
                "title": "Decision",
                "description": "Whether the call may run",
                "enum": ["approve", "deny"],
            });
            (format!("{asked} Arguments: {}", notice.prompt["arguments"]), "decision", decision)
        }
        PendingKind::Question => {
            let mut answer = json!({ "type": "string", "title": "Answer" });
            match notice.prompt["choices"].as_array() {
                Some(choices) if !choices.is_empty() => answer["enum"] = json!(choices),
                _ => answer["minLength"] = json!(1),
            }
            (asked.to_owned(), "answer", answer)
        }
    };
    json!({
        "mode": "form",
        "message": message,
        "requestedSchema": { "type": "object", "properties": { name: field }, "required": [name] },
    })
}

/// Takes the client's answer to the form for the person's decision on exactly that request.
pub(crate) async fn settle(
    app: &App,
    principal: &Principal,
    id: PendingId,
    response: Option<&Value>,
) -> Result<Settled, RpcError> {
    let found = app.runtime.store.read(move |unit| pending::get(unit, id)).await.map_err(unreachable)?;
    let Some(request) = found.filter(|request| is_asked_by(principal, request)) else {
        // The pipeline tells what it would tell of a request that never was.
        return Ok(Settled::Decided);
    };
    let Some(response) = response else { return Ok(Settled::Undecided) };
    let decision = match response["action"].as_str() {
        Some("accept") => match accepted(&request, &response["content"]) {
            Some(decision) => decision,
            None => return Ok(Settled::Undecided),
        },
        Some("decline") => Decision::Deny(None),
        Some("cancel") => return Ok(Settled::PutOff),
        _ => return Ok(Settled::Undecided),
    };
    let by = principal.user.id;
    let decided = app.runtime.store.write(move |unit| pending::decide(unit, id, &decision, by)).await;
    app.ring_decided();
    match decided {
        // Decided before, or too late: the pipeline says what stands.
        Ok(_) | Err(DecideError::AlreadyDecided(_) | DecideError::Expired | DecideError::NotFound) => {
            Ok(Settled::Decided)
        }
        Err(DecideError::WrongKind | DecideError::NotAChoice(_) | DecideError::Unfit(_)) => {
            Ok(Settled::Undecided)
        }
        Err(DecideError::Store(error)) => Err(unreachable(error)),
    }
}

/// Whether this caller asked, for itself or for a user whom it may act for.
fn is_asked_by(principal: &Principal, request: &PendingRequest) -> bool {
    let user = request.user == principal.user.id || principal.grants.hold("users", "act-as");
    user && request.key == principal.key
}

fn accepted(request: &PendingRequest, content: &Value) -> Option<Decision> {
    match request.kind {
        Kind::Approval | Kind::Confirmation => match content["decision"].as_str()? {
            "approve" => Some(Decision::Approve),
            "deny" => Some(Decision::Deny(None)),
            _ => None,
        },
        Kind::Question => {
            let answer = content["answer"].as_str().filter(|answer| !answer.trim().is_empty())?;
            Some(Decision::Answer(answer.into()))
        }
    }
}

fn unreachable(error: toolroom_store::StoreError) -> RpcError {
    tracing::error!(%error, "a pending request cannot be read or decided");
    RpcError::new(Code::Internal, "The database cannot be reached; try again in a moment.")
}
