//! Rate limits per tool and user.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use serde_json::json;
use toolroom_contract::ErrorCode;
use toolroom_contract::definition::RateLimit;
use toolroom_contract::ids::UserId;
use toolroom_runtime::limits::Limits;
use toolroom_store::counters::Counted;
use toolroom_store::{StoreError, users};

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
        let allowed = (0..10_000).filter(|now| passes(&limits, limit, 1_000_000 + now)).count();
        let whole = 10 * max_calls as usize;
        assert!((whole - 1..=whole + 1).contains(&allowed), "{allowed} of {whole}");
    }
}

/// Whether a call of one tool by one user is let through.
fn passes(limits: &Limits, limit: RateLimit, now: u64) -> bool {
    limits.count(7, UserId(1), limit, || now) == Counted::Yes
}

#[test]
fn who_saves_calls_for_the_end_of_a_window_gets_no_more_in_any_other() {
    let (limits, limit) = (Limits::new(), RateLimit { max_calls: 10, window_ms: 1000 });
    let mut allowed = Vec::new();
    for (at, tries) in [(0, 1), (990, 20), (1000, 1), (1980, 20), (2000, 20), (2990, 20), (3000, 20)] {
        allowed.extend((0..tries).filter(|_| passes(&limits, limit, at)).map(|_| at));
    }
    assert_eq!(most_in_a_window(&allowed, 1000), 10, "{allowed:?}");
    assert_eq!(allowed.len(), 1 + 9 + 1 + 10 + 10, "all that there was room for: {allowed:?}");
}

fn most_in_a_window(times: &[u64], length: u64) -> usize {
    let within = |first: &u64| times.iter().filter(|time| (*first..first + length).contains(time)).count();
    times.iter().map(within).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// However calls are spread: in bursts, evenly, at the ends of windows, or when a refusal says that there is room.
    #[test]
    fn promise_no_window_of_any_beginning_holds_more_than_the_limit(
        max_calls in prop_oneof![1..4_u32, 4..200_u32],
        window_ms in prop_oneof![1..40_u64, 40..5000_u64],
        bursts in prop::collection::vec((0..1000_u64, 1..60_usize, any::<bool>()), 1..60),
    ) {
        let (limits, limit) = (Limits::new(), RateLimit { max_calls, window_ms });
        let (mut now, mut allowed) = (1_000_000, Vec::new());
        for (gap, calls, waits) in bursts {
            now += gap * window_ms / 500;
            for _ in 0..calls {
                match limits.count(7, UserId(1), limit, || now) {
                    Counted::Yes => allowed.push(now),
                    Counted::No { wait } => {
                        prop_assert!((1..=window_ms).contains(&wait), "{wait}");
                        if waits {
                            prop_assert!(!passes(&limits, limit, now + wait - 1), "{wait} is too long");
                            now += wait;
                            prop_assert!(passes(&limits, limit, now), "{wait} is too short");
                            allowed.push(now);
                        }
                    }
                }
            }
        }
        prop_assert!(most_in_a_window(&allowed, window_ms) <= max_calls as usize);
    }

    /// Who never stops is let through as often as the limit says, but for the one piece that a window may take longer.
    #[test]
    fn promise_who_never_stops_gets_what_the_limit_says(max_calls in 1..100_u32, window_ms in 1..400_u64) {
        let (limits, limit) = (Limits::new(), RateLimit { max_calls, window_ms });
        let piece = window_ms.div_ceil(31);
        let time = 8 * (window_ms + piece + 1);
        let tries = u64::from(max_calls).div_ceil(piece) + 1;
        let calls = (0..time).flat_map(|now| (0..tries).map(move |_| 1_000_000 + now));
        let allowed = calls.filter(|now| passes(&limits, limit, *now)).count();
        prop_assert!(allowed >= 8 * max_calls as usize, "{allowed} of {max_calls} in each of 8 windows");
    }

    /// Nor does a clock that goes back let more through by the times of the calls, or keep anybody out for longer.
    #[test]
    fn a_clock_that_went_back_keeps_nobody_out_for_longer_than_a_window(back in 0..1_000_000_u64) {
        let (limits, limit) = (Limits::new(), RateLimit { max_calls: 3, window_ms: 1000 });
        prop_assert!((0..3).all(|_| passes(&limits, limit, 2_000_000)));
        let now = 2_000_000 - back;
        prop_assert!(!passes(&limits, limit, now));
        prop_assert!(!passes(&limits, limit, now + 999));
        prop_assert!(passes(&limits, limit, now + 1000));
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
async fn users_who_do_not_exist_yet_have_a_limit_each_and_no_read_makes_them() {
    let runtime = TestRuntime::new(vec![query("get-note").limited(1, 60_000).build()]);
    let front = runtime.owner().await;
    for user in ["ann", "bob"] {
        data(&runtime.ask(&front, "get-note").acting_as(user).send().await);
        error(&runtime.ask(&front, "get-note").acting_as(user).send().await, ErrorCode::RateLimited);
        let found = runtime.runtime.store.read(move |unit| users::find(unit, user)).await;
        assert!(found.map_err(|error: StoreError| error.to_string()).unwrap().is_none(), "{user}");
    }
    data(&runtime.call(&front, "get-note", json!({})).await);
}

#[tokio::test]
async fn whoever_acts_for_others_has_a_hundred_times_the_limit_for_all_of_them() {
    let runtime = TestRuntime::new(vec![query("get-note").limited(1, 60_000).build()]);
    let front = runtime.owner().await;
    for user in 0..100 {
        data(&runtime.ask(&front, "get-note").acting_as(&format!("user-{user}")).send().await);
    }
    let refused = runtime.ask(&front, "get-note").acting_as("one-more").send().await;
    let body = error(&refused, ErrorCode::RateLimited);
    assert!(body.message.contains("by one key for all its users") && body.retry_after.is_some(), "{body:?}");
    // It has its own calls besides, and another one its own users.
    data(&runtime.call(&front, "get-note", json!({})).await);
    let other = runtime.user("other", &["*"]).await;
    data(&runtime.ask(&other, "get-note").acting_as("two-more").send().await);
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
        assert!((1..=1000).contains(&wait), "{wait}");
        runtime.clock.advance_ms(wait as i64);
        data(&runtime.call(&who, "get-note", json!({})).await);
    }
}

#[tokio::test]
async fn a_clock_that_is_set_neither_empties_a_window_nor_makes_it_longer() {
    for step in [3_600_000, -3_600_000] {
        let runtime = TestRuntime::new(vec![query("get-note").limited(1, 1000).build()]);
        let who = runtime.owner().await;
        data(&runtime.call(&who, "get-note", json!({})).await);
        runtime.clock.advance_ms(400);
        runtime.clock.step_ms(step);
        let reply = runtime.call(&who, "get-note", json!({})).await;
        assert_eq!(error(&reply, ErrorCode::RateLimited).retry_after, Some(600), "{step}");
        runtime.clock.advance_ms(600);
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
        assert_eq!(limits.count(7, UserId(user), limit, || 1_000_000), Counted::Yes);
    }
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 32 * 1024, "{grown} KiB");
    assert_eq!(limits.count(7, UserId(199_999), limit, || 1_000_001), Counted::Yes);
    assert_eq!(limits.count(7, UserId(199_999), limit, || 1_000_002), Counted::No { wait: 3_599_999 });
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
