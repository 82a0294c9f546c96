//! The MUST NEVER lines of the contract.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolroom_contract::{Answer, Ending, ErrorCode, ToolError};
use toolroom_runtime::catalogue::RegistryError;

use crate::test_runtime::{TestRuntime, data, error, wire};
use crate::tools::{count, counter, done, mutation, query};

#[tokio::test]
async fn null_is_never_the_data_of_a_success() {
    let null = |_: Value, _| async {
        Ending::Done(Answer { data: Value::Null, hints: Default::default(), content: None })
    };
    let runtime = TestRuntime::new(vec![
        query("get-null").is(|tool| tool.output = Some(json!({}))).runs(null).build(),
        mutation("set-null").is(|tool| tool.output = Some(json!({}))).runs(null).build(),
    ]);
    let who = runtime.owner().await;
    for name in ["get-null", "set-null"] {
        let reply = runtime.call(&who, name, json!({})).await;
        error(&reply, ErrorCode::InvalidOutput);
        assert!(wire(&reply).get("data").is_none());
    }
}

#[tokio::test]
async fn hints_are_never_omitted_from_a_success_or_from_any_failure() {
    let mut tools =
        vec![query("get-note").build(), query("get-panic").runs(|_, _| async { panic!("oh") }).build()];
    for (at, code) in ErrorCode::ALL.iter().enumerate() {
        tools.push(query(&format!("fail-{at}")).fails(ToolError::new(*code, "No.")).build());
    }
    let runtime = TestRuntime::new(tools);
    let who = runtime.owner().await;
    let mut names: Vec<String> = (0..ErrorCode::ALL.len()).map(|at| format!("fail-{at}")).collect();
    names.extend(["get-note", "get-panic", "no-such"].map(String::from));
    for name in names {
        for params in [json!({}), json!({ "n": "bad" }), json!([])] {
            let reply = runtime.call(&who, &name, params).await;
            let hints = &wire(&reply)["agentHints"];
            for field in [
                "suggestedNextActions",
                "relatedResources",
                "contextNeeded",
                "assumptions",
                "riskFactors",
                "dependencies",
                "preferenceAlignment",
            ] {
                assert!(hints[field].is_array(), "{name}: {field}");
            }
            assert!(hints["confidence"].is_number() && hints["estimatedImpact"]["roi"].is_number());
            assert!(hints["sourceQuality"].is_string() && hints["validityPeriod"].is_string());
            assert!(reply.result.agent_hints.problems().is_empty());
        }
    }
}

#[tokio::test]
async fn input_validation_is_never_skipped() {
    let (reads, writes) = (counter(), counter());
    let runtime = TestRuntime::new(vec![
        query("get-note").counts(&reads).build(),
        query("get-kept").cached(60).counts(&reads).build(),
        mutation("set-note").counts(&writes).build(),
    ]);
    let who = runtime.owner().await;
    let bad =
        [json!({ "n": -1 }), json!({ "n": "1" }), json!({ "x": 1 }), json!([]), json!(null), json!("{}")];
    for name in ["get-note", "get-kept", "set-note"] {
        for params in &bad {
            for ask in
                [runtime.ask(&who, name), runtime.ask(&who, name).dry_run(), runtime.ask(&who, name).key("k")]
            {
                error(&ask.params(params.clone()).send().await, ErrorCode::InvalidInput);
            }
        }
    }
    assert_eq!((count(&reads), count(&writes)), (0, 0));
}

#[tokio::test]
async fn permissions_are_never_ignored() {
    let runs = counter();
    let runtime = TestRuntime::new(vec![
        query("get-note").counts(&runs).build(),
        mutation("set-note").counts(&runs).build(),
        mutation("drop-note").destructive().counts(&runs).build(),
        query("get-both")
            .is(|tool| tool.permissions = vec!["notes:read".parse().unwrap(), "cards:read".parse().unwrap()])
            .counts(&runs)
            .build(),
    ]);
    let reader = runtime.user("reader", &["notes:read"]).await;
    let none = runtime.user("none", &[]).await;
    for (who, name) in
        [(&none, "get-note"), (&reader, "set-note"), (&reader, "drop-note"), (&reader, "get-both")]
    {
        let asks =
            [runtime.ask(who, name), runtime.ask(who, name).dry_run(), runtime.ask(who, name).key("k")];
        for ask in asks {
            let reply = ask.send().await;
            error(&reply, ErrorCode::ToolNotFound);
            assert_eq!(runtime.row(reply.execution_id).code.as_deref(), Some("permission_denied"));
        }
    }
    assert_eq!(count(&runs), 0);
    for grant in ["notes:read", "notes:*", "*:read", "*"] {
        let who = runtime.user("holder", &[grant]).await;
        data(&runtime.call(&who, "get-note", json!({})).await);
    }
}

/// What differs between two calls by their nature: ids and times.
fn without_ids(mut envelope: Value) -> Value {
    let metadata = envelope["metadata"].as_object_mut().unwrap();
    for field in ["traceId", "correlationId", "executionId", "timestamp", "executionTime"] {
        metadata.remove(field);
    }
    envelope
}

#[tokio::test]
async fn a_forbidden_tool_and_an_unknown_one_are_answered_alike() {
    let removed = |tool: &mut toolroom_contract::ToolDefinition| {
        tool.deprecated = Some(toolroom_contract::definition::Deprecation {
            since: semver::Version::new(1, 0, 0),
            replacement: "get-note".into(),
            removal_date: "2020-01-01".parse().unwrap(),
        });
    };
    let deprecated = |tool: &mut toolroom_contract::ToolDefinition| {
        tool.deprecated = Some(toolroom_contract::definition::Deprecation {
            since: semver::Version::new(1, 0, 0),
            replacement: "get-note".into(),
            removal_date: "2999-01-01".parse().unwrap(),
        });
    };
    let forbidden = TestRuntime::new(vec![
        query("get-note").cached(60).build(),
        query("get-old").is(deprecated).build(),
        query("get-gone").is(removed).build(),
    ]);
    let empty = TestRuntime::new(vec![]);
    for name in ["get-note", "get-old", "get-gone"] {
        for params in [json!({}), json!({ "n": "bad" })] {
            let mut answers = Vec::new();
            for runtime in [&forbidden, &empty] {
                let who = runtime.user("nobody", &[]).await;
                let direct = runtime.call(&who, name, params.clone()).await;
                let forwarded =
                    runtime.call(&who, "call-tool", json!({ "name": name, "params": params })).await;
                assert!(direct.published.is_none());
                answers.push([without_ids(wire(&direct)), without_ids(wire(&forwarded))]);
            }
            assert_eq!(answers[0], answers[1], "{name}");
        }
    }
}

#[tokio::test]
async fn an_error_is_never_thrown_unhandled() {
    let early = |_: Value, _| -> std::future::Ready<Ending> { panic!("before the first await") };
    let runtime = TestRuntime::new(vec![
        query("get-panic").runs(|_, _| async { panic!("at /secret/path") }).build(),
        query("get-early").runs(early).build(),
        query("get-resolve").resolves(|_| panic!("while resolving")).build(),
        query("get-cached").cached(60).runs(early).build(),
        mutation("set-panic").runs(|_, _| async { panic!("in the middle") }).build(),
        query("get-note").build(),
    ]);
    let who = runtime.owner().await;
    for name in ["get-panic", "get-early", "get-resolve", "get-cached", "set-panic"] {
        let reply = runtime.call(&who, name, json!({})).await;
        let body = error(&reply, ErrorCode::Internal);
        assert!(!serde_json::to_string(body).unwrap().contains("secret"));
        assert_eq!(runtime.row(reply.execution_id).code.as_deref(), Some("internal"), "{name}");
    }
    let reply = runtime.call(&who, "set-panic", json!({})).await;
    let body = error(&reply, ErrorCode::Internal);
    assert_eq!(body.outcome, Some(toolroom_contract::error::Outcome::Unknown));
    assert!(!body.retryable, "a mutation that may have run is not to be repeated blindly");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_panics_cost_their_own_calls_alone() {
    let runtime = Arc::new(TestRuntime::new(vec![
        query("get-panic").runs(|_, _| async { panic!("again") }).build(),
        query("get-note").build(),
    ]));
    // A thousand backtraces say nothing more than one.
    std::panic::set_hook(Box::new(|_| {}));
    let who = runtime.owner().await;
    let panics: Vec<_> = (0..1000).map(|_| runtime.ask(&who, "get-panic").spawn()).collect();
    for _ in 0..100 {
        data(&runtime.call(&who, "get-note", json!({})).await);
    }
    for call in panics {
        error(&call.await.unwrap(), ErrorCode::Internal);
    }
    data(&runtime.call(&who, "get-note", json!({})).await);
    assert_eq!(runtime.rows().len(), 1101);
    assert_eq!(runtime.meter("toolroom_running"), 0.0);
}

#[tokio::test]
async fn inputs_are_never_mutated() {
    let seen = Arc::new(Mutex::new(Value::Null));
    let saw = Arc::clone(&seen);
    let runtime = TestRuntime::new(vec![
        mutation("set-note")
            .params(
                json!({ "text": { "type": "string", "description": "The text.", "maxLength": 9 } }),
                &["text"],
                json!({ "text": "a" }),
            )
            .trims(&["text"])
            .runs(move |mut params, _| {
                *saw.lock().unwrap() = params.clone();
                params["text"] = json!("changed by the handler");
                async { done(json!({ "ok": true })) }
            })
            .build(),
    ]);
    let who = runtime.owner().await;
    let reply = runtime.call(&who, "set-note", json!({ "text": "  a  " })).await;
    data(&reply);
    assert_eq!(*seen.lock().unwrap(), json!({ "text": "a" }));
    // The row shows what the caller sent.
    assert_eq!(runtime.row(reply.execution_id).input.get(), r#"{"text":"  a  "}"#);
}

#[tokio::test]
async fn queries_have_no_side_effects_on_what_others_read() {
    let runtime = TestRuntime::new(vec![query("get-kept").cached(60).build(), query("get-other").build()]);
    let who = runtime.owner().await;
    data(&runtime.call(&who, "get-kept", json!({})).await);
    // A query of the same resource, with an idempotency key or in a dry run, moves no generation and leaves
    // no record: what was kept is still there.
    data(&runtime.ask(&who, "get-other").key("k").send().await);
    data(&runtime.ask(&who, "get-other").dry_run().send().await);
    let again = runtime.call(&who, "get-kept", json!({})).await;
    assert_eq!(again.result.metadata.cached, Some(true));
    assert_eq!(runtime.runtime.store.commits(), 1, "the user's own row is all that was ever written");
}

#[tokio::test]
async fn mutations_are_never_cached() {
    let runs = counter();
    let hostile = || mutation("set-note").cached(3600).counts(&runs).build();
    let refused =
        TestRuntime::on(tempfile::tempdir().unwrap(), |_| vec![hostile()], Vec::new()).err().unwrap();
    assert!(
        matches!(&refused, RegistryError::Unsound { findings, .. }
        if findings.iter().any(|finding| finding.line == "cacheable flag set correctly")),
        "{refused}"
    );
    let runtime = TestRuntime::new(vec![mutation("set-other").counts(&runs).build()]);
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    assert!(runtime.runtime.registry.register(hostile(), today).await.is_err());
    let who = runtime.owner().await;
    for run in 1..=3 {
        let reply = runtime.call(&who, "set-other", json!({ "n": 1 })).await;
        assert_eq!((data(&reply)["run"].as_u64(), reply.result.metadata.cached), (Some(run), None));
    }
}
