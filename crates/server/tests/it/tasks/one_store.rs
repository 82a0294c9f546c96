//! One store behind all profiles: what one does, the others see at once.

use serde_json::{Value, json};

use super::databases::{both, on_both};
use super::profile_client::{ProfileClient, titles};
use crate::test_server::TestServer;

/// What the caller sees of the list, by way of each profile and of the canonical tool.
async fn lists(client: &ProfileClient<'_>) -> [Value; 4] {
    [
        client.at("todo-chatbot").ask("list_tasks", json!({})).await["tasks"].clone(),
        client.at("todo_tasks").ask("list_tasks", json!({ "user_id": "ada" })).await["data"]["tasks"].clone(),
        client.at("assistant").ask("list_tasks", json!({})).await["tasks"].clone(),
        client.call("list-tasks", json!({})).await.1["data"]["tasks"].clone(),
    ]
}

#[tokio::test]
async fn a_task_made_through_one_profile_is_seen_through_all() {
    on_both(|server| async move {
        let ada = ProfileClient::new(&server, "todo-chatbot", "ada").await;
        ada.ask("create_task", json!({ "title": "One" })).await;
        ada.at("todo_tasks")
            .ask("add_task", json!({ "user_id": "ada", "title": "Two", "priority": "High" }))
            .await;
        ada.at("assistant").ask("add_task", json!({ "title": "Three", "priority": "low" })).await;
        ada.call("create-task", json!({ "title": "Four", "tags": ["x"] })).await;
        for list in lists(&ada).await {
            assert_eq!(titles(&list), ["Four", "Three", "Two", "One"]);
        }
        let [_, tasks, assistant, _] = lists(&ada).await;
        assert_eq!((&tasks[2]["priority"], &tasks[1]["priority"]), (&json!("High"), &json!("Low")));
        assert_eq!(
            (&assistant[2]["priority"], &assistant[3]["priority"]),
            (&json!("high"), &json!("medium"))
        );
    })
    .await;
}

#[tokio::test]
async fn a_change_through_one_profile_is_seen_through_all() {
    on_both(|server| async move {
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        ada.ask("add_task", json!({ "title": "One" })).await;
        // Read first, so that an answer kept from before would show.
        lists(&ada).await;
        ada.at("todo_tasks").ask("complete_task", json!({ "user_id": "ada", "task_id": "1" })).await;
        let [chatbot, tasks, assistant, canonical] = lists(&ada).await;
        for list in [chatbot, tasks, assistant] {
            assert_eq!(list[0]["completed"], true);
        }
        assert_eq!(canonical[0]["status"], "completed");
        ada.at("todo-chatbot").ask("update_task", json!({ "task_id": 1, "title": "Uno" })).await;
        for list in lists(&ada).await {
            assert_eq!(titles(&list), ["Uno"]);
        }
    })
    .await;
}

#[tokio::test]
async fn a_deleted_task_is_gone_everywhere_at_once_and_can_be_restored() {
    on_both(|server| async move {
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        for profile in ["todo-chatbot", "todo_tasks", "assistant"] {
            let made =
                ada.at("assistant").ask("add_task", json!({ "title": "Old", "description": "d" })).await;
            let id = made["task"]["id"].clone();
            let params = match profile {
                "todo_tasks" => json!({ "user_id": "ada", "task_id": id.to_string() }),
                _ => json!({ "task_id": id }),
            };
            assert_eq!(ada.at(profile).ask("delete_task", params).await["success"], true);
            for list in lists(&ada).await {
                assert_eq!(list, json!([]));
            }
            assert_eq!(ada.ask("find_task", json!({ "query": "old" })).await["match_type"], "none");
            for tool in ["get-task", "update-task", "complete-task"] {
                assert_eq!(ada.call(tool, json!({ "taskId": id })).await.0, 404, "{tool}");
            }
            let (status, back) = ada.call("restore-task", json!({ "taskId": id })).await;
            assert_eq!((status, &back["data"]["task"]["description"]), (200, &json!("d")));
            for list in lists(&ada).await {
                assert_eq!(titles(&list), ["Old"]);
            }
            ada.ask("delete_task", json!({ "task_id": id })).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_change_is_in_the_database_when_it_is_answered() {
    for database in both() {
        let first = TestServer::on(&database.url);
        let ada = ProfileClient::new(&first, "todo-chatbot", "ada").await;
        ada.ask("create_task", json!({ "title": "Kept" })).await;
        // Another process on the same database, which has nothing in memory yet.
        let second = TestServer::on(&database.url);
        let again = ProfileClient { server: &second, ..ada.at("todo-chatbot") };
        assert_eq!(titles(&again.ask("list_tasks", json!({})).await["tasks"]), ["Kept"]);
    }
}
