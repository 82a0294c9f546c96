//! What clients are shown: schemas that every framework reads, few bytes, plain answers.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::federation::test_servers::{MCP1, Scripted, everything, python, settled, write};
use crate::schema_lint::faults;
use crate::test_home::{Served, TestHome, until};

/// The answer to a request of the revision that most clients speak, and its length.
fn ask(served: &Served, headers: &str, profile: &str, method: &str, params: Value) -> (Value, usize) {
    let answer = served.mcp(profile, headers, method, params);
    assert!(answer.get("result").is_some(), "{profile} {method}: {answer}");
    let bytes = answer.to_string().len();
    (answer["result"].clone(), bytes)
}

fn call(served: &Served, headers: &str, profile: &str, tool: &str, arguments: Value) -> Value {
    ask(served, headers, profile, "tools/call", json!({ "name": tool, "arguments": arguments })).0
}

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// A home with its owner's key, and the header that carries it.
fn with_key(home: &TestHome) -> String {
    let key = home.run(&["keys", "create", "--user", "owner", "--grant", "*"]).line().to_owned();
    format!("Authorization: Bearer {key}\r\n")
}

fn settings(home: &TestHome, text: &str) {
    if !home.home().exists() {
        assert_eq!(home.run(&["init"]).code, 0);
    }
    fs::write(home.home().join("toolroom.toml"), text).unwrap();
}

/// Schemas as generators of many languages write them.
fn odd_schemas() -> Vec<Value> {
    vec![
        json!({ "type": "object" }),
        json!({ "type": "object", "properties": {
            "text": { "type": ["string", "null"], "description": "A text" },
            "mode": { "oneOf": [{ "const": "fast", "description": "At once" }, { "const": "slow" }] },
            "anything": true, "map": { "type": "object" }, "several": { "type": ["integer", "string"] },
        } }),
        json!({ "type": "object", "properties": { "tree": { "$ref": "#/$defs/tree" } }, "required": ["tree"],
            "$defs": { "tree": { "type": "object", "properties": {
                "value": { "type": "integer" }, "children": { "type": "array", "items": { "$ref": "#/$defs/tree" } },
            } } } }),
        json!({ "type": "object", "properties": { "point": { "allOf": [{ "$ref": "#/definitions/point" }], "default": {} } },
            "definitions": { "point": { "type": "object", "properties": { "x": { "const": 1 } } } } }),
    ]
}

fn home_with_odd_tools() -> TestHome {
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    let script = home.home().join("tools/echo.sh");
    fs::write(&script, "#!/bin/sh\ncat\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let file = home.home().join("tools/tools.json");
    let mut tools: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    for (at, schema) in odd_schemas().into_iter().enumerate() {
        tools["tools"].as_array_mut().unwrap().push(json!({
            "name": format!("odd-{at}"), "type": "local", "config": { "script_path": "echo.sh" },
            "description": "Gives back what it gets, whatever that is. Use it to see what a call sends. It has no effect.",
            "input_schema": schema, "output_schema": { "type": ["object", "null"], "properties": { "x": true } },
            "permissions": [], "category": "query",
        }));
    }
    fs::write(&file, tools.to_string()).unwrap();
    let listed: Vec<Value> = odd_schemas()
        .into_iter()
        .enumerate()
        .map(|(at, schema)| json!({ "name": format!("strange_{at}"), "description": "Odd.", "inputSchema": schema }))
        .collect();
    let scripted = Scripted::new(&home, "strange", listed.into());
    write(
        &home,
        json!({
            "strange": scripted.entry(), "everything": everything(), "fast": python(MCP1, "upstream_mcp1.py"),
        }),
    );
    home
}

#[test]
fn every_published_schema_is_one_that_all_frameworks_read() {
    let home = home_with_odd_tools();
    let owner = with_key(&home);
    let served = home.serve();
    settled(&home, "strange", "ready", 4);
    let profiles = served.get("/api/v1/profiles", &owner).json;
    let profiles: Vec<&str> =
        profiles["profiles"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(
        profiles.contains(&"default") && profiles.contains(&"plain") && profiles.len() >= 6,
        "{profiles:?}"
    );
    let mut seen = 0;
    let mut lint = |place: String, schema: &Value| {
        assert_eq!(faults(schema), [""; 0], "{place}: {schema}");
        seen += 1;
    };
    for profile in profiles {
        let listed = ask(&served, &owner, profile, "tools/list", json!({})).0;
        for tool in listed["tools"].as_array().unwrap() {
            for field in ["inputSchema", "outputSchema"] {
                if let Some(schema) = tool.get(field) {
                    assert_eq!(schema["type"], "object");
                    lint(format!("{profile} {} {field}", tool["name"]), schema);
                }
            }
        }
        let functions = served.get(&format!("/api/v1/profiles/{profile}/functions"), &owner).json;
        for function in functions.as_array().unwrap() {
            lint(format!("{profile} functions"), &function["function"]["parameters"]);
        }
    }
    let listed = served.get("/api/v1/tools", &owner).json;
    for tool in listed["tools"].as_array().unwrap() {
        lint(format!("REST {}", tool["name"]), &tool["parameters"]);
        if let Some(output) = tool.get("output") {
            lint(format!("REST {}", tool["name"]), output);
        }
    }
    assert!(seen > 150, "{seen}");
}

#[test]
fn null_for_an_optional_field_that_takes_none_reads_as_absent() {
    let home = home_with_odd_tools();
    let owner = with_key(&home);
    let served = home.serve();
    settled(&home, "strange", "ready", 4);
    for profile in ["default", "plain"] {
        let arguments =
            json!({ "title": "Buy milk", "description": null, "due": null, "tags": null, "priority": null });
        let made = call(&served, &owner, profile, "create-task", arguments);
        assert_eq!(made["isError"], Value::Null, "{made}");
        let echoed =
            call(&served, &owner, profile, "odd-1", json!({ "mode": null, "text": null, "map": null }));
        let text = echoed["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(r#""text":null"#) && !text.contains("mode") && !text.contains("map"), "{text}");
        let forwarded = json!({ "name": "list-tasks", "params": null });
        if profile == "default" {
            let listed = call(&served, &owner, profile, "call-tool", forwarded);
            assert_eq!(listed["isError"], Value::Null, "{listed}");
        }
    }
}

#[test]
fn lists_and_answers_keep_to_their_budgets() {
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    let owner = with_key(&home);
    let served = home.serve();
    let (default, bytes) = ask(&served, &owner, "default", "tools/list", json!({}));
    println!("default: {} tools, {bytes} bytes", names(&default).len());
    assert!(bytes <= 24_000, "default: {bytes} bytes");
    let (plain, bytes) = ask(&served, &owner, "plain", "tools/list", json!({}));
    println!("plain: {} tools, {bytes} bytes", names(&plain).len());
    assert!(bytes <= 12_000, "plain: {bytes} bytes");
    // The tools that find others are not needed in a short list.
    assert_eq!(names(&plain).len(), names(&default).len() - 3);
    assert!(plain["tools"].as_array().unwrap().iter().all(|tool| tool.get("outputSchema").is_none()));

    for title in ["Buy milk", "Call the bank", "Write to Ada about the engine"] {
        call(
            &served,
            &owner,
            "plain",
            "create-task",
            json!({ "title": title, "due": "2030-01-02", "tags": ["x"] }),
        );
    }
    for (tool, arguments) in
        [("list-tasks", json!({})), ("get-task", json!({ "taskId": 1 })), ("get-status", json!({}))]
    {
        let data =
            call(&served, &owner, "default", tool, arguments.clone())["structuredContent"]["data"].clone();
        let answer = call(&served, &owner, "plain", tool, arguments);
        // Clients hand both to their models.
        let text = answer["content"][0]["text"].as_str().unwrap();
        let structured = answer.get("structuredContent").map_or(0, |content| content.to_string().len());
        let (given, needed) = (text.len() + structured, data.to_string().len());
        println!("{tool}: {given} bytes for {needed} bytes of data");
        assert!(given * 10 <= needed * 11, "{tool}: {given} bytes for {needed}: {answer}");
        assert!(
            answer["_meta"]["dev.toolroom/agentHints"].is_object()
                && answer["_meta"]["dev.toolroom/metadata"].is_object()
        );
    }
    let failed = call(&served, &owner, "plain", "get-task", json!({ "taskId": 77 }));
    assert_eq!(failed["isError"], true, "{failed}");
    let said: Value = serde_json::from_str(failed["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(said["error"]["code"], "not_found", "{said}");
}

#[test]
fn plain_data_that_looks_like_a_failure_is_not_one() {
    let home = home_with_odd_tools();
    let owner = with_key(&home);
    let served = home.serve();
    let sent = json!({ "success": false, "status": "error", "execution_id": "x" });
    let echoed = call(&served, &owner, "plain", "odd-0", sent.clone());
    assert_eq!(echoed["isError"], Value::Null, "{echoed}");
    let posted = served.post("/api/v1/profiles/plain/functions/odd-0", &owner, &sent);
    assert_eq!((posted.status, posted.json), (200, sent));
    let missing = served.post("/api/v1/profiles/plain/functions/get-task", &owner, &json!({ "taskId": 77 }));
    assert_eq!((missing.status, &missing.json["error"]["code"]), (404, &json!("not_found")));
}

#[test]
fn on_plain_a_list_says_what_is_emptied_and_null_empties_nothing() {
    let home = TestHome::new();
    let served = home.serve();
    let plain = ask(&served, "", "plain", "tools/list", json!({})).0;
    let schema = |tool: &str| {
        let tools = plain["tools"].as_array().unwrap();
        tools.iter().find(|one| one["name"] == tool).unwrap()["inputSchema"].clone()
    };
    assert_eq!(
        schema("update-task")["properties"]["clear"]["items"]["enum"],
        json!(["description", "due", "tags"])
    );
    assert!(!schema("update-task").to_string().contains("null"), "{}", schema("update-task"));
    assert!(!schema("create-task").to_string().contains("clear"));
    let task = |answer: &Value| {
        serde_json::from_str::<Value>(answer["content"][0]["text"].as_str().unwrap()).unwrap()["task"].clone()
    };

    let arguments = json!({ "title": "Buy milk", "due": "2030-01-02", "description": "Two litres" });
    let id = task(&call(&served, "", "plain", "create-task", arguments))["taskId"].clone();
    let kept = call(
        &served,
        "",
        "plain",
        "update-task",
        json!({ "taskId": id, "title": "Buy oats", "due": null, "clear": null }),
    );
    assert_eq!((&task(&kept)["title"], task(&kept)["due"].is_null()), (&json!("Buy oats"), false), "{kept}");
    let emptied = call(&served, "", "plain", "update-task", json!({ "taskId": id, "clear": ["due"] }));
    assert_eq!(
        (&task(&emptied)["description"], task(&emptied)["due"].is_null()),
        (&json!("Two litres"), true),
        "{emptied}"
    );
    for wrong in [json!(["title"]), json!("due"), json!([1])] {
        let refused = call(&served, "", "plain", "update-task", json!({ "taskId": id, "clear": wrong }));
        assert!(
            refused["isError"] == true && refused["content"][0]["text"].as_str().unwrap().contains("/clear"),
            "{refused}"
        );
    }
    let operations = json!([{ "op": "update", "taskId": id, "clear": ["description"], "due": null }]);
    let batch = call(&served, "", "plain", "batch-tasks", json!({ "operations": operations }));
    assert_eq!(batch["isError"], Value::Null, "{batch}");
    let left = task(&call(&served, "", "plain", "get-task", json!({ "taskId": id })));
    assert!(left["description"].is_null(), "{left}");
    // Elsewhere null empties a field, as the contract says.
    let again = json!({ "taskId": id, "due": "2031-01-01" });
    call(&served, "", "default", "update-task", again);
    let emptied = call(&served, "", "default", "update-task", json!({ "taskId": id, "due": null }));
    assert!(emptied["structuredContent"]["data"]["task"]["due"].is_null(), "{emptied}");
}

#[test]
fn above_a_number_of_tools_plain_lists_those_that_find_the_others() {
    let home = TestHome::new();
    settings(
        &home,
        "[profiles.plain]\nlist_up_to = 5\noutput_schemas = true\n[profiles.few]\ntools = [\"*-task\"]\nlist_up_to = 20\n",
    );
    let served = home.serve();
    let plain = ask(&served, "", "plain", "tools/list", json!({})).0;
    assert_eq!(names(&plain), ["call-tool", "describe-tool", "search-tools"]);
    assert_eq!(plain["tools"][2]["outputSchema"]["properties"]["total"]["type"], "integer");
    let found = call(&served, "", "plain", "search-tools", json!({ "query": "make a task" }));
    assert!(found["structuredContent"]["tools"].to_string().contains("create-task"), "{found}");
    let described = call(&served, "", "plain", "describe-tool", json!({ "name": "update-task" }));
    assert!(
        described["structuredContent"]["tool"]["parameters"]["properties"]["clear"].is_object(),
        "{described}"
    );
    let made = call(
        &served,
        "",
        "plain",
        "call-tool",
        json!({ "name": "create-task", "params": { "title": "Buy milk" } }),
    );
    assert_eq!(made["isError"], Value::Null, "{made}");
    let few = ask(&served, "", "few", "tools/list", json!({})).0;
    assert!(names(&few).contains(&"create-task") && !names(&few).contains(&"search-tools"), "{few}");
}

#[test]
fn packs_are_switched_off_with_the_profiles_that_are_made_of_them() {
    let home = TestHome::new();
    settings(&home, "[packs]\ntasks = false\ncards = false\n");
    let served = home.serve();
    let listed = ask(&served, "", "plain", "tools/list", json!({})).0;
    assert!(!names(&listed).iter().any(|name| name.contains("task") || name.contains("card")), "{listed}");
    assert!(names(&listed).contains(&"search-web"), "{listed}");
    let profiles = served.get("/api/v1/profiles", "").json.to_string();
    assert!(profiles.contains("executor") && !profiles.contains("todo"), "{profiles}");
    let said = served.post("/api/v1/chat", "", &json!({ "message": "Add a task: buy milk" }));
    assert_eq!(said.status, 200, "{said:?}");
    let ready = until("it is ready", || Some(served.get("/readyz", "")).filter(|ready| ready.status == 200));
    assert_eq!(ready.status, 200);
}
