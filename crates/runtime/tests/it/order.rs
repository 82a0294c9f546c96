//! The order of the steps: what is told, counted and run when more than one step would refuse.

use serde_json::json;
use toolroom_contract::ErrorCode;

use crate::test_runtime::{TestRuntime, data, error};
use crate::tools::{Gate, count, counter, mutation, query};

#[tokio::test]
async fn a_forbidden_caller_with_bad_parameters_learns_nothing() {
    let runtime = TestRuntime::new(vec![query("get-note").limited(1, 60_000).build()]);
    let who = runtime.user("nobody", &[]).await;
    for params in [json!({}), json!({ "n": "bad" }), json!({}), json!({})] {
        let reply = runtime.call(&who, "get-note", params).await;
        let body = error(&reply, ErrorCode::ToolNotFound);
        assert!(body.details.is_empty() && body.retry_after.is_none());
    }
}

#[tokio::test]
async fn forbidden_calls_do_not_count_against_the_rate_limit() {
    let runtime = TestRuntime::new(vec![query("get-note").limited(1, 60_000).build()]);
    let (without, with) = (runtime.user("ann", &[]).await, runtime.user("ann", &["*"]).await);
    for _ in 0..5 {
        error(&runtime.call(&without, "get-note", json!({})).await, ErrorCode::ToolNotFound);
    }
    data(&runtime.call(&with, "get-note", json!({})).await);
}

#[tokio::test]
async fn bad_parameters_do_not_count_against_the_rate_limit() {
    let runtime = TestRuntime::new(vec![query("get-note").limited(1, 60_000).build()]);
    let who = runtime.owner().await;
    for _ in 0..5 {
        error(&runtime.call(&who, "get-note", json!({ "n": "bad" })).await, ErrorCode::InvalidInput);
    }
    data(&runtime.call(&who, "get-note", json!({})).await);
    error(&runtime.call(&who, "get-note", json!({})).await, ErrorCode::RateLimited);
    error(&runtime.call(&who, "get-note", json!({ "n": "bad" })).await, ErrorCode::InvalidInput);
}

#[tokio::test]
async fn a_rate_limited_call_does_not_run_and_takes_no_idempotency_key() {
    let runs = counter();
    let runtime = TestRuntime::new(vec![mutation("set-note").limited(1, 1000).counts(&runs).build()]);
    let who = runtime.owner().await;
    data(&runtime.call(&who, "set-note", json!({})).await);
    error(&runtime.ask(&who, "set-note").key("k").send().await, ErrorCode::RateLimited);
    assert_eq!(count(&runs), 1);
    runtime.clock.advance_ms(5000);
    let reply = runtime.ask(&who, "set-note").key("k").send().await;
    data(&reply);
    assert!(!reply.result.metadata.replayed);
}

#[tokio::test]
async fn a_cached_answer_counts_against_the_rate_limit() {
    let runtime = TestRuntime::new(vec![query("get-note").cached(60).limited(2, 60_000).build()]);
    let who = runtime.owner().await;
    data(&runtime.call(&who, "get-note", json!({})).await);
    assert_eq!(runtime.call(&who, "get-note", json!({})).await.result.metadata.cached, Some(true));
    error(&runtime.call(&who, "get-note", json!({})).await, ErrorCode::RateLimited);
}

#[tokio::test]
async fn a_cached_answer_needs_no_slot() {
    let gate = Gate::default();
    let runtime = TestRuntime::new(vec![gate.before(query("get-note").cached(60).one_at_a_time()).build()]);
    let who = runtime.owner().await;
    let first = runtime.ask(&who, "get-note").spawn();
    gate.begun.notified().await;
    gate.release.notify_one();
    data(&first.await.unwrap());
    let other = runtime.ask(&who, "get-note").params(json!({ "n": 1 })).spawn();
    gate.begun.notified().await;
    // The only slot is taken; the kept answer comes at once.
    assert_eq!(runtime.call(&who, "get-note", json!({})).await.result.metadata.cached, Some(true));
    gate.release.notify_one();
    data(&other.await.unwrap());
}

#[tokio::test]
async fn a_replayed_answer_needs_no_second_approval() {
    use toolroom_store::pending::Decision;
    let runs = counter();
    let runtime = TestRuntime::new(vec![mutation("drop-note").destructive().counts(&runs).build()]);
    let who = runtime.owner().await;
    let waiting = runtime.ask(&who, "drop-note").key("k").send().await;
    let id = error(&waiting, ErrorCode::ApprovalRequired).pending.as_ref().unwrap().id;
    runtime.decide(id, Decision::Approve).await;
    data(&runtime.ask(&who, "drop-note").key("k").approval(id).send().await);
    let again = runtime.ask(&who, "drop-note").key("k").send().await;
    assert!(again.result.metadata.replayed);
    assert_eq!((data(&again)["run"].as_u64(), count(&runs)), (Some(1), 1));
}

#[tokio::test]
async fn a_call_that_waits_for_approval_takes_no_slot() {
    let gate = Gate::default();
    let runtime =
        TestRuntime::new(vec![gate.before(mutation("drop-note").destructive().one_at_a_time()).build()]);
    let who = runtime.owner().await;
    for n in 0..100 {
        let reply = runtime.call(&who, "drop-note", json!({ "n": n })).await;
        error(&reply, ErrorCode::ApprovalRequired);
    }
    assert_eq!((gate.runs(), runtime.meter("toolroom_queue_depth{tool=\"drop-note\"}")), (0, 0.0));
}
