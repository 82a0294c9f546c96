//! How a native tool changes something: its effect and the record of its idempotency key in one transaction.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toolroom_contract::context::Claim;
use toolroom_contract::error::ErrorClass;
use toolroom_contract::handler::Reply;
use toolroom_contract::ids::UserId;
use toolroom_contract::{Answer, ErrorCode, ToolContext, ToolError};
use toolroom_store::generations;
use toolroom_store::idempotency::{self, Finished, Record};
use toolroom_store::{Store, StoreError, Unit};

/// On whose things a tool works, who makes the change, and when and where that is.
#[derive(Clone)]
pub(crate) struct Author {
    pub user: UserId,
    /// As the history of a thing names it.
    pub actor: Arc<str>,
    /// "Now" for dates in words.
    pub now: Timestamp,
    pub zone: TimeZone,
}

impl Author {
    /// A context without a user reads as empty.
    pub(crate) fn of(context: &ToolContext) -> Self {
        Self {
            user: context.user.as_ref().map_or(UserId(0), |user| user.id),
            actor: Arc::clone(&context.caller.user.key),
            now: context.timestamp,
            zone: context.time_zone.clone(),
        }
    }

    /// Whether there is someone who can have things.
    pub(crate) fn is_somebody(&self) -> bool {
        self.user != UserId(0)
    }
}

/// Makes a change. The effect may run more than once, each time in a new transaction; once it is durable `after` runs,
/// then the caches are told, then the caller, and the first two even if the caller is gone by then.
pub(crate) async fn change<T, F, A>(
    store: &Store,
    context: &ToolContext,
    mut effect: F,
    after: A,
) -> Result<Reply<T>, ToolError>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    F: FnMut(&mut Unit<'_>, &Author) -> Result<Reply<T>, ToolError> + Send + 'static,
    A: FnOnce() + Send + 'static,
{
    let author = Author::of(context);
    if !author.is_somebody() {
        return Err(ToolError::new(ErrorCode::Unauthenticated, "Only a user can change this."));
    }
    let claim = context.claim.clone();
    let (committed, moves) = (context.committed.clone(), context.committed.clone());
    let work = move |unit: &mut Unit<'_>| {
        let reply = effect(unit, &author).map_err(|error| earlier_or(unit, claim.as_deref(), error))?;
        if let Some(claim) = &claim {
            record(unit, claim, &reply)?;
        }
        if let Some(moved) = moves.moved() {
            generations::advance(unit, moved.owner, &moved.resources)?;
        }
        Ok(reply)
    };
    let told = move || {
        after();
        committed.run();
    };
    match store.write_then(&context.gate, work, told).await {
        Ok(reply) => Ok(reply),
        Err(Stop::Failed(error)) => Err(error),
        Err(Stop::Earlier(earlier, claim)) => replay(&earlier, &claim),
    }
}

/// Why a transaction was rolled back.
enum Stop {
    Failed(ToolError),
    /// Another call with the same idempotency key came first.
    Earlier(Box<Record>, Claim),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

fn record<T: Serialize>(unit: &mut Unit<'_>, claim: &Claim, reply: &Reply<T>) -> Result<(), Stop> {
    let text = Answer::new(&reply.data).map(|answer| answer.with_hints(reply.hints.clone()));
    let text =
        text.and_then(|answer| answer.to_record().map_err(ToolError::internal)).map_err(Stop::Failed)?;
    match idempotency::finish(unit, claim, &text)? {
        Finished::Recorded => Ok(()),
        Finished::Exists(record) => Err(Stop::Earlier(Box::new(record), claim.clone())),
    }
}

/// What reads as a conflict may be the effect of the same call, made before under this key.
fn earlier_or(unit: &mut Unit<'_>, claim: Option<&Claim>, error: ToolError) -> Stop {
    if error.code.class() == ErrorClass::Business
        && let Some(claim) = claim
        && let Ok(Some(record)) = idempotency::lookup(unit, claim.user, &claim.key)
    {
        return Stop::Earlier(Box::new(record), claim.clone());
    }
    Stop::Failed(error)
}

/// The answer of the call that came first.
fn replay<T: DeserializeOwned>(record: &Record, claim: &Claim) -> Result<Reply<T>, ToolError> {
    let answer = idempotency::earlier_answer(claim, record)?;
    let data = serde_json::from_value(answer.data).map_err(ToolError::internal)?;
    Ok(Reply::new(data, answer.hints))
}
