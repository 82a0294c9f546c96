//! Odd but sound text: stored and returned equal by every profile, on both databases.

use serde_json::json;

use super::databases::on_both;
use super::profile_client::ProfileClient;

const TEXTS: [&str; 12] = [
    "👩‍👩‍👧‍👦 family 𝕬 🏳️‍🌈",
    "\u{202E}desrever",
    "caf\u{e9} in one piece",
    "cafe\u{301} in two",
    "'; DROP TABLE tasks; --",
    "=cmd|' /C calc'!A0",
    "__proto__",
    "<script>alert(1)</script>",
    "100%_ \\ \\u0000 as text",
    "\u{FEFF}starts with a mark",
    "日本語のタスク",
    "zero\u{200B}width and \u{FFFF}",
];

#[tokio::test]
async fn odd_text_comes_back_equal_through_every_profile() {
    on_both(|server| async move {
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        for text in TEXTS {
            let chatbot = ada.at("todo-chatbot");
            let made = chatbot.ask("create_task", json!({ "title": text, "description": text })).await;
            assert_eq!(made["message"], format!("Created task: {text}"));
            let id = made["task_id"].clone();
            let read = chatbot.ask("get_task", json!({ "task_id": id })).await;
            assert_eq!((&read["task"]["title"], &read["task"]["description"]), (&json!(text), &json!(text)));
            let params = json!({ "user_id": "ada", "task_id": id.to_string(), "title": format!("{text}!") });
            let changed = ada.at("todo_tasks").ask("update_task", params).await;
            assert_eq!(changed["data"]["title"], format!("{text}!"));
            let listed = ada.ask("list_tasks", json!({ "task_id": id })).await;
            assert_eq!(listed["tasks"][0]["title"], format!("{text}!"));
            assert_eq!(listed["tasks"][0]["description"], text);
            assert_eq!(ada.ask("delete_task", json!({ "task_id": id })).await["deleted_task_id"], id);
        }
    })
    .await;
}

#[tokio::test]
async fn both_spellings_of_an_accent_are_found_by_either() {
    on_both(|server| async move {
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        ada.ask("add_task", json!({ "title": "Visit the cafe\u{301}" })).await;
        for query in ["visit the caf\u{e9}", "visit the cafe\u{301}", "VISIT THE CAFE"] {
            let found = ada.ask("find_task", json!({ "query": query })).await;
            assert_eq!(
                (&found["match_type"], &found["confidence"]),
                (&json!("single"), &json!(1.0)),
                "{query}"
            );
            assert_eq!(found["task"]["title"], "Visit the cafe\u{301}", "the spelling that was stored");
        }
    })
    .await;
}

#[tokio::test]
async fn limits_count_characters_and_not_bytes() {
    on_both(|server| async move {
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        let longest = "😀".repeat(200);
        let made = ada.ask("add_task", json!({ "title": format!(" {longest} ") })).await;
        assert_eq!(made["task"]["title"], longest);
        let longer = ada.ask("add_task", json!({ "title": "😀".repeat(201) })).await;
        assert_eq!(longer["error"], "Validation error: title cannot exceed 200 characters");
    })
    .await;
}
