//! Runs of the chat's agent, as far as they came. The state is the agent's own text; the store does not read it.

use jiff::Timestamp;
use toolroom_contract::ids::{ChatRunId, ConversationId, UserId};

use crate::engine::{Row, args};
use crate::named::named;
use crate::{StoreError, Unit};

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub id: ChatRunId,
    pub user: UserId,
    /// `None` where the client keeps the history itself.
    pub conversation: Option<ConversationId>,
    /// Of the history after which a client goes on: of a waiting run, or of one whose answer is kept.
    pub history_key: Option<String>,
    /// Of the request that began it, where the client named it.
    pub request_key: Option<String>,
    pub status: Status,
    /// JSON text.
    pub state: String,
    pub updated_at: Timestamp,
}

named!(
    /// How far a run came.
    Status {
        /// It calls the model or tools, or did when its process ended.
        Running = "running",
        /// It waits for a person.
        Waiting = "waiting",
        /// It has its answer.
        Done = "done",
    }
);

const COLUMNS: &str = "id, user_id, conversation_id, history_key, request_key, status, state, updated_at";

/// Writes how far a run came.
pub fn save(unit: &mut Unit<'_>, run: &Run) -> Result<(), StoreError> {
    let sql =
        "INSERT INTO runs (id, user_id, conversation_id, history_key, request_key, status, state, created_at,
                                 updated_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
               ON CONFLICT (id) DO UPDATE SET history_key = excluded.history_key, status = excluded.status,
                   state = excluded.state, updated_at = excluded.updated_at";
    let args = args![
        run.id,
        run.user,
        run.conversation,
        run.history_key.as_deref(),
        run.request_key.as_deref(),
        run.status,
        &run.state,
        unit.now,
    ];
    unit.execute(sql, args).map(drop)
}

/// The run of this id, if it is the user's.
pub fn get(unit: &mut Unit<'_>, user: UserId, id: ChatRunId) -> Result<Option<Run>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM runs WHERE id = $1 AND user_id = $2");
    first(unit, &sql, args![id, user])
}

/// Removes the run of this id, if it is the user's.
pub fn remove(unit: &mut Unit<'_>, user: UserId, id: ChatRunId) -> Result<(), StoreError> {
    unit.execute("DELETE FROM runs WHERE id = $1 AND user_id = $2", args![id, user]).map(drop)
}

/// The run that a request of this key began.
pub fn of_request(unit: &mut Unit<'_>, user: UserId, key: &str) -> Result<Option<Run>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM runs WHERE user_id = $1 AND request_key = $2");
    first(unit, &sql, args![user, key])
}

/// The newest run of a conversation that has not ended.
pub fn unfinished(unit: &mut Unit<'_>, conversation: ConversationId) -> Result<Option<Run>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM runs WHERE conversation_id = $1 AND status <> 'done'
         ORDER BY created_at DESC, id DESC LIMIT 1"
    );
    first(unit, &sql, args![conversation])
}

/// Takes the run that waits after this history, and leaves none to be taken by another.
pub fn take_waiting(unit: &mut Unit<'_>, user: UserId, history_key: &str) -> Result<Option<Run>, StoreError> {
    let sql = format!(
        "UPDATE runs SET history_key = NULL, status = 'running', updated_at = $3
         WHERE id = (SELECT id FROM runs WHERE user_id = $1 AND history_key = $2 AND status = 'waiting'
                     ORDER BY created_at DESC, id DESC LIMIT 1)
               AND status = 'waiting'
         RETURNING {COLUMNS}"
    );
    first(unit, &sql, args![user, history_key, unit.now])
}

/// Removes runs that ended before this time, and those after whose history a client could go on if they are older
/// than `kept`. Returns how many.
pub fn purge(unit: &mut Unit<'_>, older_than: Timestamp, kept: Timestamp) -> Result<u64, StoreError> {
    let sql = "DELETE FROM runs WHERE updated_at < $1 AND (history_key IS NULL OR updated_at < $2)";
    unit.execute(sql, args![older_than, kept])
}

fn first(unit: &mut Unit<'_>, sql: &str, args: &[crate::engine::Arg<'_>]) -> Result<Option<Run>, StoreError> {
    unit.query_first(sql, args)?.as_mut().map(run).transpose()
}

fn run(row: &mut Row) -> Result<Run, StoreError> {
    Ok(Run {
        id: row.take(0)?,
        user: row.take(1)?,
        conversation: row.take(2)?,
        history_key: row.take(3)?,
        request_key: row.take(4)?,
        status: row.take(5)?,
        state: row.take(6)?,
        updated_at: row.take(7)?,
    })
}
