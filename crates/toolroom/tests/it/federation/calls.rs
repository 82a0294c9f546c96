//! Tools of other servers, listed and called like our own.

use std::process::Command;

use serde_json::{Value, json};

use super::test_servers::{
    MCP1, MCP2, Scripted, call, everything, key, mcp, names, python, settled, tool, write,
};
use crate::programs::{program, python_script};
use crate::test_home::{Done, TestHome};

#[test]
fn tools_of_real_servers_are_called_over_rest_and_mcp_under_their_permission() {
    let home = TestHome::new();
    write(&home, json!({ "old": python(MCP1, "upstream_mcp1.py"), "every": everything() }));
    let (ada, stranger) = (key(&home, &["old:call", "every:*"]), key(&home, &["tasks:*"]));
    let served = home.serve();
    settled(&home, "old", "ready", 7);
    settled(&home, "every", "ready", 16);
    assert!(names(&served, &ada).contains(&"every__get-sum".to_owned()));
    assert!(!names(&served, &stranger).iter().any(|name| name.contains("__")), "not theirs");
    assert_eq!(call(&served, &ada, "old__add", json!({ "a": 1, "b": 2 })).json["data"], json!({ "sum": 3 }));
    assert_eq!(call(&served, &stranger, "old__add", json!({ "a": 1, "b": 2 })).status, 404);
    let wrong = call(&served, &ada, "old__add", json!({ "a": "x", "b": 2 }));
    assert_eq!(
        (wrong.status, &wrong.json["error"]["details"][0]["pointer"]),
        (400, &json!("/a")),
        "{wrong:?}"
    );
    let failed = call(&served, &ada, "old__fail", json!({}));
    assert_eq!((failed.status, &failed.json["error"]["code"]), (502, &json!("tool_execution_error")));
    assert!(failed.json["error"]["message"].as_str().unwrap().contains("as it should"), "{failed:?}");
    let listed = mcp(&served, &ada, "tools/list", json!({}), json!({}));
    assert!(listed["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "old__echo"), "{listed}");
    let image = mcp(&served, &ada, "tools/call", json!({ "name": "every__get-tiny-image" }), json!({}));
    let kinds: Vec<&Value> =
        image["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert!(kinds.contains(&&json!("image")), "{kinds:?}");
    let published = served.post(
        "/api/v1/profiles/executor/functions/old__echo",
        &format!("X-API-Key: {ada}\r\n"),
        &json!({ "text": "hi" }),
    );
    assert_eq!(
        (&published.json["status"], &published.json["data"]["result"]),
        (&json!("success"), &json!("hi")),
        "{published:?}"
    );
}

#[test]
fn an_older_client_uses_servers_of_both_eras_with_progress_and_questions() {
    let home = TestHome::new();
    write(&home, json!({ "old": python(MCP1, "upstream_mcp1.py"), "new": python(MCP2, "upstream_mcp2.py") }));
    let ada = key(&home, &["old:call", "new:call"]);
    let served = home.serve();
    settled(&home, "old", "ready", 7);
    settled(&home, "new", "ready", 7);
    let mut client = Command::new(program(MCP1));
    client.args([python_script("federation_client.py"), format!("http://{}/mcp", served.address), ada]);
    let done = Done::of(client);
    assert_eq!(done.code, 0, "{done:?}");
    let got: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(got["sum"], json!({ "sum": 3 }));
    assert_eq!(got["steps"][2], json!([3.0, 3.0, "step 3"]));
    assert_eq!(
        (&got["asked_old"], &got["asked_new"]),
        (&json!("accept: Ada"), &json!("accept: Ada")),
        "{got}"
    );
    assert_eq!(got["failed"][0], true, "{got}");
}

#[test]
fn results_are_passed_on_whole_and_to_the_letter() {
    let home = TestHome::new();
    let server = Scripted::new(&home, "s", json!([]));
    let structured = r#"{"big":123456789012345678901234567890,"one":1.0,"z":1,"a":{"b":[1e3]}}"#;
    let result = format!(
        r#"{{"content":[{{"type":"text","text":"hi","vendor":{{"x":1.50}}}},{{"type":"hologram","rays":[1.0]}}],"structuredContent":{structured},"_meta":{{"vendor/key":1.0}},"vendorField":{{"k":2.00}}}}"#
    );
    server.says(&json!({ "tools": [tool("odd", "Gives odd things.")], "results": { "odd": result } }));
    write(&home, json!({ "s": server.entry() }));
    let ada = key(&home, &["s:call"]);
    let served = home.serve();
    settled(&home, "s", "ready", 1);
    let got = mcp(&served, &ada, "tools/call", json!({ "name": "s__odd" }), json!({}));
    assert_eq!(got["content"][0]["vendor"], json!({ "x": 1.5 }), "{got}");
    assert_eq!(got["content"][1], json!({ "type": "hologram", "rays": [1.0] }));
    assert_eq!(got["vendorField"], json!({ "k": 2.0 }));
    assert_eq!(got["_meta"]["vendor/key"], 1.0);
    let text = super::test_servers::mcp_text(&served, &ada, "tools/call", json!({ "name": "s__odd" }));
    assert!(text.contains(&format!(r#""data":{structured}"#)), "{text}");
    let rest = call(&served, &ada, "s__odd", json!({}));
    assert_eq!(rest.json["data"]["z"], 1, "{rest:?}");
    assert_eq!(rest.json["content"][1]["type"], "hologram");
}

#[test]
fn no_credential_of_a_caller_reaches_a_server_and_no_secret_of_a_server_is_shown() {
    let home = TestHome::new();
    let server = Scripted::new(&home, "s", json!([tool("work", "Works.")]));
    let mut entry = server.entry();
    entry["env"] = json!({ "SECRET": "CANARY-env", "FROM": "${CANARY_VARIABLE}" });
    write(&home, json!({ "s": entry }));
    let ada = key(&home, &["s:call", "servers:write"]);
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("CANARY_VARIABLE", "CANARY-variable").env("UNRELATED", "CANARY-unrelated");
    let served = crate::test_home::Served::start(command);
    settled(&home, "s", "ready", 1);
    let headers = format!("X-API-Key: {ada}\r\nCookie: session=CANARY-cookie\r\nX-Other: CANARY-header\r\n");
    let called = served.post("/api/v1/tools/s__work/call", &headers, &json!({ "params": { "a": 1 } }));
    assert_eq!(called.status, 200, "{called:?}");
    mcp(&served, &ada, "tools/call", json!({ "name": "s__work", "arguments": { "b": 2 } }), json!({}));
    let notes = server.notes();
    assert!(notes.contains("CANARY-env") && notes.contains("CANARY-variable"), "its own are given to it");
    for canary in [&*ada, "CANARY-cookie", "CANARY-header", "CANARY-unrelated"] {
        assert!(!notes.contains(canary), "{canary} in {notes}");
    }
    let shown = [
        home.run(&["servers", "show", "s"]).out,
        home.run(&["servers", "list"]).out,
        home.json(&["servers", "show", "s"]).to_string(),
        served.get("/api/v1/servers/s", &format!("X-API-Key: {ada}\r\n")).json.to_string(),
        served.get("/readyz", "").json.to_string(),
        home.run(&["doctor"]).out,
        home.run(&["logs", "--json"]).out,
    ];
    assert!(shown.iter().all(|text| !text.contains("CANARY-")), "{shown:?}");
    assert!(shown[0].contains("${CANARY_VARIABLE}"), "a name is no secret: {}", shown[0]);
}

#[test]
fn a_tool_that_its_server_calls_destructive_waits_for_a_person() {
    let home = TestHome::new();
    let mut gone = tool("empty", "Empties it.");
    gone["annotations"] = json!({ "destructiveHint": true });
    let server = Scripted::new(&home, "s", json!([gone, tool("delete_all", "Says nothing of itself.")]));
    write(&home, json!({ "s": server.entry() }));
    let ada = key(&home, &["s:call"]);
    let served = home.serve();
    settled(&home, "s", "ready", 2);
    for name in ["s__empty", "s__delete_all"] {
        let waiting = call(&served, &ada, name, json!({}));
        assert_eq!(
            (waiting.status, &waiting.json["pending"]["kind"]),
            (202, &json!("approval")),
            "{waiting:?}"
        );
    }
    assert!(!server.notes().contains("tools/call"), "nothing was called");
}
