//! What a person says while something waits for them. Only here does a yes become a decision, and only the person's
//! own message can be one.

use serde_json::Value;
use toolroom_store::pending::{self, Asker, DecideError, Decision, PendingRequest, State};
use toolroom_store::{StoreError, Unit};

use crate::confirm::{PendingQuestion, Utterance, read};
use crate::guard::Evidence;
use crate::run::{Ending, Limits, Phase, Planned, Run, Waiting, WaitingCall};

/// What a message means to what waits.
#[derive(Clone, Debug)]
pub(super) enum Settled {
    /// These calls are to be made now.
    Go(Vec<Planned>),
    /// The question stays open; this is said.
    Stay(String, PendingQuestion),
    /// It is over; this is said, and nothing is done.
    Over(String),
    /// It is withdrawn, and the message is answered on its own, after this.
    Fresh(Option<String>),
}

impl Settled {
    /// The run that the message begins, and what is said before it.
    pub(super) fn run(self, limits: Limits, evidence: Evidence) -> Opening {
        let over = |evidence| Run { phase: Phase::Done(Ending::Answered), ..Run::begin(limits, evidence) };
        match self {
            Self::Go(calls) => {
                Opening { run: Run::resume(limits, evidence, calls), remark: None, standing: None }
            }
            Self::Fresh(remark) => Opening { run: Run::begin(limits, evidence), remark, standing: None },
            Self::Over(text) => Opening { run: over(evidence), remark: Some(text), standing: None },
            Self::Stay(text, question) => {
                Opening { run: over(evidence), remark: Some(text), standing: Some(question) }
            }
        }
    }
}

/// How the answer to a message begins.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    /// The run.
    pub(super) run: Run,
    /// What is said first.
    pub(super) remark: Option<String>,
    /// A question that stays open.
    pub(super) standing: Option<PendingQuestion>,
}

/// Decides what waits by what the person said, in the unit in which the message is written down.
pub(super) fn settle(
    unit: &mut Unit<'_>,
    waiting: &Waiting,
    said: &str,
    by: Asker,
) -> Result<Settled, StoreError> {
    match waiting.calls.iter().find(|call| call.question) {
        Some(call) => answer(unit, call, said, by),
        None => confirm(unit, waiting, said, by),
    }
}

fn confirm(unit: &mut Unit<'_>, waiting: &Waiting, said: &str, by: Asker) -> Result<Settled, StoreError> {
    let requests = requests(unit, waiting, by)?;
    let open = requests.len() == waiting.calls.len()
        // A yes by another key of the same person would be of no use: the call is bound to the one that asked.
        && requests.iter().all(|request| request.asker() == by)
        && requests.iter().all(|request| matches!(request.state, State::Open | State::Approved));
    match (read(said), open) {
        (Utterance::Yes, true) => {
            for request in requests.iter().filter(|request| request.state == State::Open) {
                if decide(unit, request, &Decision::Approve, by)?.is_none() {
                    return Ok(Settled::Over(LAPSED.to_owned()));
                }
            }
            Ok(Settled::Go(waiting.calls.iter().map(approved).collect()))
        }
        (Utterance::Yes, false) => {
            withdraw(unit, &requests, by)?;
            let denied = requests.iter().any(|request| request.state == State::Denied);
            Ok(Settled::Over(if denied { DENIED } else { LAPSED }.to_owned()))
        }
        (Utterance::No, _) => {
            withdraw(unit, &requests, by)?;
            Ok(Settled::Over(DECLINED.to_owned()))
        }
        (Utterance::Other, _) => {
            let withdrawn = withdraw(unit, &requests, by)?;
            Ok(Settled::Fresh(withdrawn.then(|| WITHDRAWN.to_owned())))
        }
    }
}

fn answer(unit: &mut Unit<'_>, call: &WaitingCall, said: &str, by: Asker) -> Result<Settled, StoreError> {
    let Some(request) = pending::get(unit, call.request)?.filter(|request| request.asker() == by) else {
        return Ok(Settled::Fresh(None));
    };
    match request.state {
        State::Open => {}
        // Somebody answered it elsewhere.
        State::Answered => return Ok(Settled::Go(vec![approved(call)])),
        _ => return Ok(Settled::Fresh(None)),
    }
    match pending::decide(unit, request.id, &Decision::Answer(Value::from(said)), by.user) {
        Ok(_) => Ok(Settled::Go(vec![approved(call)])),
        Err(DecideError::NotAChoice(_) | DecideError::Unfit(_) | DecideError::WrongKind)
            if gives_up(said) =>
        {
            withdraw(unit, &[request], by)?;
            Ok(Settled::Over(GIVEN_UP.to_owned()))
        }
        Err(DecideError::NotAChoice(choices)) => {
            let text = format!("Please choose one of: {}. Or say “cancel”.", choices.join(", "));
            Ok(Settled::Stay(text, standing(&request, choices)))
        }
        Err(error @ DecideError::Unfit(_)) => {
            let text = format!("Please answer again: {error}. Or say “cancel”.");
            Ok(Settled::Stay(text, standing(&request, Vec::new())))
        }
        Err(DecideError::Store(error)) => Err(error),
        Err(_) => Ok(Settled::Fresh(None)),
    }
}

/// The question, as it still stands.
fn standing(request: &PendingRequest, choices: Vec<String>) -> PendingQuestion {
    let question = request.prompt.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
    PendingQuestion { id: request.id, question, choices, expires_at: request.expires_at }
}

/// Whether a reply to a question is none: the person does not want to answer.
fn gives_up(said: &str) -> bool {
    read(said) == Utterance::No
}

fn requests(unit: &mut Unit<'_>, waiting: &Waiting, by: Asker) -> Result<Vec<PendingRequest>, StoreError> {
    let mut requests = Vec::new();
    for call in &waiting.calls {
        // Whose request it is, is checked again: the state of a run is not the proof.
        requests.extend(pending::get(unit, call.request)?.filter(|request| request.user == by.user));
    }
    Ok(requests)
}

/// `None` if it was decided otherwise, or expired, in between.
fn decide(
    unit: &mut Unit<'_>,
    request: &PendingRequest,
    decision: &Decision,
    by: Asker,
) -> Result<Option<PendingRequest>, StoreError> {
    match pending::decide(unit, request.id, decision, by.user) {
        Ok(request) => Ok(Some(request)),
        Err(DecideError::Store(error)) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Denies what can still be decided; whether there was any.
fn withdraw(unit: &mut Unit<'_>, requests: &[PendingRequest], by: Asker) -> Result<bool, StoreError> {
    let mut any = false;
    for request in requests {
        if request.state == State::Open {
            any |= decide(unit, request, &Decision::Deny(None), by)?.is_some();
        }
    }
    Ok(any)
}

/// Denies what a run leaves behind that nobody can answer any more.
pub(super) fn drop_waiting(unit: &mut Unit<'_>, waiting: &Waiting, by: Asker) -> Result<(), StoreError> {
    let requests = requests(unit, waiting, by)?;
    withdraw(unit, &requests, by).map(drop)
}

/// The call exactly as it was asked about, with the request that allows it.
fn approved(call: &WaitingCall) -> Planned {
    let mut planned = call.planned.clone();
    planned.approval = Some(call.request);
    planned.call.id = format!("{}_yes", planned.call.id);
    planned.call.id.truncate(64);
    planned
}

const DECLINED: &str = "All right, I will not. Nothing was changed.";
const DENIED: &str = "That was denied elsewhere. Nothing was changed.";
const LAPSED: &str =
    "That question has expired, so nothing was changed. Tell me again what you want, and I will ask again.";
const WITHDRAWN: &str = "I have withdrawn my question; nothing was changed.";
const GIVEN_UP: &str = "All right, I will leave it at that.";
