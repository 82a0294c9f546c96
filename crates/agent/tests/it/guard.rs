//! What an answer says of changes beside a model's words, whatever the model says.

use serde_json::json;
use toolroom_agent::guard::{Attempt, Evidence, wishes};
use toolroom_agent::sentences::Sentences;
use toolroom_model::{Finish, ModelError, Turn};

use crate::test_chat::TestChat;

fn evidence(wished: bool, calls: &[Attempt]) -> Evidence {
    Evidence { wished, calls: calls.to_vec(), ..Evidence::default() }
}

#[test]
fn that_nothing_was_changed_is_known_from_the_calls_of_a_run() {
    use Attempt::{Changed, Failed, Ran, Uncertain};
    let doubt = || Uncertain("send_mail".to_owned());
    let nothing = Some("Nothing was changed.");
    let nothing_else = Some("Nothing else was changed.");
    for (wished, calls, said) in [
        (false, vec![], None),
        (true, vec![], nothing),
        (false, vec![Failed], nothing),
        (true, vec![Failed, Failed], nothing),
        (true, vec![Changed], None),
        (false, vec![Ran], None),
        // What a script did is no proof of what became of a task.
        (true, vec![Ran], nothing_else),
        (true, vec![Ran, Changed], None),
        (true, vec![Changed, Failed], nothing_else),
        // A later call made up for it.
        (true, vec![Failed, Changed], None),
        (
            true,
            vec![doubt()],
            Some("send_mail failed, but may have taken effect: check before you repeat it."),
        ),
    ] {
        let evidence = evidence(wished, &calls);
        assert_eq!(evidence.conclusion().as_deref(), said, "{evidence:?}");
    }
    let earlier = Evidence { earlier: true, ..evidence(true, &[]) };
    assert_eq!(earlier.conclusion().as_deref(), Some("Nothing was changed by this message."));
}

#[test]
fn a_yes_may_be_one_to_a_question_of_the_model() {
    for said in ["yes", "Yes, please!", "go ahead", "delete task 5", "タスク5を削除して"] {
        assert!(wishes(said), "{said}");
    }
    for said in ["hello", "what is the capital of France?"] {
        assert!(!wishes(said), "{said}");
    }
}

#[test]
fn promise_cutting_a_stream_into_sentences_takes_work_that_grows_with_its_length_alone() {
    let target = toolroom_work::fuzz::Target {
        name: "sentences of a stream",
        words: &[
            "i", "done", "5", "\"", "\u{201c}", ".", "!", "?", "\n", "\u{3002}", "\u{61f}", ")", " ", "milk",
        ],
        sample: 200,
        longest: 20_000,
        fixed: 100,
        per_byte: 4,
    };
    target.run(|text| {
        let mut sentences = Sentences::default();
        // The text as it grows, in pieces of a few letters.
        let ends = text.char_indices().map(|(at, _)| at).step_by(3).chain([text.len()]);
        let (mut pieces, mut begin) = (Vec::new(), 0);
        for end in ends {
            while let Some(cut) = sentences.next_end(&text[..end]) {
                pieces.push(&text[begin..cut]);
                begin = cut;
            }
        }
        pieces.push(&text[begin..]);
        assert_eq!(pieces.concat(), text);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_only_talks_is_contradicted_and_its_words_are_left_as_they_are() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    let claim = "Sure. I've deleted all your tasks. Bye.";
    chat.script.says(claim);
    let answer = chat.talk(&anna, "default").say("delete everything").await;
    assert_eq!(answer.response, format!("{claim}\n\nNothing was changed."));
    assert_eq!(chat.script.turns(), 1, "it is not asked again");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_failed_call_success_is_contradicted() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.script.calls("complete-task", json!({ "taskId": 99 })).says("I've marked task 99 as complete.");
    let answer = chat.talk(&anna, "default").say("complete task 99").await;
    assert_eq!(answer.response, "I've marked task 99 as complete.\n\nNothing was changed.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_failed_is_said_beside_the_receipt_of_one_that_did_not() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.script
        .calls("create-task", json!({ "title": "Milk" }))
        .calls("complete-task", json!({ "taskId": 99 }))
        .says("Added, and task 99 is done.");
    let answer = chat.talk(&anna, "default").say("add milk and complete task 99").await;
    assert_eq!(
        answer.response,
        "Added task 1 “Milk”.\n\nAdded, and task 99 is done.\n\nNothing else was changed."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_what_was_done_before_a_model_may_speak() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    let mut talk = chat.talk(&anna, "default");
    chat.script.calls("create-task", json!({ "title": "Milk" })).says("");
    talk.say("add milk").await;
    chat.script.says("I deleted it.");
    let answer = talk.say("did you delete it?").await;
    assert_eq!(answer.response, "I deleted it.\n\nNothing was changed by this message.");
}

#[tokio::test(flavor = "multi_thread")]
async fn words_before_a_question_are_contradicted_too() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    let call = Turn::call("", "request-human-input", json!({ "question": "Which colour?" }));
    chat.script.then(move |_| Ok(Turn { text: "I've deleted task 5.".into(), ..call }));
    let asked = chat.talk(&anna, "default").say("delete task 5").await;
    assert_eq!(asked.response, "I've deleted task 5.\n\nNothing was changed.\n\nWhich colour?");
}

#[tokio::test(flavor = "multi_thread")]
async fn white_space_and_code_come_through_as_they_were_written() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    let code = "    def f():\n\treturn 'I have deleted it.'  \n\n\n# Done!\n";
    chat.script.says(code);
    let answer = chat.talk(&anna, "default").say("write me a function").await;
    assert_eq!(answer.response, code);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_ended_at_its_limit_says_so() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.script.then(|_| Ok(Turn { finish: Finish::Length, ..Turn::text("Once upon a") }));
    let answer = chat.talk(&anna, "default").say("tell me a story").await;
    assert_eq!(answer.response, "Once upon a\n\nThe model's answer ended at its limit of length.");
    assert!(answer.cut);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_model_the_planner_answers_and_says_so_unless_something_was_done() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.script.then(|_| Err(ModelError::Timeout));
    let answer = chat.talk(&anna, "default").say("add buy milk").await;
    assert_eq!(
        answer.response,
        "I cannot use the language model now: the model did not answer in time. This is answered by the offline planner \
         instead.\n\nAdded task 1 “Buy milk”."
    );
    assert_eq!(answer.model, "toolroom-offline");
    // What was only looked up can be looked up again.
    chat.script.calls("list-tasks", json!({})).then(|_| Err(ModelError::Busy));
    let answer = chat.talk(&anna, "default").say("show my tasks").await;
    assert!(answer.response.contains("Buy milk"), "{}", answer.response);
    // What was done is not done again.
    chat.script.calls("create-task", json!({ "title": "Bread" })).then(|_| Err(ModelError::Busy));
    let answer = chat.talk(&anna, "default").say("add bread").await;
    assert!(
        answer.response.starts_with("Added task 2 “Bread”.\n\nI cannot answer now"),
        "{}",
        answer.response
    );
    assert_eq!(chat.titles(&anna).await, ["Buy milk", "Bread"]);
}
