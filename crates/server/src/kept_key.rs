//! Keys that this installation makes once: random, in the database, so that they outlive a restart and replicas share
//! them.

use toolroom_store::{Store, StoreError, settings};
use uuid::Uuid;

/// The key of that setting, for this use of it.
pub(crate) async fn kept_key(
    store: &Store,
    setting: &'static str,
    purpose: &'static str,
) -> Result<[u8; 32], StoreError> {
    let fresh: Vec<u8> = (0..4).flat_map(|_| Uuid::new_v4().into_bytes()).collect();
    let fresh = blake3::hash(&fresh).to_hex().to_string();
    let kept = store.write(move |unit| settings::get_or_set(unit, setting, &fresh)).await?;
    // Any text in the setting gives a key; ours has 256 random bits.
    Ok(blake3::derive_key(purpose, kept.as_bytes()))
}
