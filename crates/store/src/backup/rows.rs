//! A row as a line, exactly: numbers keep every bit, bytes are hexadecimal.

use serde_json::{Value as Json, json};

use crate::engine::{Arg, Row, Value};

pub(super) fn encode(row: Row) -> Json {
    row.0
        .into_iter()
        .map(|value| match value {
            Value::Null => Json::Null,
            Value::Int(n) => n.into(),
            Value::Bool(truth) => truth.into(),
            Value::Text(text) => text.into(),
            // As texts, because readers of JSON round.
            Value::Float(x) => json!({ "float": x.to_string() }),
            Value::Bytes(bytes) => {
                json!({ "bytes": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() })
            }
        })
        .collect()
}

/// The values of a row; `None` if it is none.
pub(super) fn decode(line: Json) -> Option<Vec<Value>> {
    let Json::Array(values) = line else { return None };
    let value = |value| match value {
        Json::Null => Some(Value::Null),
        Json::Bool(truth) => Some(Value::Bool(truth)),
        Json::Number(n) => n.as_i64().map(Value::Int),
        Json::String(text) => Some(Value::Text(text)),
        Json::Object(fields) => match (fields.get("float"), fields.get("bytes")) {
            (Some(float), None) => float.as_str()?.parse().ok().map(Value::Float),
            (None, Some(bytes)) => unhex(bytes.as_str()?).map(Value::Bytes),
            _ => None,
        },
        Json::Array(_) => None,
    };
    values.into_iter().map(value).collect()
}

pub(super) fn argument(value: &Value) -> Arg<'_> {
    match value {
        Value::Null => Arg::Null,
        Value::Int(n) => Arg::Int(*n),
        Value::Float(x) => Arg::Float(*x),
        Value::Bool(truth) => Arg::Bool(*truth),
        Value::Text(text) => Arg::from(text),
        Value::Bytes(bytes) => Arg::Bytes(bytes),
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::try_from(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_comes_back_to_the_bit() {
        let floats = [0.1 + 0.2, f64::MIN_POSITIVE, -0.0, 1e300, 2.0];
        let mut values = vec![
            Value::Null,
            Value::Int(i64::MIN),
            Value::Int(i64::MAX),
            Value::Bool(true),
            Value::Text("quotes \" and\nlines \u{1f9f0}".to_owned()),
            Value::Bytes((0..=255).collect()),
        ];
        values.extend(floats.map(Value::Float));
        let line = encode(Row(values.clone())).to_string();
        assert!(!line.contains('\n'));
        let read = decode(serde_json::from_str(&line).unwrap()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{values:?}"));
        for bad in
            ["{}", "[{\"float\":\"x\"}]", "[{\"bytes\":\"0\"}]", "[{\"bytes\":\"0g\"}]", "[[1]]", "[1.5]"]
        {
            assert!(decode(serde_json::from_str(bad).unwrap()).is_none(), "{bad}");
        }
    }
}
