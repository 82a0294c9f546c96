//! Which sentences claim a change, and what becomes of them.

use serde_json::json;
use toolroom_agent::guard::{Change, Evidence, claim};
use toolroom_contract::{Effect, EffectKind};

use crate::test_chat::TestChat;

#[test]
fn sentences_that_claim_a_change_are_found() {
    for sentence in [
        "I've deleted the task.",
        "I have just added \"Buy milk\" to your list.",
        "Done!",
        "Done. Task 5 is gone.",
        "Task 5 has been deleted.",
        "The task has been successfully updated.",
        "Okay, I marked it as complete.",
        "I went ahead and removed it.",
        "Added “Buy milk” to your list.",
        "Task 7 deleted.",
        "Deleted.",
        "It's done.",
        "Your task is now marked as complete.",
        "I’ve moved it to Friday.",
        "All set, your reminder is saved.",
        "Sure, created the task for you!",
        "We have rescheduled the meeting.",
        "I ran the script.",
        "The milk task was removed.",
        "It is now on your list.",
        "That's been taken care of.",
        "All your tasks have been deleted.",
        "The items were removed.",
        "The tasks are deleted.",
    ] {
        assert!(claim(sentence).is_some(), "{sentence}");
    }
}

#[test]
fn sentences_that_claim_none_are_let_through() {
    for sentence in [
        "I have not deleted anything.",
        "I could not find a task to delete.",
        "Shall I delete it?",
        "Have you completed it?",
        "You have 3 tasks.",
        "Here are your completed tasks:",
        "Completed tasks: 2",
        "Once you confirm, it will be deleted.",
        "I will add it.",
        "I can mark it as done if you like.",
        "Nothing was changed.",
        "Which task should be removed?",
        "The task \"I have deleted everything\" is open.",
        "Task 3 was created on Monday.",
        "Tell me when you have finished it.",
        "The capital of France is Paris.",
        "- 5: Call mom (done)",
        "I'd need the task's number before it can be changed.",
        "If it is deleted, you can restore it.",
        "You have 3 tasks completed.",
        "These are the tasks you created.",
        "Your tasks are completed by Friday if all goes well.",
        "No tasks were deleted.",
    ] {
        assert!(claim(sentence).is_none(), "{sentence}: {:?}", claim(sentence));
    }
}

/// A change of a task.
fn task(kind: EffectKind) -> Vec<Change> {
    vec![Change { kinds: vec![kind], nouns: vec!["task".to_owned()] }]
}

/// What a call of a tool did whose contract says nothing of it.
fn foreign(name: &str) -> Change {
    Change::of(&Effect::default(), name)
}

#[test]
fn a_change_of_one_kind_does_not_bear_out_another() {
    let created = Evidence { done: task(EffectKind::Create), ..Evidence::default() };
    assert!(created.supports("I've added it."));
    assert!(!created.supports("I've deleted it."));
    let completed = Evidence { done: task(EffectKind::Complete), ..Evidence::default() };
    assert!(completed.supports("I've updated the task."));
    assert!(!completed.supports("I've removed the task."));
    assert_eq!(
        created.honest_part("I've added it. And I've deleted task 5. Anything else?"),
        Some("I've added it.")
    );
}

#[test]
fn a_script_that_ran_bears_out_what_it_may_have_done_and_nothing_about_tasks() {
    let ran =
        |said: &str| Evidence { done: vec![foreign("word_count")], ..Evidence::of(said, Vec::new(), &[]) };
    let counted = ran("delete task 5 and count the words");
    for claim in
        ["I've deleted task 5.", "Task 5 has been deleted.", "I've deleted it.", "It is now on your list."]
    {
        assert!(!counted.supports(claim), "{claim}");
    }
    for claim in
        ["Done!", "I ran the script.", "I've deleted the rows of the table.", "I've sent the mail to Ann."]
    {
        assert!(counted.supports(claim), "{claim}");
    }
    assert!(ran("delete the old rows").supports("I've deleted them."));
    // A change of a task is no proof of a mail.
    let created = Evidence {
        done: task(EffectKind::Create),
        ..Evidence::of("add milk and email Ann", Vec::new(), &[])
    };
    assert!(!created.supports("I've emailed Ann about it."));
    assert!(created.supports("Done!"));
}

#[test]
fn a_foreign_tool_for_tasks_bears_out_what_its_name_says() {
    let supports = |tool: &str, claim: &str| {
        let done = vec![foreign(tool)];
        Evidence { done, ..Evidence::of("do it", Vec::new(), &[]) }.supports(claim)
    };
    for (tool, created, deleted) in [
        ("todoist__create_task", true, false),
        ("remove-todo", false, true),
        ("sync_tasks", true, true),
        ("create_card", false, false),
        ("multitasker", false, false),
        ("greet", false, false),
    ] {
        assert_eq!(supports(tool, "I've created the task."), created, "{tool}");
        assert_eq!(supports(tool, "I've deleted the task."), deleted, "{tool}");
    }
}

#[test]
fn what_tools_keep_is_only_claimed_by_a_change_of_it() {
    let kept = ["card".to_owned(), "flashcard".to_owned()];
    let said = |done: Vec<Change>| Evidence { done, ..Evidence::of("delete card 3", Vec::new(), &kept) };
    let deleted = Change { kinds: vec![EffectKind::Delete], nouns: kept.to_vec() };
    for claim in ["I've deleted the flashcard.", "Card 3 has been deleted.", "I've deleted it."] {
        assert!(said(vec![deleted.clone()]).supports(claim), "{claim}");
        assert!(!said(task(EffectKind::Delete)).supports(claim), "{claim}");
        assert!(!said(vec![foreign("word_count")]).supports(claim), "{claim}");
    }
}

/// Words of claims, and of what stands around them.
const WORDS: &[&str] = &[
    "i", "i've", "added", "deleted", "just", "now", "ok", "it", "task", "not", "done", "is", "gone", "5",
    "been", "has", "\"", "\u{201c}", "`", ".", "!", "?", "\n", "no", "longer", "on", "your", "list", "the",
    "milk",
];

#[test]
fn promise_judging_what_a_model_says_takes_work_that_grows_with_its_length_alone() {
    let target = toolroom_work::fuzz::Target {
        name: "the claim guard",
        words: WORDS,
        sample: 200,
        longest: 20_000,
        fixed: 100,
        per_byte: 12,
    };
    let evidence = Evidence::of("delete task 5", Vec::new(), &[]);
    target.run(|text| {
        let _ = evidence.honest_part(text);
        let mut sentences = toolroom_agent::guard::Sentences::default();
        // The text as it grows, in pieces of a few letters.
        let ends = text.char_indices().map(|(at, _)| at).step_by(3).chain([text.len()]);
        let mut found = Vec::new();
        ends.for_each(|end| {
            while let Some(end) = sentences.next_end(&text[..end]) {
                found.push(end)
            }
        });
        let whole = toolroom_agent::guard::split(text).count();
        assert!(found.len() == whole || found.len() + 1 == whole);
    });
}

#[test]
fn poems_and_pages_of_the_world_are_not_judged() {
    let poem = Evidence::of("write me a poem about the sea", Vec::new(), &[]);
    assert!(poem.supports("I made a wish beneath the moon, and moved along the shore."));
    assert!(
        poem.supports("The old capital was moved to the east, and its walls were removed stone by stone.")
    );
    assert!(!poem.supports("I've added it to your list."));
    let news =
        Evidence { elsewhere: true, ..Evidence::of("search the web and add nothing", Vec::new(), &[]) };
    assert!(news.supports("The old levy has been removed by parliament after a long debate."));
    assert!(!news.supports("Your task has been deleted."));
    let order = Evidence::of("delete buy milk", Vec::new(), &[]);
    assert!(!order.supports("Buy milk has been deleted for good as of now."));
    let letter = Evidence::of("send the report to Ann", Vec::new(), &[]);
    assert!(!letter.supports("I have sent the report to Ann, together with the figures."));
}

#[test]
fn an_order_is_no_question() {
    use toolroom_agent::guard::is_question;
    for asked in ["did you delete it?", "What's on my list?", "is task 5 done", "Show my completed tasks"] {
        assert!(is_question(asked), "{asked}");
    }
    for wanted in [
        "show my tasks and delete 5",
        "delete it",
        "can you delete it?",
        "do delete it",
        "what if you add milk",
    ] {
        assert!(!is_question(wanted), "{wanted}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_false_claim_is_retried_with_the_tool_required_and_then_true() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.script
        .says("I've added milk to your list.")
        .calls("create-task", json!({ "title": "Milk" }))
        .says("Enjoy.");
    let answer = chat.talk(&anna, "default").say("add milk").await;
    assert_eq!(chat.titles(&anna).await, ["Milk"]);
    assert_eq!(answer.response, "Added task 1 “Milk”.\n\nEnjoy.");
    let choices: Vec<String> = chat
        .script
        .prompts
        .lock()
        .unwrap()
        .iter()
        .map(|prompt| format!("{:?}", prompt.tool_choice))
        .collect();
    assert_eq!(choices, ["Auto", "Required", "Auto"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_false_claim_that_is_repeated_becomes_an_honest_sentence() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.script.says("Sure. I've deleted all your tasks. Bye.").says("Done, all tasks are gone.");
    let answer = chat.talk(&anna, "default").say("delete everything").await;
    assert_eq!(answer.response, "Sure.\n\nNothing was changed: no call of a tool for it succeeded.");
    assert_eq!(chat.script.turns(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_failed_call_success_cannot_be_claimed() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    chat.script
        .calls("complete-task", json!({ "taskId": 99 }))
        .says("I've marked task 99 as complete.")
        .says("Task 99 has been completed!");
    let answer = chat.talk(&anna, "default").say("complete task 99").await;
    assert_eq!(answer.response, "Nothing was changed: no call of a tool for it succeeded.");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_a_question_may_speak_of_what_was_done_before() {
    let chat = TestChat::new().await;
    let anna = chat.user("anna").await;
    let mut talk = chat.talk(&anna, "default");
    chat.script.calls("create-task", json!({ "title": "Milk" })).says("");
    talk.say("add milk").await;
    chat.script.says("Yes, I added it.");
    assert_eq!(talk.say("did you add milk?").await.response, "Yes, I added it.");
    chat.script.says("I deleted it.").says("I deleted it.");
    let answer = talk.say("did you delete it?").await;
    assert_eq!(answer.response, "Nothing was changed: no call of a tool for it succeeded.");
}
