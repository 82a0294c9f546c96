//! Rate limits per tool and user.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use toolroom_contract::ErrorCode;
use toolroom_contract::definition::RateLimit;
use toolroom_contract::ids::UserId;
use toolroom_runtime::limits::Limits;

use crate::test_runtime::{TestRuntime, data, error};
use crate::tools::{count, counter, query};

#[tokio::test]
async fn allowed_calls_equal_the_limit_give_or_take_one_in_every_window() {
    let runs = counter();
    let runtime = TestRuntime::new(vec![query("get-note").limited(10, 1000).counts(&runs).build()]);
    let who = runtime.owner().await;
    let mut before = 0;
    for window in 0..6 {
        for _ in 0..100 {
            runtime.call(&who, "get-note", json!({})).await;
            runtime.clock.advance_ms(10);
        }
        let allowed = count(&runs) - before;
        before = count(&runs);
        assert!((9..=11).contains(&allowed), "window {window}: {allowed}");
    }
}

#[test]
fn a_small_limit_is_granted_whole_in_every_window() {
    for max_calls in [1, 2, 3] {
        let (limits, limit) = (Limits::new(), RateLimit { max_calls, window_ms: 1000 });
        let allowed =
            (0..10_000).filter(|now| limits.count(7, UserId(1), limit, 1_000_000 + now).is_ok()).count();
        let whole = 10 * max_calls as usize;
        assert!((whole - 1..=whole + 1).contains(&allowed), "{allowed} of {whole}");
    }
}

#[test]
fn no_stretch_of_one_window_sees_more_than_the_limit_and_one() {
    for (max_calls, window_ms, step) in [(10, 1000, 7), (3, 100, 1), (50, 1000, 3), (1, 50, 1)] {
        let (limits, limit) = (Limits::new(), RateLimit { max_calls, window_ms });
        let allowed: Vec<u64> = (0..window_ms * 8)
            .step_by(step)
            .filter(|now| limits.count(7, UserId(1), limit, 1_000_000 + now).is_ok())
            .collect();
        for (at, first) in allowed.iter().enumerate() {
            let within = allowed[at..].iter().take_while(|now| **now < first + window_ms).count();
            assert!(within <= max_calls as usize + 1, "{within} of {max_calls} within {window_ms} ms");
        }
    }
}

#[tokio::test]
async fn a_second_user_and_a_second_tool_are_unaffected() {
    let runtime = TestRuntime::new(vec![
        query("get-note").limited(1, 60_000).build(),
        query("get-card").limited(1, 60_000).build(),
    ]);
    let (ann, bob) = (runtime.user("ann", &["*"]).await, runtime.user("bob", &["*"]).await);
    data(&runtime.call(&ann, "get-note", json!({})).await);
    error(&runtime.call(&ann, "get-note", json!({})).await, ErrorCode::RateLimited);
    // Another credential of the same user is the same user.
    let other_key = runtime.user("ann", &["notes:read"]).await;
    error(&runtime.call(&other_key, "get-note", json!({})).await, ErrorCode::RateLimited);
    data(&runtime.call(&ann, "get-card", json!({})).await);
    data(&runtime.call(&bob, "get-note", json!({})).await);
}

#[tokio::test]
async fn retry_after_is_present_and_honest() {
    let runtime = TestRuntime::new(vec![query("get-note").limited(3, 1000).build()]);
    let who = runtime.owner().await;
    for _ in 0..12 {
        while runtime.call(&who, "get-note", json!({})).await.result.error().is_none() {
            runtime.clock.advance_ms(13);
        }
        let reply = runtime.call(&who, "get-note", json!({})).await;
        let body = error(&reply, ErrorCode::RateLimited);
        assert!(body.retryable && reply.http_status() == 429);
        let wait = body.retry_after.unwrap();
        assert!((1..=2000).contains(&wait), "{wait}");
        runtime.clock.advance_ms(wait as i64);
        data(&runtime.call(&who, "get-note", json!({})).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_sockets_of_one_user_share_one_limit() {
    let runs = counter();
    let runtime = TestRuntime::new(vec![query("get-note").limited(10, 60_000).counts(&runs).build()]);
    let who = runtime.owner().await;
    let refused = Arc::new(AtomicUsize::new(0));
    let calls: Vec<_> = (0..200).map(|_| runtime.ask(&who, "get-note").spawn()).collect();
    for call in calls {
        if call.await.unwrap().result.error().is_some() {
            refused.fetch_add(1, Ordering::Relaxed);
        }
    }
    assert_eq!((count(&runs), refused.load(Ordering::Relaxed)), (10, 190));
}

#[test]
fn memory_stays_bounded_with_two_hundred_thousand_users_and_each_still_has_a_limit() {
    let (limits, limit) = (Limits::new(), RateLimit { max_calls: 2, window_ms: 3_600_000 });
    let before = resident_kib();
    for user in 0..200_000 {
        assert!(limits.count(7, UserId(user), limit, 1_000_000).is_ok());
    }
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 32 * 1024, "{grown} KiB");
    assert!(limits.count(7, UserId(199_999), limit, 1_000_001).is_ok());
    assert!(limits.count(7, UserId(199_999), limit, 1_000_002).is_err());
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
