//! What a change of a definition means for those who call it.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolroom_contract::diff::{Impact, diff, is_refused, next_name};
use toolroom_contract::{Category, ToolDefinition};

fn sample() -> ToolDefinition {
    ToolDefinition {
        permissions: vec!["cards:read".parse().unwrap()],
        parameters: json!({
            "type": "object",
            "properties": {
                "title": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The title" },
                "kind": { "enum": ["a", "b"], "description": "Which" },
                "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 5 },
            },
            "required": ["title"],
            "additionalProperties": false,
        }),
        output: Some(json!({
            "type": "object",
            "properties": { "id": { "type": "integer" }, "state": { "enum": ["open", "done"] } },
            "required": ["id", "state"],
        })),
        cacheable: true,
        cache_ttl: Some(60),
        tags: vec!["cards".into()],
        ..ToolDefinition::query(
            "get-card",
            "Reads a card. Use it to look at one. Returns the card with its state.",
        )
    }
}

/// The worst impact of setting a place of the definition to a value.
fn impact(pointer: &str, value: Value) -> Option<Impact> {
    let mut text = serde_json::to_value(sample()).unwrap();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    text.pointer_mut(parent).unwrap().as_object_mut().unwrap().insert(field.into(), value);
    diff(&sample(), &serde_json::from_value(text).unwrap()).first().map(|change| change.impact)
}

#[test]
fn a_definition_does_not_differ_from_itself() {
    assert_eq!(diff(&sample(), &sample()), []);
}

#[test]
fn narrower_input_breaks_and_wider_input_does_not() {
    let schema = "/parameters/properties";
    for (pointer, value, expected) in [
        (format!("{schema}/title/maxLength"), json!(50), Impact::Breaking),
        (format!("{schema}/title/maxLength"), json!(200), Impact::Metadata),
        (format!("{schema}/title/minLength"), json!(5), Impact::Breaking),
        (format!("{schema}/title/minLength"), json!(0), Impact::Metadata),
        (format!("{schema}/title/pattern"), json!("^x"), Impact::Breaking),
        (format!("{schema}/title/type"), json!("integer"), Impact::Breaking),
        (format!("{schema}/title/type"), json!(["string", "null"]), Impact::Metadata),
        (format!("{schema}/title/description"), json!("Another word"), Impact::Metadata),
        (format!("{schema}/title/default"), json!("Untitled"), Impact::Behaviour),
        (format!("{schema}/kind/enum"), json!(["a"]), Impact::Breaking),
        (format!("{schema}/kind/enum"), json!(["a", "b", "c"]), Impact::Metadata),
        (format!("{schema}/tags/items/type"), json!("integer"), Impact::Breaking),
        (format!("{schema}/tags/maxItems"), json!(2), Impact::Breaking),
        (format!("{schema}/extra"), json!({ "type": "string" }), Impact::Metadata),
        ("/parameters/required".into(), json!(["title", "kind"]), Impact::Breaking),
        ("/parameters/required".into(), json!([]), Impact::Metadata),
        (format!("{schema}/title/anyOf"), json!([{ "minLength": 3 }]), Impact::Breaking),
    ] {
        assert_eq!(impact(&pointer, value.clone()), Some(expected), "{pointer} = {value}");
    }
}

#[test]
fn a_field_that_is_renamed_breaks_callers_and_readers() {
    for place in ["parameters", "output"] {
        let mut text = serde_json::to_value(sample()).unwrap();
        let fields = text[place]["properties"].as_object_mut().unwrap();
        let (name, schema) =
            fields.iter().next().map(|(name, schema)| (name.clone(), schema.clone())).unwrap();
        fields.remove(&name);
        fields.insert("renamed".into(), schema);
        text[place]["required"] = json!([]);
        let changes = diff(&sample(), &serde_json::from_value(text).unwrap());
        assert_eq!(changes[0].impact, Impact::Breaking, "{place}");
        assert!(changes.iter().any(|change| change.message == format!("'{name}' is gone")), "{changes:?}");
    }
}

#[test]
fn wider_output_breaks_and_narrower_output_does_not() {
    let schema = "/output/properties";
    for (pointer, value, expected) in [
        (format!("{schema}/state/enum"), json!(["open", "done", "late"]), Impact::Breaking),
        (format!("{schema}/state/enum"), json!(["open"]), Impact::Metadata),
        (format!("{schema}/state/default"), json!("open"), Impact::Metadata),
        (format!("{schema}/id/type"), json!(["integer", "null"]), Impact::Breaking),
        (format!("{schema}/more"), json!({ "type": "string" }), Impact::Metadata),
        ("/output/required".into(), json!(["id"]), Impact::Breaking),
    ] {
        assert_eq!(impact(&pointer, value.clone()), Some(expected), "{pointer} = {value}");
    }
}

#[test]
fn promises_and_limits_are_told_apart_from_words() {
    for (pointer, value, expected) in [
        ("/permissions", json!(["cards:read", "decks:read"]), Impact::Breaking),
        ("/permissions", json!([]), Impact::Behaviour),
        ("/category", json!("mutation"), Impact::Breaking),
        ("/category", json!("analysis"), Impact::Behaviour),
        ("/idempotent", json!(false), Impact::Breaking),
        ("/cacheTTL", json!(5), Impact::Behaviour),
        ("/timeout", json!(1.5), Impact::Behaviour),
        ("/rateLimit", json!({ "maxCalls": 1, "windowMs": 1000 }), Impact::Behaviour),
        ("/tags", json!(["decks"]), Impact::Metadata),
        ("/version", json!("1.1.0"), Impact::Metadata),
    ] {
        assert_eq!(impact(pointer, value.clone()), Some(expected), "{pointer} = {value}");
    }
}

#[test]
fn a_breaking_change_is_refused_from_1_0_0_on_and_told_a_new_name() {
    let mut young = sample();
    young.version = semver::Version::new(0, 9, 0);
    let mut changed = sample();
    changed.category = Category::Mutation;
    assert!(is_refused(&sample(), &diff(&sample(), &changed)));
    assert!(!is_refused(&young, &diff(&young, &changed)), "below 1.0.0 anything may change");
    assert_eq!(next_name("create-card"), "create-card-v2");
    assert_eq!(next_name("create-card-v2"), "create-card-v3");
}

proptest! {
    /// The gate's promise: what the diff lets pass, no caller notices.
    #[test]
    fn a_call_that_was_right_stays_right_under_any_change_that_is_not_breaking(
        old in (0u64..6, 6u64..12, any::<bool>()),
        new in (0u64..6, 6u64..12, any::<bool>()),
        text in "[a-z]{0,14}",
        given in any::<bool>(),
    ) {
        let schema = |(least, most, required): (u64, u64, bool)| {
            let required = if required { json!(["x"]) } else { json!([]) };
            json!({
                "type": "object",
                "properties": { "x": { "type": "string", "minLength": least, "maxLength": most } },
                "required": required,
            })
        };
        let with = |parameters: Value| ToolDefinition { parameters, ..sample() };
        let (old, new) = (with(schema(old)), with(schema(new)));
        let call = if given { json!({ "x": text }) } else { json!({}) };
        let fits = |tool: &ToolDefinition| {
            toolroom_contract::validator::Validator::compile(&tool.parameters).unwrap().accepts(&call)
        };
        let breaks = diff(&old, &new).iter().any(|change| change.impact == Impact::Breaking);
        prop_assert!(breaks || !fits(&old) || fits(&new));
    }
}
