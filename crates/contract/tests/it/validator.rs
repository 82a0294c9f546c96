//! Validation: what a refusal says, and what a hostile schema cannot do.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::time::Duration;

use serde_json::{Map, Value, json};
use toolroom_contract::validator::{Validator, child};
use toolroom_work::fuzz::time_on_processor;

/// Far above what any of these takes, far below what an attack wants.
const SOON: Duration = Duration::from_secs(2);

fn compile(schema: &Value) -> Validator {
    Validator::compile(schema).unwrap()
}

fn said(schema: Value, value: Value) -> Vec<(String, String)> {
    compile(&schema).refusals(&value).into_iter().map(|bad| (bad.pointer, bad.message)).collect()
}

#[test]
fn each_rule_is_refused_in_one_plain_sentence() {
    for (schema, value, message) in [
        (json!({ "type": "string" }), json!(5), "must be of type string, not a number"),
        (json!({ "type": ["string", "null"] }), json!([]), "must be of type null or string, not an array"),
        (json!({ "enum": ["a", "b"] }), json!("c"), "must be one of [\"a\",\"b\"]"),
        (json!({ "const": 1 }), json!(2), "must be 1"),
        (json!({ "minLength": 1 }), json!(""), "must not be empty"),
        (json!({ "minLength": 3 }), json!("ab"), "must have at least 3 characters"),
        (json!({ "maxLength": 1 }), json!("ab"), "must have at most 1 characters"),
        (json!({ "minimum": 3 }), json!(2), "must be at least 3"),
        (json!({ "maximum": 3 }), json!(4), "must be at most 3"),
        (json!({ "exclusiveMinimum": 3 }), json!(3), "must be more than 3"),
        (json!({ "exclusiveMaximum": 3 }), json!(3), "must be less than 3"),
        (json!({ "minItems": 1 }), json!([]), "must have at least 1 items"),
        (json!({ "maxItems": 1 }), json!([1, 2]), "must have at most 1 items"),
        (json!({ "minProperties": 1 }), json!({}), "must have at least 1 fields"),
        (json!({ "maxProperties": 0 }), json!({ "a": 1 }), "must have at most 0 fields"),
        (json!({ "multipleOf": 2 }), json!(3), "must be a multiple of 2"),
        (json!({ "uniqueItems": true }), json!([1, 1]), "must not repeat an item"),
        (json!({ "pattern": "^a$" }), json!("b"), "must match the pattern ^a$"),
        (json!({ "format": "date" }), json!("2026-13-01"), "must be a valid date"),
        (json!({ "anyOf": [{ "type": "string" }] }), json!(5), "fits none of the allowed forms"),
        (
            json!({ "oneOf": [{ "type": "string" }, { "type": "null" }] }),
            json!(5),
            "fits none of the allowed forms",
        ),
        (json!({ "oneOf": [true, true] }), json!(5), "fits more than one of the allowed forms"),
        (json!({ "not": {} }), json!(5), "breaks the rule 'not' of the schema"),
        (json!(false), json!(5), "nothing is allowed here"),
    ] {
        assert_eq!(said(schema.clone(), value), [(String::new(), message.to_owned())], "{schema}");
    }
}

#[test]
fn missing_and_unknown_fields_are_named_where_they_belong_with_what_would_be_right() {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "description": "What is to be done." },
            "a/b~c": { "type": "object", "required": ["x/y"], "properties": {} }
        },
        "required": ["title"],
        "additionalProperties": false
    });
    let found = compile(&schema).refusals(&json!({ "titel": "Milk", "a/b~c": {} }));
    let mut pointers: Vec<&str> = found.iter().map(|bad| bad.pointer.as_str()).collect();
    pointers.sort_unstable();
    assert_eq!(pointers, ["/a~1b~0c/x~1y", "/titel", "/title"]);
    let at = |pointer: &str| found.iter().find(|bad| bad.pointer == pointer).unwrap();
    assert_eq!(at("/title").message, "'title' is required");
    assert_eq!(at("/title").expected.as_deref(), Some("What is to be done."));
    assert_eq!(at("/titel").message, "unknown field 'titel'");
    assert_eq!(at("/titel").expected.as_deref(), Some("one of: title, a/b~c"));
    assert_eq!(child("/a", "b/c~d"), "/a/b~1c~0d");
}

#[test]
fn a_flood_of_bad_fields_is_cut_short() {
    let closed = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let many: Map<String, Value> = (0..10_000).map(|at| (format!("f{at}"), json!(1))).collect();
    assert_eq!(compile(&closed).refusals(&Value::Object(many)).len(), 16);
    let numbers = json!({ "type": "array", "items": { "type": "string" } });
    assert_eq!(compile(&numbers).refusals(&json!(vec![1; 10_000])).len(), 16);
}

#[test]
fn a_secret_is_never_repeated_in_a_refusal() {
    let secret = "CANARY-5f1c";
    let schema = json!({
        "type": "object",
        "properties": {
            "password": { "type": "string", "writeOnly": true, "minLength": 40, "pattern": "^x$", "format": "uuid" },
            "token": { "type": "integer" },
            "secret": { "enum": ["a"] },
            "api_key": { "const": "b" },
            "authorization": { "anyOf": [{ "type": "null" }] },
            "list": { "type": "array", "uniqueItems": true, "contains": { "type": "null" } },
            "not": { "not": { "type": "string" } },
            "names": { "propertyNames": { "maxLength": 2 } }
        }
    });
    let value = json!({
        "password": secret, "token": secret, "secret": secret, "api_key": secret, "authorization": secret,
        "list": [secret, secret], "not": secret, "names": { "long-name": secret }
    });
    let refusals = compile(&schema).refusals(&value);
    assert!(refusals.len() >= 9, "{refusals:#?}");
    let text = serde_json::to_string(&refusals).unwrap();
    assert!(!text.contains("CANARY"), "{text}");
}

#[test]
fn references_to_the_network_or_to_files_are_refused_and_nothing_is_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/schema.json", listener.local_addr().unwrap());
    for schema in [
        json!({ "$ref": url }),
        json!({ "type": "object", "properties": { "a": { "$ref": url } } }),
        json!({ "$id": url, "$ref": "other.json" }),
        json!({ "$dynamicRef": url }),
        json!({ "$ref": "file:///etc/hostname" }),
    ] {
        assert!(Validator::compile(&schema).is_err(), "{schema}");
    }
    // A dialect that nobody knows is read as 2020-12, and not looked up either.
    assert!(
        Validator::compile(&json!({ "$schema": url, "type": "string" }))
            .is_ok_and(|it| !it.accepts(&json!(1)))
    );
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn a_schema_may_refer_to_itself() {
    let tree = compile(&json!({
        "type": "object",
        "properties": { "children": { "type": "array", "items": { "$ref": "#" } } },
        "additionalProperties": false
    }));
    assert!(tree.accepts(&json!({ "children": [{ "children": [] }, {}] })));
    let found = tree.refusals(&json!({ "children": [{ "children": [{ "leaf": 1 }] }] }));
    assert_eq!(found[0].pointer, "/children/0/children/0/leaf");
}

#[test]
fn a_reference_that_goes_in_circles_neither_hangs_nor_crashes() {
    let started = time_on_processor();
    for schema in [
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
        json!({ "anyOf": [{ "type": "null" }, { "not": { "$ref": "#" } }] }),
    ] {
        let value = json!({ "a": 1 });
        match Validator::compile(&schema) {
            Ok(validator) => {
                assert_eq!(validator.accepts(&value), validator.refusals(&value).is_empty(), "{schema}")
            }
            Err(error) => assert!(!error.message.is_empty(), "{schema}"),
        }
    }
    assert!(time_on_processor() - started < SOON);
}

#[test]
fn a_pattern_that_explodes_is_answered_soon_and_refused() {
    let text = json!(format!("{}!", "a".repeat(50_000)));
    for pattern in ["(a+)+$", "^(a|aa)+$", "(.*a){12}$", "^(a?){100}a{100}$"] {
        let started = time_on_processor();
        let validator = compile(&json!({ "type": "string", "pattern": pattern }));
        assert!(!validator.accepts(&text), "{pattern}");
        assert_eq!(validator.refusals(&text).len(), 1, "{pattern}");
        let keys = json!({ "patternProperties": { pattern: false }, "additionalProperties": true });
        compile(&keys).refusals(&json!({ text.as_str().unwrap(): 1 }));
        let took = time_on_processor() - started;
        assert!(took < SOON, "{pattern} took {took:?}");
    }
}

#[test]
fn a_pattern_that_needs_backtracking_is_refused_when_the_schema_is_read() {
    for pattern in ["^(?=(a+)+$)a", "^(?:(a+)\\1?)+$", "(?<!b)(a+)+$", "(((a{999}){999}){999}){999}"] {
        let started = time_on_processor();
        assert!(Validator::compile(&json!({ "pattern": pattern })).is_err(), "{pattern}");
        assert!(Validator::compile(&json!({ "patternProperties": { pattern: {} } })).is_err(), "{pattern}");
        let took = time_on_processor() - started;
        assert!(took < SOON, "{pattern} took {took:?}");
    }
}

#[test]
fn a_schema_beyond_the_size_limit_is_refused_unread() {
    let started = time_on_processor();
    let error = Validator::compile(&json!({ "description": "x".repeat(10 * 1024 * 1024) })).err().unwrap();
    assert!(error.message.contains("larger than 262144 bytes"), "{error}");
    assert!(time_on_processor() - started < SOON);
    assert!(Validator::compile(&json!({ "description": "x".repeat(256 * 1024 - 20) })).is_ok());
}

#[test]
fn a_bad_schema_says_where_it_is_bad() {
    let error = Validator::compile(&json!({ "properties": { "a": { "type": "strin" } } })).err().unwrap();
    assert_eq!(error.pointer, "/properties/a/type");
    assert!(Validator::compile(&json!({ "pattern": "(" })).is_err());
    assert!(Validator::compile(&json!([])).is_err());
    let kept = json!({ "type": "object" });
    assert_eq!(compile(&kept).schema(), &kept);
}
