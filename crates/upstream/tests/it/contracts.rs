//! Tools of servers under our contract.

use std::time::Duration;

use serde_json::{Value, json};
use toolroom_contract::check::{Stage, check, passes};
use toolroom_contract::{Category, ToolDefinition};
use toolroom_upstream::RemoteTool;
use toolroom_upstream::contracts::{Catalogue, catalogue};
use toolroom_work::fuzz::time_on_processor;

use crate::test_servers::config;

fn tool(value: Value) -> RemoteTool {
    let name = value["name"].as_str().unwrap().to_owned();
    RemoteTool { name, raw: serde_json::value::to_raw_value(&value).unwrap() }
}

fn made(tools: &[Value]) -> Catalogue {
    let config =
        config("files", json!({ "url": "https://files.example/mcp", "timeout": 7, "deny": ["hidden_*"] }));
    catalogue(&config, &tools.iter().cloned().map(tool).collect::<Vec<_>>())
}

fn definition(value: Value) -> ToolDefinition {
    let made = made(&[value]);
    assert_eq!(made.rejected, []);
    made.tools[0].definition.clone()
}

fn with_schema(schema: Value) -> Value {
    json!({ "name": "t", "description": "d", "inputSchema": schema })
}

#[test]
fn what_a_server_does_not_say_is_derived_on_the_safe_side() {
    let plain = definition(json!({ "name": "do", "inputSchema": { "type": "object" } }));
    assert_eq!(plain.name, "files__do");
    assert_eq!(plain.permissions[0].as_str(), "files:call");
    assert_eq!(
        (plain.category, plain.idempotent, plain.cacheable, plain.destructive),
        (Category::Mutation, false, false, false)
    );
    assert_eq!(plain.timeout, Some(7.0));
    for field in
        ["category", "idempotent", "destructive", "permissions", "cacheable", "responseTime", "description"]
    {
        assert!(plain.derived.iter().any(|derived| derived == field), "{field} in {:?}", plain.derived);
    }
    assert!(plain.description.contains("files"));
    let findings = check(&plain, Stage::Loaded);
    assert!(passes(&findings), "{findings:?}");
}

#[test]
fn annotations_count_and_names_stand_in_where_they_are_silent() {
    let with = |name: &str, annotations: Value| {
        let one = json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": annotations });
        let made = definition(one);
        (made.category, made.idempotent, made.destructive)
    };
    use Category::{Mutation, Query};
    assert_eq!(with("get", json!({ "readOnlyHint": true })), (Query, false, false));
    assert_eq!(with("get", json!({ "readOnlyHint": true, "destructiveHint": true })), (Query, false, false));
    assert_eq!(
        with("put", json!({ "idempotentHint": true, "destructiveHint": true })),
        (Mutation, true, true)
    );
    assert_eq!(with("deleteFile", json!({})), (Mutation, false, true));
    assert_eq!(with("files.remove", json!({})), (Mutation, false, true));
    assert_eq!(with("delete_file", json!({ "destructiveHint": false })), (Mutation, false, false));
    assert_eq!(with("undeleted", json!({})), (Mutation, false, false));
}

#[test]
fn one_bad_tool_hides_nothing_of_the_others() {
    let ok = json!({ "name": "ok", "inputSchema": { "type": "object" } });
    let made = made(&[
        json!({ "name": "array", "inputSchema": { "type": "array" } }),
        ok.clone(),
        json!({ "name": "hidden_one", "inputSchema": { "type": "object" } }),
        json!({ "name": "text", "inputSchema": "object" }),
        ok,
        json!({ "name": "header", "inputSchema": { "type": "object",
            "properties": { "a": { "type": "object", "x-mcp-header": "A" } } } }),
    ]);
    assert_eq!(made.tools.iter().map(|tool| tool.remote.name.as_str()).collect::<Vec<_>>(), ["ok"]);
    let rejected: Vec<&str> = made.rejected.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(rejected, ["array", "text", "ok", "header"]);
}

#[test]
fn schemas_of_older_drafts_are_taken() {
    for draft in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        let schema = json!({ "$schema": draft, "type": "object", "properties": { "a": { "type": "string" } },
            "required": ["a"], "additionalProperties": false });
        definition(with_schema(schema));
    }
}

#[test]
fn poisoned_schemas_are_refused_quickly_and_reach_out_to_nobody() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let canary = format!("http://{}/schema", listener.local_addr().unwrap());
    let property = |schema: Value| with_schema(json!({ "type": "object", "properties": { "a": schema } }));
    let deep =
        (0..100).fold(json!({ "type": "string" }), |inner, _| json!({ "type": "array", "items": inner }));
    for (what, poisoned) in [
        ("a reference to the network", property(json!({ "$ref": canary }))),
        ("a reference to a file", property(json!({ "$ref": "file:///etc/passwd" }))),
        ("a pattern with look-around", property(json!({ "type": "string", "pattern": "(?=a)b" }))),
        ("a schema that is too deep", property(deep)),
        ("a schema that is too large", property(json!({ "description": "x".repeat(300_000) }))),
    ] {
        let began = time_on_processor();
        let made = made(&[poisoned]);
        assert_eq!(made.tools.len(), 0, "{what} is refused");
        let took = time_on_processor() - began;
        assert!(took < Duration::from_secs(1), "{what} took {took:?}");
    }
    assert!(listener.accept().is_err(), "nobody called");
    // What looks dangerous and is not, is taken: a recursive schema, and a pattern that runs in linear time.
    let recursive = json!({ "type": "object", "properties": { "child": { "$ref": "#" } } });
    let slow = property(json!({ "type": "string", "pattern": "^(a+)+$" }));
    for harmless in [with_schema(recursive), slow] {
        let made = definition(harmless);
        let validator = toolroom_contract::validator::Validator::compile(&made.parameters).unwrap();
        let began = time_on_processor();
        validator.accepts(&json!({ "a": format!("{}!", "a".repeat(50_000)) }));
        let took = time_on_processor() - began;
        assert!(took < Duration::from_millis(500), "{took:?}");
    }
}

#[test]
fn a_schema_that_costs_too_much_is_refused_with_the_limit_and_the_other_tools_stay() {
    let named = |name: &str, schema: Value| json!({ "name": name, "inputSchema": schema });
    let mut defs = serde_json::Map::new();
    for level in 0..24 {
        let next = json!({ "$ref": format!("#/$defs/l{}", level + 1) });
        defs.insert(format!("l{level}"), json!({ "anyOf": [next.clone(), next] }));
    }
    defs.insert("l24".into(), json!({}));
    let doubling =
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/l0" } }, "$defs": defs });
    let plain = || json!({ "type": "object" });
    let made = made(&[named("first", plain()), named("bomb", doubling), named("last", plain())]);
    let taken: Vec<&str> = made.tools.iter().map(|tool| tool.remote.name.as_str()).collect();
    assert_eq!(taken, ["first", "last"]);
    assert_eq!(made.rejected.len(), 1);
    assert!(made.rejected[0].reason.contains("more than 4096 subschemas"), "{:?}", made.rejected);
}

#[test]
fn the_schemas_of_one_server_have_a_limit_together() {
    // Each is taken alone: twelve of the largest patterns are not.
    let tools: Vec<Value> = (0..12)
        .map(|at| {
            let text = json!({ "type": "string", "pattern": format!("^\\p{{L}}{{90}}{at}$") });
            json!({ "name": format!("t{at}"), "inputSchema": { "type": "object", "properties": { "a": text } } })
        })
        .chain([json!({ "name": "plain", "inputSchema": { "type": "object" } })])
        .collect();
    let made = made(&tools);
    assert!(made.rejected.iter().all(|one| one.reason.contains("more than 64 MiB")), "{:?}", made.rejected);
    assert!((1..12).contains(&made.rejected.len()), "{}", made.rejected.len());
    assert_eq!(made.tools.last().unwrap().remote.name, "plain");
}

#[test]
fn descriptions_are_cut_where_clients_cut_them() {
    let long = definition(
        json!({ "name": "t", "description": "ż".repeat(5_000), "inputSchema": { "type": "object" } }),
    );
    assert_eq!(long.description.chars().count(), 2_049);
    assert!(long.derived.contains(&"description".to_owned()));
}
