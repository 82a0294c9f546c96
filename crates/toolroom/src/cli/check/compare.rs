//! Compares data with what an example expects.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolroom_contract::definition::Varies;

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

/// All places where `found` is not as `expected`, those aside that vary as they may.
pub fn compare(expected: &Value, varies: &BTreeMap<String, Varies>, found: &Value) -> Vec<Mismatch> {
    let mut comparison = Comparison { varies, pointer: String::new(), mismatches: Vec::new() };
    comparison.walk(Some(expected), Some(found));
    comparison.mismatches
}

struct Comparison<'a> {
    varies: &'a BTreeMap<String, Varies>,
    pointer: String,
    mismatches: Vec<Mismatch>,
}

impl Comparison<'_> {
    fn walk(&mut self, expected: Option<&Value>, found: Option<&Value>) {
        let fits = match (self.varies.get(&self.pointer), found) {
            (Some(Varies::Any), _) => true,
            (Some(varies), Some(found)) => varies.accepts(found),
            (Some(_), None) => false,
            (None, _) => match (expected, found) {
                (Some(Value::Object(expected)), Some(Value::Object(found))) => {
                    for key in expected.keys().chain(found.keys().filter(|key| !expected.contains_key(*key)))
                    {
                        self.step(key, expected.get(key), found.get(key));
                    }
                    true
                }
                (Some(Value::Array(expected)), Some(Value::Array(found)))
                    if expected.len() == found.len() =>
                {
                    for (at, (expected, found)) in expected.iter().zip(found).enumerate() {
                        self.step(&at.to_string(), Some(expected), Some(found));
                    }
                    true
                }
                (expected, found) => expected == found,
            },
        };
        if !fits {
            self.mismatches.push(Mismatch {
                pointer: self.pointer.clone(),
                expected: expected.cloned().unwrap_or_default(),
                found: found.cloned().unwrap_or_default(),
            });
        }
    }

    fn step(&mut self, key: &str, expected: Option<&Value>, found: Option<&Value>) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&toolroom_contract::pointer::token(key));
        self.walk(expected, found);
        self.pointer.truncate(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointers(expected: &Value, varies: Value, found: &Value) -> Vec<String> {
        let varies = serde_json::from_value(varies).unwrap();
        compare(expected, &varies, found).into_iter().map(|mismatch| mismatch.pointer).collect()
    }

    #[test]
    fn what_varies_may_vary_as_it_is_said_and_nothing_else_may() {
        let expected = json!({ "id": 1, "at": "2026-01-31T12:00:00Z", "n": 1, "s": "a", "x": 1, "same": 1 });
        let varies = json!({ "/id": "id", "/at": "time", "/n": "number", "/s": "string", "/x": "any" });
        let good = json!({ "id": 7, "at": "2026-02-01T12:00:00Z", "n": 0.5, "s": "", "x": null, "same": 1 });
        assert!(pointers(&expected, varies.clone(), &good).is_empty());
        let bad = json!({ "id": 0, "at": "soon", "n": "1", "s": 1, "same": 2 });
        assert_eq!(pointers(&expected, varies, &bad), ["/id", "/at", "/n", "/s", "/same"]);
    }

    #[test]
    fn further_keys_and_missing_ones_count() {
        let found = json!({ "a": 1, "b/c": 2 });
        assert_eq!(pointers(&json!({ "a": 1 }), json!({}), &found), ["/b~1c"]);
        assert_eq!(pointers(&json!({ "a": 1 }), json!({ "/b~1c": "any" }), &found), [""; 0]);
        assert_eq!(pointers(&json!({ "z": 1, "a": 1, "b/c": 2 }), json!({}), &found), ["/z"]);
    }

    #[test]
    fn lists_must_have_the_same_length_and_a_mismatch_shows_both_values() {
        assert_eq!(pointers(&json!([1]), json!({}), &json!([1, 2])), [""]);
        let (expected, found) = (json!({ "a": [{ "b": 1 }] }), json!({ "a": [{ "b": 2 }] }));
        let mismatches = compare(&expected, &BTreeMap::new(), &found);
        assert_eq!(mismatches, [Mismatch { pointer: "/a/0/b".into(), expected: json!(1), found: json!(2) }]);
    }
}
