//! The one way in which decks and cards are changed.

use serde::Serialize;
use serde::de::DeserializeOwned;
use toolroom_contract::handler::Reply;
use toolroom_contract::{ToolContext, ToolError};
use toolroom_store::{Store, Unit};

pub(super) use crate::change::Author;

/// Makes a change to the decks or cards of the caller.
pub(super) async fn change<T, F>(
    store: &Store,
    context: &ToolContext,
    effect: F,
) -> Result<Reply<T>, ToolError>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    F: FnMut(&mut Unit<'_>, &Author) -> Result<Reply<T>, ToolError> + Send + 'static,
{
    crate::change::change(store, context, effect, || ()).await
}
