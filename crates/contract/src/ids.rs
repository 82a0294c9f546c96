//! Branded ids: a task's id cannot be handed over where a user's is wanted.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! numeric_ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        #[schemars(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

numeric_ids!(
    /// A user, as the store numbers them.
    UserId,
    /// An API key.
    KeyId,
    /// A task.
    TaskId,
    /// A spaced-repetition card.
    CardId,
    /// A deck of cards.
    DeckId,
);

macro_rules! random_ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        #[schemars(transparent)]
        pub struct $name(#[schemars(with = "String")] pub uuid::Uuid);

        impl $name {
            /// A new id; ids made later sort later.
            pub fn new() -> Self {
                Self(uuid::Uuid::now_v7())
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )+};
}

random_ids!(
    /// One execution of a tool: a row of the journal.
    ExecutionId,
    /// A pending request: an approval or a question that waits for a person.
    PendingId,
    /// One life of a process that writes the journal.
    RunId,
    /// A conversation of the chat.
    ConversationId,
    /// One run of the chat's agent: from what a person said to the answer.
    ChatRunId,
    /// A session of the console.
    SessionId,
);
