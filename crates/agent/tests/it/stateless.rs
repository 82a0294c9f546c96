//! A client that keeps the history itself: what is pending is bound to that history.

use std::sync::Arc;

use serde_json::json;
use toolroom_agent::{Answer, History};
use toolroom_contract::Principal;
use toolroom_model::{Message, ToolSpec};

use crate::test_chat::TestChat;

async fn complete(chat: &TestChat, who: &Arc<Principal>, messages: &[Message]) -> Answer {
    let history =
        History { messages: messages.to_vec(), profile: Some("assistant".into()), ..History::default() };
    chat.chat.complete(who, history).await.unwrap().answer().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_counts_after_the_same_history_once() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.add(&anna, "A").await;
    chat.script.calls("delete_task", json!({ "task_id": 1 }));
    let mut messages = vec![Message::System { text: "Be kind.".into() }, Message::user("delete task 1")];
    let asked = complete(&chat, &anna, &messages).await;
    assert!(asked.pending_confirmation.is_some());
    messages.extend([Message::assistant(format!("{}\n", asked.response)), Message::user("yes")]);
    chat.script.says("");
    let done = complete(&chat, &anna, &messages).await;
    assert_eq!(done.response, "Deleted task 1 “A”.");
    chat.add(&anna, "B").await;
    chat.script.says("Yes to what?");
    let again = complete(&chat, &anna, &messages).await;
    assert_eq!((again.response.as_str(), again.receipts.len()), ("Yes to what?\n\nNothing was changed.", 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_after_another_history_or_of_another_person_counts_for_nothing() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    let bo = chat.user("bo").await;
    chat.add(&anna, "A").await;
    chat.script.calls("delete_task", json!({ "task_id": 1 }));
    let first = vec![Message::user("delete task 1")];
    let asked = complete(&chat, &anna, &first).await;
    let yes = [Message::assistant(&asked.response), Message::user("yes")];
    let altered: Vec<Message> = [Message::user("delete task 2")].into_iter().chain(yes.clone()).collect();
    let same: Vec<Message> = first.into_iter().chain(yes).collect();
    for (who, messages) in [(&anna, &altered), (&bo, &same)] {
        chat.script.says("Yes to what?");
        assert!(complete(&chat, who, messages).await.receipts.is_empty());
    }
    assert_eq!(chat.titles(&anna).await, ["A"]);
    chat.script.says("");
    assert_eq!(complete(&chat, &anna, &same).await.receipts.len(), 1, "the true one still counts");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clients_own_tools_are_handed_back_to_it() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    let own = |name: &str| ToolSpec {
        name: name.into(),
        canonical: name.into(),
        description: "The client's.".into(),
        parameters: json!({ "type": "object" }).into(),
        read_only: false,
        destructive: false,
    };
    chat.script.calls_all(&[("list_tasks", json!({})), ("open_window", json!({ "which": 2 }))]);
    let history = History {
        messages: vec![Message::user("open window 2")],
        tools: vec![own("open_window"), own("delete_task")],
        profile: Some("assistant".into()),
        ..History::default()
    };
    let answer = chat.chat.complete(&anna, history).await.unwrap().answer().await.unwrap();
    assert_eq!(answer.client_calls.len(), 1);
    assert_eq!(answer.client_calls[0].name, "open_window");
    assert_eq!(answer.tool_calls.len(), 1);
    let shown: Vec<String> = chat.script.last().tools.into_iter().map(|tool| tool.name).collect();
    assert_eq!(shown.iter().filter(|name| *name == "delete_task").count(), 1, "the server's own stays");
}
