//! `check`: the catalogue, its examples, and definitions in files.

use std::fs;

use serde_json::{Value, json};

use crate::test_home::TestHome;

#[test]
fn every_built_in_tool_passes_the_checklist_strictly() {
    let home = TestHome::new();
    let report = home.json(&["check", "--strict"]);
    assert_eq!(report["passes"], true, "{report}");
    assert!(report["tools"].as_array().unwrap().len() >= 4);
    let table = home.run(&["check"]);
    assert!(table.out.contains("get-status") && table.out.contains("lines pass"), "{table:?}");
    assert!(home.run(&["check", "--verbose"]).out.contains("agentHints ALWAYS included"));
}

#[test]
fn every_example_gives_what_it_promises() {
    let home = TestHome::new();
    let done = home.run(&["check", "--examples", "--json"]);
    let report: Value = serde_json::from_str(&done.out).unwrap();
    let failed: Vec<&Value> =
        report["examples"].as_array().unwrap().iter().filter(|example| example["passes"] != true).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(done.code, 0);
}

fn sound(home: &TestHome) -> Value {
    let mut definition = home.json(&["tools", "show", "get-status"]);
    definition["name"] = json!("get-weather");
    definition
}

#[test]
fn a_definition_in_a_file_is_checked_alone_in_a_list_or_as_tools_json() {
    let home = TestHome::new();
    let definition = sound(&home);
    let file = home.path("tool.json");
    for text in [
        definition.to_string(),
        json!([definition]).to_string(),
        json!({ "tools": [definition] }).to_string(),
    ] {
        fs::write(&file, text).unwrap();
        let report = home.json(&["check", file.to_str().unwrap()]);
        assert_eq!(report["tools"][0]["tool"], "get-weather");
        assert_eq!(report["passes"], true);
    }
}

#[test]
fn advice_fails_only_a_strict_check() {
    let home = TestHome::new();
    let mut definition = sound(&home);
    definition["tags"] = json!([]);
    let file = home.path("tool.json");
    fs::write(&file, definition.to_string()).unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(home.run(&["check", file]).code, 0);
    let strict = home.run(&["check", "--strict", file]);
    assert_eq!(strict.code, 1);
    assert!(strict.out.contains("At least 1 tag"), "{strict:?}");
}

#[test]
fn what_does_not_parse_is_named_by_file_line_and_field() {
    let home = TestHome::new();
    let mut bad = sound(&home);
    bad["category"] = json!("wish");
    let text = format!("[\n{},\n{}\n]", sound(&home), serde_json::to_string_pretty(&bad).unwrap());
    let line = text.lines().position(|line| line.contains("\"wish\"")).unwrap() + 1;
    let file = home.path("tools.json");
    fs::write(&file, text).unwrap();
    let done = home.run(&["check", file.to_str().unwrap()]);
    assert_eq!(done.code, 1);
    assert!(done.out.contains(&format!("tools.json:{line}: category: ")), "{done:?}");
    fs::write(&file, "{\n oops").unwrap();
    let done = home.run(&["check", file.to_str().unwrap()]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("tools.json:2:"), "{done:?}");
}
