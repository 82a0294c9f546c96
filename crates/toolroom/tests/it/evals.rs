//! `toolroom eval`: the project's own figures, and sets of others.

use std::fs;

use serde_json::json;

use crate::scripted_model::{self, call, said, text};
use crate::test_home::{Done, TestHome};

#[test]
fn on_prompts_that_nothing_was_learned_from_it_is_right_where_it_acts() {
    let report = TestHome::new().json(&["eval"]);
    let figure = |pointer: &str| report.pointer(pointer).and_then(serde_json::Value::as_f64).unwrap();
    for class in ["tasks", "web", "code", "human", "none"] {
        assert!(figure(&format!("/by_class/{class}/total")) >= 60.0, "{class}: {report}");
    }
    assert!(figure("/acted/accuracy") >= 0.9, "{report}");
    assert!(figure("/coverage") >= 0.8, "{report}");
    assert!(figure("/wrong_mutations/share") <= 0.01, "{report}");
    assert!(figure("/search/recall_at_5") >= 0.95, "{report}");
}

#[test]
fn a_set_of_others_is_read_and_its_bad_lines_are_named() {
    let home = TestHome::new();
    let set = home.path("set.jsonl");
    fs::write(&set, "{\"prompt\": \"hello\", \"class\": \"none\"}\n\n{\"query\": \"list my tasks\", \"label\": \"list_tasks\"}\n").unwrap();
    let path = set.to_str().unwrap();
    let report = home.json(&["eval", "--set", path]);
    assert_eq!((report["total"].as_u64(), report["correct"].as_u64()), (Some(2), Some(2)), "{report}");
    assert!(
        report["calibration"].as_array().unwrap().len() == 10 && report["confusion"]["none"]["none"] == 1
    );
    fs::write(
        &set,
        "{\"prompt\": \"hello\", \"class\": \"none\"}\n{\"prompt\": \"x\", \"class\": \"cake\"}\n",
    )
    .unwrap();
    let refused = home.run(&["eval", "--set", path]);
    assert!(
        refused.code != 0 && refused.err.contains("line 2") && refused.err.contains("cake"),
        "{refused:?}"
    );
}

#[test]
fn a_model_is_measured_by_what_it_would_call_and_nothing_is_called() {
    let home = TestHome::new();
    let url = scripted_model::start(|request| match said(request) {
        "list my tasks" => call("list-tasks", &json!({})),
        "what is two to the power of 100?" => call("execute-code", &json!({ "code": "print(2**100)" })),
        "add buy milk" => call("delete-task", &json!({ "taskId": 1 })),
        "what is new in Rome?" => call("list-tasks", &json!({})),
        _ => text("Hello."),
    });
    let set = home.path("set.jsonl");
    let lines = [
        json!({ "prompt": "list my tasks", "tool": "list-tasks" }),
        json!({ "prompt": "what is two to the power of 100?", "class": "code" }),
        json!({ "prompt": "add buy milk", "class": "tasks", "intent": "create" }),
        json!({ "prompt": "what is new in Rome?", "class": "web" }),
        json!({ "prompt": "hi", "class": "none" }),
    ];
    fs::write(&set, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let mut command = home.command(&["eval", "--set", set.to_str().unwrap(), "--json", "--model", "tiny"]);
    command.env("OPENAI_BASE_URL", url);
    let done = Done::of(command);
    assert_eq!(done.code, 0, "{done:?}");
    let report: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((&report["total"], &report["correct"]), (&json!(5), &json!(4)), "{report}");
    let rows = report["rows"].as_array().unwrap();
    let prompts = |field: &str| -> Vec<_> {
        rows.iter().filter(|row| row[field] == false).map(|row| row["prompt"].as_str().unwrap()).collect()
    };
    assert_eq!(rows.len(), 5, "{report}");
    assert_eq!(
        (prompts("correct"), prompts("exact")),
        (vec!["what is new in Rome?"], vec!["add buy milk", "what is new in Rome?"])
    );
    assert_eq!(report["confusion"]["web"]["tasks"], 1, "{report}");
    assert_eq!(report["intents"]["correct"], 1, "the deletion is not what was wanted: {report}");
    assert_eq!(report["wrong_mutations"]["total"], 1, "{report}");
    let mut command = home.command(&["eval", "--set", set.to_str().unwrap(), "--model"]);
    command.env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1").env("TOOLROOM_MODEL", "tiny");
    let lost = Done::of(command);
    assert!(lost.code == 1 && lost.err.contains("cannot be reached"), "{lost:?}");
}

/// The bounds are what is reached; `eval/README.md` says what of these sets was seen.
#[test]
fn conversations_without_a_model_end_as_a_person_would_want() {
    let home = TestHome::new();
    let set = concat!(env!("CARGO_MANIFEST_DIR"), "/../../eval/dialogues.jsonl");
    let report = home.json(&["eval", "--dialogues", "--set", set]);
    let share = |name: &str| report[name]["accuracy"].as_f64().unwrap();
    assert!(share("prompts") >= 0.97 && share("dialogues") >= 0.96, "{report}");
    assert_eq!(report["wrong_changes"], 0, "{report}");
    assert_eq!(report["unconfirmed_deletions"], 0, "{report}");
}

#[test]
fn what_is_not_a_command_changes_nothing() {
    let home = TestHome::new();
    let set = concat!(env!("CARGO_MANIFEST_DIR"), "/../../eval/not-commands.txt");
    let report = home.json(&["eval", "--dialogues", "--set", set, "--limit", "170"]);
    assert!(report["not_commands"]["total"].as_u64().unwrap() >= 160, "{report}");
    assert!(report["not_commands"]["accuracy"].as_f64().unwrap() >= 0.99, "{report}");
}

#[test]
fn dialogues_of_others_are_judged_by_what_they_leave_behind() {
    let home = TestHome::new();
    let set = home.path("set.jsonl");
    let lines = [
        json!({ "turns": ["add buy milk", "make it high priority"], "added": [{ "title": "buy milk", "priority": "high" }] }),
        json!({ "tasks": ["Buy milk"], "turns": ["delete the milk task"], "deleted": ["Buy milk"] }),
        json!({ "tasks": ["Buy milk"], "turns": ["delete the milk task", "no"], "deleted": ["Buy milk"] }),
        json!({ "tasks": ["Buy milk"], "turns": ["add buy bread"] }),
    ];
    fs::write(&set, lines.map(|line| line.to_string()).join("\n") + "\nhello there\n").unwrap();
    let report = home.json(&["eval", "--dialogues", "--set", set.to_str().unwrap()]);
    assert_eq!(
        (&report["prompts"]["total"], &report["prompts"]["correct"]),
        (&json!(2), &json!(1)),
        "{report}"
    );
    assert_eq!(
        (&report["dialogues"]["total"], &report["dialogues"]["correct"]),
        (&json!(2), &json!(1)),
        "{report}"
    );
    assert_eq!(report["not_commands"]["correct"], 1, "{report}");
    assert_eq!(report["wrong_changes"], 1, "the bread was not wanted: {report}");
    assert_eq!(
        report["rows"][3]["wrong"][0], "a new task 'Buy bread', due None, priority medium",
        "{report}"
    );
    fs::write(&set, "{\"turns\": [\"hi\"], \"aded\": []}\n").unwrap();
    let refused = home.run(&["eval", "--dialogues", "--set", set.to_str().unwrap()]);
    assert!(
        refused.code != 0 && refused.err.contains("line 1") && refused.err.contains("aded"),
        "{refused:?}"
    );
}
