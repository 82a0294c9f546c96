//! There is always an answer: at every limit, after a failure, after a cancel.

use serde_json::json;
use toolroom_agent::run::Limits;
use toolroom_agent::{ChatSettings, UserMessage};
use toolroom_model::{ModelError, ToolChoice, Turn, Usage};

use crate::test_chat::TestChat;

fn with(limits: Limits) -> TestChat {
    TestChat::with(ChatSettings { limits, ..ChatSettings::default() })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_never_ends_is_stopped_with_an_answer() {
    let home = with(Limits { turns: 4, ..Limits::default() });
    let anna = home.user("anna").await;
    *home.script.always.lock().unwrap() = Some(Turn::call("", "list-tasks", json!({})));
    let answer = home.talk(&anna, "default").say("loop").await;
    assert_eq!(
        answer.response,
        "I stopped after 4 turns, before I was finished. Nothing was changed. Say “go on” to continue."
    );
    assert_eq!(home.script.turns(), 4);
    assert_eq!(home.script.last().tool_choice, ToolChoice::None, "the last turn is for words");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_turn_can_be_the_answer() {
    let home = with(Limits { turns: 2, ..Limits::default() });
    let anna = home.user("anna").await;
    home.script.calls("list-tasks", json!({})).says("You have no tasks.");
    assert_eq!(home.talk(&anna, "default").say("list").await.response, "You have no tasks.");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_and_tokens_have_a_budget() {
    let home = with(Limits { calls: 2, ..Limits::default() });
    let anna = home.user("anna").await;
    let each = |n: i32| ("create-task", json!({ "title": format!("T{n}") }));
    home.script.calls_all(&[each(1), each(2), each(3), each(4)]).says("That is all that I could add.");
    let answer = home.talk(&anna, "default").say("add four").await;
    assert_eq!(home.titles(&anna).await, ["T1", "T2"]);
    assert!(answer.response.ends_with("That is all that I could add."), "{}", answer.response);

    let home = with(Limits { tokens: 100, ..Limits::default() });
    let anna = home.user("anna").await;
    let costly = Turn { usage: Usage { input: 90, output: 20 }, ..Turn::call("", "list-tasks", json!({})) };
    home.script.then(move |_| Ok(costly));
    let answer = home.talk(&anna, "default").say("list").await;
    assert!(answer.response.contains("tokens for one message are used up"), "{}", answer.response);
    assert_eq!(answer.usage, Usage { input: 90, output: 20 });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_is_said_to_have_failed_and_what_was_done_stays_said() {
    let home = TestChat::new().await;
    let anna = home.user("anna").await;
    home.script.calls("create-task", json!({ "title": "Milk" })).then(|_| Err(ModelError::Timeout));
    let answer = home.talk(&anna, "default").say("add milk").await;
    assert_eq!(
        answer.response,
        "Added task 1 “Milk”.\n\nI cannot answer now: the model did not answer in time. What is listed above was done, \
         and nothing else."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn time_is_limited_and_a_run_can_be_cancelled() {
    for cancel in [false, true] {
        let seconds = if cancel { 300 } else { 0 };
        let home = with(Limits { seconds, ..Limits::default() });
        let anna = home.user("anna").await;
        let hung = toolroom_agent::Models::with(std::sync::Arc::new(Hung));
        let settings =
            ChatSettings { limits: Limits { seconds, ..Limits::default() }, ..ChatSettings::default() };
        let chat = toolroom_agent::Chat::new(std::sync::Arc::clone(&home.runtime), hung, settings);
        let speaking =
            chat.say(&anna, UserMessage { text: "hi".into(), ..UserMessage::default() }).await.unwrap();
        if cancel {
            let bo = home.user("bo").await;
            assert!(chat.cancel(&bo, speaking.run).await.is_err());
            chat.cancel(&anna, speaking.run).await.unwrap();
        }
        let answer = speaking.answer().await.unwrap();
        let expected = if cancel { "Cancelled. Nothing was changed." } else { "I stopped because the time" };
        assert!(answer.response.starts_with(expected), "{}", answer.response);
    }
}

pub struct Hung;

impl toolroom_model::Model for Hung {
    fn name(&self) -> &str {
        "hung"
    }

    fn turn<'a>(
        &'a self,
        _: &'a toolroom_model::Prompt,
        _: &'a mut dyn toolroom_model::Deltas,
    ) -> toolroom_model::Turning<'a> {
        Box::pin(std::future::pending())
    }
}
