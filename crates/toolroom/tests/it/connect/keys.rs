//! The key of a connected client, and the client whose own command is used.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::success;
use crate::test_home::{Done, TestHome};

#[test]
fn promise_the_key_is_confined_never_shown_and_ends_with_the_entry() {
    let home = TestHome::new();
    let server = home.serve();
    let connected = success(home.connect(&["cursor", "--yes", "--http"]));
    let text = home.text(".cursor/mcp.json");
    let key = text.split("Bearer ").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(!connected.out.contains(&key) && !connected.err.contains(&key), "{connected:?}");
    assert!(connected.out.contains("tr_****") && connected.err.contains("first key"), "{connected:?}");
    let keys = home.keys();
    assert_eq!((keys.len(), &keys[0]["profiles"], &keys[0]["user"]), (1, &json!(["plain"]), &json!("local")));
    assert!(!fs::read_to_string(home.home().join("connections.json")).unwrap().contains(&key));
    let me = |key: &str| server.get("/api/v1/me", &format!("Authorization: Bearer {key}\r\n")).status;
    assert_eq!(me(&key), 200);
    // The same again keeps the key; another entry has a key of its own.
    success(home.connect(&["cursor", "--yes", "--http"]));
    assert_eq!(home.keys().len(), 1);
    success(home.connect(&["cursor", "--yes"]));
    assert_eq!(me(&key), 401, "the entry with that key is gone");
    success(home.connect(&["cursor", "--yes", "--http"]));
    let second = home.text(".cursor/mcp.json");
    success(home.disconnect(&["cursor"]));
    let second = second.split("Bearer ").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert_eq!(me(&second), 401);
    // An entry that was removed by hand takes its key along, too.
    success(home.connect(&["cursor", "--yes", "--http"]));
    home.put_file(".cursor/mcp.json", "{}");
    success(home.disconnect(&["cursor"]));
    assert!(home.keys().iter().all(|key| !key["revoked_at"].is_null()));
    let told = success(home.connect(&["cursor", "--yes", "--http", "--env", "--json"]));
    let told: serde_json::Value = serde_json::from_str(&told.out).unwrap_or_else(|_| panic!("{told:?}"));
    assert_eq!(me(told["env"]["TOOLROOM_KEY"].as_str().unwrap()), 200, "{told}");
    success(home.disconnect(&["cursor"]));
    let env = success(home.connect(&["cursor", "--yes", "--http", "--env"]));
    assert!(
        env.err.contains("export TOOLROOM_KEY=tr_") && !home.text(".cursor/mcp.json").contains("tr_"),
        "{env:?}"
    );
}

#[test]
fn the_address_is_where_the_server_really_listens() {
    let home = TestHome::new();
    let server = home.serve();
    success(home.connect(&["cursor", "--yes", "--http"]));
    let text = home.text(".cursor/mcp.json");
    assert!(text.contains(&format!("http://{}/mcp/plain", server.address)), "{text}");
    drop(server);
    // Of a server that has ended, the settings know better.
    success(home.connect(&["cursor", "--yes", "--http"]));
    assert!(home.text(".cursor/mcp.json").contains("http://127.0.0.1:7878/mcp/plain"));
}

#[test]
fn a_file_that_cannot_be_written_costs_no_key() {
    let home = TestHome::new();
    let refused = home.connect(&["cursor", "--yes", "--http", "--file", "/proc/toolroom/mcp.json"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("/proc/toolroom/mcp.json"), "{refused:?}");
    assert_eq!(home.keys(), Vec::<serde_json::Value>::new());
    // Nor does one whose backup or whose note cannot be.
    home.put_file("own.json", "{\"a\": 1}");
    let file = home.path("own.json");
    fs::create_dir(format!("{}.toolroom-backup", file.display())).unwrap();
    let refused = home.connect(&["cursor", "--yes", "--http", "--file", file.to_str().unwrap()]);
    assert_eq!(refused.code, 1, "{refused:?}");
    fs::create_dir(home.home().join("connections.lock")).unwrap();
    let refused = home.connect(&["cursor", "--yes", "--http"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    fs::remove_dir(home.home().join("connections.lock")).unwrap();
    assert_eq!(home.keys(), Vec::<serde_json::Value>::new());
    // So whoever needed no key still needs none.
    let served = home.serve();
    assert_eq!(served.get("/api/v1/me", "").status, 200);
}

#[test]
fn a_profile_that_is_not_there_is_refused_before_anything_is_written() {
    let home = TestHome::new();
    let refused = home.connect(&["cursor", "--yes", "--profile", "plan"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("Did you mean 'plain'?"), "{refused:?}");
    assert!(!home.path(".cursor/mcp.json").exists());
    success(home.connect(&["cursor", "--yes", "--http", "--profile", "assistant"]));
    assert!(home.text(".cursor/mcp.json").contains("/mcp/assistant"));
    assert_eq!(home.keys()[0]["profiles"], json!(["assistant"]));
}

#[test]
fn claude_code_edits_its_file_itself_where_it_is_installed() {
    let home = TestHome::new();
    // It adds a field of its own to what it is given.
    home.put_file(
        "bin/claude",
        "#!/bin/sh\nfor word in \"$@\"; do echo \"$word\"; done >> \"$HOME/called\"\n\
         [ \"$2\" = remove ] && echo '{}' > \"$HOME/.claude.json\" && exit\n\
         echo \"{\\\"mcpServers\\\": {\\\"toolroom\\\": ${6%\\}}, \\\"env\\\": {}}}}\" > \"$HOME/.claude.json\"\n",
    );
    fs::set_permissions(home.path("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = home.as_user(arguments);
        command.env("PATH", format!("{}:/usr/bin:/bin", home.path("bin").display()));
        success(Done::of(command))
    };
    home.put_file(".claude.json", "{}");
    run(&["connect", "claude-code", "--yes"]);
    let called = home.text("called");
    assert!(called.starts_with("mcp\nadd-json\n-s\nuser\ntoolroom\n{\"type\":\"stdio\","), "{called}");
    let written = home.text(".claude.json");
    assert!(written.contains("\"env\": {}"), "nobody else edits it: {written}");
    let again = run(&["connect", "claude-code"]);
    assert!(again.out.contains("connected already"), "{again:?}");
    run(&["disconnect", "claude-code"]);
    assert!(home.text("called").ends_with("mcp\nremove\n-s\nuser\ntoolroom\n"), "{}", home.text("called"));
    assert_eq!(home.text(".claude.json"), "{}\n");
    // A key would be seen among the arguments.
    home.put_file(".claude.json", "{}");
    run(&["connect", "claude-code", "--yes", "--http"]);
    assert!(home.text(".claude.json").contains("Bearer tr_") && !home.text("called").contains("tr_"));
}

#[test]
fn promise_a_failure_of_claude_codes_own_command_leaves_the_file_and_the_notes_as_they_were() {
    let home = TestHome::new();
    // It removes, and then cannot add: the worst order.
    home.put_file(
        "bin/claude",
        "#!/bin/sh\necho \"$2\" >> \"$HOME/called\"\n[ \"$2\" = remove ] && echo '{}' > \"$HOME/.claude.json\" && exit\n\
         echo 'no room' >&2; exit 1\n",
    );
    fs::set_permissions(home.path("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = home.as_user(arguments);
        command.env("PATH", format!("{}:/usr/bin:/bin", home.path("bin").display()));
        Done::of(command)
    };
    home.put_file(".claude.json", "{}");
    let failed = run(&["connect", "claude-code", "--yes"]);
    assert!(failed.code == 1 && failed.err.contains("no room"), "{failed:?}");
    assert_eq!(home.text(".claude.json"), "{}");
    let noted = fs::read_to_string(home.home().join("connections.json")).unwrap();
    assert_eq!(noted.trim(), "[]", "nothing is connected");
    // What it says it did is believed when it is seen.
    home.put_file("bin/claude", "#!/bin/sh\necho \"$2\" >> \"$HOME/called\"\n");
    let failed = run(&["connect", "claude-code", "--yes"]);
    assert!(failed.code == 1 && failed.err.contains("is not changed as it should be"), "{failed:?}");
    assert_eq!(fs::read_to_string(home.home().join("connections.json")).unwrap().trim(), "[]");
    // An own entry is replaced in one step, without its command, and put back in one step.
    let own = "{\"mcpServers\": {\"toolroom\": {\"command\": \"mine\"}}, \"state\": 1}";
    home.put_file(".claude.json", own);
    success(run(&["connect", "claude-code", "--yes"]));
    success(run(&["connect", "claude-code", "--yes", "--profile", "assistant"]));
    assert!(home.text(".claude.json").contains("assistant"), "{}", home.text(".claude.json"));
    success(run(&["disconnect", "claude-code"]));
    assert_eq!(home.text(".claude.json"), own);
    assert_eq!(home.text("called"), "add-json\nadd-json\n", "the two calls that failed");
}
