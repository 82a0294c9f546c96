//! The published JSON Schema of the contract: committed, compared, and true to what it describes.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};
use toolroom_contract::context::ContextFields;
use toolroom_contract::ids::{CardId, DeckId, TaskId, UserId};
use toolroom_contract::schemas::{DateRange, Pagination, ResourceMetadata, Sorting};
use toolroom_contract::validator::Validator;
use toolroom_contract::{ToolDefinition, ToolResult};

use crate::committed::compare;
use crate::sample::{definition_json, rich_hints};

const PUBLISHED: [&str; 11] = [
    "ToolDefinition",
    "ToolResult",
    "ContextFields",
    "Pagination",
    "Sorting",
    "DateRange",
    "ResourceMetadata",
    "UserId",
    "TaskId",
    "CardId",
    "DeckId",
];

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    T::json_schema(generator)
}

/// The whole contract as one document: what is published first, what it refers to after it.
fn contract() -> Value {
    let makers: [fn(&mut SchemaGenerator) -> Schema; 11] = [
        of::<ToolDefinition>,
        of::<ToolResult>,
        of::<ContextFields>,
        of::<Pagination>,
        of::<Sorting<String>>,
        of::<DateRange>,
        of::<ResourceMetadata>,
        of::<UserId>,
        of::<TaskId>,
        of::<CardId>,
        of::<DeckId>,
    ];
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut definitions: Map<String, Value> = PUBLISHED
        .iter()
        .zip(makers)
        .map(|(name, make)| (name.to_string(), make(&mut generator).to_value()))
        .collect();
    let mut others: Vec<_> = generator.take_definitions(true).into_iter().collect();
    others.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (name, schema) in others {
        definitions.entry(name).or_insert(schema);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Toolroom contract",
        "description": "What a tool is, what a call answers, what a call knows, and shapes that many tools share.",
        "$defs": definitions
    })
}

/// A validator for one part of the published document.
fn part(name: &str) -> Validator {
    let mut document = contract();
    document["$ref"] = json!(format!("#/$defs/{name}"));
    Validator::compile(&document).unwrap()
}

#[track_caller]
fn accepts(name: &str, value: &Value) {
    let refusals = part(name).refusals(value);
    assert!(refusals.is_empty(), "{name}: {refusals:#?}");
}

#[test]
fn the_committed_schema_is_what_the_types_render() {
    compare("schema/contract.schema.json", &format!("{:#}\n", contract()));
}

#[test]
fn every_published_part_is_there_and_every_reference_resolves() {
    let document = contract();
    for name in PUBLISHED.iter().chain(&["AgentHints", "Metadata", "ErrorBody", "ErrorCode"]) {
        assert!(document["$defs"].get(name).is_some(), "{name}");
    }
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                found.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
                map.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(!found.is_empty());
    for reference in found {
        let pointer = reference.strip_prefix('#').expect(&reference);
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

#[test]
fn the_rich_hints_of_the_contract_fit_the_published_hints() {
    accepts("AgentHints", &rich_hints());
    for field in ["confidence", "sourceQuality", "preferenceAlignment", "estimatedImpact"] {
        let mut hints = rich_hints();
        hints.as_object_mut().unwrap().shift_remove(field);
        assert_eq!(part("AgentHints").refusals(&hints)[0].pointer, format!("/{field}"));
    }
    let mut hints = rich_hints();
    hints["confidence"] = json!(1.5);
    assert_eq!(part("AgentHints").refusals(&hints)[0].pointer, "/confidence");
}

#[test]
fn a_definition_fits_the_published_definition_and_a_broken_one_does_not() {
    accepts("ToolDefinition", &definition_json());
    for (pointer, bad) in [
        ("/category", json!("magic")),
        ("/responseTime", json!("instant")),
        ("/rateLimit/maxCalls", json!(0)),
        ("/rateLimit/windowMs", json!(0)),
        ("/permissions/0", json!("cards")),
        ("/deprecated/removalDate", json!("soon")),
        ("/version", json!("1.2")),
    ] {
        let mut definition = definition_json();
        *definition.pointer_mut(pointer).unwrap() = bad;
        let refusals = part("ToolDefinition").refusals(&definition);
        assert!(!refusals.is_empty(), "{pointer}");
    }
    let mut definition = definition_json();
    definition["colour"] = json!("red");
    assert_eq!(part("ToolDefinition").refusals(&definition)[0].pointer, "/colour");
}

#[test]
fn a_result_has_exactly_one_of_data_and_error_and_data_is_never_null() {
    let metadata = json!({
        "toolVersion": "1.0.0", "timestamp": "2026-11-15T10:00:00Z", "executionTime": 1.5,
        "serviceVersion": "0.1.0", "traceId": "4bf92f3577b34da6a3ce929d0e0e4736"
    });
    let error = json!({ "code": "busy", "class": "system", "message": "Later.", "retryable": true });
    let success = json!({ "data": { "id": 1 }, "agentHints": rich_hints(), "metadata": metadata });
    let failure = json!({ "error": error, "agentHints": rich_hints(), "metadata": metadata });
    accepts("ToolResult", &success);
    accepts("ToolResult", &failure);
    let mut both = success.clone();
    both["error"] = error;
    let mut null = success.clone();
    null["data"] = Value::Null;
    let mut neither = success;
    neither.as_object_mut().unwrap().shift_remove("data");
    for wrong in [both, null, neither] {
        assert!(!part("ToolResult").accepts(&wrong), "{wrong}");
    }
}

#[test]
fn a_context_takes_the_fields_of_the_contract() {
    for trace in ["4bf92f3577b34da6a3ce929d0e0e4736", "4bf92f35-77b3-4da6-a3ce-929d0e0e4736"] {
        let context = json!({
            "userId": "ada", "sessionId": "s-1", "correlationId": "c-1", "traceId": trace, "agentId": "tutor",
            "agentVersion": "2.0.0", "timestamp": "2026-11-15T10:00:00Z", "metadata": { "locale": "en" }
        });
        accepts("ContextFields", &context);
        let fields: ContextFields = serde_json::from_value(context).unwrap();
        assert_eq!(fields.agent_id.as_deref(), Some("tutor"));
    }
    assert!(!part("ContextFields").accepts(&json!({ "colour": "red" })));
}

#[test]
fn the_common_shapes_have_their_fields_and_bounds() {
    accepts("Pagination", &json!({ "limit": 100, "offset": 0, "cursor": "abc" }));
    assert!(!part("Pagination").accepts(&json!({ "limit": 0 })));
    assert!(!part("Pagination").accepts(&json!({ "limit": 101 })));
    accepts("Sorting", &json!({ "sortBy": "due", "sortOrder": "asc" }));
    assert!(!part("Sorting").accepts(&json!({ "sortOrder": "up" })));
    accepts("DateRange", &json!({ "from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z" }));
    accepts(
        "ResourceMetadata",
        &json!({
            "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-02T00:00:00Z", "version": 2
        }),
    );
    assert!(!part("ResourceMetadata").accepts(&json!({ "version": 2 })));
    assert_eq!(Pagination::default().limit(), 20);
    let range: DateRange =
        serde_json::from_value(json!({ "from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z" }))
            .unwrap();
    assert!(range.contains("2026-01-01T00:00:00Z".parse().unwrap()));
    assert!(!range.contains("2026-02-01T00:00:00Z".parse().unwrap()));
    assert!(DateRange::default().contains("1970-01-01T00:00:00Z".parse().unwrap()));
}
