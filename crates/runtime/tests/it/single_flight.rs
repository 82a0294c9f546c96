//! Of many equal misses, one runs; it stops when nobody waits for it.

use serde_json::json;

use crate::test_runtime::{TestRuntime, data};
use crate::tools::{Gate, query};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_concurrent_misses_are_one_execution() {
    let gate = Gate::default();
    let runtime = TestRuntime::new(vec![gate.before(query("get-note").cached(60)).build()]);
    let who = runtime.owner().await;
    let calls: Vec<_> = (0..1000).map(|_| runtime.ask(&who, "get-note").spawn()).collect();
    gate.begun.notified().await;
    while runtime.meter("toolroom_cache_misses_total{tool=\"get-note\"}") < 1000.0 {
        tokio::task::yield_now().await;
    }
    gate.release.notify_one();
    for call in calls {
        data(&call.await.unwrap());
    }
    assert_eq!(gate.runs(), 1);
    assert_eq!(runtime.rows().len(), 1000);
}

#[tokio::test]
async fn a_flight_stops_when_the_last_waiter_leaves() {
    let gate = Gate::default();
    let runtime = TestRuntime::new(vec![gate.before(query("get-note").cached(60)).build()]);
    let who = runtime.owner().await;
    let calls: Vec<_> = (0..3).map(|_| runtime.ask(&who, "get-note").spawn()).collect();
    gate.begun.notified().await;
    calls.iter().for_each(|call| call.abort());
    gate.dropped.notified().await;
    // Nothing was kept, and the next call runs again.
    let next = runtime.ask(&who, "get-note").spawn();
    gate.begun.notified().await;
    gate.release.notify_one();
    assert_eq!(next.await.unwrap().result.metadata.cached, Some(false));
    assert_eq!(gate.runs(), 2);
}

#[tokio::test]
async fn a_flight_goes_on_while_one_waits() {
    let gate = Gate::default();
    let runtime = TestRuntime::new(vec![gate.before(query("get-note").cached(60)).build()]);
    let who = runtime.owner().await;
    let first = runtime.ask(&who, "get-note").spawn();
    gate.begun.notified().await;
    let second = runtime.ask(&who, "get-note").spawn();
    while runtime.meter("toolroom_cache_misses_total{tool=\"get-note\"}") < 2.0 {
        tokio::task::yield_now().await;
    }
    first.abort();
    assert!(first.await.is_err_and(|error| error.is_cancelled()));
    gate.release.notify_one();
    data(&second.await.unwrap());
    assert_eq!(gate.runs(), 1);
    assert_eq!(runtime.call(&who, "get-note", json!({})).await.result.metadata.cached, Some(true));
}
