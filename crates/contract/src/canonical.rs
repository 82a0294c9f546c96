//! Canonical JSON: one text, and one hash, for all spellings of the same value.
//!
//! Keys are sorted by their bytes, white space is dropped, and a number is written the same whether it
//! came as `1`, `1.0` or `1e0`. Two parameter objects that mean the same therefore share a cache entry
//! and an idempotency record.

use std::fmt;
use std::io::Write;

use serde_json::{Number, Value};

/// A hash of canonical JSON.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest as lower-case hexadecimal.
    pub fn to_hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The digest's bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

/// The hash of a value's canonical text, bound to what it is a hash of.
pub fn digest(scope: impl AsRef<[u8]>, value: &Value) -> Digest {
    let scope = scope.as_ref();
    let mut bytes = Vec::with_capacity(256);
    // The length keeps a scope from running over into the value.
    bytes.extend_from_slice(&(scope.len() as u64).to_le_bytes());
    bytes.extend_from_slice(scope);
    write_value(value, &mut bytes);
    Digest(*blake3::hash(&bytes).as_bytes())
}

/// The canonical text of a value.
pub fn to_string(value: &Value) -> String {
    let mut bytes = Vec::new();
    write_value(value, &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_value(item, out);
            }
            out.push(b']');
        }
        Value::Object(map) => {
            let mut fields: Vec<(&String, &Value)> = map.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            out.push(b'{');
            for (at, (key, value)) in fields.into_iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_string(key, out);
                out.push(b':');
                write_value(value, out);
            }
            out.push(b'}');
        }
    }
}

fn write_number(number: &Number, out: &mut Vec<u8>) {
    // A whole float within the integers is written as that integer: 1.0 equals 1, and 1e17 its digits.
    const INTEGERS: std::ops::Range<f64> = i64::MIN as f64..u64::MAX as f64;
    // Writing to a Vec cannot fail.
    let _ = match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && INTEGERS.contains(&float) => {
            write!(out, "{}", float as i128)
        }
        _ => write!(out, "{number}"),
    };
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    // Writing a string into a Vec cannot fail.
    let _ = serde_json::to_writer(out, text);
}
