//! The OpenAPI document: what generators of clients need of it, and that answers are as it says.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::test_server::TestServer;

#[tokio::test]
async fn promise_the_document_names_its_schemas_parameters_and_answers() {
    let document = TestServer::new().ask("GET", "/openapi.json").send().await.json();
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        let place = format!("{method} {path}");
        assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{place} has the id of another");
        assert!(operation["tags"][0].is_string() && operation["summary"].is_string(), "{place}");
        let parameters = operation["parameters"].as_array().unwrap();
        for name in path.split(['{', '}']).skip(1).step_by(2) {
            assert!(parameters.iter().any(|one| one["in"] == "path" && one["name"] == *name), "{place}");
        }
        let good = operation["responses"].as_object().unwrap().iter();
        for (status, answer) in good.filter(|(status, _)| !["202", "204", "101"].contains(&status.as_str())) {
            let content = answer["content"].as_object();
            assert!(content.is_some_and(|content| !content.is_empty()), "{place} says nothing of {status}");
        }
    }
    assert!(ids.len() > 80, "{ids:?}");
    assert_eq!(document["servers"][0]["url"], "/");
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        assert!(!name.ends_with(|last: char| last.is_ascii_digit()), "{name}: two types have one name");
        no_bare_schema(schema, name);
    }
    no_bare_schema(&document["paths"], "paths");
    let query = |path: &str| -> Vec<String> {
        let parameters = document["paths"][path]["get"]["parameters"].as_array().unwrap().iter();
        let query = parameters.filter(|one| one["in"] == "query");
        query.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(query("/api/v1/executions").contains(&"minMs".to_owned()));
    assert_eq!(query("/api/v1/events"), ["topics"]);
    let header = &document["components"]["parameters"]["IdempotencyKey"];
    assert_eq!((&header["in"], &header["name"]), (&json!("header"), &json!("Idempotency-Key")));
}

#[tokio::test]
async fn promise_answers_are_as_the_document_says() {
    let server = TestServer::new();
    let document = server.ask("GET", "/openapi.json").send().await.json();
    let key = server.key(json!({ "user": "ada", "person": true })).await;
    server.call(&key, "create-task", json!({ "title": "Milk" })).await;
    server.call(&key, "create-task", json!({})).await;
    server.call(&key, "delete-task", json!({ "taskId": 1 })).await;
    let said = server.ask("POST", "/api/v1/chat").key(&key).body(json!({ "message": "list my tasks" }));
    said.send().await;
    let mut compared = 0;
    for (path, method, operation) in operations(&document) {
        let skipped = path.contains('{') || ["/metrics", "/healthz", "/docs", "/"].contains(&path);
        let stream = operation["responses"]["200"]["content"]["application/json"].is_null();
        if method != "get" || skipped || stream {
            continue;
        }
        let answer = server.ask("GET", path).owner().send().await;
        let place = format!("GET {path}: {}", answer.text);
        if answer.status == 200 {
            fits(
                &document,
                &operation["responses"]["200"]["content"]["application/json"],
                &answer.json(),
                &place,
            );
            compared += 1;
        } else {
            let content = operation["responses"]["default"]["content"].as_object().unwrap();
            fits(&document, content.values().next().unwrap(), &answer.json(), &place);
        }
    }
    assert!(compared >= 18, "{compared}");
    let call = &document["paths"]["/api/v1/tools/{name}/call"]["post"]["responses"];
    let answer = |status: &str| &call[status]["content"]["application/json"];
    for (tool, params, status) in [
        ("list-tasks", json!({}), "200"),
        ("delete-task", json!({ "taskId": 1 }), "202"),
        ("create-task", json!({}), "default"),
    ] {
        let said = server.call(&key, tool, params).await;
        fits(&document, answer(status), &said.json(), &said.text);
    }
}

#[tokio::test]
async fn a_tool_and_a_profile_may_have_the_name_of_any_route() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada", "grants": ["registry:write", "tasks:*"] })).await;
    for name in ["plan", "read", "run", "profile"] {
        let put = server.ask("PUT", format!("/api/v1/profiles/{name}")).key(&key);
        assert_eq!(put.body(json!({ "tools": ["get-task"] })).send().await.status, 201, "{name}");
        let got = server.ask("GET", format!("/api/v1/profiles/{name}")).key(&key).send().await;
        assert_eq!(got.status, 200, "{name}: {}", got.text);
        let tool = server.ask("GET", format!("/api/v1/tools/{name}")).key(&key).send().await;
        assert_eq!((tool.status.as_u16(), tool.code().as_str()), (404, "tool_not_found"), "{name}");
    }
}

fn operations(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    document["paths"].as_object().into_iter().flatten().flat_map(|(path, methods)| {
        let methods = methods.as_object().into_iter().flatten();
        methods.map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
    })
}

/// A choice of constants is an enumeration, and nothing is said by `true` alone.
fn no_bare_schema(value: &Value, place: &str) {
    let Value::Object(fields) = value else {
        value.as_array().into_iter().flatten().for_each(|item| no_bare_schema(item, place));
        return;
    };
    for (name, field) in fields.get("properties").and_then(Value::as_object).into_iter().flatten() {
        assert_ne!(field, &json!(true), "{place}: {name}");
    }
    assert_ne!(fields.get("items"), Some(&json!(true)), "{place}");
    let constants = fields.get("oneOf").and_then(Value::as_array);
    assert!(!constants.is_some_and(|all| all.iter().all(|one| one["const"].is_string())), "{place}: {value}");
    fields.iter().for_each(|(key, field)| no_bare_schema(field, &format!("{place}/{key}")));
}

fn fits(document: &Value, content: &Value, answer: &Value, place: &str) {
    let mut schema = content["schema"].clone();
    assert!(schema.is_object(), "{place}");
    schema["components"] = document["components"].clone();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(answer)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:?}\n{place}");
}
