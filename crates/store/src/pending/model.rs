//! What a pending request is, and its states.

use jiff::Timestamp;
use serde_json::Value;
use toolroom_contract::exact;
use toolroom_contract::ids::{KeyId, PendingId, UserId};
use toolroom_contract::validator::Validator;

use super::deadlines;
use crate::StoreError;
use crate::engine::Row;
use crate::named::named;

pub(super) const COLUMNS: &str = "id, kind, user_id, tool, profile, arguments_hash, arguments, prompt, state, \
                                  answer, decided_by, created_at, expires_at, decided_at, used_at, key_id, \
                                  agent_id, edge, execution_id, conversation, definition, reason";
/// How many columns these are.
pub(super) const WIDTH: usize = 22;

/// Something that waits, or waited, for a person.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingRequest {
    pub id: PendingId,
    pub kind: Kind,
    /// The caller to whom it is bound.
    pub user: UserId,
    /// The key that the caller showed. The request ends with it.
    pub key: Option<KeyId>,
    pub tool: String,
    pub profile: String,
    pub arguments_hash: String,
    /// Where it came from.
    pub origin: Origin,
    /// The arguments as a person may see them, secrets masked.
    pub arguments: Value,
    /// What the person is shown.
    pub prompt: Value,
    /// An open or unused request past its deadline reads as `Expired`, swept or not.
    pub state: State,
    pub answer: Option<Value>,
    /// Why it was denied.
    pub reason: Option<String>,
    pub decided_by: Option<UserId>,
    pub created_at: Timestamp,
    /// The deadline for the decision and for its use.
    pub expires_at: Timestamp,
    pub decided_at: Option<Timestamp>,
    pub used_at: Option<Timestamp>,
}

/// A request to be opened.
#[derive(Clone, Debug)]
pub struct NewPending {
    pub kind: Kind,
    pub asker: Asker,
    pub tool: String,
    pub profile: String,
    /// Of the exact arguments, in hex.
    pub arguments_hash: String,
    pub origin: Origin,
    /// Already masked.
    pub arguments: Value,
    pub prompt: Value,
    pub expires_at: Timestamp,
}

/// Where a request came from. Requests of older versions know none of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The program that made the call, by its own account.
    pub agent: Option<String>,
    /// The way in.
    pub edge: Option<String>,
    /// The call's row in the journal.
    pub execution: Option<String>,
    /// The conversation in which it is asked.
    pub conversation: Option<String>,
    /// What the tool was when the call was made, as a hash.
    pub definition: Option<String>,
}

/// Who asks: a user, by one of their credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asker {
    pub user: UserId,
    /// `None` where no key was shown: the owner of the home, or a home without keys.
    pub key: Option<KeyId>,
}

impl Asker {
    /// The key as statements compare it; no key has the number 0.
    pub(crate) fn key_number(self) -> i64 {
        self.key.map_or(0, |key| key.0)
    }
}

/// Why a request was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The user has as many open as one may have; the first of them expires then.
    #[error("too many requests of this user are waiting for a person")]
    TooMany(Timestamp),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a person decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    Approve,
    /// With a reason that the caller is told.
    Deny(Option<String>),
    Answer(Value),
}

/// Why a decision is refused.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// No request has this id.
    #[error("unknown pending request")]
    NotFound,
    /// Somebody decided it before.
    #[error("the request was already decided")]
    AlreadyDecided(State),
    /// Its deadline has passed.
    #[error("the request has expired")]
    Expired,
    /// An answer to an approval, or an approval of a question.
    #[error("this kind of request needs another kind of decision")]
    WrongKind,
    /// The question has choices, and the answer is none of them.
    #[error("the answer must be one of: {}", .0.join(", "))]
    NotAChoice(Vec<String>),
    /// The question has a schema, and the answer does not fit it.
    #[error("the answer does not fit what is asked for: {0}")]
    Unfit(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What [`super::take`] found.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Taken {
    /// Approved, and now used up.
    Approved,
    /// Answered, and now used up.
    Answered(Value),
    /// Denied, perhaps for this reason, and now reported: the next call asks again.
    Denied(Option<String>),
    /// Denied, and another call that waited for the same decision was told so first.
    DeniedBefore(Option<String>),
    StillOpen(Box<PendingRequest>),
    Expired,
    /// Another call of the same kind used the answer.
    Used,
    /// No such request, or one of another caller or call.
    NotFound,
}

named!(
    /// What is asked of the person.
    Kind {
        /// May this call run?
        Approval = "approval",
        /// A question of the agent.
        Question = "question",
        /// May the chat do what it proposed?
        Confirmation = "confirmation",
    }
);

named!(
    /// The state of a request.
    State {
        Open = "open",
        Approved = "approved",
        Denied = "denied",
        Answered = "answered",
        Used = "used",
        Expired = "expired",
    }
);

impl Decision {
    /// A question can be declined, but not approved.
    pub(super) fn fits(&self, kind: Kind) -> bool {
        match self {
            Self::Approve => kind != Kind::Question,
            Self::Answer(_) => kind == Kind::Question,
            Self::Deny(_) => true,
        }
    }
}

impl PendingRequest {
    /// Who asked.
    pub fn asker(&self) -> Asker {
        Asker { user: self.user, key: self.key }
    }

    /// The answer as it counts. Where there are choices it is one of them, however it was typed; where there is a
    /// schema it fits that, perhaps only when its text is read as JSON.
    pub(super) fn chosen(&self, answer: &Value) -> Result<Value, DecideError> {
        let choices = self.prompt.get("choices").and_then(Value::as_array);
        let choices: Vec<&str> = choices.into_iter().flatten().filter_map(Value::as_str).collect();
        if choices.is_empty() {
            return match self.prompt.get("schema") {
                Some(schema) => fitting(answer, schema),
                None => Ok(answer.clone()),
            };
        }
        let given = answer.as_str().unwrap_or_default().trim();
        let same = |choice: &&&str| choice.trim().to_lowercase() == given.to_lowercase();
        let exact = choices.iter().find(|choice| choice.trim() == given);
        match exact.or_else(|| choices.iter().find(same)) {
            Some(choice) => Ok(Value::from(*choice)),
            None => Err(DecideError::NotAChoice(choices.into_iter().map(str::to_owned).collect())),
        }
    }

    pub(super) fn opened(new: &NewPending, now: Timestamp) -> Self {
        Self {
            id: PendingId::new(),
            kind: new.kind,
            user: new.asker.user,
            key: new.asker.key,
            tool: new.tool.clone(),
            profile: new.profile.clone(),
            arguments_hash: new.arguments_hash.clone(),
            origin: new.origin.clone(),
            arguments: new.arguments.clone(),
            prompt: new.prompt.clone(),
            state: State::Open,
            answer: None,
            reason: None,
            decided_by: None,
            created_at: now,
            expires_at: Timestamp::from_microsecond(new.expires_at.as_microsecond())
                .unwrap_or(new.expires_at),
            decided_at: None,
            used_at: None,
        }
    }
}

fn fitting(answer: &Value, schema: &Value) -> Result<Value, DecideError> {
    // Who asked made sure that it is one.
    let validator = Validator::compile(schema).map_err(|bad| DecideError::Unfit(bad.to_string()))?;
    let read = answer.as_str().and_then(|text| serde_json::from_str::<Value>(&exact::plain_zeros(text)).ok());
    let forms = [Some(answer), read.as_ref()];
    if let Some(fit) = forms.into_iter().flatten().find(|form| validator.accepts(form)) {
        return Ok(fit.clone());
    }
    let refusals = validator.refusals(read.as_ref().unwrap_or(answer));
    let told =
        refusals.iter().take(5).map(|one| format!("{} {}", one.pointer, one.message).trim().to_owned());
    Err(DecideError::Unfit(told.collect::<Vec<_>>().join("; ")))
}

pub(super) fn pending(row: &mut Row, now: Timestamp) -> Result<PendingRequest, StoreError> {
    let stored: State = row.take(8)?;
    let (created_at, expires_at): (Timestamp, Timestamp) = (row.take(11)?, row.take(12)?);
    let id = row.take(0)?;
    let state = match stored {
        State::Open | State::Approved | State::Answered
            if deadlines::passed(id, created_at, expires_at, now) =>
        {
            State::Expired
        }
        stored => stored,
    };
    Ok(PendingRequest {
        id,
        kind: row.take(1)?,
        user: row.take(2)?,
        tool: row.take(3)?,
        profile: row.take(4)?,
        arguments_hash: row.take(5)?,
        arguments: row.take(6)?,
        prompt: row.take(7)?,
        state,
        answer: row.take(9)?,
        decided_by: row.take(10)?,
        created_at,
        expires_at,
        decided_at: row.take(13)?,
        used_at: row.take(14)?,
        key: row.take(15)?,
        origin: Origin {
            agent: row.take(16)?,
            edge: row.take(17)?,
            execution: row.take(18)?,
            conversation: row.take(19)?,
            definition: row.take(20)?,
        },
        reason: row.take(21)?,
    })
}
