//! Soft deletes, restores and the purge.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use toolroom_contract::ErrorCode;
use toolroom_packs::tasks::{TaskSettings, purge};

use crate::test_tools::{on_both, on_both_with};

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_task_is_gone_until_it_is_restored() {
    on_both(|tools| async move {
        let id = tools.create("Buy milk").await;
        let gone = tools.answer("delete-task", json!({ "taskId": id })).await.unwrap();
        assert_eq!(gone.data, json!({ "deleted": true, "taskId": id, "title": "Buy milk" }));
        assert_eq!(gone.hints.next[0].action, "restore-task");
        assert_eq!(gone.hints.next[0].data.as_ref().unwrap()["taskId"], id);
        for tool in ["get-task", "update-task", "complete-task", "delete-task"] {
            assert_eq!(tools.refused(tool, json!({ "taskId": id })).await.code, ErrorCode::NotFound);
        }
        assert_eq!(tools.total().await, 0);
        let back = tools.call("restore-task", json!({ "taskId": id })).await;
        assert_eq!((&back["task"]["title"], &back["task"]["version"]), (&json!("Buy milk"), &json!(3)));
        assert_eq!(tools.call("restore-task", json!({ "taskId": id })).await, back);
        assert_eq!(purge(&tools.store, &TaskSettings::default(), Timestamp::now()).await.unwrap(), 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_nothing_kept_a_delete_is_final_and_says_so() {
    let settings = TaskSettings { keep_deleted_days: 0, ..TaskSettings::default() };
    on_both_with(settings, |tools| async move {
        let id = tools.create("Buy milk").await;
        let gone = tools.answer("delete-task", json!({ "taskId": id })).await.unwrap();
        assert!(gone.hints.next.is_empty());
        assert_eq!(tools.refused("restore-task", json!({ "taskId": id })).await.code, ErrorCode::NotFound);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purge_removes_what_was_deleted_too_long_ago() {
    on_both(|tools| async move {
        let id = tools.create("Buy milk").await;
        tools.call("delete-task", json!({ "taskId": id })).await;
        let none = TaskSettings { keep_deleted_days: 0, ..TaskSettings::default() };
        assert_eq!(purge(&tools.store, &TaskSettings::default(), Timestamp::now()).await.unwrap(), 0);
        assert_eq!(purge(&tools.store, &none, Timestamp::now()).await.unwrap(), 1);
        assert_eq!(tools.refused("restore-task", json!({ "taskId": id })).await.code, ErrorCode::NotFound);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_step_of_the_clock_a_deleted_task_can_still_be_restored() {
    on_both(|tools| async move {
        let id = tools.create("Buy milk").await;
        let user = tools.context.user.as_ref().unwrap().id;
        // The clock was at this when the task was deleted and at the last round of the upkeep, a moment ago.
        let before_the_step = Timestamp::now() - SignedDuration::from_hours(40 * 24);
        let delete = move |unit: &mut toolroom_store::Unit<'_>| {
            unit.now = before_the_step;
            toolroom_store::plausible_time::note_round(unit, before_the_step)?;
            toolroom_store::tasks::delete(unit, user, toolroom_contract::ids::TaskId(id), None, "test")
        };
        let _ = tools.store.write::<_, toolroom_store::StoreError, _>(delete).await.unwrap();
        let back = tools.call("restore-task", json!({ "taskId": id })).await;
        assert_eq!(back["task"]["title"], "Buy milk");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_deleted_before_the_kept_days_cannot_be_restored() {
    on_both(|tools| async move {
        let id = tools.create("Buy milk").await;
        let user = tools.context.user.as_ref().unwrap().id;
        // As if it had been deleted 31 days ago.
        let long_ago = Timestamp::now() - SignedDuration::from_hours(31 * 24);
        let delete = move |unit: &mut toolroom_store::Unit<'_>| {
            unit.now = long_ago;
            toolroom_store::tasks::delete(unit, user, toolroom_contract::ids::TaskId(id), None, "test")
        };
        let _ = tools.store.write::<_, toolroom_store::StoreError, _>(delete).await.unwrap();
        assert_eq!(tools.refused("restore-task", json!({ "taskId": id })).await.code, ErrorCode::NotFound);
        assert_eq!(purge(&tools.store, &TaskSettings::default(), Timestamp::now()).await.unwrap(), 1);
    })
    .await;
}
