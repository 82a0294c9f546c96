//! `call` and `approvals`, with and without a server.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::test_home::{TestHome, until};

fn make_task(home: &TestHome, title: &str) -> String {
    let made = home.json(&["call", "create-task", "--param", &format!("title={title}")]);
    made["data"]["task"]["taskId"].to_string()
}

#[test]
fn a_call_works_without_a_server_and_its_data_goes_to_stdout_alone() {
    let home = TestHome::new();
    let done = home.run(&["call", "get-status"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(serde_json::from_str::<Value>(&done.out).unwrap()["status"], "ok");
    let envelope = home.json(&["call", "get-status"]);
    assert!(envelope["agentHints"]["confidence"].is_number());
    assert!(envelope["metadata"]["executionId"].is_string());
}

#[test]
fn parameters_come_from_flags_a_file_or_stdin() {
    let home = TestHome::new();
    let flags = home.json(&["call", "search-tools", "--param", "query=service status", "--param", "limit=1"]);
    assert_eq!(flags["data"]["tools"][0]["name"], "get-status");
    let file = home.path("params.json");
    fs::write(&file, "{\"name\": \"get-status\"}").unwrap();
    let read = home.json(&["call", "describe-tool", "--params", &format!("@{}", file.display())]);
    assert!(read["data"].to_string().contains("get-status"));
    let mut command = home.command(&["call", "describe-tool", "--params", "-", "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"{\"name\": \"get-status\"}").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
}

#[test]
fn failures_exit_with_1_and_wrong_usage_with_2_each_with_a_hint() {
    let home = TestHome::new();
    home.run(&["init"]);
    for (arguments, code, says) in [
        (&["call", "no-such-tool"][..], 1, "tool_not_found"),
        (&["call", "search-tools", "--params", "{\"query\": 7}"], 1, "/query"),
        (&["call", "get-task", "--param", "taskId=99"], 1, "not_found"),
        (&["call", "get-status", "--profile", "no-such"], 1, "todo-chatbot"),
        (&["call", "get-status", "--profile", "todo-chatbot"], 1, "create_task"),
        (&["tools", "show", "no-such-tool"], 1, "tool_not_found"),
        (&["keys", "revoke", "99"], 1, "not_found"),
        (&["approvals", "approve", "99"], 1, "not_found"),
        (&["call", "get-status", "--params", "{"], 2, "not JSON"),
        (&["call", "get-status", "--param", "x"], 2, "'='"),
        (&["call", "get-status", "--wait=-1"], 2, "wait"),
        (&["logs", "--since", "soon"], 2, "soon"),
        (&["call", "get-status", "--database", "mysql://x"], 2, "database"),
    ] {
        let done = home.run(arguments);
        assert_eq!(done.code, code, "{arguments:?}: {done:?}");
        assert!(done.err.contains("error: ") && done.err.contains(says), "{arguments:?}: {done:?}");
        assert!(done.out.is_empty(), "{arguments:?}: {done:?}");
        let clap_itself = done.err.contains("--help");
        assert!(done.err.contains("hint: ") || clap_itself, "{arguments:?}: {done:?}");
    }
    assert_eq!(home.run(&["no-such-verb"]).code, 2);
}

#[test]
fn a_failed_call_with_json_prints_the_envelope_and_exits_with_1() {
    let home = TestHome::new();
    let done = home.run(&["call", "no-such-tool", "--json"]);
    assert_eq!(done.code, 1);
    let envelope: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(envelope["error"]["code"], "tool_not_found");
}

#[test]
fn a_call_that_waits_for_approval_names_its_request_and_completes_after_approval() {
    let home = TestHome::new();
    let parameter = format!("taskId={}", make_task(&home, "Milk"));
    let waiting = home.run(&["call", "delete-task", "--param", &parameter]);
    assert_eq!(waiting.code, 1, "{waiting:?}");
    let id = home.json(&["approvals", "list"])["approvals"][0]["id"].as_str().unwrap().to_owned();
    assert!(waiting.err.contains(&format!("toolroom approvals approve {id}")), "{waiting:?}");
    assert_eq!(home.json(&["approvals", "approve", &id])["state"], "approved");
    let done = home.json(&["call", "delete-task", "--param", &parameter, "--approval", &id]);
    assert_eq!(done["data"]["deleted"], true);
    let again = home.run(&["approvals", "deny", &id]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("version_conflict"), "{again:?}");
    assert!(again.err.contains("already decided, and the decision has been used"), "{again:?}");
    assert!(again.err.contains("Nothing was changed"), "{again:?}");
}

#[test]
fn a_call_that_waits_goes_on_when_a_person_decides_elsewhere_with_and_without_a_server() {
    for served in [true, false] {
        let home = TestHome::new();
        let parameter = format!("taskId={}", make_task(&home, "Milk"));
        let _server = served.then(|| home.serve());
        let mut command =
            home.command(&["call", "delete-task", "--param", &parameter, "--wait", "25", "--json"]);
        let waiting = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let id = until("the request is open", || {
            let found = home.json(&["approvals", "list"]);
            found["approvals"].get(0).map(|request| request["id"].as_str().unwrap().to_owned())
        });
        assert_eq!(home.run(&["approvals", "approve", &id]).code, 0);
        let output = waiting.wait_with_output().unwrap();
        assert!(output.status.success(), "served: {served}");
        let envelope: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(envelope["data"]["deleted"], true);
    }
}

#[test]
fn users_are_apart() {
    let home = TestHome::new();
    home.run(&["call", "create-task", "--param", "title=Mine", "--user", "alice"]);
    let titles = |user: &str| {
        let listed = home.json(&["call", "list-tasks", "--user", user]);
        listed["data"]["tasks"].as_array().unwrap().len()
    };
    assert_eq!((titles("alice"), titles("bob")), (1, 0));
}

#[test]
fn a_dry_run_changes_nothing_and_a_key_repeats_nothing() {
    let home = TestHome::new();
    let dry = home.json(&["call", "create-task", "--param", "title=Milk", "--dry-run"]);
    assert_eq!(dry["metadata"]["dryRun"], true);
    let call = ["call", "create-task", "--param", "title=Milk", "--idempotency-key", "k1"];
    let (first, second) = (home.json(&call), home.json(&call));
    assert_eq!(first["data"]["task"]["taskId"], second["data"]["task"]["taskId"]);
    assert_eq!(second["metadata"]["replayed"], true);
    assert_eq!(home.json(&["call", "list-tasks"])["data"]["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn a_profile_answers_in_its_own_shape() {
    let home = TestHome::new();
    let functions =
        home.json(&["call", "create_task", "--profile", "todo-chatbot", "--params", "{\"title\": \"Milk\"}"]);
    assert!(functions.get("agentHints").is_none(), "{functions}");
    assert_ne!(functions["success"], json!(false), "{functions}");
}

#[test]
fn approvals_say_who_asks_for_what_take_short_ids_and_can_stand_for_a_while() {
    let home = TestHome::new();
    let did = |arguments: &[&str]| {
        let done = home.run(arguments);
        assert_eq!(done.code, 0, "{arguments:?}: {done:?}");
        done
    };
    let parameter = |title| format!("taskId={}", make_task(&home, title));
    let milk = parameter("Buy milk");
    assert_eq!(home.run(&["call", "delete-task", "--param", &milk]).code, 1);
    let listed = did(&["approvals", "list"]).out;
    for told in ["local through toolroom-cli", "“Buy milk”", "min"] {
        assert!(listed.contains(told), "{told}: {listed}");
    }
    let whole = home.json(&["approvals", "list"])["approvals"][0]["id"].as_str().unwrap().to_owned();
    let short = &whole[whole.len() - 8..];
    assert!(listed.contains(short) && !listed.contains(&whole), "{listed}");
    let denied = home.json(&["approvals", "deny", short, "--reason", "Milk is needed."]);
    assert_eq!((&denied["state"], &denied["reason"]), (&"denied".into(), &"Milk is needed.".into()));
    let told = home.run(&["call", "delete-task", "--param", &milk]);
    assert!(told.err.contains("Milk is needed."), "{told:?}");

    assert_eq!(home.run(&["call", "delete-task", "--param", &milk]).code, 1);
    let id = home.json(&["approvals", "list"])["approvals"][0]["id"].as_str().unwrap().to_owned();
    let short = &id[id.len() - 8..];
    assert_eq!(home.run(&["approvals", "approve", short, "--for", "9h"]).code, 1, "8 hours at most");
    did(&["approvals", "approve", short, "--for", "2h"]);
    did(&["call", "delete-task", "--param", &milk]);
    did(&["call", "delete-task", "--param", &parameter("Bread")]);
    let standing = did(&["approvals", "standing"]).out;
    assert!(
        standing.contains("delete-task") && standing.contains(short) && standing.contains("1 h "),
        "{standing}"
    );
    assert_eq!(home.json(&["approvals", "standing"])["standing"][0]["used"], 1);
    did(&["approvals", "standing", "revoke", short]);
    assert_eq!(home.run(&["call", "delete-task", "--param", &parameter("Eggs")]).code, 1);
}
