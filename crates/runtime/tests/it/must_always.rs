//! The MUST ALWAYS lines of the contract, and what is validated after an execution.

use serde_json::json;
use toolroom_contract::error::Outcome;
use toolroom_contract::hints::SourceQuality;
use toolroom_contract::{Answer, Ending, ToolError};
use toolroom_contract::{ErrorCode, HintsDraft, ToolResult};

use crate::test_runtime::{TestRuntime, data, error, wire};
use crate::tools::{done, mutation, query};

#[tokio::test]
async fn every_call_returns_the_tool_result_structure() {
    let runtime = TestRuntime::new(vec![
        query("get-note").build(),
        query("get-bad").fails(ToolError::internal("x")).build(),
    ]);
    let who = runtime.owner().await;
    let schema = toolroom_contract::handler::schema_of::<ToolResult>();
    let validator = toolroom_contract::validator::Validator::compile(&schema).unwrap();
    for name in ["get-note", "get-bad", "no-such"] {
        for params in [json!({}), json!({ "n": 0.5 })] {
            let envelope = wire(&runtime.call(&who, name, params).await);
            assert!(validator.accepts(&envelope), "{:?}", validator.refusals(&envelope));
            assert!(envelope.get("data").is_some() != envelope.get("error").is_some());
        }
    }
}

#[tokio::test]
async fn metadata_always_has_every_required_field() {
    let runtime = TestRuntime::new(vec![query("get-note").cached(60).build()]);
    let who = runtime.owner().await;
    let trace: toolroom_contract::TraceId = "4bf92f3577b34da6a3ce929d0e0e4736".parse().unwrap();
    let ask = runtime.ask(&who, "get-note").context(|context| {
        context.trace_id = Some(trace);
        context.correlation_id = Some("order-7".into());
    });
    let metadata = wire(&ask.send().await)["metadata"].clone();
    assert_eq!(metadata["toolVersion"], "1.2.3");
    assert_eq!(metadata["serviceVersion"], toolroom_runtime::VERSION);
    assert_eq!(metadata["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(metadata["correlationId"], "order-7");
    assert_eq!(metadata["cached"], false);
    assert!(metadata["timestamp"].as_str().unwrap().ends_with('Z'));
    assert!(metadata["executionTime"].as_f64().unwrap() >= 0.0);
    let unknown = wire(&runtime.call(&who, "no-such", json!({})).await)["metadata"].clone();
    for field in ["toolVersion", "serviceVersion", "timestamp", "executionTime", "traceId", "correlationId"] {
        assert!(!unknown[field].is_null(), "{field}");
    }
}

#[tokio::test]
async fn permissions_are_checked_before_execution_and_parameters() {
    let runtime = TestRuntime::new(vec![query("get-note").runs(|_, _| async { unreachable!() }).build()]);
    let who = runtime.user("nobody", &["cards:read"]).await;
    let reply = runtime.call(&who, "get-note", json!({ "n": "bad" })).await;
    assert!(error(&reply, ErrorCode::ToolNotFound).details.is_empty());
}

#[tokio::test]
async fn a_result_that_breaks_its_schema_is_refused_after_execution() {
    let number = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let schema = number.clone();
    let runtime = TestRuntime::new(vec![
        query("get-number")
            .is(|tool| {
                tool.output = Some(number);
                tool.examples[0].expected_result = json!({ "n": 1 });
            })
            .runs(|_, _| async { done(json!({})) })
            .build(),
        mutation("set-number")
            .is(|tool| {
                tool.output = Some(schema);
                tool.examples[0].expected_result = json!({ "n": 1 });
            })
            .runs(|_, _| async { done(json!({ "n": "hunter2" })) })
            .build(),
    ]);
    let who = runtime.owner().await;
    let reply = runtime.call(&who, "get-number", json!({})).await;
    let body = error(&reply, ErrorCode::InvalidOutput);
    assert_eq!(body.outcome, None);
    assert!(body.message.contains("data/n"), "{}", body.message);
    let reply = runtime.call(&who, "set-number", json!({})).await;
    let body = error(&reply, ErrorCode::InvalidOutput);
    assert_eq!((body.outcome, body.retryable), (Some(Outcome::Applied), false));
    assert!(!body.message.contains("hunter2"));
}

#[tokio::test]
async fn confidence_is_calculated_from_the_record_of_the_tool() {
    let runtime = TestRuntime::new(vec![
        query("get-flaky")
            .runs(|params, _| async move {
                if params["n"] == 1 {
                    Ending::Failed(ToolError::internal("x"))
                } else {
                    done(json!({ "ok": true }))
                }
            })
            .build(),
        query("get-rule").fails(ToolError::new(ErrorCode::NotFound, "No.")).build(),
    ]);
    let who = runtime.owner().await;
    let first = runtime.call(&who, "get-flaky", json!({})).await.result.agent_hints;
    for _ in 0..20 {
        error(&runtime.call(&who, "get-flaky", json!({ "n": 1 })).await, ErrorCode::Internal);
    }
    let later = runtime.call(&who, "get-flaky", json!({})).await.result.agent_hints;
    assert!(later.confidence < first.confidence - 0.2, "{} then {}", first.confidence, later.confidence);
    let reasoning = later.reasoning.unwrap();
    assert!(reasoning.contains("× record 0.") && !reasoning.contains("calls"), "no counts: {reasoning}");
    // Refusals by a rule of the domain, and calls that never ran, say nothing against the tool.
    let before = runtime.call(&who, "get-rule", json!({})).await.result.agent_hints.confidence;
    for _ in 0..20 {
        runtime.call(&who, "get-rule", json!({})).await;
        runtime.call(&who, "get-rule", json!({ "n": "bad" })).await;
    }
    assert!(runtime.call(&who, "get-rule", json!({})).await.result.agent_hints.confidence >= before);
}

#[tokio::test]
async fn confidence_is_calculated_from_match_completeness_and_source() {
    let runtime = TestRuntime::new(vec![
        query("get-note")
            .runs(|params, _| async move {
                let share = params["n"].as_f64().map(|n| n / 100.0);
                let hints = HintsDraft { matched: share, complete: share, ..HintsDraft::default() };
                Ending::Done(Answer::new(json!({ "ok": true })).unwrap().with_hints(hints))
            })
            .build(),
    ]);
    let who = runtime.owner().await;
    let mut last = -1.0;
    for n in [0, 25, 50, 75, 100] {
        let confidence =
            runtime.call(&who, "get-note", json!({ "n": n })).await.result.agent_hints.confidence;
        assert!(confidence > last, "{n}: {confidence}");
        last = confidence;
    }
    let unknown = runtime.call(&who, "no-such", json!({})).await.result.agent_hints;
    assert_eq!(unknown.source_quality, SourceQuality::Unknown);
    assert!(unknown.confidence < last);
}

#[tokio::test]
async fn every_tool_of_the_catalogue_provides_an_example_that_passes_its_own_schema() {
    let runtime = TestRuntime::new(vec![query("get-note").build()]);
    for tool in runtime.runtime.registry.get_all() {
        assert!(!tool.definition().examples.is_empty(), "{}", tool.name());
        for example in &tool.definition().examples {
            assert!(tool.parameters.accepts(&json!(example.params)), "{}", tool.name());
        }
    }
    let none = || query("get-bare").is(|tool| tool.examples.clear()).build();
    let refused = TestRuntime::on(tempfile::tempdir().unwrap(), |_| vec![none()], Vec::new()).err().unwrap();
    assert!(refused.to_string().contains("At least 1 example provided"), "{refused}");
}

#[tokio::test]
async fn errors_are_handled_gracefully_and_the_next_call_is_served() {
    let runtime = TestRuntime::new(vec![
        query("get-bad").fails(ToolError::internal("x")).build(),
        query("get-note").build(),
    ]);
    let who = runtime.owner().await;
    error(&runtime.call(&who, "get-bad", json!({})).await, ErrorCode::Internal);
    data(&runtime.call(&who, "get-note", json!({})).await);
}
