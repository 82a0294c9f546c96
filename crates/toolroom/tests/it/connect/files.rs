//! Files of other programs are changed only as shown, and never half.

use std::fs;
use std::io::{BufReader, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::success;
use crate::test_home::TestHome;

const CURSOR: &str = ".cursor/mcp.json";
const BACKUP: &str = ".cursor/mcp.json.toolroom-backup";

#[test]
fn promise_the_change_is_shown_and_asked_for_and_a_second_time_changes_nothing() {
    let home = TestHome::new();
    let text = "{\n  \"mcpServers\": {}\n}\n";
    home.put_file(CURSOR, text);
    let asked = home.connect(&["cursor"]);
    assert_eq!(asked.code, 1, "{asked:?}");
    assert!(asked.out.contains("+     \"toolroom\": {") && asked.err.contains("--yes"), "{asked:?}");
    assert_eq!(home.text(CURSOR), text);
    success(home.connect(&["cursor", "--yes"]));
    let connected = home.text(CURSOR);
    assert_eq!(home.text(BACKUP), text);
    let again = success(home.connect(&["cursor"]));
    assert!(again.out.contains("already"), "{again:?}");
    assert_eq!(home.text(CURSOR), connected);
    success(home.disconnect(&["cursor"]));
    assert_eq!(home.text(CURSOR), text);
    assert!(!home.path(BACKUP).exists(), "a backup of what is there is not kept");
    let again = success(home.disconnect(&["cursor"]));
    assert!(again.out.contains("was not connected"), "{again:?}");
    assert_eq!(home.text(CURSOR), text);
}

#[test]
fn promise_a_file_that_cannot_be_edited_stays_and_what_to_write_is_printed() {
    let home = TestHome::new();
    let deep = "[".repeat(100_000);
    for text in [
        "{ oops",
        "[]",
        "{ \"mcpServers\": 1 }",
        "{ \"mcpServers\": {}, \"mcpServers\": {} }",
        "// only\n",
        "{} {}",
        "{ \"a\": 'b' }",
        &deep,
    ] {
        home.put_file(CURSOR, text);
        let refused = home.connect(&["cursor", "--yes", "--http"]);
        assert_eq!(refused.code, 1, "{text:.60}: {refused:?}");
        assert!(
            refused.out.contains("\"mcpServers\"") && refused.err.contains("cannot be edited"),
            "{refused:?}"
        );
        assert_eq!(home.text(CURSOR), text);
        let refused = home.connect(&["cursor", "--yes", "--http", "--json"]);
        let (out, err): (Value, Value) =
            (serde_json::from_str(&refused.out).unwrap(), serde_json::from_str(&refused.err).unwrap());
        assert!(out["snippets"][0]["text"].as_str().unwrap().contains("\"mcpServers\""), "{out}");
        assert!(err["error"]["message"].as_str().unwrap().contains("cannot be edited"), "{err}");
        let left = home.disconnect(&["cursor"]);
        assert!(left.code == 1 && left.err.contains("edit it yourself") && left.out.is_empty(), "{left:?}");
    }
    for text in ["a = ", "mcp_servers = { git = { command = \"x\" } }\n", "mcp_servers = 1\n"] {
        home.put_file(".codex/config.toml", text);
        let refused = home.connect(&["codex", "--yes"]);
        assert_eq!(refused.code, 1, "{text}: {refused:?}");
        assert!(refused.out.contains("[mcp_servers.toolroom]"), "{refused:?}");
        assert_eq!(home.text(".codex/config.toml"), text);
    }
    fs::write(home.path(CURSOR), b"{ \"\xff\": 1 }").unwrap();
    assert_eq!(home.connect(&["cursor", "--yes"]).code, 1);
    fs::remove_file(home.path(CURSOR)).unwrap();
    symlink("nowhere/at-all.json", home.path(CURSOR)).unwrap();
    assert_eq!(home.connect(&["cursor", "--yes"]).code, 1);
    assert!(home.path(CURSOR).symlink_metadata().unwrap().is_symlink());
    assert!(home.keys().is_empty(), "no key is made for nothing");
}

#[test]
fn promise_a_file_that_changed_while_the_person_was_asked_is_not_written() {
    let home = TestHome::new();
    home.put_file(CURSOR, "{}\n");
    let command = home.as_user(&["connect", "cursor"]);
    let mut words = vec![command.get_program().to_str().unwrap().to_owned()];
    words.extend(command.get_args().map(|word| word.to_str().unwrap().to_owned()));
    // A terminal of its own, so that somebody can be asked.
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &words.join(" "), "/dev/null"]).current_dir(home.path(""));
    terminal.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut said = Vec::new();
    while !String::from_utf8_lossy(&said).contains("[y/N]") {
        let mut byte = [0];
        assert_eq!(out.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&said));
        said.push(byte[0]);
    }
    home.put_file(CURSOR, "{ \"mine\": 1 }\n");
    child.stdin.as_mut().unwrap().write_all(b"y\n").unwrap();
    out.read_to_end(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(
        String::from_utf8_lossy(&said).contains("was changed meanwhile"),
        "{}",
        String::from_utf8_lossy(&said)
    );
    assert_eq!(home.text(CURSOR), "{ \"mine\": 1 }\n");
}

#[test]
fn links_stay_links_and_rights_stay_rights() {
    let home = TestHome::new();
    home.put_file("dotfiles/zed.json", "{\n}\n");
    fs::set_permissions(home.path("dotfiles/zed.json"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(home.path(".config/zed")).unwrap();
    symlink("../../dotfiles/zed.json", home.path(".config/zed/settings.json")).unwrap();
    success(home.connect(&["zed", "--yes"]));
    assert!(home.path(".config/zed/settings.json").symlink_metadata().unwrap().is_symlink());
    let mode = |path: &str| fs::metadata(home.path(path)).unwrap().permissions().mode() & 0o777;
    assert!(home.text("dotfiles/zed.json").contains("context_servers"));
    assert_eq!(mode("dotfiles/zed.json"), 0o640);
    success(home.connect(&["zed", "--yes", "--http"]));
    assert_eq!(mode("dotfiles/zed.json"), 0o600, "there is a key in it");
    success(home.disconnect(&["zed"]));
    assert_eq!((home.text("dotfiles/zed.json").as_str(), mode("dotfiles/zed.json")), ("{\n}\n", 0o640));
}

#[test]
fn the_backup_is_what_the_file_said_before_and_is_gone_with_the_entry() {
    let home = TestHome::new();
    let before = "{ \"mine\": 1 }\n";
    home.put_file(CURSOR, before);
    fs::set_permissions(home.path(CURSOR), fs::Permissions::from_mode(0o644)).unwrap();
    let backup = format!("{CURSOR}.toolroom-backup");
    for arguments in [&["cursor", "--yes"][..], &["cursor", "--yes", "--http"], &["cursor", "--yes"]] {
        success(home.connect(arguments));
        assert_eq!(home.text(&backup), before, "{arguments:?}");
    }
    success(home.disconnect(&["cursor"]));
    assert_eq!(home.text(CURSOR), before);
    assert_eq!(fs::metadata(home.path(CURSOR)).unwrap().permissions().mode() & 0o777, 0o644);
    assert!(!home.path(&backup).exists());
}

#[test]
fn a_file_that_was_not_there_is_gone_again_and_an_empty_one_is_empty_again() {
    let home = TestHome::new();
    for (client, file) in [("cursor", CURSOR), ("codex", ".codex/config.toml")] {
        success(home.connect(&[client, "--yes"]));
        assert_eq!(fs::metadata(home.path(file)).unwrap().permissions().mode() & 0o777, 0o600);
        success(home.disconnect(&[client]));
        assert!(!home.path(file).exists(), "{client}");
        home.put_file(file, "\n");
        success(home.connect(&[client, "--yes"]));
        success(home.disconnect(&[client]));
        assert_eq!(home.text(file), "\n", "{client}");
    }
    let named = home.path("project/.vscode/mcp.json").to_str().unwrap().to_owned();
    success(home.connect(&["vscode", "--yes", "--file", &named]));
    assert!(home.text("project/.vscode/mcp.json").contains("\"servers\""));
    success(home.disconnect(&["vscode", "--file", &named]));
    assert!(!home.path("project/.vscode/mcp.json").exists());
}

#[test]
fn an_entry_that_is_not_ours_is_removed_only_after_asking() {
    let home = TestHome::new();
    let by_hand = "{ \"mcpServers\": { \"toolroom\": { \"command\": \"mine\" }, \"git\": {} } }";
    home.put_file(CURSOR, by_hand);
    let asked = home.disconnect(&["cursor"]);
    assert!(asked.code == 1 && asked.err.contains("not as 'toolroom connect' wrote it"), "{asked:?}");
    assert_eq!(home.text(CURSOR), by_hand);
    success(home.disconnect(&["cursor", "--yes"]));
    assert_eq!(home.text(CURSOR), "{ \"mcpServers\": { \"git\": {} } }");
    success(home.connect(&["cursor", "--yes"]));
    let changed = home.text(CURSOR).replace("\"mcp\"", "\"mcp\", \"--user\", \"ada\"");
    home.put_file(CURSOR, &changed);
    assert_eq!(home.disconnect(&["cursor"]).code, 1);
    assert_eq!(home.text(CURSOR), changed);
}

#[test]
fn promise_an_own_entry_of_our_name_is_back_byte_for_byte_after_disconnect() {
    let home = TestHome::new();
    let json = "{\n  \"mcpServers\": {\n    \"git\": {}, // first\n    \"toolroom\": { // my own\n      \
                \"command\": \"mine\",\n      \"env\": { \"A\": \"b\", },\n    },\n  },\n}";
    let line = "{\"mcpServers\":{\"toolroom\" : {\"command\":\"mine\"},\"git\":{}}}";
    let toml = "# a\n[mcp_servers.toolroom] # my own\ncommand = 'mine'\n\n[mcp_servers.toolroom.env]\nA = \"b\" # c\n\n\
                # d\n[tui]\nx = 1\n";
    let last = "[tui]\n[mcp_servers.toolroom]\r\ncommand = 'mine'";
    let codex = ".codex/config.toml";
    for (client, file, own) in
        [("cursor", CURSOR, json), ("cursor", CURSOR, line), ("codex", codex, toml), ("codex", codex, last)]
    {
        home.put_file(file, own);
        // One way after another: what was there first is what comes back.
        for arguments in [&["--yes"][..], &["--yes", "--http"], &["--yes"]] {
            success(home.connect(&[&[client], arguments].concat()));
            assert!(!home.text(file).contains("mine"), "{own}");
        }
        success(home.disconnect(&[client]));
        assert_eq!(home.text(file), own);
    }
    // What others wrote in the meantime stays.
    home.put_file(CURSOR, json);
    success(home.connect(&["cursor", "--yes"]));
    let theirs = |text: &str| text.replace("// first", "// second");
    home.put_file(CURSOR, &theirs(&home.text(CURSOR)));
    success(home.disconnect(&["cursor"]));
    assert_eq!(home.text(CURSOR), theirs(json));
}

#[test]
fn an_entry_of_ours_that_was_changed_is_replaced_and_its_key_ends_and_what_was_there_first_comes_back() {
    let home = TestHome::new();
    let own = "{ \"mcpServers\": { \"toolroom\": { \"command\": \"mine\" } } }";
    home.put_file(CURSOR, own);
    success(home.connect(&["cursor", "--yes", "--http"]));
    home.put_file(CURSOR, &home.text(CURSOR).replace("/mcp/plain", "/mcp/default"));
    success(home.connect(&["cursor", "--yes", "--http"]));
    let ended = |key: &serde_json::Value| !key["revoked_at"].is_null();
    assert_eq!(home.keys().iter().filter(|key| ended(key)).count(), 1, "{:?}", home.keys());
    success(home.disconnect(&["cursor"]));
    assert_eq!(home.text(CURSOR), own);
    assert!(home.keys().iter().all(ended), "{:?}", home.keys());
}
