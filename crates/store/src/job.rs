//! A unit of work on its way through the store's threads: the closure, what follows its commit, and the reply.

use std::any::TypeId;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::oneshot;
use toolroom_contract::commit_gate::CommitGate;

use crate::damage::Damage;
use crate::{StoreError, Unit};

/// A closure with its reply, its types erased for the queue.
pub(crate) trait Job: Send {
    /// Runs the closure, possibly not for the first time, and says whether its effect is to be kept.
    fn run(&mut self, unit: &mut Unit<'_>) -> bool;
    /// Answers the caller, once the fate of the effect is known.
    fn settle(self: Box<Self>, outcome: Outcome);
    /// What the effect must pass to be committed.
    fn gate(&self) -> &CommitGate;
    /// Whether nobody waits for the answer any more.
    fn is_abandoned(&self) -> bool;
    /// The same for all jobs of one place in the program.
    fn kind(&self) -> TypeId;
}

/// How the transaction of a job ended.
pub(crate) enum Outcome {
    /// Durable and visible, unless the closure had failed and was undone alone.
    Settled,
    /// The transaction as a whole failed.
    Failed(StoreError),
}

pub(crate) struct Work<T, E, F, A> {
    gate: CommitGate,
    damage: Arc<Damage>,
    closure: F,
    after_commit: A,
    result: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F, A> Work<T, E, F, A> {
    pub fn new(
        gate: CommitGate,
        damage: &Arc<Damage>,
        closure: F,
        after_commit: A,
    ) -> (Self, oneshot::Receiver<Result<T, E>>) {
        let (reply, answer) = oneshot::channel();
        let damage = Arc::clone(damage);
        (Self { gate, damage, closure, after_commit, result: None, reply }, answer)
    }
}

impl<T, E, F, A> Job for Work<T, E, F, A>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
    F: FnMut(&mut Unit<'_>) -> Result<T, E> + Send + 'static,
    A: FnOnce() + Send + 'static,
{
    fn run(&mut self, unit: &mut Unit<'_>) -> bool {
        unit.deadline = self.gate.deadline();
        let ran = catch_unwind(AssertUnwindSafe(|| (self.closure)(unit)));
        if let Some(error) = unit.failure() {
            self.damage.note(error);
        }
        let result = match ran {
            Ok(Ok(value)) => match unit.take_failure() {
                // PostgreSQL commits nothing after a failed statement; so the closure cannot shrug it off.
                Some(error) => Err(error.into()),
                None => Ok(value),
            },
            // A statement that was stopped because time was up fails in many words.
            Ok(Err(_)) if unit.failure().is_some() && !self.gate.is_open() => Err(StoreError::Late.into()),
            Ok(Err(error)) => Err(error),
            Err(_panic) => Err(StoreError::Panicked.into()),
        };
        let keep = result.is_ok();
        self.result = Some(result);
        keep
    }

    fn settle(self: Box<Self>, outcome: Outcome) {
        let Self { after_commit, result, reply, damage, .. } = *self;
        if let Outcome::Failed(error) = &outcome {
            damage.note(error);
        }
        let answer = match outcome {
            Outcome::Settled => result.unwrap_or_else(|| Err(StoreError::Closed.into())),
            Outcome::Failed(error) => Err(error.into()),
        };
        if answer.is_ok() && catch_unwind(AssertUnwindSafe(after_commit)).is_err() {
            tracing::error!("the action after a commit panicked");
        }
        // The caller may have gone; its effect stands.
        let _ = reply.send(answer);
    }

    fn gate(&self) -> &CommitGate {
        &self.gate
    }

    fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    fn kind(&self) -> TypeId {
        TypeId::of::<F>()
    }
}
