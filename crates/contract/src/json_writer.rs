//! JSON as bytes in memory.

use serde::Serialize;

/// Appends a value as JSON.
pub fn write_json(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // Our own types have string keys and write to memory: this cannot fail.
    let _ = serde_json::to_writer(out, value);
}
