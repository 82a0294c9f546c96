//! The canonical task tools over `POST /api/v1/tools/{name}/call`.

use serde_json::{Value, json};

use super::databases::on_both;
use super::profile_client::{ProfileClient, titles};
use crate::test_server::TestServer;

async fn ada(server: &TestServer) -> ProfileClient<'_> {
    ProfileClient::new(server, "default", "ada").await
}

/// The data of a call that succeeds.
async fn data(client: &ProfileClient<'_>, tool: &str, params: Value) -> Value {
    let (status, body) = client.call(tool, params).await;
    assert_eq!(status, 200, "{tool}: {body}");
    body["data"].clone()
}

#[tokio::test]
async fn a_task_carries_all_its_fields_and_words_are_said_back_as_a_date() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        let answer = server
            .ask("POST", "/api/v1/tools/create-task/call")
            .key(&ada.key)
            .body(json!({
                "params": {
                    "title": "  Call mom ", "priority": "high", "due": "next friday 3pm", "tags": ["family", "Family"]
                },
                "context": { "timestamp": "2026-11-15T09:00:00Z", "timezone": "Europe/Berlin" },
            }))
            .send()
            .await
            .json();
        let task = &answer["data"]["task"];
        assert_eq!((&task["title"], &task["tags"]), (&json!("Call mom"), &json!(["family"])));
        assert_eq!((&task["status"], &task["version"]), (&json!("pending"), &json!(1)));
        assert_eq!(task["due"], "2026-11-20T14:00:00Z");
        let echo = answer["data"]["dueEcho"].as_str().unwrap();
        assert!(echo.contains("Friday 2026-11-20"), "{echo}");
        let vague = ada.call("create-task", json!({ "title": "A", "due": "friday or so" })).await;
        assert_eq!((vague.0, &vague.1["error"]["details"][0]["pointer"]), (400, &json!("/due")));
    })
    .await;
}

#[tokio::test]
async fn a_change_with_an_old_version_is_a_conflict_that_names_the_new_one() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        data(&ada, "create-task", json!({ "title": "A" })).await;
        let change = |title: &str| json!({ "taskId": 1, "title": title, "expectedVersion": 1 });
        assert_eq!(data(&ada, "update-task", change("B")).await["task"]["version"], 2);
        let (status, body) = ada.call("update-task", change("C")).await;
        assert_eq!((status, &body["error"]["code"]), (409, &json!("version_conflict")));
        assert_eq!(body["error"]["data"]["currentVersion"], 2);
        assert_eq!(data(&ada, "get-task", json!({ "taskId": 1 })).await["task"]["title"], "B");
    })
    .await;
}

#[tokio::test]
async fn null_clears_and_tags_are_added_and_removed() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        data(
            &ada,
            "create-task",
            json!({ "title": "A", "description": "d", "due": "2031-01-30", "tags": ["x", "y"] }),
        )
        .await;
        let params =
            json!({ "taskId": 1, "description": null, "due": null, "addTags": ["z"], "removeTags": ["x"] });
        let changed = data(&ada, "update-task", params).await;
        assert_eq!(changed["changed"], json!(["description", "due", "tags"]));
        assert_eq!((&changed["task"]["due"], &changed["task"]["tags"]), (&json!(null), &json!(["y", "z"])));
        let cleared = data(&ada, "update-task", json!({ "taskId": 1, "tags": null })).await;
        assert_eq!(cleared["task"]["tags"], json!([]));
        let same = data(&ada, "update-task", json!({ "taskId": 1, "title": "A" })).await;
        assert_eq!((&same["changed"], &same["task"]["version"]), (&json!([]), &json!(3)));
    })
    .await;
}

#[tokio::test]
async fn a_list_is_filtered_sorted_paged_and_cut_to_fields() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        for (title, priority, due) in
            [("A", "low", Some("2031-03-01")), ("B", "high", Some("2031-01-01")), ("C", "medium", None)]
        {
            data(
                &ada,
                "create-task",
                json!({ "title": title, "priority": priority, "due": due, "tags": [title] }),
            )
            .await;
        }
        for (params, expected) in [
            (json!({}), vec!["C", "B", "A"]),
            (json!({ "sortBy": "priority" }), vec!["B", "C", "A"]),
            (json!({ "sortBy": "due" }), vec!["B", "A", "C"]),
            (json!({ "sortBy": "title", "sortOrder": "desc" }), vec!["C", "B", "A"]),
            (json!({ "tag": "B" }), vec!["B"]),
            (json!({ "text": "c" }), vec!["C"]),
            (json!({ "dueFrom": "2031-01-02", "dueTo": "2031-03-01" }), vec!["A"]),
            (json!({ "priority": "high" }), vec!["B"]),
            (json!({ "status": "completed" }), vec![]),
        ] {
            let list = data(&ada, "list-tasks", params.clone()).await;
            assert_eq!(titles(&list["tasks"]), expected, "{params}");
        }
        let page = data(&ada, "list-tasks", json!({ "limit": 2, "fields": ["title"] })).await;
        assert_eq!(page["tasks"], json!([{ "taskId": 3, "title": "C" }, { "taskId": 2, "title": "B" }]));
        let rest = data(&ada, "list-tasks", json!({ "limit": 2, "cursor": page["nextCursor"] })).await;
        assert_eq!((titles(&rest["tasks"]), &rest["nextCursor"]), (vec!["A"], &json!(null)));
    })
    .await;
}

#[tokio::test]
async fn a_batch_is_all_or_nothing_unless_told_otherwise() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        let operations = json!([{ "op": "create", "title": "New" }, { "op": "complete", "taskId": 99 }]);
        let (status, refused) = ada.call("batch-tasks", json!({ "operations": operations })).await;
        assert_eq!(status, 404, "{refused}");
        assert_eq!(data(&ada, "list-tasks", json!({})).await["total"], 0);
        let done = data(&ada, "batch-tasks", json!({ "operations": operations, "atomic": false })).await;
        assert_eq!((&done["applied"], &done["failed"]), (&json!(1), &json!(1)));
        assert_eq!(
            (&done["results"][0]["ok"], &done["results"][1]["error"]["code"]),
            (&json!(true), &json!("not_found"))
        );
        assert_eq!(titles(&data(&ada, "list-tasks", json!({})).await["tasks"]), ["New"]);
    })
    .await;
}

#[tokio::test]
async fn a_delete_waits_for_a_person_here() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        data(&ada, "create-task", json!({ "title": "A" })).await;
        let (status, waiting) = ada.call("delete-task", json!({ "taskId": 1 })).await;
        assert_eq!((status, &waiting["pending"]["kind"]), (202, &json!("approval")));
        assert_eq!(data(&ada, "list-tasks", json!({})).await["total"], 1);
    })
    .await;
}

#[tokio::test]
async fn an_idempotency_key_on_a_profile_makes_one_task_and_gives_the_first_answer_again() {
    on_both(|server| async move {
        let ada = ada(&server).await;
        let add = |title: &str| {
            server
                .ask("POST", "/api/v1/profiles/assistant/functions/add_task")
                .key(&ada.key)
                .header("idempotency-key", "order-7")
                .body(json!({ "title": title }))
                .send()
        };
        let (first, second, other) =
            (add("Once").await.json(), add("Once").await.json(), add("Twice").await.json());
        assert_eq!(first, second);
        assert_eq!((&other["success"], &other["code"]), (&json!(false), &json!("CONFLICT")));
        assert_eq!(data(&ada, "list-tasks", json!({})).await["total"], 1);
    })
    .await;
}
