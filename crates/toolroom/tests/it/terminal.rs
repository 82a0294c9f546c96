//! Text from outside never steers the terminal.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::test_home::{Served, TestHome, until};

const HOSTILE: &str = "bad \u{1b}[31m\u{7}\r\u{9b}2J\u{7f}\u{202e}txt\u{2066}\u{2028}\u{200f}";

fn steers(letter: char) -> bool {
    (letter.is_control() && letter != '\n' && letter != '\t')
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[test]
fn nothing_from_outside_reaches_the_terminal_as_a_control_character() {
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    let entry = |name: &str, destructive: bool| {
        json!({
            "name": name, "description": format!("Does {HOSTILE}. Use it never."), "type": "local",
            "destructive": destructive, "tags": ["x"],
            "input_schema": {
                "type": "object", "properties": { "a": { "type": "string", "description": HOSTILE } }
            },
            "config": { "script_path": "hostile.py" }
        })
    };
    let tools = json!({ "tools": [entry("hostile", false), entry("grave", true)] });
    fs::write(home.home().join("tools/tools.json"), tools.to_string()).unwrap();
    fs::write(
        home.home().join("tools/hostile.py"),
        "def run(params, context):\n    print(params['a'])\n    raise ValueError(params['a'])\n",
    )
    .unwrap();
    let given = json!({ "a": HOSTILE }).to_string();
    for arguments in [
        &["tools", "list"][..],
        &["tools", "show", "hostile"],
        &["call", "hostile", "--params", &given],
        &["call", "grave", "--params", &given],
        &["call", HOSTILE],
        &["approvals", "list"],
        &["logs"],
        &["check"],
        &["tools", "search", "never"],
        &["chat", "add a task", HOSTILE],
    ] {
        for json in [&[][..], &["--json"]] {
            let done = home.run(&[arguments, json].concat());
            for (name, text) in [("stdout", &done.out), ("stderr", &done.err)] {
                assert!(!text.contains(steers), "{arguments:?} {json:?} {name}: {text:?}");
            }
            if json.is_empty() && arguments[0] != "check" && arguments[0] != "chat" {
                assert!(!done.out.is_empty() || !done.err.is_empty(), "{arguments:?}");
            }
        }
    }
    let shown = home.run(&["tools", "show", "hostile"]).out;
    assert!(shown.contains("\\u001b[31m\\u0007") && shown.contains("\\u202e"), "{shown}");
    // JSON says the same as before.
    let tool = home.json(&["tools", "show", "hostile"]);
    assert_eq!(tool["description"], format!("Does {HOSTILE}. Use it never."));
}

#[test]
fn the_log_of_a_server_holds_no_character_that_steers_a_terminal() {
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    let name = "files\u{202e}gpj\u{2066}";
    let servers = json!({ "mcpServers": { name: { "command": "/nowhere/at/all" } } });
    fs::write(home.home().join("mcp.json"), servers.to_string()).unwrap();
    let file = home.path("log");
    let _server = Served::start_with(
        home.command(&["serve", "--listen", "127.0.0.1:0"]),
        Stdio::from(fs::File::create(&file).unwrap()),
    );
    let line = until("the server's name is logged", || {
        let log = fs::read_to_string(&file).unwrap();
        assert!(!log.contains(steers), "{log:?}");
        log.lines().find(|line| line.contains("\\u202egpj")).map(str::to_owned)
    });
    let logged: Value = serde_json::from_str(&line).unwrap();
    assert!(logged.to_string().contains(name), "it is still the name: {line}");
}
