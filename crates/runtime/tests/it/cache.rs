//! The cache of answers: whose they are, and when they are not given again.

use std::sync::Arc;

use serde_json::json;
use toolroom_contract::{Ending, ErrorCode, Principal, ToolError};
use toolroom_profiles::Profile;
use toolroom_runtime::journal::Status;

use crate::test_runtime::{TestRuntime, data, error};
use crate::tools::{count, counter, done, mutation, query};

#[tokio::test]
async fn the_same_call_is_answered_from_the_cache_and_says_so() {
    let runs = counter();
    let runtime = TestRuntime::new(vec![query("get-note").cached(60).counts(&runs).build()]);
    let who = runtime.owner().await;
    let first = runtime.call(&who, "get-note", json!({ "n": 1 })).await;
    // Spelled otherwise, the same parameters.
    let again = runtime.call(&who, "get-note", json!({ "n": 1.0 })).await;
    assert_eq!((data(&first), data(&again), count(&runs)), (&json!({ "run": 1 }), &json!({ "run": 1 }), 1));
    assert_eq!(first.result.metadata.cached, Some(false));
    assert_eq!(again.result.metadata.cached, Some(true));
    let row = runtime.row(again.execution_id);
    assert!(row.cached && row.status == Status::Ok);
    runtime.call(&who, "get-note", json!({ "n": 2 })).await;
    assert_eq!(count(&runs), 2);
    assert_eq!(runtime.meter("toolroom_cache_hits_total{tool=\"get-note\"}"), 1.0);
    assert_eq!(runtime.meter("toolroom_cache_misses_total{tool=\"get-note\"}"), 2.0);
}

#[tokio::test]
async fn an_answer_is_never_given_to_another_user() {
    let runtime = TestRuntime::new(vec![
        query("get-name")
            .cached(60)
            .runs(|_, context| async move { done(json!({ "user": &*context.user.unwrap().key })) })
            .build(),
    ]);
    let admin = runtime.user("admin", &["*"]).await;
    for _ in 0..2 {
        for name in ["ann", "bob"] {
            let who = runtime.user(name, &["notes:read"]).await;
            assert_eq!(data(&runtime.call(&who, "get-name", json!({})).await)["user"], name);
        }
        // Users who do not exist yet are not each other either.
        for name in ["ghost", "phantom", "ann"] {
            let reply = runtime.ask(&admin, "get-name").acting_as(name).send().await;
            assert_eq!(data(&reply)["user"], name);
        }
    }
}

#[tokio::test]
async fn an_answer_is_not_given_after_a_mutation_of_its_resource_by_its_user() {
    let runs = counter();
    let runtime = TestRuntime::with_store(|store| {
        vec![
            query("get-note").cached(3600).counts(&runs).build(),
            mutation("set-note").build(),
            mutation("store-note").stores(store, &counter()).build(),
            mutation("fail-note").fails(ToolError::internal("after the effect")).build(),
            mutation("set-card").needs("cards:write").build(),
        ]
    });
    let (ann, bob) = (runtime.user("ann", &["*"]).await, runtime.user("bob", &["*"]).await);
    let cached = async |who: &Arc<Principal>| {
        let reply = runtime.call(who, "get-note", json!({})).await;
        data(&reply);
        reply.result.metadata.cached.unwrap()
    };
    assert!(!cached(&ann).await && !cached(&bob).await);
    for name in ["set-note", "store-note", "fail-note"] {
        runtime.call(&ann, name, json!({})).await;
        assert!(!cached(&ann).await, "{name}");
        assert!(cached(&ann).await && cached(&bob).await);
    }
    // Another resource, a dry run and a refusal change nothing.
    runtime.call(&ann, "set-card", json!({})).await;
    runtime.ask(&ann, "set-note").dry_run().send().await;
    runtime.call(&ann, "set-note", json!({ "n": "bad" })).await;
    assert!(cached(&ann).await);
}

#[tokio::test]
async fn a_mutation_made_on_behalf_of_a_user_moves_that_users_answers_on() {
    let runtime =
        TestRuntime::new(vec![query("get-note").cached(3600).build(), mutation("set-note").build()]);
    let (admin, ann) = (runtime.user("admin", &["*"]).await, runtime.user("ann", &["notes:*"]).await);
    runtime.call(&ann, "get-note", json!({})).await;
    data(&runtime.ask(&admin, "set-note").acting_as("ann").send().await);
    assert_eq!(runtime.call(&ann, "get-note", json!({})).await.result.metadata.cached, Some(false));
}

#[tokio::test]
async fn errors_are_not_cached() {
    let runs = counter();
    let ran = Arc::clone(&runs);
    let runtime = TestRuntime::new(vec![
        query("get-note")
            .cached(60)
            .runs(move |_, _| {
                let run = ran.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                async move {
                    match run {
                        0 => Ending::Failed(ToolError::new(ErrorCode::NotFound, "Not yet.")),
                        1 => panic!("not yet"),
                        2 => done(json!("no object")),
                        _ => done(json!({ "ok": true })),
                    }
                }
            })
            .build(),
    ]);
    let who = runtime.owner().await;
    for code in [ErrorCode::NotFound, ErrorCode::Internal, ErrorCode::InvalidOutput] {
        error(&runtime.call(&who, "get-note", json!({})).await, code);
    }
    assert_eq!(runtime.call(&who, "get-note", json!({})).await.result.metadata.cached, Some(false));
    assert_eq!(count(&runs), 4);
}

#[tokio::test]
async fn a_changed_definition_does_not_see_answers_of_the_old_one() {
    // The definition is part of what an answer is kept under.
    let old = query("get-note").cached(60);
    let new = query("get-note").cached(60).is(|tool| tool.description.push_str(" And more."));
    let compile = |tool: crate::tools::Tool| {
        let registry = toolroom_runtime::catalogue::Registry::new(
            vec![tool.build()],
            Vec::<Profile>::new(),
            Arc::new(toolroom_runtime::metrics::Metrics::new()),
        );
        registry.unwrap().get("get-note").unwrap().fingerprint
    };
    let (old, new, same) = (compile(old), compile(new), compile(query("get-note").cached(60)));
    assert_ne!(old, new);
    assert_eq!(old, same);
}

#[tokio::test]
async fn a_revoked_permission_gives_no_cached_answer() {
    let runtime = TestRuntime::new(vec![query("get-note").cached(3600).build()]);
    let with = runtime.user("ann", &["notes:read"]).await;
    data(&runtime.call(&with, "get-note", json!({})).await);
    let without = runtime.user("ann", &["cards:read"]).await;
    error(&runtime.call(&without, "get-note", json!({})).await, ErrorCode::ToolNotFound);
}

#[tokio::test]
async fn phrases_are_resolved_before_answers_are_compared() {
    let runs = counter();
    let runtime = TestRuntime::new(vec![
        query("get-note")
            .cached(60)
            .resolves(|params| json!({ "n": params["n"].as_u64().unwrap_or(0) / 10 }))
            .counts(&runs)
            .build(),
    ]);
    let who = runtime.owner().await;
    for n in [11, 12, 19, 20] {
        runtime.call(&who, "get-note", json!({ "n": n })).await;
    }
    assert_eq!(count(&runs), 2);
}

#[tokio::test]
async fn confidence_falls_with_the_age_of_a_cached_answer() {
    let runtime = TestRuntime::new(vec![query("get-note").cached(1).build()]);
    let who = runtime.owner().await;
    let fresh = runtime.call(&who, "get-note", json!({})).await.result.agent_hints;
    // The oldest kept answer that is still given: ask until it has expired.
    let mut oldest = fresh.clone();
    loop {
        let reply = runtime.call(&who, "get-note", json!({})).await;
        if reply.result.metadata.cached == Some(false) {
            break;
        }
        oldest = reply.result.agent_hints;
        tokio::task::yield_now().await;
    }
    assert!(oldest.confidence < fresh.confidence * 0.85, "{} {}", fresh.confidence, oldest.confidence);
    assert!(oldest.reasoning.unwrap().contains("freshness 0.8"));
}
