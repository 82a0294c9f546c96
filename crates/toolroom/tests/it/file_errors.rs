//! What is wrong with a file of the home is said in the words of the file, not in those of the program.

use std::fs;

use serde_json::json;

use crate::test_home::TestHome;

#[test]
fn no_error_about_a_file_names_a_type_of_the_program() {
    let home = TestHome::new();
    home.run(&["tools", "list"]);
    for (file, text) in [
        ("mcp.approved.json", "null"),
        ("mcp.approved.json", r#"{"servers": 5}"#),
        ("mcp.approved.json", r#"{"servers": {"s": 5}}"#),
        ("mcp.json", "null"),
        ("profiles.json", "null"),
        ("profiles.json", r#"{"profiles": {"p": 5}}"#),
        ("tools/tools.json", "null"),
        ("tools/tools.json", r#"{"tools": [5]}"#),
        ("toolroom.toml", "search = 5"),
        ("toolroom.toml", "profiles = 5"),
    ] {
        let path = home.home().join(file);
        let before = fs::read(&path).ok();
        fs::write(&path, text).unwrap();
        let done = home.run(&["tools", "list"]);
        match before {
            Some(before) => fs::write(&path, before).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let name = file.rsplit('/').next().unwrap();
        assert!(done.code != 0 && done.err.contains(name), "{file} {text}: {done:?}");
        for word in ["struct ", "enum ", "tuple ", "::"] {
            assert!(!done.err.contains(word), "{file} {text}: {done:?}");
        }
    }
    assert_eq!(home.run(&["tools", "list"]).code, 0);
}

#[test]
fn a_long_name_is_cut_in_a_table_and_whole_in_json() {
    let home = TestHome::new();
    home.run(&["tools", "list"]);
    let name = "n".repeat(200);
    let servers = json!({ "mcpServers": { &name: { "command": "true", "disabled": true } } });
    fs::write(home.home().join("mcp.json"), servers.to_string()).unwrap();
    let table = home.run(&["servers", "list"]);
    let row = table.out.lines().find(|line| line.starts_with("nnn")).unwrap_or_else(|| panic!("{table:?}"));
    assert!(row.contains('…') && row.chars().count() < 250, "{row}");
    let header = table.out.lines().next().unwrap();
    assert!(header.chars().count() < 200, "{header}");
    assert_eq!(home.json(&["servers", "list"])["servers"][0]["name"], name.as_str());
}
