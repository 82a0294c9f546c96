//! Destructive tools wait for a person.

use serde_json::json;
use toolroom_contract::error::PendingKind;
use toolroom_contract::ids::PendingId;
use toolroom_contract::{ErrorCode, Principal};
use toolroom_runtime::Reply;
use toolroom_runtime::journal::Status;
use toolroom_store::pending::Decision;

use crate::test_runtime::{TestRuntime, data, error};
use crate::tools::{Tool, count, counter, mutation};

fn pending(reply: &Reply) -> PendingId {
    error(reply, ErrorCode::ApprovalRequired).pending.as_ref().unwrap().id
}

struct Waiting {
    runtime: TestRuntime,
    runs: std::sync::Arc<std::sync::atomic::AtomicUsize>,
    who: std::sync::Arc<Principal>,
}

async fn waiting_with(change: impl FnOnce(Tool) -> Tool) -> Waiting {
    let runs = counter();
    let runtime = TestRuntime::new(vec![change(mutation("drop-note").destructive().counts(&runs)).build()]);
    let who = runtime.owner().await;
    Waiting { runtime, runs, who }
}

async fn waiting() -> Waiting {
    waiting_with(|tool| tool).await
}

#[tokio::test]
async fn a_destructive_tool_waits_for_approval_and_is_not_run() {
    let Waiting { runtime, runs, who } = waiting().await;
    let reply = runtime.call(&who, "drop-note", json!({ "n": 7 })).await;
    let body = error(&reply, ErrorCode::ApprovalRequired);
    let notice = body.pending.as_ref().unwrap();
    assert_eq!(notice.kind, PendingKind::Approval);
    assert_eq!(notice.prompt["arguments"], json!({ "n": 7 }));
    assert!(notice.expires_at > jiff::Timestamp::now());
    assert_eq!((reply.http_status(), count(&runs)), (202, 0));
    assert_eq!(runtime.row(reply.execution_id).status, Status::Pending);
}

#[tokio::test]
async fn an_approved_call_runs_once() {
    let Waiting { runtime, runs, who } = waiting().await;
    let id = pending(&runtime.call(&who, "drop-note", json!({ "n": 7 })).await);
    // Undecided, it still waits, and asks no second time.
    let early = runtime.ask(&who, "drop-note").params(json!({ "n": 7 })).approval(id).send().await;
    assert_eq!(pending(&early), id);
    assert_eq!(pending(&runtime.call(&who, "drop-note", json!({ "n": 7 })).await), id);
    runtime.decide(id, Decision::Approve).await;
    let again = || runtime.ask(&who, "drop-note").params(json!({ "n": 7 })).approval(id).send();
    data(&again().await);
    error(&again().await, ErrorCode::ApprovalExpired);
    assert_eq!(count(&runs), 1);
    assert_ne!(pending(&runtime.call(&who, "drop-note", json!({ "n": 7 })).await), id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_use_one_approval_at_once_one_runs() {
    let Waiting { runtime, runs, who } = waiting().await;
    let id = pending(&runtime.call(&who, "drop-note", json!({})).await);
    runtime.decide(id, Decision::Approve).await;
    let calls: Vec<_> = (0..50).map(|_| runtime.ask(&who, "drop-note").approval(id).spawn()).collect();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn an_approval_is_bound_to_its_arguments_and_its_caller() {
    let Waiting { runtime, runs, who } = waiting().await;
    let id = pending(&runtime.call(&who, "drop-note", json!({ "n": 7 })).await);
    runtime.decide(id, Decision::Approve).await;
    let other = runtime.user("other", &["*"]).await;
    let edited = runtime.ask(&who, "drop-note").params(json!({ "n": 8 })).approval(id).send().await;
    let stolen = runtime.ask(&other, "drop-note").params(json!({ "n": 7 })).approval(id).send().await;
    let on_behalf =
        runtime.ask(&who, "drop-note").params(json!({ "n": 7 })).acting_as("other").approval(id).send().await;
    let made_up =
        runtime.ask(&who, "drop-note").params(json!({ "n": 7 })).approval(PendingId::new()).send().await;
    for reply in [&edited, &stolen, &on_behalf, &made_up] {
        error(reply, ErrorCode::NotFound);
    }
    assert_eq!(count(&runs), 0);
    data(&runtime.ask(&who, "drop-note").params(json!({ "n": 7 })).approval(id).send().await);
}

#[tokio::test]
async fn a_denied_call_does_not_run() {
    let Waiting { runtime, runs, who } = waiting().await;
    let id = pending(&runtime.call(&who, "drop-note", json!({})).await);
    runtime.decide(id, Decision::Deny(None)).await;
    // Whoever waited for this decision hears it; a call of its own asks anew.
    for _ in 0..2 {
        error(&runtime.ask(&who, "drop-note").approval(id).send().await, ErrorCode::ApprovalDenied);
    }
    error(&runtime.call(&who, "drop-note", json!({})).await, ErrorCode::ApprovalRequired);
    assert_eq!(count(&runs), 0);
}

#[tokio::test]
async fn an_approval_that_came_too_late_does_not_run() {
    let Waiting { runtime, runs, who } = waiting().await;
    // Asked by a call of two hours ago, for an hour.
    runtime.clock.advance_ms(-2 * 3_600_000);
    let id = pending(&runtime.call(&who, "drop-note", json!({})).await);
    let reply = runtime.ask(&who, "drop-note").approval(id).send().await;
    error(&reply, ErrorCode::ApprovalExpired);
    assert_eq!(count(&runs), 0);
    runtime.clock.advance_ms(2 * 3_600_000);
    assert_ne!(pending(&runtime.call(&who, "drop-note", json!({})).await), id);
}

#[tokio::test]
async fn after_the_decision_the_same_call_goes_through_without_an_id() {
    let Waiting { runtime, runs, who } = waiting().await;
    let id = pending(&runtime.call(&who, "drop-note", json!({})).await);
    runtime.decide(id, Decision::Approve).await;
    data(&runtime.call(&who, "drop-note", json!({})).await);
    error(&runtime.call(&who, "drop-note", json!({})).await, ErrorCode::ApprovalRequired);
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn a_call_that_resumes_goes_through_every_check_again() {
    let Waiting { runtime, runs, who } = waiting_with(|tool| tool.limited(2, 60_000)).await;
    let id = pending(&runtime.call(&who, "drop-note", json!({})).await);
    runtime.decide(id, Decision::Approve).await;
    let without = runtime.user("owner", &["cards:read"]).await;
    error(&runtime.ask(&without, "drop-note").approval(id).send().await, ErrorCode::ToolNotFound);
    pending(&runtime.call(&who, "drop-note", json!({ "n": 1 })).await);
    assert_eq!(count(&runs), 0);
    // It was counted when it asked; once the decision is used up, it is a call like any other.
    data(&runtime.ask(&who, "drop-note").approval(id).send().await);
    error(&runtime.ask(&who, "drop-note").approval(id).send().await, ErrorCode::RateLimited);
    assert_eq!(count(&runs), 1);
}

#[tokio::test]
async fn secrets_are_masked_in_what_the_person_is_shown() {
    let Waiting { runtime, who, .. } = waiting_with(|tool| {
        tool.params(
            json!({ "pin": { "type": "string", "description": "A pin.", "maxLength": 9, "writeOnly": true } }),
            &["pin"],
            json!({ "pin": "1" }),
        )
    })
    .await;
    let reply = runtime.call(&who, "drop-note", json!({ "pin": "CANARY" })).await;
    let notice = error(&reply, ErrorCode::ApprovalRequired).pending.clone().unwrap();
    assert_eq!(notice.prompt["arguments"]["pin"], "[masked]");
    assert!(!runtime.journal_text().contains("CANARY"));
}

#[tokio::test]
async fn what_a_conversation_asks_is_one_matter_and_counts_in_that_conversation_alone() {
    use toolroom_contract::context::{Confirm, Dialogue};
    let Waiting { runtime, runs, who } = waiting().await;
    let talk = |scope: &str, asks: bool| {
        let confirm =
            asks.then(|| Confirm { ttl: std::time::Duration::from_secs(300), message: "Drop it?".into() });
        Some(std::sync::Arc::new(Dialogue { scope: scope.into(), confirm }))
    };
    let ask = |dialogue| runtime.ask(&who, "drop-note").context(|context| context.dialogue = dialogue);
    let reply = ask(talk("one", true)).send().await;
    let notice = error(&reply, ErrorCode::ApprovalRequired).pending.clone().unwrap();
    assert_eq!(notice.prompt["message"], "Drop it?");
    // A call outside of it has a request of its own.
    assert_ne!(pending(&runtime.call(&who, "drop-note", json!({})).await), notice.id);
    runtime.decide(notice.id, Decision::Approve).await;
    error(&runtime.ask(&who, "drop-note").approval(notice.id).send().await, ErrorCode::NotFound);
    error(&ask(talk("two", false)).approval(notice.id).send().await, ErrorCode::NotFound);
    assert_eq!(count(&runs), 0);
    data(&ask(talk("one", false)).approval(notice.id).send().await);
    error(&ask(talk("one", false)).approval(notice.id).send().await, ErrorCode::ApprovalExpired);
    assert_eq!(count(&runs), 1);
}
