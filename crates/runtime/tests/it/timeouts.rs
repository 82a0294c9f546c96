//! Timeouts, the queue for a slot, cancellation.

use serde_json::json;
use toolroom_contract::ErrorCode;
use toolroom_contract::error::Outcome;
use toolroom_runtime::journal::{self, Status};

use crate::test_runtime::{TestRuntime, data, error};
use crate::tools::{Gate, mutation, query};

#[tokio::test]
async fn a_tool_that_never_ends_is_answered_at_its_timeout_and_dropped() {
    let gate = Gate::default();
    let runtime = TestRuntime::new(vec![
        gate.before(query("get-never").within(0.05)).build(),
        gate.before(query("get-kept").cached(60).within(0.05)).build(),
        gate.before(mutation("set-never").within(0.05)).build(),
    ]);
    let who = runtime.owner().await;
    for (name, outcome, retryable) in
        [("get-never", None, true), ("get-kept", None, true), ("set-never", Some(Outcome::Unknown), false)]
    {
        let began = std::time::Instant::now();
        let reply = runtime.call(&who, name, json!({})).await;
        let took = began.elapsed().as_millis();
        let body = error(&reply, ErrorCode::ToolTimeout);
        assert_eq!((body.outcome, body.retryable), (outcome, retryable), "{name}");
        // The tool never ends by itself: that an answer came is the upper bound.
        assert!(took >= 50, "{took} ms");
        gate.dropped.notified().await;
        assert_eq!(runtime.row(reply.execution_id).status, Status::Timeout);
    }
}

#[tokio::test]
async fn waiting_for_a_slot_counts_towards_the_timeout() {
    let gate = Gate::default();
    let runtime = TestRuntime::new(vec![gate.before(query("get-slow").one_at_a_time().within(0.3)).build()]);
    let who = runtime.owner().await;
    let began = std::time::Instant::now();
    let calls: Vec<_> = (0..20).map(|_| runtime.ask(&who, "get-slow").spawn()).collect();
    for call in calls {
        error(&call.await.unwrap(), ErrorCode::ToolTimeout);
    }
    // One after the other they would take twenty times the limit.
    let took = began.elapsed().as_secs_f64();
    assert!((0.3..3.0).contains(&took), "{took} s");
}

#[tokio::test]
async fn a_slot_is_given_on_when_its_call_ends() {
    let gate = Gate::default();
    let runtime = TestRuntime::new(vec![gate.before(mutation("set-slow").one_at_a_time()).build()]);
    let who = runtime.owner().await;
    let calls: Vec<_> = (0..5).map(|_| runtime.ask(&who, "set-slow").spawn()).collect();
    for run in 1..=5 {
        gate.begun.notified().await;
        assert_eq!(gate.runs(), run, "one at a time");
        gate.release.notify_one();
    }
    for call in calls {
        data(&call.await.unwrap());
    }
}

#[tokio::test]
async fn the_queue_for_a_slot_is_bounded() {
    let gate = Gate::default();
    let runtime = TestRuntime::new(vec![gate.before(query("get-slow").one_at_a_time()).build()]);
    let who = runtime.owner().await;
    let first = runtime.ask(&who, "get-slow").spawn();
    gate.begun.notified().await;
    let waiting: Vec<_> = (0..64).map(|_| runtime.ask(&who, "get-slow").spawn()).collect();
    while runtime.meter("toolroom_queue_depth{tool=\"get-slow\"}") < 64.0 {
        tokio::task::yield_now().await;
    }
    let reply = runtime.call(&who, "get-slow", json!({})).await;
    let body = error(&reply, ErrorCode::Busy);
    assert!(body.retryable && body.retry_after.is_some());
    for call in &waiting {
        call.abort();
    }
    for call in waiting {
        assert!(call.await.is_err());
    }
    assert_eq!(runtime.meter("toolroom_queue_depth{tool=\"get-slow\"}"), 0.0);
    gate.release.notify_one();
    data(&first.await.unwrap());
}

#[tokio::test]
async fn a_cancelled_call_drops_its_handler_and_is_journaled_as_cancelled() {
    let gate = Gate::default();
    let runtime = TestRuntime::new(vec![
        gate.before(mutation("set-never")).build(),
        gate.before(query("get-never")).build(),
    ]);
    let who = runtime.owner().await;
    for (name, outcome) in [("set-never", Some(journal::Outcome::Unknown)), ("get-never", None)] {
        let call = runtime.ask(&who, name).spawn();
        gate.begun.notified().await;
        assert_eq!(runtime.rows().last().unwrap().status, Status::Running);
        call.abort();
        gate.dropped.notified().await;
        assert!(call.await.is_err_and(|error| error.is_cancelled()));
        let row = runtime.rows().into_iter().find(|row| row.tool == name).unwrap();
        assert_eq!((row.status, row.code.as_deref()), (Status::Cancelled, Some("cancelled")));
        assert_eq!(row.outcome, outcome);
    }
    assert_eq!(runtime.meter("toolroom_running"), 0.0);
}
