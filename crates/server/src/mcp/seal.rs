//! `requestState`: what a client carries back to us, so that nothing must be kept here. Whatever comes back is
//! taken for an attack unless it has our seal for this very caller, call and time.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::OnceCell;
use toolroom_contract::Principal;
use toolroom_contract::ids::{KeyId, PendingId, UserId};
use toolroom_mcp::{Code, RpcError};
use toolroom_store::Store;

use super::caller::Caller;
use crate::kept_key::kept_key;

/// What a state stands for.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum State {
    /// A request that waits for a person.
    #[serde(rename = "m")]
    PendingRequest(PendingId),
    /// What a tool wants to be told again.
    #[serde(rename = "t")]
    Tool(String),
}

#[derive(Serialize, Deserialize)]
struct Payload {
    #[serde(rename = "s")]
    state: State,
    #[serde(rename = "e")]
    expires: i64,
}

/// What a state is bound to.
pub(crate) struct Bound {
    user: UserId,
    key: Option<KeyId>,
    /// Method, profile, name and arguments, as a hash.
    call: blake3::Hash,
}

impl Bound {
    pub(crate) fn of(caller: &Caller, method: &str, name: &str, arguments: Map<String, Value>) -> Self {
        let arguments = toolroom_contract::canonical::digest("arguments", &Value::Object(arguments));
        let parts = [method.as_bytes(), caller.profile.as_bytes(), name.as_bytes(), arguments.as_bytes()];
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        let Principal { user, key, .. } = &*caller.principal;
        Self { user: user.id, key: *key, call: hasher.finalize() }
    }
}

/// The key of all seals.
#[derive(Default)]
pub(crate) struct Seals(OnceCell<[u8; 32]>);

/// Where the secret behind all seals of this edge is kept.
pub(crate) const SETTING: &str = "mcp.request_state_key";
/// A state that is longer was not made here.
const LONGEST: usize = 64 * 1024;

impl Seals {
    /// A text that only [`Seals::open`] of this installation takes, until then, for that caller and call.
    pub(crate) async fn seal(
        &self,
        store: &Store,
        state: State,
        bound: &Bound,
        expires: Timestamp,
    ) -> Result<String, RpcError> {
        let key = self.key(store).await?;
        let payload = serde_json::to_vec(&Payload { state, expires: expires.as_second() });
        let payload = payload.map_err(|_| RpcError::new(Code::Internal, "The state cannot be written."))?;
        let mac = mac(key, bound, &payload);
        Ok(format!("{}.{}", BASE64.encode(&payload), BASE64.encode(mac.as_bytes())))
    }

    /// What was sealed. One answer to all that is wrong: nobody learns how far they came.
    pub(crate) async fn open(
        &self,
        store: &Store,
        text: &str,
        bound: &Bound,
        now: Timestamp,
    ) -> Result<State, RpcError> {
        let key = self.key(store).await?;
        let opened = || {
            let (payload, seal) = text.split_once('.').filter(|_| text.len() <= LONGEST)?;
            let payload = BASE64.decode(payload).ok()?;
            let seal: [u8; 32] = BASE64.decode(seal).ok()?.try_into().ok()?;
            // Hashes are compared in constant time.
            if mac(key, bound, &payload) != blake3::Hash::from(seal) {
                return None;
            }
            let Payload { state, expires } = serde_json::from_slice(&payload).ok()?;
            (now.as_second() < expires).then_some(state)
        };
        opened().ok_or_else(|| {
            RpcError::invalid_params(
                "'requestState' was changed, is too old, or belongs to another call. Call again without it.",
            )
        })
    }

    async fn key(&self, store: &Store) -> Result<&[u8; 32], RpcError> {
        let made = || kept_key(store, SETTING, "toolroom mcp requestState v1");
        self.0.get_or_try_init(made).await.map_err(|error| {
            tracing::error!(%error, "the key of request states cannot be read");
            RpcError::new(Code::Internal, "The database cannot be reached; try again in a moment.")
        })
    }
}

fn mac(key: &[u8; 32], bound: &Bound, payload: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_keyed(key);
    // All are of fixed length, so that nothing runs over into what follows.
    let key = bound.key.map_or(0, |key| key.0);
    hasher
        .update(&bound.user.0.to_le_bytes())
        .update(&key.to_le_bytes())
        .update(bound.call.as_bytes())
        .update(payload);
    hasher.finalize()
}
