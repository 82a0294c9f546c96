//! `check`: the catalogue, its examples, and definitions in files.

use std::fs;

use serde_json::{Value, json};

use crate::room::Room;

#[test]
fn every_built_in_tool_passes_the_checklist_strictly() {
    let room = Room::new();
    let report = room.json(&["check", "--strict"]);
    assert_eq!(report["passes"], true, "{report}");
    assert!(report["tools"].as_array().unwrap().len() >= 4);
    let table = room.run(&["check"]);
    assert!(table.out.contains("get-status") && table.out.contains("lines hold"), "{table:?}");
    assert!(room.run(&["check", "--verbose"]).out.contains("agentHints ALWAYS included"));
}

#[test]
fn every_example_gives_what_it_promises() {
    let room = Room::new();
    let done = room.run(&["check", "--examples", "--json"]);
    let report: Value = serde_json::from_str(&done.out).unwrap();
    let failed: Vec<&Value> =
        report["examples"].as_array().unwrap().iter().filter(|example| example["passes"] != true).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(done.code, 0);
}

fn sound(room: &Room) -> Value {
    let mut definition = room.json(&["tools", "show", "get-status"]);
    definition["name"] = json!("get-weather");
    definition
}

#[test]
fn a_definition_in_a_file_is_checked_alone_in_a_list_or_as_tools_json() {
    let room = Room::new();
    let definition = sound(&room);
    let file = room.path("tool.json");
    for text in [
        definition.to_string(),
        json!([definition]).to_string(),
        json!({ "tools": [definition] }).to_string(),
    ] {
        fs::write(&file, text).unwrap();
        let report = room.json(&["check", file.to_str().unwrap()]);
        assert_eq!(report["tools"][0]["tool"], "get-weather");
        assert_eq!(report["passes"], true);
    }
}

#[test]
fn advice_fails_only_a_strict_check() {
    let room = Room::new();
    let mut definition = sound(&room);
    definition["tags"] = json!([]);
    let file = room.path("tool.json");
    fs::write(&file, definition.to_string()).unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(room.run(&["check", file]).code, 0);
    let strict = room.run(&["check", "--strict", file]);
    assert_eq!(strict.code, 1);
    assert!(strict.out.contains("At least 1 tag"), "{strict:?}");
}

#[test]
fn what_does_not_parse_is_named_by_file_line_and_field() {
    let room = Room::new();
    let mut bad = sound(&room);
    bad["category"] = json!("wish");
    let text = format!("[\n{},\n{}\n]", sound(&room), serde_json::to_string_pretty(&bad).unwrap());
    let line = text.lines().position(|line| line.contains("\"wish\"")).unwrap() + 1;
    let file = room.path("tools.json");
    fs::write(&file, text).unwrap();
    let done = room.run(&["check", file.to_str().unwrap()]);
    assert_eq!(done.code, 1);
    assert!(done.out.contains(&format!("tools.json:{line}: category: ")), "{done:?}");
    fs::write(&file, "{\n oops").unwrap();
    let done = room.run(&["check", file.to_str().unwrap()]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("tools.json:2:"), "{done:?}");
}
