//! The choice between a tool, none, and a question.

use serde_json::Value;
use toolroom_selection::{Because, Choice, Class, Index, Intent, Selection};

use crate::{index, texts};

fn tool(selection: &Selection) -> Option<&str> {
    match &selection.choice {
        Choice::Tool { name, .. } => Some(name),
        Choice::None | Choice::Ask(_) => None,
    }
}

#[test]
fn plain_wishes_get_the_tool_that_serves_them() {
    let index = index();
    for (prompt, name) in [
        ("Remind me to buy milk tomorrow", "create-task"),
        ("show my tasks", "list-tasks"),
        ("mark task 3 as done", "complete-task"),
        ("delete task 4", "delete-task"),
        ("what's the weather in Seoul today?", "search-web"),
        ("run this python code: print(1 + 1)", "execute-code"),
    ] {
        assert_eq!(tool(&index.select(prompt)), Some(name), "{prompt}");
    }
}

#[test]
fn talk_and_common_knowledge_need_no_tool() {
    let index = index();
    for prompt in ["hello", "What is the capital of Germany?", "tell me a joke"] {
        assert_eq!(index.select(prompt).choice, Choice::None, "{prompt}");
    }
}

#[test]
fn a_wish_without_its_object_is_asked_about() {
    let index = index();
    for prompt in ["delete it", "change that one", "do the thing"] {
        assert_eq!(index.select(prompt).choice, Choice::Ask(Because::Incomplete), "{prompt}");
    }
}

#[test]
fn a_tool_of_others_is_chosen_for_what_it_is_for_and_not_for_tasks() {
    let index = index();
    let music = index.select("play a song by Miles Davis on the speakers");
    assert_eq!((tool(&music), music.class), (Some("play_music"), None), "{music:?}");
    let task = index.select("add a task to play music at the party");
    assert_eq!((tool(&task), task.intent), (Some("create-task"), Some(Intent::Create)));
}

#[test]
fn a_clear_wish_without_a_tool_for_it_is_said_to_have_none() {
    let mut some = texts();
    some.retain(|tool| tool.name != "search-web");
    let selection = Index::build(&some).select("what's the weather in Seoul today?");
    assert_eq!((selection.choice, selection.class), (Choice::Ask(Because::NoTool), Some(Class::Web)));
}

#[test]
fn chances_of_the_classes_add_up_to_one() {
    for prompt in ["", "hello", "delete task 4", "λ"] {
        let chances = index().select(prompt).chances;
        let sum: f64 = Class::ALL.into_iter().map(|class| chances.class(class)).sum();
        assert!((sum - 1.0).abs() < 1e-4, "{prompt}: {sum}");
    }
}

#[test]
fn the_surer_it_is_the_more_often_it_is_right() {
    let index = index();
    let mut outcomes: Vec<(f64, bool)> = include_str!("../../../../eval/test.jsonl")
        .lines()
        .map(|line| {
            let gold: Value = serde_json::from_str(line).unwrap();
            let selection = index.select(gold["prompt"].as_str().unwrap());
            let class = selection.class.map(Class::as_str);
            (selection.confidence, class == gold["class"].as_str())
        })
        .collect();
    outcomes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let share = |part: &[(f64, bool)]| part.iter().filter(|one| one.1).count() as f64 / part.len() as f64;
    let thirds: Vec<f64> = outcomes.chunks(outcomes.len().div_ceil(3)).map(share).collect();
    assert!(thirds[0] < thirds[1] && thirds[1] <= thirds[2] + 0.02, "{thirds:?}");
    let mean = outcomes.iter().map(|one| one.0).sum::<f64>() / outcomes.len() as f64;
    assert!((mean - share(&outcomes)).abs() < 0.1, "says {mean:.2}, is right in {:.2}", share(&outcomes));
}
