//! What the caller could do next.

use serde_json::json;
use toolroom_contract::definition::{Argument, NextAction, When};
use toolroom_contract::{Answer, Ending, HintsDraft, ToolError};
use toolroom_contract::{ErrorCode, Priority, SuggestedAction};
use toolroom_runtime::Reply;

use crate::test_runtime::{TestRuntime, data, error};
use crate::tools::{done, mutation, query};

fn next(action: &str, when: When, arguments: &[(&str, Argument)]) -> NextAction {
    NextAction {
        action: action.into(),
        when,
        priority: Priority::Medium,
        description: None,
        arguments: arguments.iter().map(|(name, from)| ((*name).to_owned(), from.clone())).collect(),
    }
}

fn actions(reply: &Reply) -> Vec<&str> {
    reply.result.agent_hints.suggested_next_actions.iter().map(|action| action.action.as_str()).collect()
}

fn runtime() -> TestRuntime {
    let from = |pointer: &str| Argument::From(pointer.into());
    TestRuntime::new(vec![
        query("get-note")
            .then(next(
                "set-note",
                When::Success,
                &[
                    ("n", from("/data/note/id")),
                    ("was", from("/params/n")),
                    ("how", Argument::Value(json!("gently"))),
                ],
            ))
            .then(next("get-more", When::Success, &[("cursor", from("/data/cursor"))]))
            .then(next("get-status", When::Always, &[]))
            .then(next("search-tools", When::Error, &[]))
            .runs(|params, _| async move {
                match params["n"].as_u64() {
                    Some(9) => Ending::Failed(ToolError::new(ErrorCode::NotFound, "No.")),
                    _ => done(json!({ "note": { "id": 7 } })),
                }
            })
            .build(),
        query("get-more").build(),
        mutation("set-note").build(),
    ])
}

#[tokio::test]
async fn they_come_from_the_contract_with_arguments_filled_in_from_the_result() {
    let runtime = runtime();
    let who = runtime.owner().await;
    let reply = runtime.call(&who, "get-note", json!({ "n": 3 })).await;
    let first = &reply.result.agent_hints.suggested_next_actions[0];
    assert_eq!(first.action, "set-note");
    assert_eq!(json!(first.data), json!({ "how": "gently", "n": 7, "was": 3 }));
    assert_eq!(first.reversible, Some(true));
    let impact = &reply.result.agent_hints.estimated_impact;
    assert!(impact.benefit > 0.0 && impact.effort > 0.0 && impact.roi > 0.0);
}

#[tokio::test]
async fn an_action_whose_argument_is_missing_is_dropped() {
    let runtime = runtime();
    let who = runtime.owner().await;
    // There is no cursor in the data, and without a parameter there is nothing to say "was" from.
    assert_eq!(actions(&runtime.call(&who, "get-note", json!({ "n": 3 })).await), ["set-note", "get-status"]);
    assert_eq!(actions(&runtime.call(&who, "get-note", json!({})).await), ["get-status"]);
}

#[tokio::test]
async fn actions_fit_the_ending_of_the_call() {
    let runtime = runtime();
    let who = runtime.owner().await;
    let reply = runtime.call(&who, "get-note", json!({ "n": 9 })).await;
    error(&reply, ErrorCode::NotFound);
    assert_eq!(actions(&reply), ["get-status", "search-tools"]);
}

#[tokio::test]
async fn a_tool_that_the_caller_may_not_use_is_not_suggested() {
    let runtime = runtime();
    let reader = runtime.user("reader", &["notes:read"]).await;
    let reply = runtime.call(&reader, "get-note", json!({ "n": 3 })).await;
    data(&reply);
    assert_eq!(actions(&reply), ["get-status"]);
    // Not even if the handler itself suggests it.
    let own = TestRuntime::new(vec![
        query("get-note")
            .runs(|_, _| async {
                let hints = HintsDraft::default()
                    .next(SuggestedAction::new("set-note", Priority::Critical))
                    .next(SuggestedAction::new("take-a-walk", Priority::Low));
                Ending::Done(Answer::new(json!({})).unwrap().with_hints(hints))
            })
            .build(),
        mutation("set-note").build(),
    ]);
    let reader = own.user("reader", &["notes:read"]).await;
    assert_eq!(actions(&own.call(&reader, "get-note", json!({})).await), ["take-a-walk"]);
}

#[tokio::test]
async fn invalid_input_carries_a_corrected_example_that_passes_the_schema() {
    let number = json!({ "type": "integer", "description": "A number.", "minimum": 0, "maximum": 9 });
    let tool = query("get-sum").params(
        json!({ "a": number, "b": number, "c": number }),
        &["a", "b"],
        json!({ "a": 1, "b": 2 }),
    );
    let runtime = TestRuntime::new(vec![tool.build()]);
    let who = runtime.owner().await;
    let validator = &runtime.runtime.registry.get("get-sum").unwrap();
    for (params, fixed) in [
        (json!({ "a": 5 }), json!({ "a": 5, "b": 2 })),
        (json!({ "a": "x", "b": 7 }), json!({ "a": 1, "b": 7 })),
        (json!({ "a": 5, "b": 7, "c": 99, "d": 1 }), json!({ "a": 5, "b": 7 })),
        (json!([]), json!({ "a": 1, "b": 2 })),
    ] {
        let forwarded = json!({ "name": "get-sum", "params": params });
        for (name, given) in [("get-sum", params.clone()), ("call-tool", forwarded)] {
            if name == "call-tool" && !params.is_object() {
                continue;
            }
            let reply = runtime.call(&who, name, given).await;
            error(&reply, ErrorCode::InvalidInput);
            let action = &reply.result.agent_hints.suggested_next_actions[0];
            assert_eq!(action.action, "get-sum");
            assert_eq!(json!(action.data), fixed, "{name}");
            assert!(validator.parameters.accepts(&json!(action.data)));
        }
    }
}

#[tokio::test]
async fn an_unknown_tool_suggests_a_search_for_it() {
    let runtime = runtime();
    let who = runtime.owner().await;
    let reply = runtime.call(&who, "get-weather", json!({})).await;
    error(&reply, ErrorCode::ToolNotFound);
    let action = &reply.result.agent_hints.suggested_next_actions[0];
    assert_eq!(
        (action.action.as_str(), json!(action.data)),
        ("search-tools", json!({ "query": "get weather" }))
    );
    let found = runtime.call(&who, "search-tools", json!(action.data)).await;
    data(&found);
}
