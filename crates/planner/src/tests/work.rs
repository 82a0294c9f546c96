//! No message takes more work than its budget, and an ordinary one takes little of it.

use jiff::tz::TimeZone;
use serde_json::json;
use toolroom_work::counted;
use toolroom_work::fuzz::Target;

use crate::act::BUDGET;
use crate::turn;
use toolroom_model::{Message, Moment, Prompt, Schema, ToolChoice, ToolSpec, Turn};

/// The words that rules know, and what stands between them.
const WORDS: &[&str] = &[
    "and",
    "then",
    "also",
    "plus",
    "but",
    "so",
    "please",
    "can",
    "you",
    "could",
    "i",
    "need",
    "want",
    "to",
    "add",
    "create",
    "delete",
    "remove",
    "mark",
    "complete",
    "task",
    "tasks",
    "the",
    "milk",
    "one",
    "it",
    "them",
    "all",
    "as",
    "done",
    "not",
    "don't",
    "never",
    "high",
    "priority",
    "urgent",
    "due",
    "by",
    "on",
    "friday",
    "tomorrow",
    "at",
    "5pm",
    "feb 30",
    "1",
    "2",
    "#3",
    "1-200",
    "9223372036854775807",
    "-",
    "first",
    "second",
    "other",
    "no",
    "yes",
    "thanks",
    "hello",
    "what",
    "is",
    "are",
    "how",
    "show",
    "list",
    "my",
    "search",
    "web",
    "run",
    "python",
    "print(1)",
    "```",
    "`",
    "\"",
    "'",
    "'a",
    "\u{201c}",
    "\u{ab}",
    "(",
    "[",
    "tagged",
    "description",
    "with",
    "remind",
    "me",
    "rename",
    "if",
    "mind",
    "really",
    "just",
    "12/31",
    "2026-12-31T15:00:00Z",
    "zqxjzqxjzqxjzqxjzqxjzqxjzqxjzqxjzqxjzq",
    "caf\u{e9}",
    "?",
    "!",
    ".",
];

pub(super) fn prompt(messages: Vec<Message>) -> Prompt {
    let tool = |name: &str, parameters| ToolSpec {
        name: name.to_owned(),
        canonical: name.to_owned(),
        description: String::new(),
        parameters: Schema::from(parameters),
        read_only: false,
        destructive: false,
    };
    let one = json!({ "properties": { "taskId": { "type": "integer" } } });
    Prompt {
        messages,
        tools: vec![
            tool("create-task", json!({ "properties": { "title": {}, "due": {}, "priority": {} } })),
            tool("list-tasks", json!({ "properties": { "status": {} } })),
            tool("delete-task", one.clone()),
            tool("complete-task", one.clone()),
            tool("update-task", one),
            tool("search-web", json!({ "properties": { "query": {} } })),
            tool("execute-code", json!({ "properties": { "code": {}, "language": {} } })),
        ],
        tool_choice: ToolChoice::Auto,
        moment: Moment {
            now: "2026-11-15T09:00:00Z".parse().unwrap(),
            zone: TimeZone::get("Europe/Berlin").unwrap(),
        },
        profile: "default".to_owned(),
        confirms_changes: false,
        confirms_deletes: true,
    }
}

pub(super) fn said(text: &str) -> Turn {
    turn(&prompt(vec![Message::user(text)]))
}

/// Beyond its budget a reading only runs out: no more than a small part is added.
const MOST: u64 = BUDGET + BUDGET / 4;

#[test]
fn promise_no_message_takes_more_work_than_its_budget() {
    // Texts of up to 600 words, which are read whole.
    let target = Target {
        name: "the offline planner",
        words: WORDS,
        sample: 100,
        longest: 3_000,
        fixed: MOST,
        per_byte: 1,
    };
    target.run(|text| {
        said(text);
    });
}

#[test]
fn promise_a_conversation_of_hostile_messages_takes_bounded_work() {
    let target = Target {
        name: "the offline planner's memory",
        words: WORDS,
        sample: 20,
        longest: 4_000,
        fixed: 6 * MOST,
        per_byte: 1,
    };
    target.run(|text| {
        let messages = (0..40).map(|_| Message::user(text)).collect();
        turn(&prompt(messages));
    });
}

#[test]
fn a_long_row_of_conjunctions_is_not_acted_on_and_takes_bounded_work() {
    for word in
        ["and", "then", "also", "but", ",", "please", "and delete task 1", "\"", "'a", "not", "1", "by", "("]
    {
        let text = format!("{word} ").repeat(2_400);
        let text: String = text.chars().take(10_000).collect();
        let (turn, taken) = counted(|| said(&text));
        assert!(taken <= MOST, "{word}: {taken} steps");
        assert!(turn.calls.is_empty(), "{word}: {:?}", turn.calls);
        assert!(turn.text.contains("I did nothing"), "{word}: {}", turn.text);
    }
}

#[test]
fn an_ordinary_long_message_is_read_with_a_small_part_of_the_budget() {
    let sentence =
        "Yesterday I met Ann, who said that the report is late, and we talked about the plans for March. ";
    let about = sentence.repeat(18);
    let text = format!("Add a task to call Ann tomorrow at 5pm. {about}");
    let (turn, taken) = counted(|| said(&text));
    assert!(taken < BUDGET / 4, "{taken} steps for {} bytes", text.len());
    assert!(!turn.text.contains("I did nothing"), "{}", turn.text);
    assert_eq!(turn.calls.len(), 1, "{}", turn.text);
}

#[test]
fn what_stands_behind_the_part_that_is_read_is_never_dropped_in_silence() {
    let text = format!("Delete task 1 and {} no, don't delete anything", "really ".repeat(1_000));
    let turn = said(&text);
    assert!(turn.calls.is_empty());
    assert!(turn.text.contains("I read only the first 600 words"), "{}", turn.text);
}
