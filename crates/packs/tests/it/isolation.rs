//! What is not yours does not exist.

use serde_json::{Value, json};
use toolroom_contract::ToolError;
use toolroom_contract::error::ErrorBody;

use crate::test_tools::{TestTools, on_both};

/// Everything of a failure that reaches a caller.
fn bytes(error: &ToolError) -> String {
    json!({ "error": ErrorBody::of(error, true), "next": error.next }).to_string()
}

async fn refusal(tools: &TestTools, tool: &str, mut params: Value, id: i64) -> String {
    params["taskId"] = json!(id);
    bytes(&tools.refused(tool, params).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn another_users_task_and_an_unknown_one_give_equal_refusals() {
    on_both(|tools| async move {
        let (theirs, deleted) = (tools.create("Secret plan").await, tools.create("Old plan").await);
        tools.call("delete-task", json!({ "taskId": deleted })).await;
        let bob = tools.for_user("bob").await;
        for (tool, params) in [
            ("get-task", json!({})),
            ("update-task", json!({ "title": "Mine now" })),
            ("update-task", json!({ "addTags": ["x"] })),
            ("update-task", json!({ "title": "x", "expectedVersion": 1 })),
            ("complete-task", json!({})),
            ("complete-task", json!({ "expectedVersion": 9 })),
            ("delete-task", json!({})),
            ("restore-task", json!({})),
        ] {
            let unknown = refusal(&bob, tool, params.clone(), 4_000_000).await;
            for id in [theirs, deleted] {
                assert_eq!(refusal(&bob, tool, params.clone(), id).await, unknown, "{tool} {params}");
            }
        }
        let batch = |id: i64| json!({ "operations": [{ "op": "complete", "taskId": id }] });
        let unknown = bytes(&bob.refused("batch-tasks", batch(4_000_000)).await);
        assert_eq!(bytes(&bob.refused("batch-tasks", batch(theirs)).await), unknown);
        let task = tools.call("get-task", json!({ "taskId": theirs })).await["task"].clone();
        assert_eq!((&task["title"], &task["version"]), (&json!("Secret plan"), &json!(1)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_searches_and_hints_show_nothing_of_others() {
    on_both(|tools| async move {
        tools
            .call("create-task", json!({ "title": "Secret plan", "due": "2020-01-01", "tags": ["t"] }))
            .await;
        let bob = tools.for_user("bob").await;
        let made = bob.answer("create-task", json!({ "title": "Secret plan", "tags": ["t"] })).await.unwrap();
        assert!(made.hints.warnings.is_empty());
        for params in
            [json!({}), json!({ "tag": "t" }), json!({ "text": "secret" }), json!({ "whole": true })]
        {
            let list = bob.answer("list-tasks", params).await.unwrap();
            assert_eq!(list.data["total"], 1);
            assert!(list.hints.related.is_empty());
        }
        let found = bob.call("find-tasks", json!({ "query": "secret plan" })).await;
        assert_eq!(found["matches"].as_array().unwrap().len(), 1);
        assert_eq!(found["matches"][0]["task"]["taskId"], made.data["task"]["taskId"]);
    })
    .await;
}
