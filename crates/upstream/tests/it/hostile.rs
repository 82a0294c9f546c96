//! Servers on stdio that do what they should not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use toolroom_contract::{ErrorCode, error::Outcome};
use toolroom_upstream::answers::{Answering, Asked};
use toolroom_upstream::{Answers, CallOptions, RemoteTool, State, Upstream, UpstreamError};

use crate::test_servers::{Notes, Reports, call, call_with, hostile, memory, text, until_async, upstream};

#[tokio::test(flavor = "multi_thread")]
async fn garbage_wrong_ids_and_second_answers_are_passed_over() {
    let notes = Notes::new();
    let server = upstream("hostile", hostile("garbage", &notes));
    for _ in 0..3 {
        assert_eq!(text(&call(&server, "work", json!({})).await.unwrap()), "the answer");
    }
    assert_eq!(server.status().connections, 1);
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_million_notifications_cost_no_memory() {
    let notes = Notes::new();
    let server = upstream("hostile", hostile("notifications", &notes));
    call(&server, "fast", json!({})).await.unwrap();
    let before = memory();
    let reports = Arc::<Reports>::default();
    let options = CallOptions { reporter: reports.reporter(), ..CallOptions::default() };
    let answer = call_with(&server, "work", json!({}), &options).await.unwrap();
    assert_eq!(text(&answer), "after the flood");
    let grown = memory().saturating_sub(before);
    assert!(grown < 64 << 20, "grew by {grown} bytes");
    assert!(server.watch_changes().borrow().tools >= 500_000);
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_questions_is_answered_or_refused_and_then_over() {
    struct Slow;
    impl Answers for Slow {
        fn answer(&self, _: Asked) -> Answering<'_> {
            Box::pin(std::future::pending())
        }
    }
    let notes = Notes::new();
    let server = upstream("hostile", hostile("questions", &notes));
    let options = CallOptions { answers: Some(Arc::new(Slow)), ..CallOptions::default() };
    let answer = call_with(&server, "work", json!({}), &options).await.unwrap();
    assert_eq!(text(&answer), "after the questions");
    assert_eq!(text(&call(&server, "fast", json!({})).await.unwrap()), "fast");
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_beyond_the_limit_fails_its_own_call_alone() {
    let notes = Notes::new();
    let server = upstream("hostile", hostile("long-line", &notes));
    call(&server, "fast", json!({})).await.unwrap();
    let before = memory();
    let (large, small) = tokio::join!(call(&server, "work", json!({})), call(&server, "fast", json!({})));
    assert!(matches!(large, Err(UpstreamError::TooLarge { .. })), "{large:?}");
    assert_eq!(text(&small.unwrap()), "fast");
    assert_eq!(large.unwrap_err().into_tool_error("hostile").code, ErrorCode::OutputTooLarge);
    let grown = memory().saturating_sub(before);
    assert!(grown < 64 << 20, "grew by {grown} bytes");
    assert_eq!(server.status().connections, 1);
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_without_end_costs_no_memory_and_ends_the_connection() {
    let notes = Notes::new();
    let server = upstream("hostile", hostile("endless-line", &notes));
    call(&server, "fast", json!({})).await.unwrap();
    let before = memory();
    let lost = call(&server, "work", json!({})).await.unwrap_err();
    let grown = memory().saturating_sub(before);
    assert!(grown < 64 << 20, "grew by {grown} bytes");
    let error = lost.into_tool_error("hostile");
    assert_eq!((error.code, error.outcome), (ErrorCode::ServiceUnavailable, Some(Outcome::Unknown)));
    assert_eq!(
        text(&call(&server, "fast", json!({})).await.unwrap()),
        "fast",
        "the next call finds a new one"
    );
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_and_enormous_lists_end_at_the_limits() {
    for (manner, most) in [("endless-pages", 200), ("circling-pages", 2), ("many-tools", 2_000)] {
        let notes = Notes::new();
        let server = upstream("hostile", hostile(manner, &notes));
        let before = memory();
        let listed = server.list::<RemoteTool>().await.unwrap();
        assert_eq!(listed.items.len(), most, "{manner}");
        assert!(listed.incomplete.is_some(), "{manner} says that something is missing");
        let grown = memory().saturating_sub(before);
        assert!(grown < 64 << 20, "{manner} grew by {grown} bytes");
        server.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_call_ends_by_its_deadline_and_holds_nobody_up() {
    let notes = Notes::new();
    let server = upstream("hostile", hostile("silent", &notes));
    call(&server, "fast", json!({})).await.unwrap();
    let hanging = tokio::spawn({
        let server = server.clone();
        async move {
            let options = CallOptions { timeout: Some(Duration::from_secs(4)), ..CallOptions::default() };
            call_with(&server, "work", json!({}), &options).await
        }
    });
    for _ in 0..50 {
        call(&server, "fast", json!({})).await.unwrap();
    }
    assert!(!hanging.is_finished(), "the others did not wait for it");
    let late = hanging.await.unwrap().unwrap_err();
    let error = late.into_tool_error("hostile");
    assert_eq!((error.code, error.outcome), (ErrorCode::ToolTimeout, Some(Outcome::Unknown)));
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_has_stopped_answering_altogether_is_replaced() {
    let notes = Notes::new();
    let server = upstream("hostile", hostile("silent", &notes));
    call(&server, "fast", json!({})).await.unwrap();
    let options = CallOptions { timeout: Some(Duration::from_secs(2)), ..CallOptions::default() };
    call_with(&server, "work", json!({}), &options).await.unwrap_err();
    let status = server.watch_status();
    until_async("it was found silent and connected anew", || {
        let status = status.borrow();
        status.connections == 2 && status.state == State::Ready
    })
    .await;
    assert_eq!(text(&call(&server, "fast", json!({})).await.unwrap()), "fast");
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_server_that_dies_of_the_probe_is_spoken_to_in_its_own_way() {
    let notes = Notes::new();
    let server = upstream("hostile", hostile("dies-when-probed", &notes));
    assert_eq!(text(&call(&server, "fast", json!({})).await.unwrap()), "fast");
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_from_one_server_does_not_slow_the_others_down() {
    let notes = Notes::new();
    let (calm, loud) =
        (upstream("calm", hostile("plain", &notes)), upstream("loud", hostile("notifications", &notes)));
    calm.connect().await.unwrap();
    loud.connect().await.unwrap();
    let baseline = slowest(&calm).await;
    let flood = tokio::spawn({
        let loud = loud.clone();
        async move { call(&loud, "work", json!({})).await }
    });
    let changes = loud.watch_changes();
    let during = slowest(&calm).await;
    flood.await.unwrap().unwrap();
    assert!(changes.borrow().tools >= 500_000);
    assert!(during <= baseline * 2 + Duration::from_millis(50), "{during:?} against {baseline:?}");
    calm.shutdown().await;
    loud.shutdown().await;
}

/// The 99th percentile of a few hundred calls.
async fn slowest(server: &Upstream) -> Duration {
    let mut times = Vec::new();
    for _ in 0..300 {
        let began = Instant::now();
        call(server, "fast", json!({})).await.unwrap();
        times.push(began.elapsed());
    }
    times.sort_unstable();
    times[296]
}
