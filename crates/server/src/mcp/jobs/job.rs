//! One deferred call: how it stands, what it asks, how it ended.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use toolroom_contract::ClientRequest;
use toolroom_mcp::{Code, RpcError};
use toolroom_store::deferred::{Call, Progress, Status};
use uuid::Uuid;

use crate::mcp::caller::Owner;
use crate::mcp::input::Requests;

/// How long an outcome can be asked for, from the beginning on.
pub(super) const TTL: Duration = Duration::from_secs(2 * 3600);
/// How often a client should ask.
const POLL_INTERVAL_MS: u64 = 500;

/// A deferred call.
pub(crate) struct Job {
    pub(crate) id: Arc<str>,
    pub(crate) owner: Owner,
    created: Timestamp,
    /// Cancelled when nobody wants the outcome any more.
    pub(crate) stop: CancellationToken,
    /// Cancelled with the credential of its caller, which stops it too.
    revoked: CancellationToken,
    place: AtomicU8,
    state: Mutex<State>,
    answered: Notify,
    /// A worker's slot, which it has while it does not wait for its client.
    slot: tokio::sync::Mutex<Option<Slot>>,
}

/// A place among the calls that a worker makes at a time.
enum Slot {
    Had(OwnedSemaphorePermit),
    GivenBack(Arc<Semaphore>),
}

const UNDECIDED: u8 = 0;
const IN_PLACE: u8 = 1;
const DEFERRED: u8 = 2;

struct State {
    status: Status,
    message: Option<String>,
    updated: Timestamp,
    requests: Requests,
    responses: Map<String, Value>,
    outcome: Option<Result<Box<RawValue>, RpcError>>,
}

/// A deferred call as its client sees it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Snapshot {
    task_id: Arc<str>,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_message: Option<String>,
    created_at: String,
    last_updated_at: String,
    ttl_ms: u64,
    poll_interval_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_requests: Option<BTreeMap<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RpcError>,
}

impl Job {
    pub(crate) fn new(owner: Owner, revoked: CancellationToken, now: Timestamp) -> Self {
        let state = State {
            status: Status::Working,
            message: None,
            updated: now,
            requests: Requests::new(),
            responses: Map::new(),
            outcome: None,
        };
        Self {
            id: Uuid::new_v4().to_string().into(),
            owner,
            created: now,
            stop: revoked.child_token(),
            revoked,
            place: AtomicU8::new(UNDECIDED),
            state: Mutex::new(state),
            answered: Notify::new(),
            slot: tokio::sync::Mutex::default(),
        }
    }

    /// One that another server left, whose client holds its id.
    pub(super) fn taken(id: &str, owner: Owner, revoked: CancellationToken, created: Timestamp) -> Self {
        let new = Self::new(owner, revoked, created);
        Self { id: id.into(), place: AtomicU8::new(DEFERRED), ..new }
    }

    /// The same, as one of the calls that a worker makes at a time.
    pub(super) fn in_slot(self, slot: OwnedSemaphorePermit) -> Self {
        Self { slot: tokio::sync::Mutex::new(Some(Slot::Had(slot))), ..self }
    }

    /// Waits for what the client says, for as long as the call may last, and lets others have its slot meanwhile.
    pub(crate) async fn answers_while_others_run(&self) -> Map<String, Value> {
        let mut slot = self.slot.lock().await;
        *slot = slot.take().map(|had| match had {
            Slot::Had(permit) => Slot::GivenBack(Arc::clone(permit.semaphore())),
            given_back @ Slot::GivenBack(_) => given_back,
        });
        let Ok(answers) = tokio::time::timeout(TTL, self.answers()).await else {
            // Nobody can answer it any more.
            self.stop.cancel();
            return std::future::pending().await;
        };
        if let Some(Slot::GivenBack(slots)) = &*slot
            && let Ok(permit) = Arc::clone(slots).acquire_owned().await
        {
            *slot = Some(Slot::Had(permit));
        }
        answers
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer is to be given in place, unless the client holds the id already.
    pub(crate) fn settle_in_place(&self) -> bool {
        let seen = self.place.compare_exchange(UNDECIDED, IN_PLACE, Ordering::AcqRel, Ordering::Acquire);
        seen.map_or_else(|place| place == IN_PLACE, |_| true)
    }

    /// The client is given the id, unless the answer is on its way.
    pub(crate) fn defer(&self) -> bool {
        self.place.compare_exchange(UNDECIDED, DEFERRED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    pub(crate) fn is_deferred(&self) -> bool {
        self.place.load(Ordering::Acquire) == DEFERRED
    }

    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        now > self.created + TTL || self.revoked.is_cancelled()
    }

    /// Without what is only told when it is asked for.
    pub(crate) fn created(&self) -> Snapshot {
        let state = self.state();
        Snapshot {
            task_id: Arc::clone(&self.id),
            status: Status::Working,
            status_message: state.message.clone(),
            created_at: self.created.to_string(),
            last_updated_at: state.updated.to_string(),
            ttl_ms: TTL.as_millis() as u64,
            poll_interval_ms: POLL_INTERVAL_MS,
            input_requests: None,
            result: None,
            error: None,
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let base = self.created();
        let state = self.state();
        let (result, error) = match &state.outcome {
            Some(Ok(result)) => (Some(result.clone()), None),
            Some(Err(error)) => (None, Some(error.clone())),
            None => (None, None),
        };
        Snapshot {
            status: state.status,
            last_updated_at: state.updated.to_string(),
            input_requests: (state.status == Status::InputRequired)
                .then(|| state.requests.iter().map(wire).collect()),
            result,
            error,
            ..base
        }
    }

    /// How it stands, for those who cannot look here.
    pub(super) fn progress(&self) -> Progress {
        let state = self.state();
        // Our own types have string keys: this cannot fail.
        let outcome = state.outcome.as_ref().and_then(|outcome| serde_json::to_string(outcome).ok());
        Progress {
            status: state.status,
            message: state.message.as_deref().map(plain),
            requests: state.requests.iter().map(wire).collect(),
            outcome,
            updated_at: state.updated,
        }
    }

    pub(super) fn created_at(&self) -> Timestamp {
        self.created
    }

    /// The tool says how far it is.
    pub(crate) fn note(&self, message: String) {
        self.state().message = Some(message);
    }

    /// Asks the client, which answers when it likes.
    pub(crate) fn ask(&self, requests: &Requests, now: Timestamp) {
        let mut state = self.state();
        if !state.status.is_final() {
            state.requests = requests.clone();
            state.responses = Map::new();
            state.status = Status::InputRequired;
            state.updated = now;
        }
    }

    /// All answers, once they are there.
    pub(crate) async fn answers(&self) -> Map<String, Value> {
        loop {
            let answered = self.answered.notified();
            {
                let mut state = self.state();
                if state.status != Status::InputRequired {
                    return std::mem::take(&mut state.responses);
                }
            }
            answered.await;
        }
    }

    /// Takes answers to what is asked; others are left alone. True if anything changed.
    pub(crate) fn answer(&self, responses: Map<String, Value>, now: Timestamp) -> bool {
        let mut state = self.state();
        if state.status != Status::InputRequired {
            return false;
        }
        let mut changed = false;
        for (key, response) in responses {
            if state.requests.remove(&key).is_some() {
                state.responses.insert(key, response);
                changed = true;
            }
        }
        if changed {
            state.updated = now;
            if state.requests.is_empty() {
                state.status = Status::Working;
                self.answered.notify_waiters();
            }
        }
        changed
    }

    /// Ends it, unless it has ended.
    pub(crate) fn finish(&self, outcome: Result<Vec<u8>, RpcError>, now: Timestamp) -> bool {
        let outcome = outcome.and_then(|result| {
            let text = String::from_utf8(result).ok().and_then(|text| RawValue::from_string(text).ok());
            text.ok_or_else(|| RpcError::new(Code::Internal, "The result cannot be read."))
        });
        let status = if outcome.is_ok() { Status::Completed } else { Status::Failed };
        self.end(status, Some(outcome), now)
    }

    /// Stops the work. What has ended stays as it is.
    pub(crate) fn cancel(&self, now: Timestamp) -> bool {
        let ended = self.end(Status::Cancelled, None, now);
        self.stop.cancel();
        ended
    }

    fn end(&self, status: Status, outcome: Option<Result<Box<RawValue>, RpcError>>, now: Timestamp) -> bool {
        let mut state = self.state();
        if state.status.is_final() {
            return false;
        }
        state.status = status;
        state.outcome = outcome;
        state.updated = now;
        state.requests.clear();
        true
    }
}

impl Snapshot {
    /// A call as its row has it. If whoever makes it is gone, nobody knows how it ended.
    pub(super) fn of_row(call: Call) -> Self {
        let Call { id, progress, created_at, is_alive, .. } = call;
        let is_lost = !progress.status.is_final() && !is_alive;
        let outcome = match progress.outcome {
            _ if is_lost => Some(Err(interrupted())),
            Some(text) => serde_json::from_str::<Result<Box<RawValue>, RpcError>>(&text).ok(),
            None => None,
        };
        let (result, error) = match outcome {
            Some(Ok(result)) => (Some(result), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        Self {
            task_id: id.into(),
            status: if is_lost { Status::Failed } else { progress.status },
            status_message: progress.message,
            created_at: created_at.to_string(),
            last_updated_at: progress.updated_at.to_string(),
            ttl_ms: TTL.as_millis() as u64,
            poll_interval_ms: POLL_INTERVAL_MS,
            input_requests: (progress.status == Status::InputRequired && !is_lost)
                .then(|| progress.requests.into_iter().collect()),
            result,
            error,
        }
    }
}

pub(super) fn interrupted() -> RpcError {
    let message =
        "The server that made this call is gone. Check whether the call took effect before you repeat it.";
    RpcError::new(Code::Internal, message).with_data(&serde_json::json!({ "outcome": "unknown" }))
}

fn wire((key, request): (&String, &ClientRequest)) -> (String, Value) {
    (key.clone(), serde_json::json!({ "method": request.method, "params": request.params }))
}

/// Databases have no place for U+0000.
pub(super) fn plain(text: &str) -> String {
    text.replace('\0', "")
}
