//! Conversations of the chat: who talks, what was said, and who answers in one now. What is not the user's does
//! not exist.

pub mod runs;

use jiff::Timestamp;
use serde_json::Value;
use toolroom_contract::ids::{ChatRunId, ConversationId, RunId, UserId};

use crate::engine::{Row, args};
use crate::named::named;
use crate::{StoreError, Unit};

/// A conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    pub id: ConversationId,
    pub user: UserId,
    /// Its profile.
    pub profile: String,
    /// For lists: how it began.
    pub title: String,
    pub created_at: Timestamp,
    /// When the last message came.
    pub updated_at: Timestamp,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Counts up within a conversation, with gaps.
    pub id: i64,
    pub role: Role,
    pub content: String,
    /// Calls with their results, receipts, what is pending.
    pub metadata: Value,
    pub run: Option<ChatRunId>,
    pub created_at: Timestamp,
}

/// Something to be said.
#[derive(Clone, Debug)]
pub struct NewMessage {
    pub role: Role,
    pub content: String,
    pub metadata: Value,
    pub run: Option<ChatRunId>,
}

named!(
    /// Who said something.
    Role {
        User = "user",
        Assistant = "assistant",
    }
);

/// A title is never longer than this.
const TITLE: usize = 80;
const COLUMNS: &str = "id, user_id, profile, title, created_at, updated_at";

/// Begins a conversation; `opening` is what the person says first.
pub fn create(
    unit: &mut Unit<'_>,
    user: UserId,
    profile: &str,
    opening: &str,
) -> Result<Conversation, StoreError> {
    let words = opening.split_whitespace().collect::<Vec<_>>().join(" ");
    let new = Conversation {
        id: ConversationId::new(),
        user,
        profile: profile.to_owned(),
        title: words.chars().take(TITLE).collect(),
        created_at: unit.now,
        updated_at: unit.now,
    };
    let sql = "INSERT INTO conversations (id, user_id, profile, title, created_at, updated_at)
               VALUES ($1, $2, $3, $4, $5, $5)";
    unit.execute(sql, args![new.id, user, profile, &new.title, unit.now])?;
    Ok(new)
}

/// The conversation of this id, if it is the user's.
pub fn get(
    unit: &mut Unit<'_>,
    user: UserId,
    id: ConversationId,
) -> Result<Option<Conversation>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM conversations WHERE id = $1 AND user_id = $2");
    unit.query_first(&sql, args![id, user])?.as_mut().map(conversation).transpose()
}

/// The user's conversations, most recent first; with `before`, older ones.
pub fn list(
    unit: &mut Unit<'_>,
    user: UserId,
    before: Option<(Timestamp, ConversationId)>,
    limit: u32,
) -> Result<Vec<Conversation>, StoreError> {
    let order = format!("ORDER BY updated_at DESC, id DESC LIMIT {limit}");
    let mut rows = match before {
        None => {
            let sql = format!("SELECT {COLUMNS} FROM conversations WHERE user_id = $1 {order}");
            unit.query(&sql, args![user])?
        }
        Some((at, id)) => {
            let sql = format!(
                "SELECT {COLUMNS} FROM conversations
                 WHERE user_id = $1 AND (updated_at < $2 OR (updated_at = $2 AND id < $3)) {order}"
            );
            unit.query(&sql, args![user, at, id])?
        }
    };
    rows.iter_mut().map(conversation).collect()
}

/// Gives a conversation another title, of which it keeps what fits; nothing if it is not the user's.
pub fn rename(
    unit: &mut Unit<'_>,
    user: UserId,
    id: ConversationId,
    title: &str,
) -> Result<Option<Conversation>, StoreError> {
    let title: String = title.chars().take(TITLE).collect();
    let sql =
        format!("UPDATE conversations SET title = $3 WHERE id = $1 AND user_id = $2 RETURNING {COLUMNS}");
    unit.query_first(&sql, args![id, user, title])?.as_mut().map(conversation).transpose()
}

/// Removes a conversation with everything said in it; `false` if it is not the user's.
pub fn delete(unit: &mut Unit<'_>, user: UserId, id: ConversationId) -> Result<bool, StoreError> {
    let sql = "DELETE FROM conversations WHERE id = $1 AND user_id = $2";
    Ok(unit.execute(sql, args![id, user])? == 1)
}

/// Adds what was said. The conversation is known to be the speaker's.
pub fn say(
    unit: &mut Unit<'_>,
    conversation: ConversationId,
    new: &NewMessage,
) -> Result<Message, StoreError> {
    let sql = "INSERT INTO messages (conversation_id, role, content, metadata, run_id, created_at)
               VALUES ($1, $2, $3, $4, $5, $6)";
    let args = args![conversation, new.role, &new.content, &new.metadata, new.run, unit.now];
    let id = unit.insert(sql, args)?;
    unit.execute("UPDATE conversations SET updated_at = $2 WHERE id = $1", args![conversation, unit.now])?;
    let NewMessage { role, content, metadata, run } = new.clone();
    Ok(Message { id, role, content, metadata, run, created_at: unit.now })
}

/// The last messages of a conversation, oldest first.
pub fn messages(
    unit: &mut Unit<'_>,
    conversation: ConversationId,
    last: u32,
) -> Result<Vec<Message>, StoreError> {
    let sql = format!(
        "SELECT id, role, content, metadata, run_id, created_at FROM messages
         WHERE conversation_id = $1 ORDER BY id DESC LIMIT {last}"
    );
    let mut rows = unit.query(&sql, args![conversation])?;
    rows.iter_mut().rev().map(message).collect()
}

/// Takes the turn in a conversation for a process; `false` while another has it that is alive.
pub fn take_turn(unit: &mut Unit<'_>, id: ConversationId, by: RunId) -> Result<bool, StoreError> {
    let sql = format!(
        "UPDATE conversations SET busy_by = $2 WHERE id = $1 AND (busy_by IS NULL OR busy_by = $2
             OR NOT EXISTS (SELECT 1 FROM replicas WHERE replicas.id = busy_by AND lease_until > {}))",
        unit.clock()
    );
    Ok(unit.execute(&sql, args![id, by])? == 1)
}

/// Gives the turn back.
pub fn end_turn(unit: &mut Unit<'_>, id: ConversationId, by: RunId) -> Result<(), StoreError> {
    let sql = "UPDATE conversations SET busy_by = NULL WHERE id = $1 AND busy_by = $2";
    unit.execute(sql, args![id, by]).map(drop)
}

fn conversation(row: &mut Row) -> Result<Conversation, StoreError> {
    Ok(Conversation {
        id: row.take(0)?,
        user: row.take(1)?,
        profile: row.take(2)?,
        title: row.take(3)?,
        created_at: row.take(4)?,
        updated_at: row.take(5)?,
    })
}

fn message(row: &mut Row) -> Result<Message, StoreError> {
    Ok(Message {
        id: row.take(0)?,
        role: row.take(1)?,
        content: row.take(2)?,
        metadata: row.take(3)?,
        run: row.take(4)?,
        created_at: row.take(5)?,
    })
}
