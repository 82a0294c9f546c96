//! Conversations are their owner's: listed, shown, continued with what was said before, forgotten.

use serde_json::json;
use toolroom_agent::{ChatError, UserMessage};
use toolroom_model::Message;

use crate::test_chat::TestChat;

#[tokio::test(flavor = "multi_thread")]
async fn another_s_conversation_is_not_found() {
    let home = TestChat::new().await;
    let anna = home.user("anna").await;
    let bo = home.user("bo").await;
    let mut talk = home.talk(&anna, "default");
    home.script.says("Hello.");
    talk.say("hello").await;
    let id = talk.id.unwrap();
    assert!(matches!(home.chat.conversation(&bo, id, 10).await, Err(ChatError::NotFound)));
    assert!(matches!(home.chat.forget(&bo, id).await, Err(ChatError::NotFound)));
    let said = UserMessage { conversation: Some(id), text: "hi".into(), ..UserMessage::default() };
    assert!(matches!(home.chat.say(&bo, said).await, Err(ChatError::NotFound)));
    assert!(home.chat.conversations(&bo, None, 10).await.unwrap().is_empty());
    let (talk, spoken) = home.chat.conversation(&anna, id, 10).await.unwrap();
    assert_eq!((talk.title.as_str(), spoken.len()), ("hello", 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_twenty_messages_are_the_context() {
    let home = TestChat::new().await;
    let anna = home.user("anna").await;
    let mut talk = home.talk(&anna, "default");
    for n in 0..15 {
        home.script.says(&format!("Answer {n}."));
        talk.say(&format!("What is {n}?")).await;
    }
    let messages = home.script.last().messages;
    let said: Vec<&str> = messages
        .iter()
        .filter_map(|message| match message {
            Message::User { text } | Message::Assistant { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(said.len(), 20);
    assert_eq!((said[0], said[19]), ("Answer 4.", "What is 14?"));
}

#[tokio::test(flavor = "multi_thread")]
async fn results_of_earlier_messages_stay_known() {
    let home = TestChat::new().await;
    let anna = home.user("anna").await;
    home.add(&anna, "Call mom").await;
    home.add(&anna, "Call dentist").await;
    let mut talk = home.talk(&anna, "assistant");
    home.script
        .calls("find_task", json!({ "query": "call" }))
        .says("Which one: Call mom (1) or Call dentist (2)?");
    talk.say("complete the call task").await;
    // "the second" is no number that the person wrote, but one that a result showed.
    home.script.calls("complete_task", json!({ "task_id": 2 }));
    let asked = talk.say("the second").await;
    assert_eq!(asked.pending_confirmation.unwrap().task_title, "Call dentist");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_conversation_is_gone_with_what_was_pending_in_it() {
    let home = TestChat::new().await;
    let anna = home.user("anna").await;
    home.add(&anna, "A").await;
    let mut talk = home.talk(&anna, "assistant");
    home.script.calls("delete_task", json!({ "task_id": 1 }));
    talk.say("delete task 1").await;
    let id = talk.id.unwrap();
    home.chat.forget(&anna, id).await.unwrap();
    let said = UserMessage { conversation: Some(id), text: "yes".into(), ..UserMessage::default() };
    assert!(matches!(home.chat.say(&anna, said).await, Err(ChatError::NotFound)));
    assert!(home.chat.conversations(&anna, None, 10).await.unwrap().is_empty());
    let open = toolroom_store::pending::Filter { open_only: true, ..Default::default() };
    let left: Result<_, toolroom_store::StoreError> =
        home.runtime.store.read(move |unit| toolroom_store::pending::list(unit, &open)).await;
    assert!(left.unwrap().found.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_one_conversation_are_answered_one_after_the_other() {
    let home = TestChat::new().await;
    let anna = home.user("anna").await;
    let mut talk = home.talk(&anna, "default");
    home.script.says("Hello.");
    talk.say("hello").await;
    for n in 0..6 {
        home.script.calls("create-task", json!({ "title": format!("T{n}") })).says("");
    }
    let say = |n: usize| {
        let said = UserMessage { conversation: talk.id, text: format!("add T{n}"), ..UserMessage::default() };
        let (chat, anna) = (home.chat.clone(), anna.clone());
        async move { chat.say(&anna, said).await.unwrap().answer().await.unwrap() }
    };
    futures_util::future::join_all((0..6).map(say)).await;
    let (_, spoken) = home.chat.conversation(&anna, talk.id.unwrap(), 100).await.unwrap();
    let roles: Vec<&str> = spoken.iter().map(|one| one.role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant"].repeat(7), "no answer comes between another message and its own");
    assert_eq!(home.titles(&anna).await.len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_are_empty_or_too_long_are_refused() {
    let home = TestChat::new().await;
    let anna = home.user("anna").await;
    for text in [String::new(), " \n".to_owned(), "x".repeat(10_001)] {
        let said = UserMessage { text, ..UserMessage::default() };
        assert!(matches!(home.chat.say(&anna, said).await, Err(ChatError::BadLength(10_000))));
    }
    let said = UserMessage { text: "hi".into(), profile: Some("nowhere".into()), ..UserMessage::default() };
    assert!(matches!(home.chat.say(&anna, said).await, Err(ChatError::NoProfile)));
    let said = UserMessage { text: "hi".into(), model: Some("nobody".into()), ..UserMessage::default() };
    assert!(matches!(home.chat.say(&anna, said).await, Err(ChatError::NoModel)));
    assert_eq!(home.chat.models(), ["scripted", "toolroom-offline"]);
    assert!(home.chat.conversations(&anna, None, 10).await.unwrap().is_empty(), "nothing was begun");
}
