//! What the contract asks of errors.

use serde_json::json;
use toolroom_contract::error::ErrorClass;
use toolroom_contract::{ErrorCode, ToolError};

use crate::test_runtime::{TestRuntime, error, wire};
use crate::tools::query;

#[tokio::test]
async fn every_error_is_caught_and_returned_in_the_envelope() {
    let mut tools = Vec::new();
    for (at, code) in ErrorCode::ALL.iter().enumerate() {
        tools.push(query(&format!("fail-{at}")).fails(ToolError::new(*code, "No.")).build());
    }
    let runtime = TestRuntime::new(tools);
    let who = runtime.owner().await;
    for (at, code) in ErrorCode::ALL.iter().enumerate() {
        let reply = runtime.call(&who, &format!("fail-{at}"), json!({})).await;
        error(&reply, *code);
        assert_eq!(reply.http_status(), code.http_status());
        let body = &wire(&reply)["error"];
        assert_eq!((body["code"].as_str(), body["message"].as_str()), (Some(code.as_str()), Some("No.")));
        assert!(body["class"].is_string() && body["retryable"].is_boolean());
        assert_eq!(runtime.row(reply.execution_id).code.as_deref(), Some(code.as_str()));
    }
}

#[tokio::test]
async fn error_messages_help_with_pointer_expectation_and_next_step() {
    let runtime = TestRuntime::new(vec![query("get-note").build()]);
    let who = runtime.owner().await;
    let reply = runtime.call(&who, "get-note", json!({ "n": -4, "x": 1 })).await;
    let body = error(&reply, ErrorCode::InvalidInput);
    let pointers: Vec<&str> = body.details.iter().map(|detail| detail.pointer.as_str()).collect();
    assert!(pointers.contains(&"/n") && pointers.contains(&"/x"), "{pointers:?}");
    for detail in &body.details {
        assert!(!detail.message.is_empty() && detail.expected.is_some(), "{detail:?}");
    }
    assert_eq!(reply.result.agent_hints.suggested_next_actions[0].action, "get-note");
}

#[tokio::test]
async fn no_sensitive_information_leaks_in_errors() {
    let cause = "SELECT secret FROM keys -- at /srv/x/.toolroom, password=CANARY";
    let runtime = TestRuntime::new(vec![
        query("get-inner").fails(ToolError::internal(cause)).build(),
        query("get-panic").runs(move |_, _| async move { panic!("{cause}") }).build(),
        query("get-cause")
            .fails(ToolError::new(ErrorCode::ServiceUnavailable, "Away.").caused_by(cause))
            .build(),
        query("get-pin")
            .params(
                json!({ "pin": { "type": "string", "description": "A pin.", "maxLength": 4, "writeOnly": true } }),
                &["pin"],
                json!({ "pin": "1234" }),
            )
            .build(),
    ]);
    let who = runtime.owner().await;
    for name in ["get-inner", "get-panic", "get-cause"] {
        let reply = runtime.call(&who, name, json!({})).await;
        let text = wire(&reply).to_string();
        assert!(!["CANARY", "SELECT", "/home"].iter().any(|word| text.contains(word)), "{text}");
    }
    let reply = runtime.call(&who, "get-pin", json!({ "pin": "CANARY-pin" })).await;
    error(&reply, ErrorCode::InvalidInput);
    assert!(!wire(&reply).to_string().contains("CANARY"));
    assert!(!runtime.journal_text().contains("CANARY"));
}

#[tokio::test]
async fn errors_are_told_apart_as_validation_business_and_system() {
    let runtime = TestRuntime::new(vec![
        query("get-rule").fails(ToolError::new(ErrorCode::VersionConflict, "Changed since.")).build(),
        query("get-broken").fails(ToolError::new(ErrorCode::ServiceUnavailable, "Away.")).build(),
    ]);
    let who = runtime.owner().await;
    for (name, params, class) in [
        ("get-rule", json!({ "n": "bad" }), ErrorClass::Validation),
        ("get-rule", json!({}), ErrorClass::Business),
        ("get-broken", json!({}), ErrorClass::System),
    ] {
        let reply = runtime.call(&who, name, params).await;
        assert_eq!(reply.result.error().unwrap().class, class);
    }
}

#[tokio::test]
async fn all_required_parameters_must_be_present() {
    let number =
        json!({ "a": { "type": "integer", "description": "A number.", "minimum": 0, "maximum": 9 } });
    let runtime = TestRuntime::new(vec![query("get-sum").params(number, &["a"], json!({ "a": 1 })).build()]);
    let who = runtime.owner().await;
    let reply = runtime.call(&who, "get-sum", json!({})).await;
    let body = error(&reply, ErrorCode::InvalidInput);
    assert_eq!(body.details[0].pointer, "/a");
    assert_eq!(body.details[0].expected.as_deref(), Some("A number."));
}
