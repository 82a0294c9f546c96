//! Answers that are kept, so that a client that has none of the history can go on from one by its id.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom_contract::Principal;
use toolroom_contract::ids::{ChatRunId, UserId};
use toolroom_store::conversations::runs;
use toolroom_store::{StoreError, Unit};

use super::Chat;
use super::answer::Answer;
use super::driver::Stored;
use crate::error::ChatError;
use toolroom_model::Message;

/// Which part of a history is new.
#[derive(Clone, Copy, Debug, Default)]
pub struct Follows {
    /// The kept answer that the new part follows.
    pub after: Option<ChatRunId>,
    /// How many messages at the beginning of the history are not new.
    pub known: usize,
}

impl Follows {
    pub(super) fn kept(self, history: &[Message], shown: Value) -> Kept {
        Kept { after: self.after, said: history.get(self.known..).unwrap_or_default().to_vec(), shown }
    }
}

/// What a run keeps of its request: each has its own part, and the id of the one before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    after: Option<ChatRunId>,
    said: Vec<Message>,
    /// What the edge shows of the request with the answer, in its own form.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    shown: Value,
}

/// Bytes of a history that is put together from kept answers: as much as a client could send.
const MOST_BYTES: usize = 4 << 20;
/// What a request counts at least, so that the number of them is bounded too.
const LEAST_BYTES: usize = 1 << 10;

impl Chat {
    /// Everything that was said up to a kept answer, oldest first.
    pub async fn said_until(&self, who: &Principal, run: ChatRunId) -> Result<Vec<Message>, ChatError> {
        let (user, who) = (who.user.id, who.clone());
        let read = move |unit: &mut Unit<'_>| {
            // Newest first, until the order is known.
            let (mut backwards, mut bytes, mut next) = (Vec::new(), 0, Some(run));
            while let Some(run) = next {
                let Some((kept, answer)) = kept(unit, user, &who, run)? else { break };
                bytes += LEAST_BYTES + answer.response.len() + kept.said.iter().map(length).sum::<usize>();
                if bytes > MOST_BYTES {
                    return Err(ChatError::HistoryTooLong);
                }
                backwards.push(message(answer));
                backwards.extend(kept.said.into_iter().rev());
                next = kept.after;
            }
            Ok::<_, ChatError>(backwards)
        };
        let mut backwards = self.inner.runtime.store.read_much(read).await?;
        if backwards.is_empty() {
            return Err(self.missing(user, run));
        }
        backwards.reverse();
        Ok(backwards)
    }

    /// A kept answer, as a message of a history.
    pub async fn kept_answer(&self, who: &Principal, run: ChatRunId) -> Result<Message, ChatError> {
        let (user, who) = (who.user.id, who.clone());
        let read = move |unit: &mut Unit<'_>| kept(unit, user, &who, run);
        let found: Result<_, StoreError> = self.inner.runtime.store.read(read).await;
        found?.map(|(_, answer)| message(answer)).ok_or_else(|| self.missing(user, run))
    }

    /// A kept answer, and what was to be shown of its request.
    pub async fn kept_whole(&self, who: &Principal, run: ChatRunId) -> Result<(Value, Answer), ChatError> {
        let (user, who) = (who.user.id, who.clone());
        let read = move |unit: &mut Unit<'_>| kept(unit, user, &who, run);
        let found: Result<_, StoreError> = self.inner.runtime.store.read(read).await;
        found?.map(|(kept, answer)| (kept.shown, answer)).ok_or_else(|| self.missing(user, run))
    }

    /// Forgets a kept answer: nobody can go on from it any more.
    pub async fn forget_kept(&self, who: &Principal, run: ChatRunId) -> Result<(), ChatError> {
        let (user, who) = (who.user.id, who.clone());
        let write = move |unit: &mut Unit<'_>| match kept(unit, user, &who, run)? {
            Some(_) => runs::remove(unit, user, run).map(|()| true),
            None => Ok(false),
        };
        let is_gone: Result<_, StoreError> = self.inner.runtime.store.write(write).await;
        if is_gone? { Ok(()) } else { Err(self.missing(user, run)) }
    }

    fn missing(&self, user: UserId, run: ChatRunId) -> ChatError {
        match self.inner.alive(user, run, 0) {
            Some(speaking) if !speaking.log.is_over() => ChatError::InProgress,
            _ => ChatError::NotFound,
        }
    }
}

/// A run of the user's whose answer was kept, if the credential reaches its profile.
fn kept(
    unit: &mut Unit<'_>,
    user: UserId,
    who: &Principal,
    run: ChatRunId,
) -> Result<Option<(Kept, Answer)>, StoreError> {
    let Some(record) = runs::get(unit, user, run)? else { return Ok(None) };
    let Ok(stored) = serde_json::from_str::<Stored>(&record.state) else { return Ok(None) };
    let reached = who.may_use_profile(&stored.profile);
    Ok(stored.kept.zip(stored.answer).filter(|_| reached))
}

fn message(answer: Answer) -> Message {
    Message::Assistant { text: answer.response, calls: answer.client_calls }
}

fn length(message: &Message) -> usize {
    match message {
        Message::System { text } | Message::User { text } | Message::Assistant { text, .. } => text.len(),
        Message::Tool { content, .. } => content.len(),
    }
}
