//! Batches: all or nothing, or each alone; a result per operation.

use serde_json::{Value, json};
use toolroom_contract::ErrorCode;

use crate::test_tools::{first_detail, on_both};

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_operation_is_applied_in_order() {
    on_both(|tools| async move {
        let (a, b) = (tools.create("A").await, tools.create("B").await);
        tools.call("delete-task", json!({ "taskId": b })).await;
        let data = tools
            .call(
                "batch-tasks",
                json!({ "operations": [
                { "op": "create", "title": "  C  ", "due": "tomorrow", "tags": ["x"], "status": "completed" },
                { "op": "update", "taskId": a, "title": "A2", "description": null, "addTags": ["y"] },
                { "op": "complete", "taskId": a, "expectedVersion": 2 },
                { "op": "complete", "taskId": a, "completed": false },
                { "op": "restore", "taskId": b }
            ] }),
            )
            .await;
        assert_eq!((&data["applied"], &data["failed"]), (&json!(5), &json!(0)));
        let results = data["results"].as_array().unwrap();
        assert_eq!(
            (&results[0]["task"]["title"], &results[0]["dueEcho"]),
            (&json!("C"), &json!("Monday 2026-11-16"))
        );
        assert_eq!(results[1]["changed"], json!(["title", "tags"]));
        assert_eq!(results[2]["task"]["status"], "completed");
        assert_eq!(
            (&results[3]["task"]["status"], &results[3]["task"]["version"]),
            (&json!("pending"), &json!(4))
        );
        assert_eq!(results[4]["task"]["title"], "B");
        assert_eq!(tools.total().await, 3);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_bad_operation_undoes_an_atomic_batch_and_is_pointed_at() {
    on_both(|tools| async move {
        let id = tools.create("A").await;
        for (bad, code, pointer) in [
            (json!({ "op": "create", "title": " " }), ErrorCode::InvalidInput, "/operations/1/title"),
            (
                json!({ "op": "create", "title": "x".repeat(256) }),
                ErrorCode::InvalidInput,
                "/operations/1/title",
            ),
            (json!({ "op": "create" }), ErrorCode::InvalidInput, "/operations/1/title"),
            (
                json!({ "op": "create", "title": "x", "taskId": 1 }),
                ErrorCode::InvalidInput,
                "/operations/1/taskId",
            ),
            (json!({ "op": "complete" }), ErrorCode::InvalidInput, "/operations/1/taskId"),
            (
                json!({ "op": "update", "taskId": id, "due": "soonish" }),
                ErrorCode::InvalidInput,
                "/operations/1/due",
            ),
            (json!({ "op": "update", "taskId": 999 }), ErrorCode::NotFound, "/operations/1/taskId"),
            (json!({ "op": "restore", "taskId": 999 }), ErrorCode::NotFound, "/operations/1/taskId"),
            (
                json!({ "op": "complete", "taskId": id, "expectedVersion": 7 }),
                ErrorCode::VersionConflict,
                "/operations/1/expectedVersion",
            ),
        ] {
            let operations =
                json!([{ "op": "create", "title": "first" }, bad, { "op": "complete", "taskId": id }]);
            let error = tools.refused("batch-tasks", json!({ "operations": operations })).await;
            assert_eq!((error.code, error.details[0].pointer.as_str()), (code, pointer), "{bad}");
            let data = error.data.unwrap();
            assert_eq!((&data["applied"], &data["failed"]), (&json!(0), &json!(3)));
            let results = data["results"].as_array().unwrap();
            assert_eq!(results[0], json!({ "index": 0, "ok": false }));
            assert_eq!(results[1]["error"]["code"], code.as_str());
        }
        assert_eq!(tools.total().await, 1);
        assert_eq!(tools.call("get-task", json!({ "taskId": id })).await["task"]["version"], 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_atomic_each_operation_stands_alone() {
    on_both(|tools| async move {
        let id = tools.create("A").await;
        let twenty: Vec<String> = (0..20).map(|n| format!("t{n}")).collect();
        let data = tools
            .call(
                "batch-tasks",
                json!({ "atomic": false, "operations": [
                { "op": "create", "title": "" },
                { "op": "update", "taskId": id, "title": "A2", "tags": twenty },
                { "op": "update", "taskId": id, "title": "A3", "addTags": ["one more"] },
                { "op": "complete", "taskId": 999 },
                { "op": "complete", "taskId": id, "expectedVersion": 1 },
                { "op": "create", "title": "B" }
            ] }),
            )
            .await;
        assert_eq!((&data["applied"], &data["failed"]), (&json!(2), &json!(4)));
        let codes: Vec<&Value> =
            data["results"].as_array().unwrap().iter().map(|r| &r["error"]["code"]).collect();
        assert_eq!(
            json!(codes),
            json!(["invalid_input", null, "invalid_input", "not_found", "version_conflict", null])
        );
        assert_eq!(data["results"][4]["error"]["data"], json!({ "currentVersion": 2 }));
        let task = tools.call("get-task", json!({ "taskId": id })).await["task"].clone();
        assert_eq!((&task["title"], &task["version"]), (&json!("A2"), &json!(2)));
        assert_eq!(tools.total().await, 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deletes_and_batches_of_none_or_too_many_are_refused() {
    on_both(|tools| async move {
        let id = tools.create("A").await;
        let delete = json!({ "operations": [{ "op": "delete", "taskId": id }] });
        assert_eq!(first_detail(&tools.refused("batch-tasks", delete).await).0, "/operations/0/op");
        let many: Vec<Value> = (0..101).map(|_| json!({ "op": "create", "title": "x" })).collect();
        for operations in [Vec::new(), many] {
            let params = json!({ "operations": operations });
            assert_eq!(first_detail(&tools.refused("batch-tasks", params.clone()).await).0, "/operations");
            let unchecked = tools.answer_unchecked("batch-tasks", params).await;
            assert_eq!(first_detail(&unchecked.unwrap_err()).0, "/operations");
        }
        assert_eq!(tools.total().await, 1);
    })
    .await;
}
