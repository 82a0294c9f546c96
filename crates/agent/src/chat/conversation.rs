//! Conversations as their owner sees them: listed, shown, forgotten.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use toolroom_contract::Principal;
use toolroom_contract::ids::ConversationId;
use toolroom_store::conversations::{self, Role, runs};
use toolroom_store::pending::Asker;
use toolroom_store::{StoreError, Unit};

use super::saying::waiting;
use super::{Chat, replies};
use crate::error::ChatError;

/// A conversation in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// How it began.
    pub title: String,
    /// Its profile.
    pub profile: String,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it was last used.
    pub updated_at: Timestamp,
}

impl From<conversations::Conversation> for Conversation {
    fn from(one: conversations::Conversation) -> Self {
        let conversations::Conversation { id, profile, title, created_at, updated_at, .. } = one;
        Self { id, title, profile, created_at, updated_at }
    }
}

/// Something that was said in a conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StoredMessage {
    /// Counts up within the conversation.
    pub id: i64,
    /// `user` or `assistant`.
    pub role: Role,
    /// The words.
    pub content: String,
    /// Calls, receipts, and what is pending.
    pub metadata: Value,
    /// When.
    pub created_at: Timestamp,
}

impl Chat {
    /// The caller's conversations, most recent first; with `before`, older ones.
    pub async fn conversations(
        &self,
        who: &Principal,
        before: Option<ConversationId>,
        limit: u32,
    ) -> Result<Vec<Conversation>, ChatError> {
        let user = who.user.id;
        let read = move |unit: &mut Unit<'_>| {
            let place = match before {
                Some(id) => conversations::get(unit, user, id)?.map(|one| (one.updated_at, one.id)),
                None => None,
            };
            conversations::list(unit, user, place, limit.clamp(1, 100))
        };
        let found: Result<_, StoreError> = self.inner.runtime.store.read_much(read).await;
        Ok(found?.into_iter().map(Conversation::from).collect())
    }

    /// A conversation with the last things said in it, oldest first.
    pub async fn conversation(
        &self,
        who: &Principal,
        id: ConversationId,
        last: u32,
    ) -> Result<(Conversation, Vec<StoredMessage>), ChatError> {
        let talk = self.inner.conversation(who, id).await?;
        let read = move |unit: &mut Unit<'_>| conversations::messages(unit, id, last.clamp(1, 1000));
        let messages: Result<_, StoreError> = self.inner.runtime.store.read_much(read).await;
        let spoken = |message: conversations::Message| {
            let conversations::Message { id, role, content, mut metadata, created_at, .. } = message;
            if let Some(fields) = metadata.as_object_mut() {
                // For models only; `tool_calls` shows the same.
                fields.remove("transcript");
            }
            StoredMessage { id, role, content, metadata, created_at }
        };
        Ok((talk.into(), messages?.into_iter().map(spoken).collect()))
    }

    /// Gives a conversation another title.
    pub async fn rename(
        &self,
        who: &Principal,
        id: ConversationId,
        title: String,
    ) -> Result<Conversation, ChatError> {
        let user = who.user.id;
        let write = move |unit: &mut Unit<'_>| conversations::rename(unit, user, id, &title);
        let renamed: Result<_, StoreError> = self.inner.runtime.store.write(write).await;
        renamed?.map(Conversation::from).ok_or(ChatError::NotFound)
    }

    /// Removes a conversation. What was pending in it can no longer be agreed to.
    pub async fn forget(&self, who: &Principal, id: ConversationId) -> Result<(), ChatError> {
        self.inner.conversation(who, id).await?;
        self.cancel_all(who, id).await?;
        let _turn = self.inner.turns.wait(id).await;
        let by = Asker { user: who.user.id, key: who.key };
        let write = move |unit: &mut Unit<'_>| {
            if let Some((_, run)) = runs::unfinished(unit, id)?.and_then(waiting) {
                replies::drop_waiting(unit, &run.waiting, by)?;
            }
            conversations::delete(unit, by.user, id)
        };
        let deleted: Result<bool, StoreError> = self.inner.runtime.store.write(write).await;
        if deleted? { Ok(()) } else { Err(ChatError::NotFound) }
    }

    /// Removes what runs left behind before this time, and answers that were kept before the other. To be called now
    /// and then.
    pub async fn sweep(&self, older_than: Timestamp, kept: Timestamp) -> Result<u64, ChatError> {
        let swept: Result<u64, StoreError> =
            self.inner.runtime.store.write(move |unit| runs::purge(unit, older_than, kept)).await;
        Ok(swept?)
    }
}
