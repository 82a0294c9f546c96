//! A yes executes exactly what was asked, once, for the same person, in the same conversation, in time.

use std::time::Duration;

use serde_json::json;
use toolroom_agent::{ChatSettings, UserMessage};
use toolroom_contract::ids::PendingId;
use toolroom_store::StoreError;
use toolroom_store::pending::{self, Filter, Kind, State};

use crate::test_chat::{TestChat, names};

#[tokio::test(flavor = "multi_thread")]
async fn on_default_a_delete_is_one_question_and_one_matter() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.add(&anna, "Buy milk").await;
    let mut talk = chat.talk(&anna, "default");
    chat.script.calls("delete-task", json!({ "taskId": 1 })).says("");
    let asked = talk.say("delete task 1").await;
    assert_eq!(names(&asked), ["get-task"]);
    let pending = asked.pending_confirmation.unwrap();
    let listed: Result<_, StoreError> =
        chat.runtime.store.read(|unit| pending::list(unit, &Filter::default())).await;
    let listed = listed.unwrap().found;
    assert_eq!(
        listed.iter().map(|one| (one.id, one.kind)).collect::<Vec<_>>(),
        [(pending.id, Kind::Confirmation)]
    );
    let left = pending.expires_at.duration_since(jiff::Timestamp::now());
    assert!((290..=300).contains(&left.as_secs()), "{left}");
    let done = talk.say("yes").await;
    assert_eq!(done.response, "Deleted task 1 “Buy milk”.");
    let listed: Result<_, StoreError> =
        chat.runtime.store.read(|unit| pending::list(unit, &Filter::default())).await;
    assert_eq!(listed.unwrap().found.iter().map(|one| one.state).collect::<Vec<_>>(), [State::Used]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_cancels_and_anything_else_withdraws_and_is_answered() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.add(&anna, "Buy milk").await;
    let mut talk = chat.talk(&anna, "assistant");
    let ask = || chat.script.calls("delete_task", json!({ "task_id": 1 }));
    ask();
    talk.say("delete task 1").await;
    assert_eq!(talk.say("No!").await.response, "All right, I will not. Nothing was changed.");
    ask().says("Paris.");
    talk.say("delete task 1").await;
    let other = talk.say("what is the capital of France?").await;
    assert_eq!(other.response, "I have withdrawn my question; nothing was changed.\n\nParis.");
    assert_eq!(other.pending_confirmation, None);
    chat.script.says("Yes to what?");
    assert_eq!(talk.say("yes").await.response, "Yes to what?\n\nNothing was changed.");
    assert_eq!(chat.titles(&anna).await, ["Buy milk"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_deletes_are_one_question_with_all_that_they_touch() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    for title in ["A", "B", "C"] {
        chat.add(&anna, title).await;
    }
    let mut talk = chat.talk(&anna, "todo-chatbot");
    let calls: Vec<_> = [1, 3].map(|id| ("delete_task", json!({ "task_id": id }))).to_vec();
    chat.script.calls_all(&calls).says("");
    let asked = talk.say("delete tasks 1 and 3").await;
    assert_eq!(
        asked.response,
        "Shall I make these 2 changes?\n- delete task 1 “A”\n- delete task 3 “C”\nPlease answer yes or no."
    );
    let pending = asked.pending_confirmation.unwrap();
    assert_eq!((pending.task_id, pending.task_title), (json!([1, 3]), json!(["A", "C"])));
    talk.say("yes").await;
    assert_eq!(chat.titles(&anna).await, ["B"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bulk_change_is_confirmed_and_a_single_one_is_not() {
    for batch in [false, true] {
        let chat = TestChat::new().await;
        let anna = chat.user("anna").await;
        chat.add(&anna, "A").await;
        chat.add(&anna, "B").await;
        let mut talk = chat.talk(&anna, "default");
        if batch {
            let each = |id| json!({ "op": "complete", "taskId": id });
            chat.script
                .calls("list-tasks", json!({}))
                .calls("batch-tasks", json!({ "operations": [each(1), each(2)] }));
        } else {
            let calls: Vec<_> = [1, 2].map(|id| ("complete-task", json!({ "taskId": id }))).to_vec();
            chat.script.calls("list-tasks", json!({})).calls_all(&calls);
        }
        let asked = talk.say("mark everything as done").await;
        assert_eq!(asked.pending_confirmation.as_ref().unwrap().task_id, json!([1, 2]), "{}", asked.response);
        assert_eq!(chat.completed(&anna).await, 0);
        chat.script.says("");
        talk.say("yes").await;
        assert_eq!(chat.completed(&anna).await, 2);
        chat.script.calls("update-task", json!({ "taskId": 2, "status": "pending" })).says("");
        assert_eq!(talk.say("reopen 2").await.pending_confirmation, None);
        assert_eq!(chat.completed(&anna).await, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_exact_call_is_made_even_if_the_model_changed_its_mind() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.add(&anna, "A").await;
    chat.add(&anna, "B").await;
    let mut talk = chat.talk(&anna, "assistant");
    chat.script.calls("delete_task", json!({ "task_id": 1 }));
    talk.say("delete task 1 not 2").await;
    // The model wants another one after the yes: that is a new question.
    chat.script.calls("delete_task", json!({ "task_id": 2 }));
    let next = talk.say("yes").await;
    assert_eq!(next.pending_confirmation.unwrap().task_id, json!(2));
    assert_eq!(chat.titles(&anna).await, ["B"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_after_the_deadline_changes_nothing() {
    let chat = TestChat::with(ChatSettings { confirm_ttl: Duration::from_millis(1), ..Default::default() });
    let anna = chat.user("anna").await;
    chat.add(&anna, "A").await;
    let mut talk = chat.talk(&anna, "assistant");
    chat.script.calls("delete_task", json!({ "task_id": 1 }));
    let expires_at = talk.say("delete task 1").await.pending_confirmation.unwrap().expires_at;
    while jiff::Timestamp::now() <= expires_at {
        tokio::task::yield_now().await;
    }
    let late = talk.say("yes").await;
    assert!(late.response.starts_with("That question has expired"), "{}", late.response);
    assert_eq!(chat.titles(&anna).await, ["A"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_yeses_at_once_one_deletes() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.add(&anna, "A").await;
    let mut talk = chat.talk(&anna, "assistant");
    chat.script.calls("delete_task", json!({ "task_id": 1 }));
    talk.say("delete task 1").await;
    let yes = || async {
        let said = UserMessage {
            conversation: talk.id,
            text: "yes".into(),
            profile: Some("assistant".into()),
            ..UserMessage::default()
        };
        chat.chat.say(&anna, said).await.unwrap().answer().await.unwrap()
    };
    let answers = futures_util::future::join_all((0..8).map(|_| yes())).await;
    let deleted = answers.iter().filter(|answer| !answer.receipts.is_empty()).count();
    assert_eq!(deleted, 1);
    assert!(chat.titles(&anna).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_denied_elsewhere_is_not_done() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.add(&anna, "A").await;
    let mut talk = chat.talk(&anna, "default");
    chat.script.calls("delete-task", json!({ "taskId": 1 }));
    let id: PendingId = talk.say("delete task 1").await.pending_confirmation.unwrap().id;
    let by = anna.user.id;
    let denied = chat
        .runtime
        .store
        .write(move |unit| pending::decide(unit, id, &pending::Decision::Deny(None), by))
        .await;
    assert!(denied.is_ok_and(|request: pending::PendingRequest| request.state == State::Denied));
    assert_eq!(talk.say("yes").await.response, "That was denied elsewhere. Nothing was changed.");
    assert_eq!(chat.titles(&anna).await, ["A"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_is_not_there_is_not_asked_about() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    let bo = chat.user("bo").await;
    chat.add(&bo, "Bo's").await;
    chat.script.calls("delete_task", json!({ "task_id": 1 })).says("There is no task 1.");
    let answer = chat.talk(&anna, "assistant").say("delete task 1").await;
    assert_eq!(
        (answer.response.as_str(), answer.pending_confirmation),
        ("There is no task 1.\n\nNothing was changed.", None)
    );
    assert_eq!(chat.titles(&bo).await, ["Bo's"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_behind_call_tool_is_confirmed_like_itself() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.add(&anna, "A").await;
    let mut talk = chat.talk(&anna, "default");
    chat.script.calls("call-tool", json!({ "name": "delete-task", "params": { "taskId": 1 } })).says("");
    let asked = talk.say("delete task 1").await;
    assert_eq!(asked.response, "Shall I delete task 1 “A”? Please answer yes or no.");
    assert_eq!(chat.titles(&anna).await, ["A"]);
    assert_eq!(talk.say("yes").await.response, "Deleted task 1 “A”.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_under_another_profile_makes_the_call_that_was_asked_about() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.add(&anna, "A").await;
    let mut talk = chat.talk(&anna, "assistant");
    chat.script.calls("delete_task", json!({ "task_id": 1 })).says("");
    talk.say("delete task 1").await;
    talk.profile = "default";
    assert_eq!(talk.say("yes").await.response, "Deleted task 1 “A”.");
}
