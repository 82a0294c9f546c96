//! `toolroom mcp`: alone on its home, and beside a server that runs.

use std::io::Write;
use std::process::Stdio;

use serde_json::json;

use crate::mcp_host::Mcp;
use crate::test_home::{TestHome, until};

#[test]
fn mcp_serves_alone_on_a_home_that_it_makes_and_ends_with_its_input() {
    let home = TestHome::new();
    let mut mcp = Mcp::begin(&home, &[]);
    let made = mcp.call("create-task", json!({ "title": "From stdio" }));
    assert_eq!(made["result"]["structuredContent"]["data"]["task"]["title"], "From stdio", "{made}");
    mcp.send("{ this is no JSON");
    assert_eq!(mcp.next()["error"]["code"], -32700);
    assert!(mcp.tools().contains(&"delete-task".to_owned()));
    assert_eq!(mcp.end(), Some(0));
    let listed = home.json(&["call", "list-tasks"]);
    assert!(listed.to_string().contains("From stdio"), "{listed}");
}

#[test]
fn other_commands_and_a_second_client_work_beside_one_that_serves_alone() {
    let home = TestHome::new();
    let mut first = Mcp::begin(&home, &[]);
    first.call("create-task", json!({ "title": "Shared" }));
    assert!(home.json(&["call", "list-tasks"]).to_string().contains("Shared"));
    let mut second = Mcp::begin(&home, &["--profile", "assistant"]);
    assert!(second.call("list_tasks", json!({})).to_string().contains("Shared"));
    assert_eq!(second.end(), Some(0));
    assert_eq!(first.end(), Some(0));
}

#[test]
fn mcp_goes_through_a_server_that_runs_and_goes_on_without_it() {
    let home = TestHome::new();
    let server = home.serve();
    let mut mcp = Mcp::begin(&home, &[]);
    mcp.call("create-task", json!({ "title": "Through the server" }));
    let seen = server.post("/api/v1/tools/list-tasks/call", "", &json!({}));
    assert!(seen.json.to_string().contains("Through the server"), "{seen:?}");
    assert_eq!(mcp.end(), Some(0));
    let mut other = Mcp::begin(&home, &[]);
    assert_eq!(other.call("get-status", json!({}))["result"]["structuredContent"]["data"]["status"], "ok");
    server.signal("-TERM");
    assert_eq!(server.wait().code(), Some(0));
    assert!(other.call("list-tasks", json!({})).to_string().contains("Through the server"));
    assert_eq!(other.end(), Some(0));
}

#[test]
fn profile_and_user_are_chosen_by_flags() {
    let home = TestHome::new();
    for served in [false, true] {
        let _server = served.then(|| home.serve());
        let mut mcp = Mcp::begin(&home, &["--profile", "todo_tasks", "--user", "ada"]);
        assert!(mcp.tools().contains(&"add_task".to_owned()));
        let made = mcp.call("add_task", json!({ "user_id": "ada", "title": "Ada's" }));
        assert_eq!(made["result"]["structuredContent"]["success"], true, "{made}");
        assert_eq!(mcp.end(), Some(0));
        let none = home.run(&["mcp", "--profile", "nothing"]);
        assert_eq!((none.code, none.out.as_str()), (1, ""));
        assert!(none.err.contains("unknown profile 'nothing'") && none.err.contains("hint: "), "{none:?}");
    }
}

#[test]
fn the_newest_revision_needs_no_handshake_on_stdio() {
    let home = TestHome::new();
    let mut mcp = Mcp::start(&home, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    assert!(mcp.ask("server/discover", json!({ "_meta": meta }))["result"]["supportedVersions"].is_array());
    let called = mcp.ask("tools/call", json!({ "name": "get-status", "arguments": {}, "_meta": meta }));
    assert_eq!(called["result"]["resultType"], "complete", "{called}");
    assert_eq!(mcp.end(), Some(0));
}

#[test]
fn promise_the_end_of_the_input_leaves_no_process_of_a_running_tool() {
    let home = TestHome::new();
    let mark = home.path("still-running");
    let script = "import os, time\n\ndef run(params, context):\n    with open(params['mark'], 'w') as mark:\n        \
                  mark.write(str(os.getpid()))\n    time.sleep(600)\n";
    home.write_tool("sleep-long", script, json!({ "mark": { "type": "string" } }));
    for served in [false, true] {
        let _server = served.then(|| home.serve());
        let _ = std::fs::remove_file(&mark);
        let mut mcp = Mcp::begin(&home, &["--linger", "0.5"]);
        let call = json!({ "name": "sleep-long", "arguments": { "mark": mark } });
        mcp.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }).to_string());
        let pid: u32 = until("the tool runs", || std::fs::read_to_string(&mark).ok()?.parse().ok());
        let (code, last) = mcp.end_with_answers();
        assert_eq!(code, Some(0));
        assert!(
            last.len() == 1 && last[0]["error"]["message"].as_str().unwrap().contains("within 0.5 s"),
            "{last:?}"
        );
        until("its process is gone", || {
            (!std::path::Path::new(&format!("/proc/{pid}")).exists()).then_some(())
        });
    }
}

/// As with `printf … | toolroom mcp`: the input is over before there is any answer.
#[test]
fn promise_what_was_asked_before_the_end_of_the_input_is_answered() {
    let home = TestHome::new();
    let script = "import time\n\ndef run(params, context):\n    time.sleep(params['seconds'])\n    return {'done': True}\n";
    home.write_tool("take-time", script, json!({ "seconds": { "type": "number" } }));
    let mut mcp = Mcp::start(&home, &[]);
    let client = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    mcp.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }).to_string());
    mcp.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    for id in 1..4 {
        let call = json!({ "name": "take-time", "arguments": { "seconds": 1.2 } });
        mcp.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call }).to_string());
    }
    mcp.send("{ no JSON");
    let (code, answers) = mcp.end_with_answers();
    assert_eq!(code, Some(0));
    let done = |id: u64| {
        answers
            .iter()
            .any(|one| one["id"] == id && one["result"]["isError"] != true && one.get("error").is_none())
    };
    assert!((0..4).all(done), "one after the other, in 3.6 s: {answers:?}");
    assert!(answers.iter().any(|one| one["error"]["code"] == -32700) && answers.len() == 5, "{answers:?}");
    let wrong = home.run(&["mcp", "--linger=-1"]);
    assert!(wrong.code == 2 && wrong.err.contains("--linger"), "{wrong:?}");
}

/// A host that was killed leaves its command without a reader.
#[test]
fn a_client_that_reads_no_more_is_not_waited_for() {
    let home = TestHome::new();
    let mark = home.path("running");
    let script = "import os, time\n\ndef run(params, context):\n    open(params['mark'], 'w').write(str(os.getpid()))\n    \
                  time.sleep(600)\n";
    home.write_tool("sleep-long", script, json!({ "mark": { "type": "string" } }));
    let mut command = home.command(&["mcp", "--linger", "600"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
    let params = json!({ "name": "sleep-long", "arguments": { "mark": mark }, "_meta": meta });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    writeln!(child.stdin.as_mut().unwrap(), "{call}").unwrap();
    let pid: u32 = until("the tool runs", || std::fs::read_to_string(&mark).ok()?.parse().ok());
    drop((child.stdin.take(), child.stdout.take()));
    until("the command ends", || child.try_wait().unwrap());
    until("its process is gone", || (!std::path::Path::new(&format!("/proc/{pid}")).exists()).then_some(()));
}
