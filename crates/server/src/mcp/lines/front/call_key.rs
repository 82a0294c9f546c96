//! An idempotency key for every call that passes, so that it can be made again to another engine without harm.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use toolroom_contract::ids::RunId;
use toolroom_mcp::meta::IDEMPOTENCY_KEY;

/// A call, once it has passed here.
pub(super) enum Keyed {
    /// The line with a key. All other bytes stay as they are.
    New(Vec<u8>),
    /// It has one already.
    Own,
}

/// Gives a call a key; `None` if it cannot have one, because it is not as calls are.
pub(super) fn with_key(line: &[u8]) -> Option<Keyed> {
    let text = std::str::from_utf8(line).ok()?;
    let message: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let params = *message.get("params")?;
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(params.get()).ok()?;
    let key = format!("\"{IDEMPOTENCY_KEY}\":\"front-{}\"", RunId::new());
    let (at, inserted) = match fields.get("_meta") {
        Some(meta) => {
            let known: BTreeMap<String, &RawValue> = serde_json::from_str(meta.get()).ok()?;
            if let Some(own) = known.get(IDEMPOTENCY_KEY) {
                return own.get().starts_with('"').then_some(Keyed::Own);
            }
            let comma = if known.is_empty() { "" } else { "," };
            (start(text, meta.get()), format!("{key}{comma}"))
        }
        None => {
            let comma = if fields.is_empty() { "" } else { "," };
            (start(text, params.get()), format!("\"_meta\":{{{key}}}{comma}"))
        }
    };
    // Behind the brace that opens the object.
    let at = at + 1;
    let mut new = Vec::with_capacity(line.len() + inserted.len());
    new.extend_from_slice(&line[..at]);
    new.extend_from_slice(inserted.as_bytes());
    new.extend_from_slice(&line[at..]);
    Some(Keyed::New(new))
}

/// Where a part of a text begins in it.
fn start(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}
