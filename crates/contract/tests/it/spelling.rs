//! The spelling in which schemas are published: every client's reader takes it, and it means the same.

use serde_json::{Value, json};
use toolroom_contract::spelling;
use toolroom_contract::validator::Validator;

use crate::schema_lint::faults;

/// Schemas as generators of many languages write them.
pub fn odd_schemas() -> Vec<Value> {
    vec![
        json!({ "type": ["string", "null"], "maxLength": 3, "description": "A text", "default": null }),
        json!({ "type": ["integer", "number", "string"], "minimum": 2, "pattern": "^a", "format": "date" }),
        json!({ "type": ["object", "array"], "required": ["a"], "items": { "type": "string" }, "minItems": 1 }),
        json!({ "type": ["string", "null"], "enum": ["red", null, 3] }),
        json!({ "enum": ["red", "green", 3, null] }),
        json!({ "const": "red" }),
        json!({ "type": "object" }),
        json!({ "type": "object", "additionalProperties": { "type": ["integer"] } }),
        json!({ "properties": { "a": true, "b": false, "c": {} }, "additionalProperties": false }),
        json!({ "type": "array", "items": true }),
        json!({ "type": "array", "prefixItems": [{ "const": 1 }, true], "items": false }),
        json!({ "oneOf": [
            { "type": "string", "const": "fast", "description": "Under 100 ms." },
            { "const": "slow", "description": "Over a second." },
            { "type": "string", "enum": ["unknown", "other"] },
        ] }),
        json!({ "oneOf": [{ "const": "red" }, { "const": "green" }, { "type": "null" }], "title": "Colour" }),
        json!({ "oneOf": [{ "const": "red" }, { "enum": ["red", "green"] }] }),
        json!({ "anyOf": [{ "anyOf": [{ "type": "string" }, { "type": "null" }] }, { "type": "null" }] }),
        json!({ "$ref": "#/$defs/a", "description": "Mine", "$defs": { "a": { "type": ["string", "null"] } } }),
        json!({ "allOf": [{ "$ref": "#/$defs/a" }], "default": "red", "$defs": { "a": { "enum": ["red", "green"] } } }),
        json!({ "$ref": "#/$defs/a", "required": ["b"], "$defs": {
            "a": { "type": "object", "properties": { "b": { "$ref": "#/$defs/c" } }, "additionalProperties": false },
            "c": { "type": ["string", "integer"] },
        } }),
        json!({ "$ref": "#/$defs/a", "properties": { "c": true }, "additionalProperties": false,
            "$defs": { "a": { "properties": { "b": { "type": "string" } } } } }),
        json!({ "$ref": "#/$defs/a", "properties": { "c": true }, "unevaluatedProperties": false,
            "$defs": { "a": { "properties": { "b": { "type": "string" } } } } }),
        json!({ "$ref": "#there", "$defs": { "a": { "$anchor": "there", "type": "integer" } } }),
        json!({ "type": ["string", "integer"], "anyOf": [{ "minLength": 2 }, { "minimum": 3 }] }),
        json!({ "if": { "type": ["string"] }, "then": { "const": "red" }, "else": true }),
        json!({ "not": { "type": ["string", "null"] } }),
        json!({ "type": "object", "patternProperties": { "^a": { "type": ["string", "null"] } },
            "dependentSchemas": { "a": { "required": ["b"] } }, "propertyNames": { "enum": ["a", "b"] } }),
    ]
}

/// Schemas that lead back to themselves, or grow without end when they are written out.
fn endless_schemas() -> Vec<Value> {
    let mut doubling = json!({ "$ref": "#/$defs/d0", "$defs": { "d10": { "type": "string" } } });
    for at in 0..10 {
        let next = format!("#/$defs/d{}", at + 1);
        doubling["$defs"][format!("d{at}")] = json!({ "type": "object", "properties": { "left": { "$ref": next }, "right": { "$ref": next } } });
    }
    vec![
        json!({ "type": "object", "properties": { "value": { "type": "integer" }, "next": { "$ref": "#" } } }),
        json!({ "type": "object", "properties": { "next": { "anyOf": [{ "$ref": "#" }, { "type": "null" }] } },
            "required": ["next"], "additionalProperties": false }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "oneOf": [{ "type": "string" }, { "items": { "$ref": "#/$defs/a" },
            "type": "array" }] } } }),
        json!({ "$ref": "#/$defs/a", "unevaluatedProperties": false,
            "$defs": { "a": { "properties": { "a": { "$ref": "#/$defs/a" } }, "allOf": [{ "$ref": "#/$defs/b" }] },
                "b": { "properties": { "b": { "not": { "$ref": "#/$defs/a" } } } } } }),
        doubling,
    ]
}

fn values() -> Vec<Value> {
    let plain = json!([
        null,
        true,
        0,
        1,
        2,
        3,
        2.5,
        1.0,
        "",
        "a",
        "abcd",
        "red",
        "green",
        "fast",
        "slow",
        "other",
        "2026-11-15",
        [],
        [1],
        [1, 2],
        [1, 2, 3],
        ["a"],
        {}
    ]);
    let mut all: Vec<Value> = plain.as_array().unwrap().clone();
    for value in plain.as_array().unwrap() {
        for name in ["a", "b", "c", "value", "next", "left"] {
            all.push(json!({ name: value }));
        }
        all.push(json!({ "a": value, "b": "b" }));
        all.push(json!({ "b": "b", "c": value }));
        all.push(json!({ "next": { "next": { "next": value } } }));
        all.push(json!({ "value": 1, "next": { "value": value } }));
        all.push(json!([[value]]));
    }
    all
}

#[test]
fn every_schema_is_published_in_a_spelling_that_all_clients_read() {
    for schema in odd_schemas().iter().chain(&endless_schemas()) {
        let spelled = spelling::of(schema);
        assert_eq!(faults(&spelled), [""; 0], "{schema}\n{spelled}");
        assert_eq!(spelling::of(&spelled), spelled, "spelled once is spelled for good");
        assert_eq!(faults(&spelling::of_object(schema)), [""; 0]);
    }
}

#[test]
fn the_published_spelling_means_the_same() {
    for schema in odd_schemas() {
        let spelled = spelling::of(&schema);
        let (one, other) = (Validator::compile(&schema).unwrap(), Validator::compile(&spelled).unwrap());
        for value in values() {
            assert_eq!(one.accepts(&value), other.accepts(&value), "{schema}\n{spelled}\n{value}");
        }
    }
}

#[test]
fn what_goes_on_without_end_is_published_wider_and_bounded() {
    for schema in endless_schemas() {
        let spelled = spelling::of(&schema);
        assert!(spelled.to_string().len() < 512 * 1024, "{}", spelled.to_string().len());
        let (one, other) = (Validator::compile(&schema).unwrap(), Validator::compile(&spelled).unwrap());
        for value in values().iter().filter(|value| one.accepts(value)) {
            assert!(other.accepts(value), "{schema}\n{spelled}\n{value}");
        }
    }
}

#[test]
fn the_words_of_a_schema_stay_where_people_read_them() {
    assert_eq!(
        spelling::of(&json!({ "type": ["string", "null"], "maxLength": 3, "description": "A text" })),
        json!({ "anyOf": [{ "type": "string", "maxLength": 3 }, { "type": "null" }], "description": "A text" })
    );
    assert_eq!(
        spelling::of(&json!({ "oneOf": [{ "const": "a", "description": "First." }, { "const": "b" }] })),
        json!({ "type": "string", "enum": ["a", "b"], "description": "a: First." })
    );
    let referred = json!({ "$ref": "#/$defs/a", "description": "Mine",
        "$defs": { "a": { "type": "string", "enum": ["x"], "description": "Of all" } } });
    assert_eq!(spelling::of(&referred), json!({ "type": "string", "enum": ["x"], "description": "Mine" }));
}
