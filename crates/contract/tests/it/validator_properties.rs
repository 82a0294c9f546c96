//! Validation of generated values against generated schemas: every refusal points to something.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolroom_contract::FieldError;
use toolroom_contract::validator::Validator;

/// Names that need escaping in a pointer are among them.
const NAMES: [&str; 7] = ["a", "b", "c", "x/y", "m~n", "0", ""];
const SECRET: &str = "s3cr3t";
const SECRET_NUMBER: i64 = 7_000_000;

fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (0..4_u8, 4..20_u8)
            .prop_map(|(low, high)| json!({ "type": "string", "minLength": low, "maxLength": high })),
        (0..50, 50..100)
            .prop_map(|(low, high)| json!({ "type": "integer", "minimum": low, "maximum": high })),
        Just(json!({ "enum": ["red", "green", 3] })),
        Just(json!({ "type": ["string", "null"], "pattern": "^[0-9]+$" })),
        Just(json!({ "type": "boolean" })),
        Just(json!({ "anyOf": [{ "type": "string", "format": "date" }, { "type": "integer" }] })),
    ];
    let nested = leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            2 => object(inner.clone()),
            1 => (inner, 0..3_u8, any::<bool>()).prop_map(|(items, most, unique)| {
                json!({ "type": "array", "items": items, "maxItems": most, "uniqueItems": unique })
            }),
        ]
    });
    object(nested)
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let property = (prop::sample::select(NAMES.to_vec()), inner, any::<bool>());
    (prop::collection::vec(property, 0..5), any::<bool>()).prop_map(|(fields, closed)| {
        let required: Vec<&str> = fields.iter().filter(|field| field.2).map(|field| field.0).collect();
        let required: std::collections::BTreeSet<&str> = required.into_iter().collect();
        let properties: Map<String, Value> =
            fields.iter().map(|(name, schema, _)| (name.to_string(), schema.clone())).collect();
        let mut schema = json!({ "type": "object", "properties": properties, "required": required });
        if closed {
            schema["additionalProperties"] = json!(false);
        }
        schema
    })
}

fn any_instance() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..100_i64).prop_map(Value::from),
        (SECRET_NUMBER..SECRET_NUMBER + 1_000).prop_map(Value::from),
        "[a-z]{0,24}".prop_map(|tail| Value::from(format!("{SECRET}{tail}"))),
        Just(json!("red")),
        Just(json!("2026-11-15")),
    ];
    let any = leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            3 => fields(inner),
        ]
    });
    prop_oneof![9 => fields(any.clone()), 1 => any]
}

fn fields(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec((prop::sample::select(NAMES.to_vec()), inner), 0..6).prop_map(|pairs| {
        Value::Object(pairs.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
    })
}

/// The part of the schema that stands for a place in the value.
fn schema_at<'a>(schema: &'a Value, pointer: &str) -> Option<&'a Value> {
    pointer.split('/').skip(1).try_fold(schema, |schema, token| {
        let name = token.replace("~1", "/").replace("~0", "~");
        schema.get("properties").and_then(|properties| properties.get(name)).or_else(|| schema.get("items"))
    })
}

fn points_to_something(schema: &Value, value: &Value, bad: &FieldError) -> bool {
    if !bad.message.ends_with(" is required") {
        return value.pointer(&bad.pointer).is_some();
    }
    let Some((parent, name)) = bad.pointer.rsplit_once('/') else { return false };
    let name = name.replace("~1", "/").replace("~0", "~");
    let lacks =
        value.pointer(parent).and_then(Value::as_object).is_some_and(|fields| !fields.contains_key(&name));
    let named = schema_at(schema, parent)
        .and_then(|schema| schema["required"].as_array())
        .is_some_and(|required| required.iter().any(|field| field == name.as_str()));
    lacks && named
}

proptest! {
    #[test]
    fn every_refusal_points_to_something_and_repeats_no_value(schema in any_schema(), value in any_instance()) {
        let validator = Validator::compile(&schema).unwrap();
        let refusals = validator.refusals(&value);
        prop_assert_eq!(refusals.is_empty(), validator.accepts(&value));
        for bad in &refusals {
            prop_assert!(points_to_something(&schema, &value, bad), "{:?} for {} under {}", bad, value, schema);
            let text = serde_json::to_string(bad).unwrap();
            prop_assert!(!text.contains(SECRET), "{}", text);
            prop_assert!(!text.contains("7000"), "{}", text);
        }
    }

    #[test]
    fn a_repaired_value_is_refused_for_fewer_reasons(schema in any_schema(), value in any_instance()) {
        let validator = Validator::compile(&schema).unwrap();
        let unknown = |bad: &&FieldError| bad.message.starts_with("unknown field");
        let refusals = validator.refusals(&value);
        let mut repaired = value;
        for bad in refusals.iter().filter(unknown) {
            let (parent, name) = bad.pointer.rsplit_once('/').unwrap();
            let fields = repaired.pointer_mut(parent).and_then(Value::as_object_mut).unwrap();
            prop_assert!(fields.shift_remove(&name.replace("~1", "/").replace("~0", "~")).is_some());
        }
        let left = validator.refusals(&repaired);
        if refusals.len() < 16 {
            prop_assert!(left.iter().filter(unknown).count() == 0, "{:?}", left);
        }
    }
}
