//! One message of a conversation at a time: the others wait for their turn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;
use toolroom_contract::ids::ConversationId;

/// Whose turn it is, in every conversation of this process.
#[derive(Default)]
pub(super) struct Turns(Mutex<HashMap<ConversationId, Weak<tokio::sync::Mutex<()>>>>);

/// The turn in a conversation, until it is dropped.
pub(super) type Turn = OwnedMutexGuard<()>;

impl Turns {
    /// Waits for the turn, first come first served.
    pub(super) async fn wait(&self, id: ConversationId) -> Turn {
        let gate = {
            let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            gates.retain(|_, gate| gate.strong_count() > 0);
            let known = gates.get(&id).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let gate = Arc::new(tokio::sync::Mutex::new(()));
                gates.insert(id, Arc::downgrade(&gate));
                gate
            })
        };
        gate.lock_owned().await
    }
}
