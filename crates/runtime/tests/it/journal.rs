//! The journal as the pipeline writes it.

use serde_json::json;
use toolroom_contract::{Ending, ErrorCode, ToolError};
use toolroom_runtime::journal::Status;

use crate::test_runtime::{TestRuntime, data, error};
use crate::tools::{Gate, count, counter, done, mutation, query};

#[tokio::test]
async fn without_a_journal_nothing_runs() {
    let runs = counter();
    let runtime = TestRuntime::new(vec![
        query("get-note").counts(&runs).build(),
        query("get-kept").cached(60).counts(&runs).build(),
        mutation("set-note").counts(&runs).build(),
    ]);
    let who = runtime.owner().await;
    data(&runtime.call(&who, "get-kept", json!({ "n": 1 })).await);
    let disk = runtime.fill_disk();
    for (name, params) in [("get-note", json!({})), ("set-note", json!({})), ("get-kept", json!({ "n": 2 }))]
    {
        let reply = runtime.call(&who, name, params).await;
        let body = error(&reply, ErrorCode::JournalUnavailable);
        assert!(body.retryable && body.retry_after.is_some() && reply.http_status() == 503);
    }
    // A kept answer whose one record cannot be written is refused like any other.
    let kept = runtime.call(&who, "get-kept", json!({ "n": 1 })).await;
    error(&kept, ErrorCode::JournalUnavailable);
    assert_eq!(count(&runs), 1);
    assert!(runtime.meter("toolroom_journal_failures_total") >= 4.0);
    disk.free();
    data(&runtime.call(&who, "get-note", json!({})).await);
    assert_eq!(runtime.call(&who, "get-kept", json!({ "n": 1 })).await.result.metadata.cached, Some(true));
}

#[tokio::test]
async fn when_only_the_end_cannot_be_written_the_result_has_a_warning() {
    let gate = Gate::default();
    let runtime = TestRuntime::new(vec![gate.before(mutation("set-note")).build()]);
    let who = runtime.owner().await;
    let call = runtime.ask(&who, "set-note").spawn();
    gate.begun.notified().await;
    let disk = runtime.fill_disk();
    gate.release.notify_one();
    let reply = call.await.unwrap();
    data(&reply);
    let warnings = &reply.result.agent_hints.warnings;
    assert!(warnings.iter().any(|warning| warning.message.contains("execution log")), "{warnings:?}");
    disk.free();
    // The end is written once the disk takes records again.
    assert_eq!(runtime.runtime.journal.healthy(), Ok(()));
    assert_eq!(runtime.row(reply.execution_id).status, Status::Ok);
}

#[tokio::test]
async fn secrets_are_masked_in_the_journal() {
    let text = |more: serde_json::Value| {
        let mut schema = json!({ "type": "string", "description": "A text.", "maxLength": 99 });
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    let runtime = TestRuntime::new(vec![
        mutation("set-login")
            .params(
                json!({
                    "password": text(json!({})), "pin": text(json!({ "writeOnly": true })),
                    "code": text(json!({ "format": "password" })), "plain": text(json!({}))
                }),
                &[],
                json!({}),
            )
            .runs(|params, _| async move {
                if params["plain"] == "fail" {
                    let data = json!({ "token": "CANARY-5" });
                    return Ending::Failed(ToolError::new(ErrorCode::VersionConflict, "No.").with_data(data));
                }
                done(json!({ "api_key": "CANARY-4", "shown": "plain" }))
            })
            .build(),
    ]);
    let (who, nobody) = (runtime.owner().await, runtime.user("nobody", &[]).await);
    let secrets = json!({ "password": "CANARY-1", "pin": "CANARY-2", "code": "CANARY-3", "plain": "seen" });
    data(&runtime.call(&who, "set-login", secrets.clone()).await);
    let mut failing = secrets.clone();
    failing["plain"] = json!("fail");
    error(&runtime.call(&who, "set-login", failing).await, ErrorCode::VersionConflict);
    error(&runtime.call(&nobody, "set-login", secrets.clone()).await, ErrorCode::ToolNotFound);
    runtime.call(&who, "call-tool", json!({ "name": "set-login", "params": secrets })).await;
    let mut bad = secrets;
    bad["plain"] = json!(1);
    error(&runtime.call(&who, "set-login", bad).await, ErrorCode::InvalidInput);
    let text = runtime.journal_text();
    assert!(!text.contains("CANARY"), "{text}");
    assert!(text.contains("seen") && text.contains("[masked]"));
    assert_eq!(runtime.rows().len(), 5);
}

#[tokio::test]
async fn injected_lines_stay_within_one_row() {
    let runtime = TestRuntime::new(vec![
        mutation("set-note")
            .params(
                json!({ "text": { "type": "string", "description": "The text.", "maxLength": 999 } }),
                &["text"],
                json!({ "text": "a" }),
            )
            .runs(|params, _| async move { done(json!({ "text": params["text"] })) })
            .build(),
    ]);
    let who = runtime.owner().await;
    let fake =
        "x\n{ \"t\":\"start\",\"id\":\"019a8670-0000-7000-8000-000000000001\"}\r\n\u{1b}[31mred\u{0}\u{2028}";
    let reply = runtime
        .ask(&who, "set-note")
        .params(json!({ "text": fake }))
        .context(|context| {
            context.agent_id = Some(fake.into());
            context.correlation_id = Some(fake.into());
        })
        .send()
        .await;
    assert_eq!(data(&reply)["text"], fake);
    runtime.call(&who, fake, json!({ fake: fake })).await;
    let rows = runtime.rows();
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].agent_id.as_str(), rows[0].correlation_id.as_str()), (fake, fake));
    let page = runtime.reader().page(&Default::default()).unwrap();
    assert_eq!((page.rows.len(), page.skipped), (2, 0));
    assert!(!runtime.journal_text().contains('\u{1b}') && !runtime.journal_text().contains('\0'));
}

#[tokio::test]
async fn every_call_is_exactly_one_row_whatever_became_of_it() {
    let gate = Gate::default();
    let runtime = TestRuntime::new(vec![
        query("get-note").build(),
        query("get-kept").cached(60).build(),
        mutation("drop-note").destructive().build(),
        query("get-limited").limited(1, 60_000).build(),
        gate.before(query("get-never").within(0.01)).build(),
    ]);
    let (who, nobody) = (runtime.owner().await, runtime.user("nobody", &[]).await);
    let mut expected = Vec::new();
    for (user, name, status) in [
        (&who, "get-note", Status::Ok),
        (&nobody, "get-note", Status::Error),
        (&who, "no-such", Status::Error),
        (&who, "get-kept", Status::Ok),
        (&who, "get-kept", Status::Ok),
        (&who, "drop-note", Status::Pending),
        (&who, "get-limited", Status::Ok),
        (&who, "get-limited", Status::Error),
        (&who, "get-never", Status::Timeout),
    ] {
        let reply = runtime.call(user, name, json!({})).await;
        expected.push((reply.execution_id, status));
    }
    let rows: Vec<_> = runtime.rows().iter().map(|row| (row.execution_id, row.status)).collect();
    assert_eq!(rows.len(), expected.len());
    assert!(expected.iter().all(|row| rows.contains(row)), "{rows:?}");
}
