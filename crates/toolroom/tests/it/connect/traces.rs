//! What connecting shows, and what disconnecting leaves: nothing of others, and nothing of ours.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::success;
use crate::test_home::{Done, TestHome};

const CURSOR: &str = ".cursor/mcp.json";

fn revoked(key: &Value) -> bool {
    !key["revoked_at"].is_null()
}

#[test]
fn promise_disconnect_takes_the_entry_out_of_the_file_that_it_was_written_to_wherever_the_client_looks_now() {
    let home = TestHome::new();
    home.put_file(".config/zed/settings.json", "{ \"mine\": 1 }\n");
    success(home.connect(&["zed", "--yes", "--http"]));
    let elsewhere = |arguments: &[&str]| {
        let mut command = home.as_user(arguments);
        command.env("XDG_CONFIG_HOME", home.path("elsewhere"));
        Done::of(command)
    };
    let listed: Value = serde_json::from_str(&success(elsewhere(&["connect", "--json"])).out).unwrap();
    let zed =
        listed["clients"].as_array().unwrap().iter().find(|one| one["client"] == "zed").unwrap().clone();
    assert_eq!(zed["state"], "connected", "{zed}");
    assert!(zed["file"].as_str().unwrap().ends_with(".config/zed/settings.json"), "{zed}");
    success(elsewhere(&["disconnect", "zed"]));
    assert_eq!(home.text(".config/zed/settings.json"), "{ \"mine\": 1 }\n");
    assert!(home.keys().iter().all(revoked), "{:?}", home.keys());
    assert!(!home.path("elsewhere").exists());

    // The client has another file by now, which it prefers.
    home.put_file(".config/claude/claude_desktop_config.json", "{}");
    success(home.connect(&["claude-desktop", "--yes"]));
    home.put_file(".config/Claude/claude_desktop_config.json", "{}");
    success(home.disconnect(&["claude-desktop"]));
    assert_eq!(home.text(".config/claude/claude_desktop_config.json"), "{}");

    let files = ["one/mcp.json", "two/mcp.json"].map(|name| home.path(name).to_str().unwrap().to_owned());
    for file in &files {
        success(home.connect(&["vscode", "--yes", "--file", file]));
    }
    let unclear = home.disconnect(&["vscode"]);
    assert_eq!(unclear.code, 2, "{unclear:?}");
    assert!(
        files.iter().all(|file| unclear.err.contains(file)) && unclear.err.contains("--file"),
        "{unclear:?}"
    );
    let first = success(home.disconnect(&["vscode", "--file", &files[0]]));
    assert!(first.err.contains(&format!("disconnect vscode --file {}", files[1])), "{first:?}");
    success(home.disconnect(&["vscode"]));
    assert!(files.iter().all(|file| !Path::new(file).exists()));
}

#[test]
fn folders_and_backups_of_ours_are_gone_after_disconnect_and_what_others_put_there_stays() {
    let home = TestHome::new();
    success(home.connect(&["vscode", "--yes"]));
    success(home.disconnect(&["vscode"]));
    assert!(!home.path(".config").exists(), "made for the file, and empty");
    success(home.connect(&["vscode", "--yes"]));
    home.put_file(".config/Code/other.json", "{}");
    success(home.disconnect(&["vscode"]));
    assert!(!home.path(".config/Code/User").exists() && home.path(".config/Code/other.json").exists());

    home.put_file(CURSOR, "{ \"mine\": 1 }\n");
    success(home.connect(&["cursor", "--yes"]));
    home.put_file(CURSOR, &home.text(CURSOR).replace("\"mine\": 1", "\"mine\": 2"));
    success(home.disconnect(&["cursor"]));
    assert_eq!(home.text(CURSOR), "{ \"mine\": 2 }\n");
    let left: Vec<_> =
        fs::read_dir(home.path(".cursor")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["mcp.json"], "no backup of a file that has changed since");
}

#[test]
fn promise_the_difference_that_is_shown_has_no_secrets_of_other_entries() {
    let home = TestHome::new();
    let secret = "ghp_0123456789";
    let line = json!({ "mcpServers": {
        "git": { "command": "x", "env": { "TOKEN": secret, "NAME": "${NAME}" } },
        "web": { "url": "https://example.com", "headers": { "Authorization": format!("Bearer {secret}") } },
    } });
    home.put_file(CURSOR, &line.to_string());
    let shown = success(home.connect(&["cursor", "--yes", "--http"]));
    assert!(!shown.out.contains(secret) && shown.out.contains("\"TOKEN\":\"********\""), "{shown:?}");
    assert!(shown.out.contains("${NAME}") && shown.out.contains("tr_****"), "{shown:?}");
    assert_eq!(home.text(CURSOR).matches(secret).count(), 2);
    let shown = success(home.disconnect(&["cursor"]));
    assert!(!shown.out.contains(secret), "{shown:?}");
    assert_eq!(home.text(CURSOR), line.to_string());
    home.put_file(".codex/config.toml", &format!("[mcp_servers.git]\nenv = {{ TOKEN = \"{secret}\" }}\n"));
    let shown = success(home.connect(&["codex", "--yes"]));
    assert!(!shown.out.contains(secret) && shown.out.contains("TOKEN = \"********\""), "{shown:?}");
}

/// Whoever may not give files away, although this machine's tests may run as one who may.
fn without_privileges(command: Command) -> Command {
    let mut confined = Command::new("setpriv");
    confined
        .args(["--bounding-set=-all", "--inh-caps=-all"])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => confined.env(name, value),
            None => confined.env_remove(name),
        };
    }
    confined.current_dir(command.get_current_dir().unwrap());
    confined
}

#[test]
fn promise_a_file_whose_owner_cannot_be_kept_costs_no_key_and_a_group_that_cannot_be_kept_does_no_harm() {
    let home = TestHome::new();
    home.put_file(CURSOR, "{}\n");
    // Only the owner of the machine can make such files.
    if chown(home.path(CURSOR), Some(4321), Some(4321)).is_err() {
        return;
    }
    let refused =
        Done::of(without_privileges(home.as_user(&["connect", "cursor", "--yes", "--http", "--json"])));
    assert_eq!(refused.code, 1, "{refused:?}");
    let error: Value = serde_json::from_str(&refused.err).unwrap_or_else(|_| panic!("{refused:?}"));
    assert!(error["error"]["hint"].as_str().unwrap().contains("another user"), "{refused:?}");
    assert_eq!(home.text(CURSOR), "{}\n");
    assert_eq!(home.keys(), Vec::<Value>::new(), "whoever needed no key still needs none");
    assert_eq!(fs::read_dir(home.path(".cursor")).unwrap().count(), 1, "nothing is left beside it");

    chown(home.path(CURSOR), Some(0), Some(4321)).unwrap();
    fs::set_permissions(home.path(CURSOR), fs::Permissions::from_mode(0o664)).unwrap();
    success(Done::of(without_privileges(home.as_user(&["connect", "cursor", "--yes"]))));
    let mode = fs::metadata(home.path(CURSOR)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o644, "our group may do no more than everybody");
}
