//! The fields of a tool definition: their names, their words, and that nothing else gets in.

use serde_json::{Value, json};
use toolroom_contract::definition::{Argument, When};
use toolroom_contract::{Category, Priority, ResponseTime, ToolDefinition};

use crate::sample::{definition_json, sound};

fn read(json: Value) -> Result<ToolDefinition, serde_json::Error> {
    serde_json::from_value(json)
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn a_definition_with_every_field_round_trips_under_the_published_names() {
    let written = definition_json();
    let back = serde_json::to_value(read(written.clone()).unwrap()).unwrap();
    assert_eq!(back, written);
    assert_eq!(
        keys(&back),
        [
            "name",
            "description",
            "version",
            "permissions",
            "parameters",
            "output",
            "category",
            "responseTime",
            "cacheable",
            "cacheTTL",
            "idempotent",
            "examples",
            "tags",
            "rateLimit",
            "deprecated",
            "timeout",
            "parallel",
            "destructive",
            "nextActions",
            "derived",
        ]
    );
    assert_eq!(keys(&back["examples"][0]), ["description", "params", "expectedResult"]);
    assert_eq!(keys(&back["rateLimit"]), ["maxCalls", "windowMs"]);
    assert_eq!(keys(&back["deprecated"]), ["since", "replacement", "removalDate"]);
}

#[test]
fn what_is_optional_is_left_out_when_it_is_not_set() {
    let back = serde_json::to_value(sound()).unwrap();
    assert_eq!(
        keys(&back),
        [
            "name",
            "description",
            "version",
            "permissions",
            "parameters",
            "output",
            "category",
            "responseTime",
            "cacheable",
            "cacheTTL",
            "idempotent",
            "examples",
            "tags",
        ]
    );
}

#[test]
fn each_required_field_is_required() {
    let required = [
        "name",
        "description",
        "version",
        "permissions",
        "parameters",
        "category",
        "responseTime",
        "cacheable",
        "idempotent",
        "examples",
        "tags",
    ];
    for field in required {
        let mut json = definition_json();
        json.as_object_mut().unwrap().shift_remove(field).unwrap();
        let error = read(json).unwrap_err().to_string();
        assert!(error.contains(&format!("missing field `{field}`")), "{field}: {error}");
    }
    for (list, field) in [
        ("/examples/0", "description"),
        ("/examples/0", "params"),
        ("/examples/0", "expectedResult"),
        ("/rateLimit", "maxCalls"),
        ("/rateLimit", "windowMs"),
        ("/deprecated", "since"),
        ("/deprecated", "replacement"),
        ("/deprecated", "removalDate"),
    ] {
        let mut json = definition_json();
        json.pointer_mut(list).unwrap().as_object_mut().unwrap().shift_remove(field).unwrap();
        let error = read(json).unwrap_err().to_string();
        assert!(error.contains(&format!("missing field `{field}`")), "{list}/{field}: {error}");
    }
}

#[test]
fn unknown_fields_are_refused_at_every_level() {
    for place in ["", "/examples/0", "/rateLimit", "/deprecated", "/nextActions/0"] {
        let mut json = definition_json();
        json.pointer_mut(place).unwrap()["colour"] = json!("red");
        let error = read(json).unwrap_err().to_string();
        assert!(error.contains("unknown field `colour`"), "{place}: {error}");
    }
}

#[test]
fn enums_take_the_published_words_and_no_others() {
    let words = |field: &str, words: &[&str]| {
        for word in words {
            let mut json = definition_json();
            json[field] = json!(word);
            let back = serde_json::to_value(read(json).unwrap()).unwrap();
            assert_eq!(back[field], json!(word));
            let mut json = definition_json();
            json[field] = json!(word.to_uppercase());
            assert!(read(json).is_err(), "{field} {word} in capitals");
        }
    };
    words("category", &["query", "mutation", "analysis", "generation"]);
    words("responseTime", &["fast", "medium", "slow"]);
    for category in [Category::Query, Category::Mutation, Category::Analysis, Category::Generation] {
        assert_eq!(json!(category), json!(category.as_str()));
    }
}

#[test]
fn a_version_is_semantic_and_a_removal_date_is_a_date() {
    for (pointer, bad) in [
        ("/version", json!("1.2")),
        ("/version", json!(1)),
        ("/deprecated/since", json!("soon")),
        ("/deprecated/removalDate", json!("2027-13-01")),
        ("/permissions/0", json!("cards")),
        ("/cacheTTL", json!(-1)),
        ("/rateLimit/maxCalls", json!(-1)),
        ("/examples/0/params", json!([])),
    ] {
        let mut json = definition_json();
        *json.pointer_mut(pointer).unwrap() = bad.clone();
        assert!(read(json).is_err(), "{pointer} = {bad}");
    }
}

#[test]
fn permissions_may_be_empty_but_not_absent() {
    let mut json = definition_json();
    json["permissions"] = json!([]);
    assert!(read(json).unwrap().permissions.is_empty());
}

#[test]
fn a_next_action_follows_success_unless_it_says_otherwise() {
    let mut json = definition_json();
    json["nextActions"] = json!([{ "action": "list-cards", "priority": "low" }]);
    let definition = read(json).unwrap();
    let next = &definition.next_actions[0];
    assert_eq!((next.when, next.priority, next.arguments.len()), (When::Success, Priority::Low, 0));

    let full = read(definition_json()).unwrap();
    assert_eq!(full.next_actions[0].arguments["cardId"], Argument::From("/params/cardId".into()));
    assert_eq!(full.next_actions[0].arguments["rating"], Argument::Value(json!(3)));
}

#[test]
fn a_tool_is_gone_from_its_removal_date_on() {
    let definition = read(definition_json()).unwrap();
    let deprecated = definition.deprecated.unwrap();
    assert!(!deprecated.is_removed("2027-05-31".parse().unwrap()));
    assert!(deprecated.is_removed("2027-06-01".parse().unwrap()));
    assert_eq!(definition.response_time, ResponseTime::Fast);
}
