//! `toolroom eval`: the project's own figures, and sets of others.

use std::fs;

use crate::room::Room;

#[test]
fn on_prompts_that_nothing_was_learned_from_it_is_right_where_it_acts() {
    let report = Room::new().json(&["eval"]);
    let figure = |pointer: &str| report.pointer(pointer).and_then(serde_json::Value::as_f64).unwrap();
    for class in ["tasks", "web", "code", "human", "none"] {
        assert!(figure(&format!("/by_class/{class}/total")) >= 60.0, "{class}: {report}");
    }
    assert!(figure("/acted/accuracy") >= 0.9, "{report}");
    assert!(figure("/coverage") >= 0.8, "{report}");
    assert!(figure("/wrong_mutations/share") <= 0.01, "{report}");
    // Below the goal of 0.95 (see eval/README.md): this only keeps it from getting worse.
    assert!(figure("/search/recall_at_5") >= 0.95, "{report}");
}

#[test]
fn a_set_of_others_is_read_and_its_bad_lines_are_named() {
    let room = Room::new();
    let set = room.path("set.jsonl");
    fs::write(&set, "{\"prompt\": \"hello\", \"class\": \"none\"}\n\n{\"query\": \"list my tasks\", \"label\": \"list_tasks\"}\n").unwrap();
    let path = set.to_str().unwrap();
    let report = room.json(&["eval", "--set", path]);
    assert_eq!((report["total"].as_u64(), report["correct"].as_u64()), (Some(2), Some(2)), "{report}");
    assert!(
        report["calibration"].as_array().unwrap().len() == 10 && report["confusion"]["none"]["none"] == 1
    );
    fs::write(
        &set,
        "{\"prompt\": \"hello\", \"class\": \"none\"}\n{\"prompt\": \"x\", \"class\": \"cake\"}\n",
    )
    .unwrap();
    let refused = room.run(&["eval", "--set", path]);
    assert!(
        refused.code != 0 && refused.err.contains("line 2") && refused.err.contains("cake"),
        "{refused:?}"
    );
}
