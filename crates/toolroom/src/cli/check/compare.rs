//! Compares data with what an example expects, where strings in angle brackets stand for what varies.

use serde_json::{Map, Value, json};

/// A key that lets further keys through.
const MORE: &str = "<more>";

/// A place where the data is not as expected.
#[derive(Debug, PartialEq)]
pub struct Mismatch {
    /// Where, as a JSON pointer into the data.
    pub pointer: String,
    /// What the example says; null if it says nothing of this key.
    pub expected: Value,
    /// What was there; null if nothing was.
    pub found: Value,
}

impl Mismatch {
    /// For the report.
    pub fn to_json(&self) -> Value {
        json!({ "pointer": self.pointer, "expected": self.expected, "found": self.found })
    }
}

/// All places where `found` is not as `expected`.
pub fn compare(expected: &Value, found: &Value) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    walk(expected, found, &mut String::new(), &mut mismatches);
    mismatches
}

fn walk(expected: &Value, found: &Value, pointer: &mut String, out: &mut Vec<Mismatch>) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => objects(expected, found, pointer, out),
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            for (at, (expected, found)) in expected.iter().zip(found).enumerate() {
                step(&at.to_string(), expected, found, pointer, out);
            }
        }
        (Value::String(text), _) if placeholder(text, found) => {}
        _ if expected == found => {}
        _ => {
            out.push(Mismatch { pointer: pointer.clone(), expected: expected.clone(), found: found.clone() })
        }
    }
}

fn objects(
    expected: &Map<String, Value>,
    found: &Map<String, Value>,
    pointer: &mut String,
    out: &mut Vec<Mismatch>,
) {
    for (key, value) in expected.iter().filter(|(key, _)| *key != MORE) {
        match found.get(key) {
            Some(there) => step(key, value, there, pointer, out),
            None => out.push(Mismatch {
                pointer: format!("{pointer}/{}", escaped(key)),
                expected: value.clone(),
                found: Value::Null,
            }),
        }
    }
    if !expected.contains_key(MORE) {
        for (key, value) in found.iter().filter(|(key, _)| !expected.contains_key(*key)) {
            let pointer = format!("{pointer}/{}", escaped(key));
            out.push(Mismatch { pointer, expected: Value::Null, found: value.clone() });
        }
    }
}

fn step(key: &str, expected: &Value, found: &Value, pointer: &mut String, out: &mut Vec<Mismatch>) {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(&escaped(key));
    walk(expected, found, pointer, out);
    pointer.truncate(length);
}

/// Whether the text is a placeholder that the value fits.
fn placeholder(text: &str, found: &Value) -> bool {
    match text {
        "<any>" => true,
        "<string>" => found.is_string(),
        "<number>" => found.is_number(),
        "<id>" => found.as_i64().is_some_and(|id| id > 0) || found.as_str().is_some_and(|id| !id.is_empty()),
        "<time>" => found.as_str().is_some_and(|time| time.parse::<jiff::Timestamp>().is_ok()),
        _ => false,
    }
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointers(expected: &Value, found: &Value) -> Vec<String> {
        compare(expected, found).into_iter().map(|mismatch| mismatch.pointer).collect()
    }

    #[test]
    fn placeholders_stand_for_what_varies_and_for_nothing_else() {
        let expected =
            json!({ "id": "<id>", "at": "<time>", "n": "<number>", "s": "<string>", "x": "<any>" });
        let good = json!({ "id": 7, "at": "2026-01-31T12:00:00Z", "n": 0.5, "s": "", "x": null });
        assert_eq!(compare(&expected, &good), []);
        let bad = json!({ "id": 0, "at": "soon", "n": "1", "s": 1, "x": 1 });
        assert_eq!(pointers(&expected, &bad), ["/id", "/at", "/n", "/s"]);
    }

    #[test]
    fn further_keys_count_unless_more_lets_them_through() {
        let found = json!({ "a": 1, "b/c": 2 });
        assert_eq!(pointers(&json!({ "a": 1 }), &found), ["/b~1c"]);
        assert_eq!(compare(&json!({ "a": 1, "<more>": "<any>" }), &found), []);
        assert_eq!(pointers(&json!({ "z": "<any>", "<more>": "<any>" }), &found), ["/z"]);
    }

    #[test]
    fn lists_must_have_the_same_length_and_a_mismatch_shows_both_values() {
        assert_eq!(pointers(&json!([1]), &json!([1, 2])), [""]);
        let mismatches = compare(&json!({ "a": [{ "b": 1 }] }), &json!({ "a": [{ "b": 2 }] }));
        assert_eq!(mismatches, [Mismatch { pointer: "/a/0/b".into(), expected: json!(1), found: json!(2) }]);
    }
}
