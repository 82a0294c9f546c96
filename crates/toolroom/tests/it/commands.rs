//! What all verbs have in common: help with an example, JSON on request, and the small ones.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::test_home::TestHome;

#[test]
fn the_help_of_every_verb_shows_an_example() {
    let home = TestHome::new();
    for verb in [
        "",
        "serve",
        "init",
        "connect",
        "disconnect",
        "call",
        "chat",
        "tools",
        "tools list",
        "tools show",
        "tools search",
        "tools add",
        "tools update",
        "tools publish",
        "tools remove",
        "new",
        "dev",
        "secrets",
        "secrets set",
        "secrets list",
        "secrets remove",
        "check",
        "keys",
        "keys create",
        "keys list",
        "keys revoke",
        "approvals",
        "approvals list",
        "approvals approve",
        "approvals deny",
        "approvals answer",
        "approvals standing",
        "approvals standing revoke",
        "logs",
        "logs show",
        "doctor",
        "eval",
        "completions",
    ] {
        let arguments: Vec<&str> = verb.split_whitespace().chain(["--help"]).collect();
        let done = home.run(&arguments);
        assert_eq!(done.code, 0, "{verb}");
        assert!(done.out.contains("Example"), "{verb}: {}", done.out);
    }
    assert!(!home.home().exists(), "help makes no home");
}

#[test]
fn every_verb_prints_json_on_request() {
    let home = TestHome::new();
    home.json(&["init"]);
    for arguments in [
        &["call", "get-status"][..],
        &["tools", "list"],
        &["tools", "show", "get-status"],
        &["tools", "search", "status"],
        &["check"],
        &["keys", "create", "--user", "alice"],
        &["keys", "list"],
        &["keys", "revoke", "1"],
        &["approvals", "list"],
        &["logs"],
        &["doctor"],
        &["eval"],
    ] {
        home.json(arguments);
    }
}

#[test]
fn tools_are_listed_by_category_and_tag_and_found_by_words() {
    let home = TestHome::new();
    let names = |arguments: &[&str]| {
        let found = home.json(arguments);
        let tools = found["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(names(&["tools", "list"]).contains(&"get-status".to_owned()));
    assert!(!names(&["tools", "list", "--category", "mutation"]).contains(&"get-status".to_owned()));
    assert_eq!(names(&["tools", "list", "--tag", "operations"]), ["get-status"]);
    assert_eq!(names(&["tools", "search", "service", "status"])[0], "get-status");
    assert!(
        home.run(&["tools", "show", "get-status"]).out.contains("toolroom call get-status --params '{}'")
    );
    assert_eq!(home.run(&["tools", "list", "--category", "nonsense"]).code, 2);
}

#[test]
fn doctor_finds_what_is_wrong_and_names_a_remedy() {
    let home = TestHome::new();
    assert_eq!(home.json(&["doctor"])["healthy"], true);
    fs::set_permissions(home.home(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(home.home().join("mcp.json"), "{").unwrap();
    fs::remove_dir_all(home.home().join("logs")).unwrap();
    let done = home.run(&["doctor"]);
    assert_eq!(done.code, 1);
    for text in ["chmod 700", "mcp.json:1:", "logs cannot be written", "fail", "warn", "ok"] {
        assert!(done.out.contains(text), "{text}: {done:?}");
    }
}

#[test]
fn a_damaged_database_is_found_by_doctor_and_halts_a_call_with_a_hint() {
    let home = TestHome::new();
    home.run(&["init"]);
    fs::write(home.home().join("toolroom.db"), "no database at all, but long enough to look at".repeat(50))
        .unwrap();
    let done = home.run(&["doctor"]);
    assert_eq!(done.code, 1);
    assert!(done.out.contains("database"), "{done:?}");
    let call = home.run(&["call", "get-status"]);
    assert_eq!(call.code, 1);
    assert!(call.err.contains("toolroom.db") && call.err.contains("hint: "), "{call:?}");
}

#[test]
fn output_is_plain_without_a_terminal() {
    let home = TestHome::new();
    for arguments in [&["tools", "list"][..], &["logs"], &["doctor"], &["call", "no-such-tool"]] {
        let done = home.run(arguments);
        assert!(!done.out.contains('\u{1b}') && !done.err.contains('\u{1b}'), "{arguments:?}: {done:?}");
    }
}

#[test]
fn a_reader_that_goes_away_early_is_no_error() {
    let home = TestHome::new();
    home.run(&["init"]);
    for arguments in [&["completions", "bash"][..], &["tools", "list"]] {
        let mut command = home.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{arguments:?}");
    }
}
