//! What can go wrong in the store, each variant saying when it occurs.

use toolroom_contract::error::Outcome;
use toolroom_contract::{ErrorCode, ToolError};

/// A failure of the store. Texts in `cause` are for the log, never for a client.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be reached or cannot write now: PostgreSQL is down, the disk is full, I/O fails.
    #[error("the database is not available: {cause}")]
    Unavailable { cause: String },
    /// Too much work is waiting; nothing of this unit was done.
    #[error("too much work is waiting for the database")]
    Busy,
    /// The unit was not committed by its deadline, or its caller left before: it was rolled back for good.
    #[error("the change was not committed by its deadline, and was rolled back")]
    Late,
    /// The connection broke while PostgreSQL was asked to commit: the unit may or may not have happened.
    #[error("the connection broke during the commit; the outcome is unknown: {cause}")]
    OutcomeUnknown { cause: String },
    /// The closure of a unit panicked; it was rolled back.
    #[error("a unit of work panicked and was rolled back")]
    Panicked,
    /// A text contains U+0000, which PostgreSQL cannot store. Refused on both engines alike.
    #[error("a text has the character U+0000, which cannot be stored")]
    InvalidText,
    /// A user's key is empty, longer than 128 characters, or contains control characters.
    #[error("the name of a user must have 1 to 128 characters, none of them control characters")]
    InvalidUserKey,
    /// The time zone of a user is in no time zone database.
    #[error("unknown time zone")]
    InvalidTimeZone,
    /// The cursor of a list belongs to another sort order.
    #[error("the cursor belongs to a list with another sort order")]
    InvalidCursor,
    /// A uniqueness, reference or check constraint refused the statement.
    #[error("a constraint of the database refused the statement: {cause}")]
    Constraint { cause: String },
    /// A statement that writes ran in a read unit, or the database as a whole is read only.
    #[error("the database refused a write as read only")]
    ReadOnly,
    /// The database file is damaged, or is not a database.
    #[error("the database is damaged: {cause}")]
    Corrupt { cause: String },
    /// A later release has migrated this database; this one does not know its schema.
    #[error("the database has schema version {found}, this program knows up to {known}: use a newer release")]
    NewerSchema { found: i64, known: i64 },
    /// A database URL that names no known engine, or is malformed. The URL is left out: it may contain a password.
    #[error("bad database URL: {reason}")]
    BadUrl { reason: &'static str },
    /// A row has another type or form than its reader asked for.
    #[error("column {column} is not {expected}")]
    Decode { column: usize, expected: &'static str },
    /// The engine refused a statement: a defect in this program.
    #[error("the database refused a statement: {cause}")]
    Engine { cause: String },
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes: {cause}")]
    Random { cause: String },
    /// The store was closed while the unit waited.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// Whether the database itself is damaged.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::Decode { .. })
    }
}

impl From<StoreError> for ToolError {
    /// What a caller may know of a failure of the store: never a statement, a path or an address.
    fn from(error: StoreError) -> Self {
        let told = match &error {
            StoreError::Unavailable { .. } | StoreError::Closed => Self::new(
                ErrorCode::ServiceUnavailable,
                "The database cannot be reached. Try again in a moment.",
            )
            .retry_after_ms(1000),
            StoreError::Corrupt { .. } | StoreError::Decode { .. } => Self::new(
                ErrorCode::ServiceUnavailable,
                "The database is damaged, so this cannot be done now. Its owner must restore it from a backup.",
            )
            .retry_after_ms(60_000),
            StoreError::ReadOnly => Self::new(
                ErrorCode::ServiceUnavailable,
                "The database cannot be written now. Its owner must make it writable.",
            )
            .retry_after_ms(60_000),
            StoreError::Busy => {
                Self::new(ErrorCode::Busy, "The database is overloaded. Try again in a moment.")
                    .retry_after_ms(250)
            }
            StoreError::Late => Self::new(
                ErrorCode::ToolTimeout,
                "The database was too slow. Nothing was changed.",
            ),
            StoreError::OutcomeUnknown { .. } => Self::new(
                ErrorCode::ServiceUnavailable,
                "The connection to the database was lost during the change. Check whether it took effect before you repeat it.",
            )
            .with_outcome(Outcome::Unknown),
            StoreError::InvalidText | StoreError::InvalidUserKey | StoreError::InvalidTimeZone => {
                Self::new(ErrorCode::InvalidInput, error.to_string())
            }
            _ => return Self::internal(error),
        };
        told.caused_by(error)
    }
}
