//! Tools that people add, update and remove by command, with and without a running server.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::test_home::{TestHome, until};

const ECHO: &str = r#""""Repeats a text. Use it for tests. Returns the text.

name: echo-text
version: VERSION
params:
  text (string, required): the text
"""
def run(params, context):
    return {"text": params["text"]}
"#;

impl TestHome {
    /// Writes a file beside the home.
    fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name).to_str().unwrap().to_owned()
    }

    fn tools_json(&self) -> PathBuf {
        self.home().join("tools/tools.json")
    }

    fn entries(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.tools_json()).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["tools"].as_array().unwrap().clone()
    }

    fn has(&self, tool: &str) -> bool {
        self.run(&["tools", "show", tool]).code == 0
    }
}

fn add_update_remove(home: &TestHome) {
    let file = home.write("echo_text.py", &ECHO.replace("VERSION", "1.0.0"));
    let added = home.run(&["tools", "add", &file]);
    assert_eq!(added.code, 0, "{added:?}");
    for text in [
        "added echo-text 1.0.0",
        "safe defaults for: ",
        "try it: toolroom call echo-text --params '{\"text\":\"text\"}'",
    ] {
        assert!(added.out.contains(text), "{text}: {added:?}");
    }
    assert_eq!(
        home.json(&["call", "echo-text", "--param", "text=hello"])["data"],
        json!({ "text": "hello" })
    );
    let again = home.run(&["tools", "add", &file]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("already_exists") && again.err.contains("toolroom tools update"), "{again:?}");

    home.write("echo_text.py", &ECHO.replace("VERSION", "1.0.1").replace("\"]}", "\"].upper()}"));
    let updated = home.run(&["tools", "update", &file]);
    assert_eq!(updated.code, 0, "{updated:?}");
    assert!(
        updated.out.contains("metadata") && updated.out.contains("updated echo-text 1.0.1"),
        "{updated:?}"
    );
    assert_eq!(
        home.json(&["call", "echo-text", "--param", "text=hello"])["data"],
        json!({ "text": "HELLO" })
    );

    let removed = home.run(&["tools", "remove", "echo-text"]);
    assert_eq!(removed.code, 0, "{removed:?}");
    assert!(!home.has("echo-text"));
    assert_eq!(home.run(&["tools", "remove", "echo-text"]).code, 1);
    let gone = home.run(&["tools", "update", &file]);
    assert_eq!(gone.code, 1);
    assert!(gone.err.contains("toolroom tools add"), "{gone:?}");
}

#[test]
fn a_script_is_added_called_updated_and_removed_without_a_server() {
    let home = TestHome::new();
    home.run(&["init"]);
    let before = home.entries();
    add_update_remove(&home);
    assert_eq!(home.entries(), before);
}

#[test]
fn a_script_is_added_called_updated_and_removed_through_a_running_server() {
    let home = TestHome::new();
    let _server = home.serve();
    let before = home.entries();
    add_update_remove(&home);
    assert_eq!(home.entries(), before);
}

#[test]
fn an_update_that_breaks_callers_shows_why_and_names_the_way_out() {
    let home = TestHome::new();
    let file = home.write("echo_text.py", &ECHO.replace("VERSION", "1.0.0"));
    home.run(&["tools", "add", &file]);
    let changed = ECHO
        .replace("VERSION", "2.0.0")
        .replace("the text\n", "the text\n  times (integer, required): how often\n");
    home.write("echo_text.py", &changed);
    let refused = home.run(&["tools", "update", &file]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.out.contains("breaking") && refused.out.contains("/parameters"), "{refused:?}");
    for text in [
        "breaking_change",
        "echo-text-v2",
        "deprecated",
        "toolroom tools add",
        "new ones are optional",
        "a draft",
    ] {
        assert!(refused.err.contains(text), "{text}: {refused:?}");
    }
    assert_eq!(home.json(&["tools", "show", "echo-text"])["version"], "1.0.0");
    home.write("echo_text_v2.py", &changed.replace("name: echo-text", "name: echo-text-v2"));
    assert_eq!(home.run(&["tools", "add", home.path("echo_text_v2.py").to_str().unwrap()]).code, 0);
    let deprecated = ECHO.replace("VERSION", "1.1.0").replace(
        "params:",
        "deprecated: {\"since\": \"1.1.0\", \"replacement\": \"echo-text-v2\", \"removalDate\": \"2999-01-01\"}\nparams:",
    );
    home.write("echo_text.py", &deprecated);
    let updated = home.json(&["tools", "update", &file]);
    assert_eq!((&updated["impact"], &updated["tool"]["version"]), (&json!("metadata"), &json!("1.1.0")));
}

#[test]
fn an_entry_as_json_takes_the_script_beside_it_along() {
    let home = TestHome::new();
    home.write("shout", "#!/bin/sh\nprintf '{\"got\": %s}' \"$(cat)\"\n");
    let entry = json!({
        "name": "shout", "description": "Gives its parameters back.", "permissions": [],
        "config": { "script_path": "shout" },
    });
    let file = home.write("shout.json", &entry.to_string());
    let stored = home.json(&["tools", "add", &file]);
    assert_eq!(stored["permissions"], json!([]));
    let called = home.json(&["call", "shout", "--params", "{\"a\": 1}"]);
    assert_eq!(called["data"], json!({ "got": { "a": 1 } }));
    let broken = home.write("broken.json", "{\n\"name\": \"x\",\n\"description\": 7\n}");
    let refused = home.run(&["tools", "add", &broken]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("broken.json:3"), "{refused:?}");
}

#[test]
fn a_header_that_is_not_understood_is_refused_by_its_line() {
    let home = TestHome::new();
    let file = home.write("bad.py", "\"\"\"Does something.\n\nparams:\n  city: the city\n\"\"\"\n");
    let refused = home.run(&["tools", "add", &file]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("bad.py:4: 'city' has no type"), "{refused:?}");
    assert!(refused.err.contains("city (string, required, max 100): the city"), "{refused:?}");
    let none = home.run(&["tools", "add", &home.write("none.py", "import os\n")]);
    assert!(none.code == 1 && none.err.contains("no header"), "{none:?}");
    let lame = home.run(&["tools", "add", &home.write("lame.py", "\"Does nothing.\"\n")]);
    assert!(lame.code == 0 && lame.err.contains("def run(params, context)"), "{lame:?}");
}

#[test]
fn a_missing_script_fails_its_own_tool_and_no_other() {
    let home = TestHome::new();
    let file = home.write("echo_text.py", &ECHO.replace("VERSION", "1.0.0"));
    home.run(&["tools", "add", &file]);
    fs::remove_file(home.home().join("tools/echo_text.py")).unwrap();
    let failed = home.run(&["call", "echo-text", "--param", "text=x", "--json"]);
    assert_eq!(failed.code, 1);
    assert!(failed.out.contains("tool_execution_error"), "{failed:?}");
    assert_eq!(home.run(&["call", "get-status"]).code, 0);
}

#[test]
fn nothing_of_a_script_is_left_when_a_command_ends() {
    let home = TestHome::new();
    let file = home.write("echo_text.py", &ECHO.replace("VERSION", "1.0.0"));
    home.run(&["tools", "add", &file]);
    assert_eq!(home.run(&["call", "echo-text", "--param", "text=x"]).code, 0);
    until("its worker is gone", || crate::processes::of_home(&home.home()).is_empty().then_some(()));
}

#[test]
fn an_edit_of_the_file_is_taken_up_and_a_bad_one_is_told_and_leaves_the_catalogue() {
    let home = TestHome::new();
    let file = home.write("echo_text.py", &ECHO.replace("VERSION", "1.0.0"));
    home.run(&["tools", "add", &file]);
    let _server = home.serve();
    let good = fs::read_to_string(home.tools_json()).unwrap();
    fs::write(home.tools_json(), good.replace("echo-text", "repeat-text")).unwrap();
    until("the edit is taken up", || home.has("repeat-text").then_some(()));
    assert!(!home.has("echo-text"));

    fs::write(home.tools_json(), good.replace("\"name\"", "\"nam\"")).unwrap();
    let reason = until("the bad edit is told", || {
        let ready = home.ready();
        ready.json["checks"]["registry"]["reason"].as_str().map(str::to_owned)
    });
    assert!(reason.contains("tools.json:"), "{reason}");
    assert!(home.has("repeat-text"));
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(
        doctor.out.contains("tools.json:") && doctor.out.contains("from before are in use"),
        "{doctor:?}"
    );

    fs::write(home.tools_json(), &good).unwrap();
    until("the mended file is taken up", || home.has("echo-text").then_some(()));
    assert_eq!(home.ready().json["checks"]["registry"], json!({ "ok": true }));
}

#[test]
fn a_sandbox_folder_that_is_gone_is_an_error_of_that_tools_calls_alone() {
    let home = TestHome::new();
    let folder = home.path("data");
    fs::create_dir(&folder).unwrap();
    home.write_tool("reads", "def run(params, context):\n    return {'done': True}\n", json!({}));
    let mut entries: Value = serde_json::from_slice(&fs::read(home.tools_json()).unwrap()).unwrap();
    let entry = entries["tools"].as_array_mut().unwrap().iter_mut().find(|entry| entry["name"] == "reads");
    entry.unwrap()["config"]["sandbox"] = json!({ "read": [folder] });
    fs::write(home.tools_json(), entries.to_string()).unwrap();
    assert_eq!(home.run(&["call", "reads"]).code, 0);
    fs::remove_dir(&folder).unwrap();
    assert_eq!(home.run(&["call", "get-status"]).code, 0);
    assert_eq!(home.run(&["tools", "list"]).code, 0);
    let refused = home.run(&["call", "reads"]);
    assert!(refused.code == 1 && refused.err.contains("cannot be opened"), "{refused:?}");
    fs::create_dir(&folder).unwrap();
    assert_eq!(home.run(&["call", "reads"]).code, 0);
}
