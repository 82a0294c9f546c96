//! Schemas and values that are made to cost far more than they look: each is refused, and plain ones are not.

use serde_json::{Map, Value, json};
use toolroom_contract::error::ToolError;
use toolroom_contract::validator::Validator;

/// Random letters of two, the same at each run.
fn letters(length: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if state & 1 == 0 { 'a' } else { 'b' }
    };
    (0..length).map(|_| next()).collect()
}

/// Patterns with so many states that the engine meets a new one at nearly every byte.
fn thrashing(count: usize) -> Vec<Value> {
    (0..count).map(|at| json!({ "pattern": format!("^(a|b)*a(a|b){{13}}(?:{at})?$") })).collect()
}

fn refused_for_steps(validator: &Validator, value: &Value) {
    assert!(!validator.accepts(value));
    let found = validator.refusals(value);
    assert!(found[0].message.contains("steps; send less"), "{found:?}");
}

#[test]
fn schema_cost_of_patterns_that_meet_a_new_state_at_every_byte_is_counted() {
    let validator = Validator::compile(&json!({ "allOf": thrashing(25) })).unwrap();
    // All of them match: only the budget can refuse it.
    refused_for_steps(&validator, &json!(format!("{}{}", letters(20_000, 1), "a".repeat(14))));
    assert!(validator.accepts(&json!(format!("{}{}", letters(200, 1), "a".repeat(14)))));
    let many: Vec<String> = (0..2_000).map(|at| format!("{}{}", letters(46, at), "a".repeat(14))).collect();
    let each = Validator::compile(&json!({ "items": { "allOf": thrashing(10) } })).unwrap();
    refused_for_steps(&each, &json!(many));
}

#[test]
fn schema_cost_of_patterns_for_names_is_counted() {
    let patterns: Map<String, Value> =
        (0..25).map(|at| (format!("^(a|b)*a(a|b){{13}}(?:{at})?$"), json!(true))).collect();
    let schema = json!({ "patternProperties": patterns, "additionalProperties": false });
    let validator = Validator::compile(&schema).unwrap();
    let names = |count: u64| -> Value {
        (0..count).map(|at| (format!("{}{}", letters(46, at), "a".repeat(14)), json!(1))).collect()
    };
    assert!(validator.accepts(&names(10)));
    refused_for_steps(&validator, &names(1_000));
}

#[test]
fn schema_cost_of_plain_patterns_leaves_room_for_plain_texts() {
    let words = "^(?:[a-z]{1,30}[ .,]|[A-Z]{1,29} )*$";
    assert!(
        Validator::compile(&json!({ "pattern": words })).unwrap().accepts(&json!("words ".repeat(1_700)))
    );
    let schema = json!({ "properties": {
        "text": { "type": "string", "minLength": 1, "maxLength": 1_000_000 },
        "mail": { "type": "string", "pattern": "^[^@ ]+@([a-z0-9-]+[.])+[a-z]{2,20}$" }
    } });
    let value = json!({ "text": "x".repeat(1_000_000), "mail": "somebody@mail.example.org" });
    assert!(Validator::compile(&schema).unwrap().accepts(&value));
}

#[test]
fn schema_cost_of_long_names_above_many_subschemas_is_bounded() {
    let below = |name: &str, count: usize| json!({ "properties": { name: { "prefixItems": vec![json!({}); count] } } });
    let reason = Validator::compile(&below(&"n".repeat(20_000), 10_000)).err().unwrap().to_string();
    assert!(reason.contains("pointers to its keywords take more than 16 MiB"), "{reason}");
    assert!(Validator::compile(&below("a-name-of-some-length", 10_000)).is_ok());
}

#[test]
fn schema_cost_tells_the_pointer_of_what_it_refuses() {
    let schema = json!({ "properties": { "a/b": { "anyOf": [{}, { "$ref": "#/nowhere" }] } } });
    let refused = Validator::compile(&schema).err().unwrap();
    assert_eq!(refused.pointer, "/properties/a~1b/anyOf/1/$ref");
}

#[test]
fn schema_cost_of_names_and_references_is_bounded() {
    let named = |count: usize, word: &str, start: &str| {
        let defs: Map<String, Value> =
            (0..count).map(|at| (format!("d{at}"), json!({ word: format!("n{at}") }))).collect();
        let all: Vec<Value> = (0..count).map(|at| json!({ "$ref": format!("{start}n{at}") })).collect();
        json!({ "prefixItems": all, "$defs": defs })
    };
    for (word, start) in [("$id", ""), ("$anchor", "#")] {
        let reason = Validator::compile(&named(4_000, word, start)).err().unwrap().to_string();
        assert!(reason.contains("more than 256 names"), "{reason}");
        assert!(Validator::compile(&named(200, word, start)).is_ok(), "{word}");
    }
    // Ids of data are no names; but a reference may not have all of them looked at.
    let data: Vec<Value> = (0..3_000).map(|_| json!({ "id": "same" })).collect();
    let plain = json!({ "enum": data });
    assert!(Validator::compile(&plain).is_ok());
    let references = vec![json!({ "$ref": "same" }); 3_000];
    let reason =
        Validator::compile(&json!({ "prefixItems": references, "enum": data })).err().unwrap().to_string();
    assert!(reason.contains("more than 80000 places"), "{reason}");
}

#[test]
fn schema_cost_of_looking_for_nulls_is_counted() {
    let schema = |members: usize| {
        let mut all = vec![json!({ "properties": { "a": { "type": "integer" } } }); members];
        all.push(json!({ "properties": { "last": { "type": "integer" } } }));
        Validator::compile(&json!({ "allOf": all })).unwrap()
    };
    let mut fields: Map<String, Value> = (0..4_000).map(|at| (format!("f{at}"), json!(1))).collect();
    fields.insert("last".into(), Value::Null);
    let value = Value::Object(fields);
    assert!(schema(1_500).without_nulls(&value).is_none());
    let stripped = schema(20).without_nulls(&value).unwrap();
    assert_eq!(stripped.as_object().unwrap().len(), 4_000);
}

#[test]
fn a_refusal_of_the_whole_value_does_not_begin_with_a_colon() {
    assert_eq!(ToolError::invalid("", "the body must be an object").message, "the body must be an object");
    assert_eq!(ToolError::invalid("/a", "is missing").message, "/a: is missing");
}
