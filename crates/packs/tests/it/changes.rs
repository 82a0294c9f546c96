//! Tasks made and changed: only what is named, null clears, tags as a set, versions that move with every change.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use toolroom_contract::ErrorCode;

use crate::test_tools::{first_detail, on_both};

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_made_with_defaults_and_read_back_equal() {
    on_both(|tools| async move {
        let made = tools.call("create-task", json!({ "title": "  Büro 🗂  " })).await;
        let task = &made["task"];
        assert_eq!(
            (&task["title"], &task["priority"], &task["status"]),
            (&json!("Büro 🗂"), &json!("medium"), &json!("pending"))
        );
        assert_eq!(
            (&task["description"], &task["due"], &task["tags"]),
            (&Value::Null, &Value::Null, &json!([]))
        );
        assert_eq!((&task["version"], &task["completedAt"]), (&json!(1), &Value::Null));
        assert!(made.get("dueEcho").is_none());
        let read = tools.call("get-task", json!({ "taskId": task["taskId"] })).await;
        assert_eq!(read["task"], *task);
        assert_eq!(tools.commits.load(Ordering::Relaxed), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_can_be_made_as_completed_already() {
    on_both(|tools| async move {
        let made = tools.call("create-task", json!({ "title": "Done", "status": "completed" })).await;
        assert_eq!(made["task"]["status"], "completed");
        assert!(made["task"]["completedAt"].is_string());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_changes_what_is_named_and_null_clears() {
    on_both(|tools| async move {
        let all = json!({ "title": "A", "description": "d", "priority": "high", "due": "2026-12-24", "tags": ["x"] });
        let id = tools.call("create-task", all).await["task"]["taskId"].clone();
        let update = async |params: Value| {
            let mut params = params;
            params["taskId"] = id.clone();
            tools.call("update-task", params).await
        };
        let one = update(json!({ "priority": "low" })).await;
        assert_eq!(one["changed"], json!(["priority"]));
        assert_eq!((&one["task"]["description"], &one["task"]["version"]), (&json!("d"), &json!(2)));
        let cleared = update(json!({ "description": null, "due": null, "tags": null })).await;
        assert_eq!(cleared["changed"], json!(["description", "due", "tags"]));
        let task = &cleared["task"];
        assert_eq!((&task["description"], &task["due"], &task["tags"]), (&Value::Null, &Value::Null, &json!([])));
        assert_eq!((&task["title"], &task["priority"]), (&json!("A"), &json!("low")));
        assert!(cleared.get("dueEcho").is_none());
        let done = update(json!({ "status": "completed", "title": "B" })).await;
        assert_eq!(done["changed"], json!(["title", "status"]));
        assert!(done["task"]["completedAt"].is_string());
        assert_eq!(update(json!({ "status": "pending" })).await["task"]["completedAt"], Value::Null);
        let blank = update(json!({ "description": "   " })).await;
        assert_eq!((&blank["changed"], &blank["task"]["description"]), (&json!([]), &Value::Null));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_given_or_nothing_different_leaves_the_version() {
    on_both(|tools| async move {
        let id = tools.create("A").await;
        for params in [
            json!({ "taskId": id }),
            json!({ "taskId": id, "title": " A ", "priority": "medium", "tags": [] }),
        ] {
            let same = tools.call("update-task", params).await;
            assert_eq!((&same["changed"], &same["task"]["version"]), (&json!([]), &json!(1)));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_are_set_added_and_removed_each_once_whatever_the_case() {
    on_both(|tools| async move {
        let made =
            tools.call("create-task", json!({ "title": "T", "tags": [" Home ", "home", "work"] })).await;
        assert_eq!(made["task"]["tags"], json!(["Home", "work"]));
        let id = &made["task"]["taskId"];
        for (params, tags) in [
            (json!({ "addTags": ["HOME", "new"] }), json!(["Home", "work", "new"])),
            (json!({ "removeTags": ["home", "absent"] }), json!(["work", "new"])),
            (json!({ "removeTags": ["new"], "addTags": ["x"] }), json!(["work", "x"])),
            (json!({ "tags": ["a"], "addTags": ["b"] }), json!(["a", "b"])),
            (json!({ "tags": [] }), json!([])),
        ] {
            let mut params = params;
            params["taskId"] = id.clone();
            assert_eq!(tools.call("update-task", params.clone()).await["task"]["tags"], tags, "{params}");
        }
        let twenty: Vec<String> = (0..20).map(|n| format!("t{n}")).collect();
        tools.call("update-task", json!({ "taskId": id, "tags": twenty })).await;
        let error = tools.refused("update-task", json!({ "taskId": id, "addTags": ["one more"] })).await;
        assert_eq!(first_detail(&error), ("/addTags", "must leave the task with at most 20 tags"));
        tools
            .call("update-task", json!({ "taskId": id, "addTags": ["one more"], "removeTags": ["T0"] }))
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn completing_is_idempotent_and_can_be_taken_back() {
    on_both(|tools| async move {
        let id = tools.create("A").await;
        let done = tools.call("complete-task", json!({ "taskId": id })).await;
        assert_eq!((&done["changed"], &done["task"]["status"]), (&json!(["status"]), &json!("completed")));
        let again = tools.call("complete-task", json!({ "taskId": id })).await;
        assert_eq!((&again["changed"], &again["task"]), (&json!([]), &done["task"]));
        let open = tools.call("complete-task", json!({ "taskId": id, "completed": false })).await;
        assert_eq!(
            (&open["task"]["status"], &open["task"]["completedAt"]),
            (&json!("pending"), &Value::Null)
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_expects_another_version_conflicts_and_says_which_is_current() {
    on_both(|tools| async move {
        let id = tools.create("A").await;
        tools.call("update-task", json!({ "taskId": id, "title": "B", "expectedVersion": 1 })).await;
        for (tool, params) in [
            ("update-task", json!({ "taskId": id, "title": "C", "expectedVersion": 1 })),
            ("update-task", json!({ "taskId": id, "addTags": ["c"], "expectedVersion": 1 })),
            ("complete-task", json!({ "taskId": id, "expectedVersion": 1 })),
            ("delete-task", json!({ "taskId": id, "expectedVersion": 1 })),
        ] {
            let error = tools.refused(tool, params).await;
            assert_eq!(error.code, ErrorCode::VersionConflict);
            assert_eq!(error.data.as_deref(), Some(&json!({ "currentVersion": 2 })));
            assert_eq!(error.next[0].action, "get-task");
            assert_eq!(error.next[0].data.as_ref().unwrap()["taskId"], id);
        }
        assert_eq!(tools.call("get-task", json!({ "taskId": id })).await["task"]["version"], 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_number_may_be_written_with_a_point() {
    on_both(|tools| async move {
        let id = tools.create("A").await;
        let params = json!({ "taskId": id as f64, "expectedVersion": 1.0, "title": "B" });
        assert_eq!(tools.call("update-task", params).await["task"]["title"], "B");
    })
    .await;
}
