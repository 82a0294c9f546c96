//! What was acknowledged survives the end of the process, and nothing is done twice.

use serde_json::json;
use toolroom_agent::ChatSettings;
use toolroom_agent::run::Run;

use crate::test_chat::{TestChat, TestConversation, names};

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_after_a_restart_works_once() {
    for (profile, tool, field) in
        [("default", "delete-task", "taskId"), ("assistant", "delete_task", "task_id")]
    {
        let chat = TestChat::new().await;
        let anna = chat.user("anna").await;
        chat.add(&anna, "A").await;
        let mut talk = chat.talk(&anna, profile);
        chat.script.calls(tool, json!({ field: 1 }));
        talk.say("delete task 1").await;
        let id = talk.id;
        let chat = chat.restart(ChatSettings::default());
        let mut talk = TestConversation { id, ..chat.talk(&anna, profile) };
        chat.script.says("");
        let done = talk.say("yes").await;
        assert_eq!(done.response, "Deleted task 1 “A”.");
        chat.script.says("Yes to what?");
        assert!(talk.say("yes").await.receipts.is_empty());
        assert!(chat.titles(&anna).await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_survives_a_restart() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    let mut talk = chat.talk(&anna, "default");
    chat.script.calls("request-human-input", json!({ "question": "Which city?" }));
    talk.say("what is the weather?").await;
    let id = talk.id;
    let chat = chat.restart(ChatSettings::default());
    let mut talk = TestConversation { id, ..chat.talk(&anna, "default") };
    chat.script.says("It rains in Oslo.");
    let answer = talk.say("Oslo").await;
    assert_eq!(answer.tool_calls[0].output, json!({ "answer": "Oslo" }));
    assert_eq!(answer.response, "It rains in Oslo.");
}

/// The process ends while the model thinks after a change, and while a call is at work: the run is read back as it
/// was written down before that step.
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_is_ended_honestly_and_repeats_nothing() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    let mut talk = chat.talk(&anna, "default");
    chat.script.says("Hello.");
    talk.say("hello").await;
    // The model calls a tool, and then never speaks again.
    let (reached, wait) = tokio::sync::oneshot::channel();
    chat.script.calls("create-task", json!({ "title": "Milk" })).then(move |_| {
        let _ = reached.send(());
        std::thread::park_timeout(std::time::Duration::from_millis(1));
        Err(toolroom_model::ModelError::Broken)
    });
    let said =
        toolroom_agent::UserMessage { conversation: talk.id, text: "add milk".into(), ..Default::default() };
    let speaking = chat.chat.say(&anna, said).await.unwrap();
    wait.await.unwrap();
    let run = speaking.run;
    speaking.answer().await;
    // Put the run back to where it was when the call was handed out: that is what a kill would have left.
    let (user, id) = (anna.user.id, talk.id);
    put_back(&chat, user, run).await;
    let chat = chat.restart(ChatSettings::default());
    let mut talk = TestConversation { id, ..chat.talk(&anna, "default") };
    chat.script.says("Hello again.");
    assert_eq!(talk.say("are you there?").await.response, "Hello again.");
    assert_eq!(chat.titles(&anna).await, ["Milk"], "not twice");
    let (_, spoken) = chat.chat.conversation(&anna, id.unwrap(), 10).await.unwrap();
    let told = &spoken[spoken.len() - 3].content;
    assert_eq!(told, "I was interrupted while I answered your last message.\n\nAdded task 1 “Milk”.");
}

async fn put_back(
    chat: &TestChat,
    user: toolroom_contract::ids::UserId,
    run: toolroom_contract::ids::ChatRunId,
) {
    use toolroom_store::StoreError;
    use toolroom_store::conversations::runs::{self, Status};
    let stored: Result<_, StoreError> = chat.runtime.store.read(move |unit| runs::get(unit, user, run)).await;
    let mut stored = stored.unwrap().unwrap();
    let mut state: serde_json::Value = serde_json::from_str(&stored.state).unwrap();
    let mut inner: Run = serde_json::from_value(state["run"].clone()).unwrap();
    let call = inner.transcript.iter().find_map(|message| match message {
        toolroom_model::Message::Assistant { calls, .. } => calls.first().cloned(),
        _ => None,
    });
    let call = call.unwrap();
    let toolroom_model::Arguments::Json(params) = call.arguments.clone() else { panic!() };
    let planned = toolroom_agent::run::Planned {
        profile: "default".into(),
        name: call.name.clone(),
        untrusted: false,
        call,
        params,
        changes: true,
        parallel: false,
        at: 0,
        zone: None,
        scope: stored.conversation.unwrap().to_string(),
        approval: None,
    };
    inner.transcript.truncate(1);
    inner.phase = toolroom_agent::run::Phase::Tools(toolroom_agent::run::Work {
        out: vec![planned],
        ..Default::default()
    });
    state["run"] = json!(inner);
    stored.state = state.to_string();
    stored.status = Status::Running;
    let saved: Result<(), StoreError> = chat.runtime.store.write(move |unit| runs::save(unit, &stored)).await;
    saved.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_run_can_be_followed_after_a_restart() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.script.calls("create-task", json!({ "title": "Milk" })).says("");
    let said =
        toolroom_agent::UserMessage { text: "add milk".into(), key: Some("k1".into()), ..Default::default() };
    let speaking = chat.chat.say(&anna, said.clone()).await.unwrap();
    let first = speaking.answer().await.unwrap();
    let chat = chat.restart(ChatSettings::default());
    let again = chat.chat.follow(&anna, first.run_id, 0).await.unwrap().answer().await.unwrap();
    assert_eq!(again, first);
    let resent = chat.chat.say(&anna, said).await.unwrap().answer().await.unwrap();
    assert_eq!(resent, first, "the same key is the same message");
    assert_eq!(names(&resent), ["create-task"]);
    assert_eq!(chat.titles(&anna).await, ["Milk"]);
}
