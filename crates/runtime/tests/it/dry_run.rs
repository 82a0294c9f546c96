//! A dry run: everything but the effect.

use serde_json::json;
use toolroom_contract::ErrorCode;

use crate::test_runtime::{TestRuntime, data, error};
use crate::tools::{count, counter, mutation, query};

#[tokio::test]
async fn a_dry_run_of_a_mutation_says_what_would_happen_and_does_nothing() {
    let runs = counter();
    let runtime = TestRuntime::new(vec![
        mutation("set-note").previews(json!({ "notes": 3 })).counts(&runs).build(),
        mutation("drop-note").destructive().counts(&runs).build(),
    ]);
    let who = runtime.owner().await;
    let reply = runtime.ask(&who, "set-note").params(json!({ "n": 1 })).dry_run().key("k").send().await;
    assert_eq!(
        *data(&reply),
        json!({
            "dryRun": true, "tool": "set-note", "params": { "n": 1 }, "needsApproval": false,
            "repeatable": false, "preview": { "notes": 3 }
        })
    );
    assert!(reply.result.metadata.dry_run && runtime.row(reply.execution_id).dry_run);
    let waiting = runtime.ask(&who, "drop-note").dry_run().send().await;
    assert_eq!(data(&waiting)["needsApproval"], true);
    assert_eq!(count(&runs), 0);
    // The key is still free.
    assert!(!runtime.ask(&who, "set-note").key("k").send().await.result.metadata.replayed);
}

#[tokio::test]
async fn a_dry_run_is_refused_where_the_call_would_be() {
    let runtime = TestRuntime::new(vec![mutation("set-note").limited(1, 60_000).build()]);
    let (who, nobody) = (runtime.owner().await, runtime.user("nobody", &[]).await);
    error(&runtime.ask(&nobody, "set-note").dry_run().send().await, ErrorCode::ToolNotFound);
    let bad = runtime.ask(&who, "set-note").params(json!({ "n": "bad" })).dry_run().send().await;
    error(&bad, ErrorCode::InvalidInput);
    data(&runtime.ask(&who, "set-note").dry_run().send().await);
    error(&runtime.ask(&who, "set-note").dry_run().send().await, ErrorCode::RateLimited);
}

#[tokio::test]
async fn a_dry_run_of_a_query_runs_it() {
    let runs = counter();
    let runtime = TestRuntime::new(vec![query("get-note").counts(&runs).build()]);
    let who = runtime.owner().await;
    let reply = runtime.ask(&who, "get-note").dry_run().send().await;
    assert_eq!(*data(&reply), json!({ "run": 1 }));
}

#[tokio::test]
async fn a_dry_run_writes_no_secret_to_the_journal() {
    let pin =
        json!({ "pin": { "type": "string", "description": "A pin.", "maxLength": 9, "writeOnly": true } });
    let runtime =
        TestRuntime::new(vec![mutation("set-pin").params(pin, &["pin"], json!({ "pin": "1" })).build()]);
    let who = runtime.owner().await;
    data(&runtime.ask(&who, "set-pin").params(json!({ "pin": "CANARY" })).dry_run().send().await);
    assert!(!runtime.journal_text().contains("CANARY"));
}

#[tokio::test]
async fn a_dry_run_makes_no_user() {
    let runtime = TestRuntime::new(vec![mutation("set-note").build()]);
    let who = runtime.owner().await;
    data(&runtime.ask(&who, "set-note").acting_as("newcomer").dry_run().send().await);
    let found: Result<_, toolroom_store::StoreError> =
        runtime.runtime.store.read(|unit| toolroom_store::users::find(unit, "newcomer")).await;
    assert!(found.unwrap().is_none());
}
