//! By the front door: secrets are repeated nowhere, hidden tools show nowhere, and every failure says what to do.

use serde_json::{Value, json};

use crate::test_server::{Answer, TestServer};

const ECHO: &str = "def run(params, context):\n    print('said', params)\n    context.log('pin is %s' % params.get('pin'))\n    return {'url': 'https://ann:%s@example.com' % params['phrase'], 'again': params}\n";

async fn register(server: &TestServer, entry: Value) {
    let admin = server.key(json!({ "user": "admin", "grants": ["registry:write"] })).await;
    let made = server.ask("POST", "/api/v1/tools").key(&admin).body(entry).send().await;
    assert_eq!(made.status, 201, "{}", made.text);
}

fn vault() -> Value {
    json!({
        "name": "open_vault", "description": "Opens a vault.", "permissions": ["vault:open"],
        "input_schema": {
            "type": "object",
            "properties": {
                "phrase": { "$ref": "#hidden" },
                "pin": { "type": "integer", "writeOnly": true },
                "short": { "type": "string", "format": "password" },
                "name": { "type": "string", "maxLength": 5 },
            },
            "required": ["phrase"],
            "$defs": { "hidden": { "$anchor": "hidden", "type": "string", "writeOnly": true } },
        },
        "config": { "script_path": "open_vault.py" }, "script": ECHO,
    })
}

/// Everything that lies in the server: journal, database, files.
fn on_disk(server: &TestServer) -> String {
    let mut text = String::new();
    let mut folders = vec![server.folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => {
                    text += &String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap_or_default());
                }
            }
        }
    }
    text
}

#[tokio::test]
async fn a_secret_that_a_tool_repeats_is_in_no_log_and_no_record_and_its_replay_is_whole() {
    let server = TestServer::new();
    register(&server, vault()).await;
    let key = server.key(json!({ "user": "ann", "grants": ["vault:open", "executions:read"] })).await;
    let params = json!({ "phrase": "CANARY-5ec2e7", "pin": 7_315_902, "short": "x7q" });
    let call = || {
        let body = json!({ "params": params, "context": { "idempotencyKey": "k1" } });
        server.ask("POST", "/api/v1/tools/open_vault/call").key(&key).body(body).send()
    };
    let first = call().await;
    assert_eq!(first.status, 200, "{}", first.text);
    assert_eq!(first.json()["data"]["again"], params, "the caller gets what the tool answered");
    let second = call().await;
    assert_eq!(second.json()["metadata"]["replayed"], true);
    assert_eq!(second.json()["data"], first.json()["data"]);
    let log = server.ask("GET", "/api/v1/executions").key(&key).send().await.text;
    for (place, text) in [("log", log), ("disk", on_disk(&server))] {
        for secret in ["CANARY-5ec2e7", "7315902", "x7q"] {
            assert!(!text.contains(secret), "{secret} in the {place}");
        }
    }
}

#[tokio::test]
async fn a_refusal_suggests_parameters_without_the_secrets_and_says_so() {
    let server = TestServer::new();
    register(&server, vault()).await;
    let key = server.key(json!({ "user": "ann", "grants": ["vault:open"] })).await;
    let params = json!({ "phrase": "CANARY-5ec2e7", "pin": 7_315_902, "name": "much too long" });
    let refused = server.call(&key, "open_vault", params).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(!refused.text.contains("CANARY") && !refused.text.contains("7315902"), "{}", refused.text);
    let action = &refused.json()["agentHints"]["suggestedNextActions"][0];
    assert_eq!(action["action"], "open_vault");
    assert!(!refused.text.contains("[masked]"), "an agent would send that: {}", refused.text);
}

#[tokio::test]
async fn a_callers_own_log_does_not_tell_a_hidden_tool_from_one_that_does_not_exist() {
    let server = TestServer::new();
    register(&server, vault()).await;
    let bob = server.key(json!({ "user": "bob", "grants": ["tasks:read"] })).await;
    let auditor = server.key(json!({ "user": "auditor", "grants": ["executions:read"] })).await;
    let params = json!({ "phrase": "word", "pin": 1234, "name": "bo" });
    for tool in ["open_vault", "no_such_tool"] {
        assert_eq!(server.call(&bob, tool, params.clone()).await.code(), "tool_not_found");
    }
    let rows = |answer: Answer| answer.json()["executions"].as_array().unwrap().clone();
    let own = rows(server.ask("GET", "/api/v1/executions").key(&bob).send().await);
    let plain = |row: &Value| {
        let mut row = row.clone();
        for field in ["executionId", "startedAt", "endedAt", "durationMs", "traceId", "correlationId", "tool"]
        {
            row.as_object_mut().unwrap().remove(field);
        }
        row
    };
    assert_eq!(own.len(), 2);
    assert_eq!(plain(&own[0]), plain(&own[1]), "{own:?}");
    assert_eq!(own[0]["code"], "tool_not_found");
    let id = own[1]["executionId"].as_str().unwrap();
    let shown = server.ask("GET", format!("/api/v1/executions/{id}")).key(&bob).send().await.json();
    assert_eq!(shown["code"], "tool_not_found", "{shown}");
    // A cursor is a place in a file: it must not tell how long the reason of a refusal is.
    let page = server.ask("GET", "/api/v1/executions?limit=1").key(&bob).send().await.json();
    let cursor = page["nextCursor"].as_str().unwrap();
    assert!(!cursor.contains(&page["executions"][0]["startedAt"].as_str().unwrap()[..10]), "{cursor}");
    let next =
        server.ask("GET", format!("/api/v1/executions?limit=1&cursor={cursor}")).key(&bob).send().await;
    assert_eq!(next.json()["executions"][0]["executionId"], own[1]["executionId"]);
    let forged = server.ask("GET", "/api/v1/executions?cursor=2026-11-15_120").key(&bob).send().await;
    assert_eq!((forged.status.as_u16(), forged.code().as_str()), (400, "invalid_input"), "{}", forged.text);
    let all = rows(server.ask("GET", "/api/v1/executions?user=bob").key(&auditor).send().await);
    assert_eq!((&all[0]["code"], &all[1]["code"]), (&json!("tool_not_found"), &json!("permission_denied")));
}

#[tokio::test]
async fn every_failure_says_what_to_do_next_in_names_that_the_caller_can_call() {
    let server = TestServer::new();
    let tool = |name: &str, script: &str, more: Value| {
        let mut entry = json!({
            "name": name, "description": "Does what a test needs.", "permissions": ["shop:call"],
            "input_schema": { "type": "object" }, "config": { "script_path": format!("{name}.py") },
            "script": script,
        });
        for (field, value) in more.as_object().unwrap() {
            match field.as_str() {
                "limits" => entry["config"]["limits"] = value.clone(),
                _ => entry[field] = value.clone(),
            }
        }
        entry
    };
    let fine = "def run(params, context):\n    return {'ok': True}\n";
    for entry in [
        tool("keyed", fine, json!({})),
        tool("asks", fine, json!({ "destructive": true })),
        tool("limited", fine, json!({ "rateLimit": { "maxCalls": 1, "windowMs": 60_000 } })),
        tool(
            "slow",
            "import time\ndef run(params, context):\n    time.sleep(30)\n",
            json!({ "timeout": 0.2 }),
        ),
        tool("fails", "def run(params, context):\n    raise ValueError()\n", json!({})),
        tool("breaks", fine, json!({ "output_schema": { "type": "array" } })),
        tool(
            "much",
            "def run(params, context):\n    return 'x' * 9999\n",
            json!({ "limits": { "output": 100 } }),
        ),
    ] {
        register(&server, entry).await;
    }
    let key = server.key(json!({ "user": "ann", "grants": ["shop:call", "web:search"] })).await;
    let send = |tool: &str, body: Value| {
        server.ask("POST", format!("/api/v1/tools/{tool}/call")).key(&key).body(body).send()
    };
    let keyed = |n: u32| json!({ "params": { "n": n }, "context": { "idempotencyKey": "k" } });
    send("keyed", keyed(1)).await;
    send("limited", json!({ "params": {} })).await;
    for (tool, body, code, data) in [
        ("keyed", keyed(2), "idempotency_conflict", json!({ "n": 2 })),
        ("asks", json!({ "params": { "n": 1 } }), "approval_required", json!({ "n": 1 })),
        ("limited", json!({ "params": { "n": 1 } }), "rate_limited", json!({ "n": 1 })),
        ("slow", json!({ "params": { "n": 1 } }), "tool_timeout", Value::Null),
        ("fails", json!({ "params": { "n": 1 } }), "tool_execution_error", Value::Null),
        ("breaks", json!({ "params": { "n": 1 } }), "invalid_output", Value::Null),
        ("much", json!({ "params": { "n": 1 } }), "output_too_large", Value::Null),
        ("search-web", json!({ "params": { "query": "x" } }), "not_configured", Value::Null),
    ] {
        let answer = send(tool, body).await;
        let body = answer.json();
        assert_eq!(body["error"]["code"], code, "{}", answer.text);
        let actions = body["agentHints"]["suggestedNextActions"].as_array().unwrap();
        let first = actions.first().unwrap_or_else(|| panic!("{code}: no next action in {body}"));
        assert_eq!(first["action"], tool, "{code}: {first}");
        assert!(first["description"].as_str().is_some_and(|text| text.len() > 20), "{code}: {first}");
        assert_eq!(first.get("data").cloned().unwrap_or_default(), data, "{code}: {first}");
    }
}

#[tokio::test]
async fn a_failure_on_a_profile_names_the_profiles_own_tools() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ann", "grants": ["tasks:*"] })).await;
    let path = "/mcp/todo-chatbot";
    let listed = server.ask("GET", "/api/v1/profiles/todo-chatbot/functions").key(&key).send().await.json();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().filter_map(|one| one["function"]["name"].as_str()).collect();
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "get_task", "arguments": { "task_id": 999 },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let answer = server
        .ask("POST", path)
        .key(&key)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "get_task")
        .body(call)
        .send()
        .await;
    let hints = &answer.json()["result"]["_meta"]["dev.toolroom/agentHints"];
    let actions = hints["suggestedNextActions"].as_array().unwrap_or_else(|| panic!("{}", answer.text));
    assert!(!actions.is_empty(), "{hints}");
    for action in actions {
        assert!(names.contains(&action["action"].as_str().unwrap()), "{action} is not one of {names:?}");
    }
}

#[tokio::test]
async fn a_trace_id_is_given_back_as_it_was_sent_and_found_in_either_form() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ann", "grants": ["executions:read"] })).await;
    let plain = "4BF92F3577B34DA6A3CE929D0E0E4736";
    let hyphens = "4bf92f35-77b3-4da6-a3ce-929d0e0e4736";
    for sent in [plain, hyphens] {
        let body = json!({ "params": {}, "context": { "traceId": sent } });
        let called = server.ask("POST", "/api/v1/tools/get-status/call").key(&key).body(body).send().await;
        assert_eq!(called.json()["metadata"]["traceId"], sent, "{}", called.text);
    }
    let own = server.call(&key, "get-status", json!({})).await.json()["metadata"]["traceId"].clone();
    assert_eq!(own.as_str().unwrap().matches('-').count(), 4, "{own}");
    for form in [plain, hyphens, &plain.to_lowercase()] {
        let found =
            server.ask("GET", format!("/api/v1/executions?traceId={form}")).key(&key).send().await.json();
        let ids: Vec<&Value> =
            found["executions"].as_array().unwrap().iter().map(|row| &row["traceId"]).collect();
        assert_eq!(ids, [hyphens, plain], "{form}");
    }
    let odd = server.ask("GET", "/api/v1/executions?traceId=4bf9").key(&key).send().await;
    assert_eq!(odd.status, 400, "{}", odd.text);
}

#[tokio::test]
async fn every_published_example_is_a_real_answer_that_fits_its_own_schema() {
    let server = TestServer::new();
    let tools = server.ask("GET", "/api/v1/tools").owner().send().await.json();
    let tools = tools["tools"].as_array().unwrap();
    assert!(tools.len() >= 15, "{}", tools.len());
    for tool in tools {
        assert!(!tool["examples"].to_string().contains("<any>"), "{tool}");
        let output = toolroom_contract::validator::Validator::compile(&tool["output"]).unwrap();
        for example in tool["examples"].as_array().unwrap() {
            let refusals = output.refusals(&example["expectedResult"]);
            assert!(refusals.is_empty(), "{}: {refusals:?}", tool["name"]);
        }
    }
}

#[tokio::test]
async fn a_script_path_too_long_or_through_a_link_out_of_tools_is_refused_with_a_reason() {
    let server = TestServer::new();
    let admin = server.key(json!({ "user": "admin", "grants": ["registry:write"] })).await;
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), server.folder.path().join("tools/link")).unwrap();
    std::fs::write(outside.path().join("there.py"), "def run(params, context):\n    return 1\n").unwrap();
    std::os::unix::fs::symlink(outside.path().join("there.py"), server.folder.path().join("tools/one.py"))
        .unwrap();
    let long = format!("{}.py", "a".repeat(300));
    let deep = format!("{}x.py", "d/".repeat(600));
    for (path, script) in [
        (long.as_str(), Some("x = 1\n")),
        (deep.as_str(), Some("x = 1\n")),
        ("link/new.py", Some("x = 1\n")),
        ("link/there.py", None),
        ("one.py", None),
    ] {
        let mut entry = json!({
            "name": "say", "description": "Says something.", "input_schema": { "type": "object" },
            "config": { "script_path": path },
        });
        if let Some(script) = script {
            entry["script"] = json!(script);
        }
        let made = server.ask("POST", "/api/v1/tools").key(&admin).body(entry).send().await;
        assert_eq!(made.status, 400, "{path:.40}: {}", made.text);
        assert!(made.text.contains("script_path"), "{}", made.text);
        assert!(!outside.path().join("new.py").exists());
    }
}
