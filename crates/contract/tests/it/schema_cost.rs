//! A small schema can stand for a huge one: it is refused when it is read, or its validation is stopped.

use std::time::Duration;

use serde_json::{Map, Value, json};
use toolroom_contract::validator::Validator;
use toolroom_work::fuzz::time_on_processor;

/// On a processor; without the bounds it would be minutes.
const SOON: Duration = Duration::from_secs(5);

/// `levels` definitions, each of which refers to the next one twice.
fn doubling(levels: usize, word: &str) -> Value {
    let mut defs = Map::new();
    for level in 0..levels {
        let next = json!({ "$ref": format!("#/$defs/l{}", level + 1) });
        defs.insert(format!("l{level}"), json!({ word: [next.clone(), next] }));
    }
    defs.insert(format!("l{levels}"), json!({ "type": "string" }));
    json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/l0" } }, "$defs": defs })
}

fn refused(schema: &Value) -> String {
    let started = time_on_processor();
    let reason = Validator::compile(schema).err().unwrap().to_string();
    let took = time_on_processor() - started;
    assert!(took < SOON, "{took:?}");
    reason
}

#[test]
fn levels_that_double_are_refused_with_the_limit() {
    for levels in [14, 20, 24, 1_000] {
        for word in ["anyOf", "allOf", "oneOf", "prefixItems"] {
            let reason = refused(&doubling(levels, word));
            assert!(reason.contains("subschemas"), "{levels} {word}: {reason}");
        }
    }
    assert!(refused(&doubling(20, "anyOf")).contains("more than 4096 subschemas apply to one value"));
    assert!(refused(&doubling(20, "prefixItems")).contains("more than 20000 subschemas"));
    assert!(Validator::compile(&doubling(8, "anyOf")).is_ok());
}

#[test]
fn levels_that_double_by_anchors_and_ids_are_refused_too() {
    let named = |reference: &dyn Fn(usize) -> String, name: &dyn Fn(usize) -> Value| {
        let mut defs = Map::new();
        for level in 0..20 {
            let next = json!({ "$ref": reference(level + 1) });
            let mut schema = json!({ "anyOf": [next.clone(), next] });
            schema.as_object_mut().unwrap().extend(name(level).as_object().unwrap().clone());
            defs.insert(format!("l{level}"), schema);
        }
        defs.insert("l20".into(), name(20));
        json!({ "$ref": reference(0), "$defs": defs })
    };
    let anchors = named(&|level| format!("#n{level}"), &|level| json!({ "$anchor": format!("n{level}") }));
    assert!(refused(&anchors).contains("more than 4096"), "{anchors}");
    let ids = named(
        &|level| format!("https://a.example/n{level}"),
        &|level| json!({ "$id": format!("https://a.example/n{level}") }),
    );
    assert!(refused(&ids).contains("more than 4096"), "{ids}");
    let encoded = named(&|level| format!("#/%24defs/l{level}"), &|_| json!({}));
    assert!(refused(&encoded).contains("more than 4096"), "{encoded}");
    // Where a value of the schema is taken for a schema.
    let hidden = json!({ "default": doubling(20, "anyOf"), "$ref": "#/default/$defs/l0" });
    assert!(Validator::compile(&hidden).is_err());
}

#[test]
fn chains_and_nests_are_refused_before_they_take_the_stack() {
    let mut defs = Map::new();
    for level in 0..6_000 {
        defs.insert(format!("a{level}"), json!({ "$ref": format!("#/$defs/a{}", level + 1) }));
    }
    defs.insert("a6000".into(), json!({}));
    assert!(refused(&json!({ "$ref": "#/$defs/a0", "$defs": defs })).contains("chain"));
    let nested = (0..120).fold(json!({}), |inner, _| json!({ "not": inner }));
    assert!(refused(&nested).contains("nested deeper than 96 levels"));
    assert!(refused(&json!({ "anyOf": [{ "$ref": "#" }, { "type": "null" }] })).contains("refers to itself"));
}

#[test]
fn the_longest_ways_that_are_taken_compile_and_validate_on_a_small_stack() {
    let small = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(|| {
        // As deep as a schema may be, with references at the bottom of each to the next.
        let mut defs = Map::new();
        for at in 0..12 {
            let last = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
            let deep = (0..44).fold(last, |inner, _| json!({ "properties": { "a": inner } }));
            defs.insert(format!("d{at}"), deep);
        }
        defs.insert("d12".into(), json!({ "type": "integer" }));
        let schema = json!({ "$ref": "#/$defs/d0", "$defs": defs });
        let validator = Validator::compile(&schema).unwrap();
        let value = (0..100).fold(json!("x"), |inner, _| json!({ "a": inner }));
        assert!(validator.accepts(&value));
        // A tree that refers to itself by way of as many steps as are taken.
        let mut defs = Map::new();
        for at in 0..60 {
            defs.insert(format!("d{at}"), json!({ "allOf": [{ "$ref": format!("#/$defs/d{}", at + 1) }] }));
        }
        defs.insert("d60".into(), json!({ "properties": { "a": { "$ref": "#/$defs/d30" } } }));
        let schema = json!({ "$ref": "#/$defs/d30", "$defs": defs });
        let validator = Validator::compile(&schema).unwrap();
        validator.accepts(&value);
        assert!(validator.refusals(&value).len() <= 1);
    });
    small.unwrap().join().unwrap();
}

#[test]
fn patterns_are_bounded_together() {
    let fields: Map<String, Value> = (0..50)
        .map(|at| {
            (format!("f{at}"), json!({ "type": "string", "pattern": format!("^\\p{{L}}{{120}}x{at}$") }))
        })
        .collect();
    assert!(refused(&json!({ "properties": fields })).contains("patterns take more than 16 MiB"));
    let names: Map<String, Value> =
        (0..50).map(|at| (format!("^[\\p{{L}}]{{120}}{at}"), json!(true))).collect();
    assert!(refused(&json!({ "patternProperties": names })).contains("patterns take more than 16 MiB"));
    assert!(Validator::compile(&json!({ "pattern": "^[\\p{L} '-]{1,80}$" })).is_ok());
}

#[test]
fn a_validation_has_a_budget_of_steps() {
    let schemas = [
        // Doubles with every level of the value.
        json!({
            "anyOf": [
                { "type": "array", "items": { "$ref": "#" }, "minItems": 1 },
                { "type": "array", "items": { "$ref": "#" }, "minItems": 1 },
                { "type": "array", "items": { "$ref": "#" }, "minItems": 1 }
            ]
        }),
        json!({ "oneOf": [{ "items": { "$ref": "#" } }, { "items": { "$ref": "#" } }, { "type": "null" }] }),
        json!({
            "type": "array",
            "unevaluatedItems": false,
            "anyOf": [{ "items": { "$ref": "#" } }, { "prefixItems": [{ "$ref": "#" }] }]
        }),
    ];
    let deep = (0..100).fold(json!([]), |inner, _| json!([inner]));
    for schema in schemas {
        let validator = Validator::compile(&schema).unwrap();
        let started = time_on_processor();
        validator.accepts(&deep);
        validator.refusals(&deep);
        // Without the budget it would not end.
        let took = time_on_processor() - started;
        assert!(took < 6 * SOON, "{schema}: {took:?}");
    }
    // Much of the schema times much of the value.
    let choices: Vec<Value> = (0..4_000).map(|at| json!({ "const": at })).collect();
    let validator = Validator::compile(&json!({ "items": { "anyOf": choices } })).unwrap();
    let started = time_on_processor();
    let many = json!(vec![-1; 500_000]);
    assert!(!validator.accepts(&many));
    let long = json!(vec![3_999; 500_000]);
    assert!(!validator.accepts(&long));
    let found = validator.refusals(&long);
    assert!(found[0].message.contains("steps; send less"), "{found:?}");
    let took = time_on_processor() - started;
    assert!(took < SOON, "{took:?}");
}

#[test]
fn what_is_large_but_plain_is_validated_to_its_end() {
    let validator = Validator::compile(&json!({
        "type": "object",
        "properties": {
            "rows": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": { "type": "integer" },
                        "name": { "type": "string", "maxLength": 40, "pattern": "^[\\p{L}0-9 -]{1,40}$" },
                        "kind": { "enum": ["a", "b", "c"] },
                        "at": { "anyOf": [{ "type": "string", "format": "date-time" }, { "type": "null" }] }
                    },
                    "required": ["id", "name"],
                    "additionalProperties": false
                }
            }
        }
    }))
    .unwrap();
    let row = json!({ "id": 1, "name": "A name of some length", "kind": "c", "at": null });
    let mut rows = vec![row; 50_000];
    assert!(validator.accepts(&json!({ "rows": rows })));
    // Only one of them is wrong, and it is the last.
    rows.push(json!({ "id": "x", "name": "n" }));
    let value = json!({ "rows": rows });
    assert!(!validator.accepts(&value));
    assert_eq!(validator.refusals(&value)[0].pointer, "/rows/50000/id");
}

#[test]
fn a_tree_with_many_kinds_of_nodes_is_no_reason_to_refuse() {
    let kinds: Vec<Value> = (0..25)
        .map(|at| {
            json!({
                "type": "object",
                "properties": {
                    "kind": { "const": format!("k{at}") },
                    "left": { "$ref": "#/$defs/node" },
                    "right": { "$ref": "#/$defs/node" }
                },
                "required": ["kind"],
                "additionalProperties": false
            })
        })
        .collect();
    let schema = json!({ "$ref": "#/$defs/node", "$defs": { "node": { "anyOf": kinds } } });
    let validator = Validator::compile(&schema).unwrap();
    let tree = (0..12).fold(
        json!({ "kind": "k24" }),
        |inner, at| json!({ "kind": format!("k{}", at % 25), "left": inner, "right": { "kind": "k3" } }),
    );
    assert!(validator.accepts(&tree));
}

/// Fails at the bottom, below `levels` choices of three that are all the same.
fn choices_in_choices(levels: usize, name: &str) -> (Validator, Value) {
    let choice = json!({ "additionalProperties": { "$ref": "#/$defs/n" } });
    let schema = json!({
        "$ref": "#/$defs/n",
        "$defs": { "n": { "type": "object", "anyOf": [choice.clone(), choice.clone(), choice] } }
    });
    let value = (0..levels).fold(json!(1), |inner, _| json!({ name: inner }));
    (Validator::compile(&schema).unwrap(), value)
}

#[cfg(target_os = "linux")]
#[test]
fn telling_what_is_wrong_takes_little_memory() {
    let most_memory = || -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let before = most_memory();
    // Many alternatives that all refuse one large value: none of their errors may keep a copy of it.
    let refuses = (0..64).map(|at| json!({ "required": [format!("q{at}")] })).collect::<Vec<_>>();
    let alternatives = Validator::compile(&json!({ "type": "object", "anyOf": refuses })).unwrap();
    let found = alternatives.refusals(&json!({ "x": vec![json!({}); 50_000] }));
    assert!(found[0].message.contains("fits none of the allowed forms"), "{found:?}");
    // Errors for every way through the choices, with short pointers and with long ones.
    for (levels, name) in [(61, "a".to_owned()), (20, "n".repeat(50_000)), (12, "b".to_owned())] {
        let (validator, value) = choices_in_choices(levels, &name);
        let found = validator.refusals(&value);
        assert!(found[0].message.contains("more ways than can be listed"), "{found:?}");
    }
    let grown = most_memory() - before;
    assert!(grown < 64 * 1024, "{grown} KiB");
}

#[test]
fn a_refusal_does_not_repeat_a_long_list_of_allowed_values() {
    let names = (0..20_000).map(|at| format!("name-{at}")).collect::<Vec<_>>();
    let schema = json!({ "properties": { "a": { "enum": names } } });
    let found = Validator::compile(&schema).unwrap().refusals(&json!({ "a": "b" }));
    assert!(found[0].message.starts_with("must be one of [\"name-0\""), "{}", found[0].message);
    assert!(found[0].message.len() < 2_000, "{}", found[0].message.len());
}

#[test]
fn a_few_choices_in_choices_are_told() {
    let (validator, value) = choices_in_choices(4, "a");
    let found = validator.refusals(&value);
    assert!(found[0].message.contains("fits none of the allowed forms"), "{found:?}");
}
