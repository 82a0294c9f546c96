//! The table of intents, without a language model: the planner behind the same door.

use std::sync::Arc;

use serde_json::json;
use toolroom_agent::{Answer, Chat, ChatSettings, Models, UserMessage};
use toolroom_contract::Principal;
use toolroom_contract::ids::ConversationId;

use crate::test_chat::{TestChat, names};

/// A conversation with the planner.
struct Offline {
    home: TestChat,
    chat: Chat,
    who: Arc<Principal>,
    profile: &'static str,
    id: Option<ConversationId>,
}

impl Offline {
    async fn new(profile: &'static str, titles: &[&str]) -> Self {
        let home = TestChat::new().await;
        let who = home.user("anna").await;
        for title in titles {
            home.add(&who, title).await;
        }
        let chat = Chat::new(Arc::clone(&home.runtime), Models::offline(), ChatSettings::default());
        Self { home, chat, who, profile, id: None }
    }

    async fn say(&mut self, text: &str) -> Answer {
        let said = UserMessage {
            conversation: self.id,
            text: text.to_owned(),
            profile: Some(self.profile.to_owned()),
            timestamp: Some("2026-11-15T09:00:00Z".parse().unwrap()),
            timezone: Some("Europe/Berlin".into()),
            ..UserMessage::default()
        };
        let answer = self.chat.say(&self.who, said).await.unwrap().answer().await.unwrap();
        self.id = answer.conversation_id;
        answer
    }

    async fn titles(&self) -> Vec<String> {
        self.home.titles(&self.who).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn add_task_to_buy_milk() {
    let mut talk = Offline::new("assistant", &[]).await;
    let asked = talk.say("add task to buy milk").await;
    assert_eq!(asked.pending_confirmation.as_ref().unwrap().action, "add_task", "{}", asked.response);
    assert!(talk.titles().await.is_empty());
    let done = talk.say("yes").await;
    assert_eq!(talk.titles().await, ["Buy milk"], "{}", done.response);
    assert!(done.response.starts_with("Added task 1 “Buy milk”."), "{}", done.response);
}

#[tokio::test(flavor = "multi_thread")]
async fn show_my_tasks() {
    let mut talk = Offline::new("assistant", &["Buy milk", "Call mom"]).await;
    let answer = talk.say("show my tasks").await;
    assert_eq!(names(&answer), ["list_tasks"]);
    assert!(
        answer.response.contains("Buy milk") && answer.response.contains("Call mom"),
        "{}",
        answer.response
    );
    let answer = talk.say("show pending tasks").await;
    assert_eq!(answer.tool_calls[0].input["status"], "pending", "{}", answer.response);
}

#[tokio::test(flavor = "multi_thread")]
async fn delete_task_by_number_and_by_words() {
    for said in ["delete task 1", "delete the milk task"] {
        let mut talk = Offline::new("assistant", &["Buy milk", "Call mom"]).await;
        let asked = talk.say(said).await;
        let expected = if said.contains("milk") { "find_task" } else { "list_tasks" };
        assert_eq!(names(&asked), [expected], "{}", asked.response);
        let pending = asked.pending_confirmation.unwrap_or_else(|| panic!("{}", asked.response));
        assert_eq!((pending.task_id, pending.task_title), (json!(1), json!("Buy milk")));
        let done = talk.say("yes").await;
        assert!(done.response.starts_with("Deleted task 1 “Buy milk”."), "{}", done.response);
        assert_eq!(talk.titles().await, ["Call mom"]);
        let again = talk.say("yes").await;
        assert!(again.receipts.is_empty(), "{}", again.response);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn update_and_complete_by_number_and_by_words() {
    for (said, receipt) in [
        ("update task 1 to high priority", "Changed task 1 “Buy milk”: priority high."),
        ("change the milk task to high priority", "Changed task 1 “Buy milk”: priority high."),
        ("mark task 1 as done", "Marked task 1 “Buy milk” as complete."),
        ("complete the milk task", "Marked task 1 “Buy milk” as complete."),
    ] {
        let mut talk = Offline::new("assistant", &["Buy milk", "Call mom"]).await;
        let asked = talk.say(said).await;
        assert_eq!(
            asked.pending_confirmation.as_ref().map(|one| &one.task_id),
            Some(&json!(1)),
            "{}",
            asked.response
        );
        let done = talk.say("yes please").await;
        assert!(done.response.starts_with(receipt), "{said}: {}", done.response);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_that_fit_are_asked_about_and_the_other_one_is_understood() {
    let mut talk = Offline::new("assistant", &["Call mom", "Call dentist"]).await;
    let asked = talk.say("delete the call task").await;
    assert_eq!(asked.pending_confirmation, None, "{}", asked.response);
    assert!(
        asked.response.contains("Call mom") && asked.response.contains("Call dentist"),
        "{}",
        asked.response
    );
    let asked = talk.say("the dentist one").await;
    assert_eq!(
        asked.pending_confirmation.as_ref().map(|one| &one.task_id),
        Some(&json!(2)),
        "{}",
        asked.response
    );
    let asked = talk.say("no, the other one").await;
    assert_eq!(
        asked.pending_confirmation.as_ref().map(|one| &one.task_id),
        Some(&json!(1)),
        "{}",
        asked.response
    );
    talk.say("yes").await;
    assert_eq!(talk.titles().await, ["Call dentist"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_default_a_change_is_made_at_once_and_a_delete_is_confirmed() {
    let mut talk = Offline::new("default", &["Buy milk"]).await;
    let added = talk.say("remind me to call mom next friday at 3pm").await;
    assert!(
        added.response.contains("Friday 2026-11-27 15:00")
            || added.response.contains("Friday 2026-11-20 15:00"),
        "{}",
        added.response
    );
    let done = talk.say("I finished the milk task").await;
    assert!(done.response.starts_with("Marked task 1 “Buy milk” as complete."), "{}", done.response);
    let asked = talk.say("delete task 2").await;
    assert!(asked.pending_confirmation.is_some(), "{}", asked.response);
    let declined = talk.say("no").await;
    assert_eq!(declined.response, "All right, I will not. Nothing was changed.");
    assert_eq!(talk.titles().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_wishes_in_one_sentence_are_both_done() {
    let mut talk = Offline::new("default", &["Buy milk"]).await;
    let answer = talk.say("add a task to water the plants and mark task 1 as done").await;
    assert_eq!(answer.receipts.len(), 2, "{}", answer.response);
    assert_eq!(talk.titles().await.len(), 2);
    assert_eq!(talk.home.completed(&talk.who).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_says_what_it_is_and_claims_nothing() {
    let mut talk = Offline::new("default", &[]).await;
    let answer = talk.say("are you a language model?").await;
    assert!(answer.response.to_lowercase().contains("language model"), "{}", answer.response);
    let answer = talk.say("write me a poem about the sea").await;
    assert!(answer.receipts.is_empty() && answer.tool_calls.is_empty(), "{}", answer.response);
}
