//! Idempotency keys: one effect, one answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use toolroom_contract::context::Claim;
use toolroom_contract::error::Outcome;
use toolroom_contract::ids::RunId;
use toolroom_contract::{Ending, ErrorCode, ToolError};
use toolroom_store::{StoreError, idempotency};

use crate::test_runtime::{TestRuntime, data, error};
use crate::tools::{Gate, count, counter, done, mutation};

/// The two ways in which a record is written: by the tool with its effect, and by the pipeline around it.
fn both(effects: &Arc<std::sync::atomic::AtomicUsize>) -> TestRuntime {
    TestRuntime::with_store(|store| {
        vec![
            mutation("store-note").stores(store, effects).build(),
            mutation("set-note").counts(effects).build(),
        ]
    })
}

const BOTH: [&str; 2] = ["store-note", "set-note"];

#[tokio::test]
async fn the_same_key_and_body_give_the_first_answer_again() {
    for name in BOTH {
        let effects = counter();
        let runtime = both(&effects);
        let who = runtime.owner().await;
        let first = runtime.ask(&who, name).params(json!({ "n": 1 })).key("k").send().await;
        let again = runtime.ask(&who, name).params(json!({ "n": 1.0 })).key("k").send().await;
        assert_eq!((data(&first), count(&effects)), (data(&again), 1), "{name}");
        assert!(!first.result.metadata.replayed && again.result.metadata.replayed);
        assert!(runtime.row(again.execution_id).replayed);
        runtime.ask(&who, name).params(json!({ "n": 1 })).key("other").send().await;
        runtime.ask(&who, name).params(json!({ "n": 1 })).send().await;
        assert_eq!(count(&effects), 3);
    }
}

#[tokio::test]
async fn the_same_key_with_another_body_or_tool_is_a_conflict() {
    let effects = counter();
    let runtime = both(&effects);
    let who = runtime.owner().await;
    for (name, other) in [("store-note", "set-note"), ("set-note", "store-note")] {
        data(&runtime.ask(&who, name).key(name).send().await);
        let body = runtime.ask(&who, name).params(json!({ "n": 2 })).key(name).send().await;
        error(&body, ErrorCode::IdempotencyConflict);
        error(&runtime.ask(&who, other).key(name).send().await, ErrorCode::IdempotencyConflict);
    }
    assert_eq!(count(&effects), 2);
}

#[tokio::test]
async fn a_key_whose_call_still_runs_is_in_progress() {
    let gate = Gate::default();
    let runtime = TestRuntime::new(vec![gate.before(mutation("set-note")).build()]);
    let who = runtime.owner().await;
    let first = runtime.ask(&who, "set-note").key("k").spawn();
    gate.begun.notified().await;
    let second = runtime.ask(&who, "set-note").key("k").send().await;
    let body = error(&second, ErrorCode::InProgress);
    assert!(body.retryable && body.retry_after.is_some());
    gate.release.notify_one();
    data(&first.await.unwrap());
    assert!(runtime.ask(&who, "set-note").key("k").send().await.result.metadata.replayed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_concurrent_calls_with_one_key_have_one_effect() {
    for name in BOTH {
        let effects = counter();
        let runtime = both(&effects);
        let who = runtime.owner().await;
        let calls: Vec<_> = (0..100).map(|_| runtime.ask(&who, name).key("k").spawn()).collect();
        let mut answers: Vec<Value> = Vec::new();
        for call in calls {
            let reply = call.await.unwrap();
            match reply.result.error() {
                None => answers.push(data(&reply).clone()),
                Some(body) => assert_eq!(body.code, ErrorCode::InProgress),
            }
        }
        assert_eq!(count(&effects), 1, "{name}");
        assert!(!answers.is_empty() && answers.iter().all(|answer| *answer == answers[0]));
    }
}

#[tokio::test]
async fn a_call_that_another_run_left_started_has_an_unknown_outcome() {
    let runs = counter();
    let (folder, before) = (tempfile::tempdir().unwrap(), RunId::new());
    let runtime =
        TestRuntime::on(folder, |_| vec![mutation("set-note").counts(&runs).build()], Vec::new()).unwrap();
    let who = runtime.owner().await;
    let body_hash = toolroom_contract::canonical::digest("set-note", &json!({})).to_hex();
    let claim = Claim { user: who.user.id, key: "k".into(), body_hash, run: before };
    let begun: Result<_, StoreError> =
        runtime.runtime.store.write(move |unit| idempotency::begin(unit, &claim)).await;
    assert_eq!(begun.unwrap(), idempotency::Begun::Fresh);
    let reply = runtime.ask(&who, "set-note").key("k").send().await;
    let body = error(&reply, ErrorCode::ToolExecutionError);
    assert_eq!((body.outcome, body.retryable), (Some(Outcome::Unknown), false));
    assert_eq!(count(&runs), 0);
}

#[tokio::test]
async fn a_call_that_did_not_run_may_be_repeated_under_its_key() {
    let runs = counter();
    let ran = Arc::clone(&runs);
    let runtime = TestRuntime::new(vec![
        mutation("set-note")
            .runs(move |_, _| {
                let run = ran.fetch_add(1, Ordering::SeqCst);
                async move {
                    if run == 0 {
                        return Ending::Failed(ToolError::new(ErrorCode::VersionConflict, "Changed since."));
                    }
                    done(json!({ "run": run }))
                }
            })
            .build(),
        mutation("drop-note").destructive().counts(&runs).build(),
    ]);
    let who = runtime.owner().await;
    error(&runtime.ask(&who, "set-note").key("a").send().await, ErrorCode::VersionConflict);
    let reply = runtime.ask(&who, "set-note").key("a").send().await;
    assert!(!reply.result.metadata.replayed && data(&reply)["run"] == 1);
    // Nor does a call that waits for approval, or is refused because of the journal, use its key up.
    let waiting = runtime.ask(&who, "drop-note").key("b").send().await;
    error(&waiting, ErrorCode::ApprovalRequired);
    error(&runtime.ask(&who, "drop-note").key("b").send().await, ErrorCode::ApprovalRequired);
    let disk = runtime.fill_disk();
    error(&runtime.ask(&who, "set-note").key("c").send().await, ErrorCode::JournalUnavailable);
    disk.free();
    data(&runtime.ask(&who, "set-note").key("c").send().await);
}

#[tokio::test]
async fn a_call_that_may_have_run_is_not_repeated_under_its_key() {
    let runs = counter();
    let ran = Arc::clone(&runs);
    let runtime = TestRuntime::new(vec![
        mutation("set-note")
            .runs(move |_, _| {
                ran.fetch_add(1, Ordering::SeqCst);
                async { panic!("after the effect") }
            })
            .build(),
    ]);
    let who = runtime.owner().await;
    error(&runtime.ask(&who, "set-note").key("k").send().await, ErrorCode::Internal);
    let again = runtime.ask(&who, "set-note").key("k").send().await;
    assert_eq!(error(&again, ErrorCode::ToolExecutionError).outcome, Some(Outcome::Unknown));
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn a_cancelled_call_leaves_its_key_with_an_unknown_outcome() {
    let gate = Gate::default();
    let runtime = TestRuntime::new(vec![gate.before(mutation("set-note")).build()]);
    let who = runtime.owner().await;
    let call = runtime.ask(&who, "set-note").key("k").spawn();
    gate.begun.notified().await;
    call.abort();
    assert!(call.await.is_err());
    let again = runtime.ask(&who, "set-note").key("k").send().await;
    assert_eq!(error(&again, ErrorCode::ToolExecutionError).outcome, Some(Outcome::Unknown));
    assert_eq!(gate.runs(), 1);
}

#[tokio::test]
async fn keys_are_per_user() {
    for name in BOTH {
        let effects = counter();
        let runtime = both(&effects);
        for user in ["ann", "bob"] {
            let who = runtime.user(user, &["*"]).await;
            let reply = runtime.ask(&who, name).key("k").send().await;
            assert!(!reply.result.metadata.replayed);
        }
        assert_eq!(count(&effects), 2);
    }
}

#[tokio::test]
async fn the_first_answer_is_given_again_after_a_restart() {
    let effects = counter();
    let runtime = both(&effects);
    let who = runtime.owner().await;
    let mut first = Vec::new();
    for name in BOTH {
        first.push(data(&runtime.ask(&who, name).params(json!({ "n": 7 })).key(name).send().await).clone());
    }
    let TestRuntime { runtime, folder, .. } = runtime;
    drop(runtime);
    let runtime = TestRuntime::on(
        folder,
        |store| {
            vec![
                mutation("store-note").stores(store, &effects).build(),
                mutation("set-note").counts(&effects).build(),
            ]
        },
        Vec::new(),
    )
    .unwrap();
    let who = runtime.owner().await;
    for (name, first) in BOTH.into_iter().zip(first) {
        let again = runtime.ask(&who, name).params(json!({ "n": 7 })).key(name).send().await;
        assert!(again.result.metadata.replayed);
        assert_eq!(*data(&again), first);
    }
    assert_eq!(count(&effects), 2);
}

#[tokio::test]
async fn a_key_that_is_no_key_is_refused() {
    let effects = counter();
    let runtime = both(&effects);
    let who = runtime.owner().await;
    for key in ["", "a\nb", &"x".repeat(256)] {
        error(&runtime.ask(&who, "set-note").key(key).send().await, ErrorCode::InvalidInput);
    }
    assert_eq!(count(&effects), 0);
}
