//! How parameters are read where JSON is finer than Rust: absent or null, `42` or `42.0`.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Number;

/// A field that may be absent, but not null.
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// A field that may be absent (`None`) or null (`Some(None)`).
pub(crate) fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// A whole number: JSON Schema counts `42.0` as an integer too.
pub(crate) fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = Number::deserialize(from)?;
    let float = || number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < EXACT);
    let whole = number.as_i64().or_else(|| float().map(|float| float as i64));
    whole.ok_or_else(|| D::Error::custom("expected a whole number"))
}

/// A whole number that may be absent, but not null.
pub(crate) fn some_whole<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    whole(from).map(Some)
}
