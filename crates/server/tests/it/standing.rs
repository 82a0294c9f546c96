//! What a person is shown of a request, a denial with its reason, and approvals that stand for a while.

use serde_json::{Value, json};
use toolroom_contract::definition::{Example, RateLimit};
use toolroom_contract::{Answer as ToolAnswer, Ending, Permission, ToolDefinition};

use crate::mcp::test_server::{native, open_object};
use crate::test_server::{Answer, TestServer};

async fn task(server: &TestServer, key: &str, title: &str) -> Value {
    let made = server.call(key, "create-task", json!({ "title": title })).await.json();
    json!({ "taskId": made["data"]["task"]["taskId"] })
}

/// The open request of a call that waits.
async fn waiting(server: &TestServer, key: &str, tool: &str, params: &Value) -> String {
    let waiting = server.call(key, tool, params.clone()).await;
    assert_eq!(waiting.status, 202, "{}", waiting.text);
    waiting.json()["pending"]["id"].as_str().unwrap().to_owned()
}

async fn decide(server: &TestServer, id: &str, verdict: Value) -> Answer {
    server.ask("POST", format!("/api/v1/approvals/{id}")).owner().body(verdict).send().await
}

async fn standing(server: &TestServer) -> Vec<Value> {
    let listed = server.ask("GET", "/api/v1/approvals/standing").owner().send().await;
    assert_eq!(listed.status, 200, "{}", listed.text);
    listed.json()["standing"].as_array().unwrap().clone()
}

#[tokio::test]
async fn promise_a_request_says_who_asks_through_which_agent_for_what_and_what_undoes_it() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let params = task(&server, &key, "Buy milk").await;
    let call = server
        .ask("POST", "/api/v1/tools/delete-task/call")
        .key(&key)
        .header("x-agent-id", "clerk")
        .body(json!({ "params": params }))
        .send()
        .await
        .json();
    let listed = server.ask("GET", "/api/v1/approvals").owner().send().await.json()["approvals"][0].clone();
    let about = |field: &str| listed[field].as_str().unwrap_or_default().to_owned();
    assert_eq!(
        (about("user"), about("agentId"), about("edge")),
        ("ada".into(), "clerk".into(), "rest".into())
    );
    assert_eq!(about("target"), format!("task {} “Buy milk”", params["taskId"]));
    assert!(about("undo").contains("restore-task"), "{listed}");
    assert_eq!(listed["executionId"], call["metadata"]["executionId"]);
    assert_eq!((&listed["destructive"], &listed["standingAllowed"]), (&json!(true), &json!(true)));
    assert!(listed["prompt"]["message"].as_str().unwrap().contains("“Buy milk”"), "{listed}");
    let id = about("id");
    assert_eq!(decide(&server, &id, json!({ "decision": "approve" })).await.status, 200);
    let shown = server.ask("GET", format!("/api/v1/approvals/{id}")).key(&key).send().await.json();
    assert_eq!((&shown["state"], &shown["decidedBy"]), (&json!("approved"), &json!("local")));
    assert!(shown["decidedAt"].is_string(), "{shown}");
    let bob = server.key(json!({ "user": "bob" })).await;
    let other = server.ask("GET", format!("/api/v1/approvals/{id}")).key(&bob).send().await;
    assert_eq!(other.status, 404);
}

#[tokio::test]
async fn promise_an_agent_is_told_why_a_person_denied() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let params = task(&server, &key, "Report").await;
    let id = waiting(&server, &key, "delete-task", &params).await;
    for wrong in [
        json!({ "decision": "deny", "reason": "" }),
        json!({ "decision": "deny", "reason": "x".repeat(501) }),
        json!({ "decision": "deny", "reason": "a\u{0}b" }),
        json!({ "decision": "approve", "reason": "because" }),
    ] {
        assert_eq!(decide(&server, &id, wrong.clone()).await.status, 400, "{wrong}");
    }
    let denied = decide(&server, &id, json!({ "decision": "deny", "reason": "The report is needed." })).await;
    assert_eq!(denied.json()["reason"], "The report is needed.", "{}", denied.text);
    let told = server.call(&key, "delete-task", params).await;
    assert_eq!(told.code(), "approval_denied", "{}", told.text);
    assert!(told.json()["error"]["message"].as_str().unwrap().ends_with("The report is needed."));
}

#[tokio::test]
async fn promise_a_standing_approval_is_for_one_tool_and_one_key_until_it_is_revoked() {
    let server = TestServer::new();
    let (key, other) =
        (server.key(json!({ "user": "ada" })).await, server.key(json!({ "user": "ada" })).await);
    let params = task(&server, &key, "First").await;
    let id = waiting(&server, &key, "delete-task", &params).await;
    for seconds in [0, 28_801] {
        let refused = decide(&server, &id, json!({ "decision": "approve", "for_seconds": seconds })).await;
        assert_eq!(refused.status, 400, "{}", refused.text);
    }
    let wrong = decide(&server, &id, json!({ "decision": "deny", "for_seconds": 60 })).await;
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    let given = decide(&server, &id, json!({ "decision": "approve", "for_seconds": 28_800 })).await;
    assert_eq!(given.status, 200, "{}", given.text);
    assert_eq!(server.call(&key, "delete-task", params).await.json()["data"]["deleted"], true);

    let second = task(&server, &key, "Second").await;
    let passed = server.call(&key, "delete-task", second.clone()).await;
    assert_eq!(passed.json()["data"]["deleted"], true, "{}", passed.text);
    let third = task(&server, &key, "Third").await;
    waiting(&server, &other, "delete-task", &third).await;

    let listed = standing(&server).await.remove(0);
    assert_eq!((&listed["tool"], &listed["user"]), (&json!("delete-task"), &json!("ada")));
    assert_eq!((&listed["by"], &listed["used"]), (&json!("local"), &json!(1)));
    assert!(key.starts_with(listed["key"].as_str().unwrap()) && !listed["key"].as_str().unwrap().is_empty());
    assert_eq!(listed["uses"][0]["executionId"], passed.json()["metadata"]["executionId"]);
    assert_eq!(listed["uses"][0]["target"], format!("task {}", second["taskId"]));

    let path = format!("/api/v1/approvals/standing/{}", listed["id"].as_str().unwrap());
    let bob = server.key(json!({ "user": "bob", "person": true })).await;
    assert_eq!(server.ask("DELETE", &path).key(&bob).send().await.status, 404, "not bob's matter");
    assert_eq!(server.ask("DELETE", &path).key(&key).send().await.status, 403, "an agent decides nothing");
    assert_eq!(server.ask("DELETE", &path).owner().send().await.status, 204);
    assert!(standing(&server).await.is_empty());
    waiting(&server, &key, "delete-task", &third).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_a_call_that_waits_goes_on_when_its_tool_is_approved_for_a_while() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let (first, second) = (task(&server, &key, "First").await, task(&server, &key, "Second").await);
    let id = waiting(&server, &key, "delete-task", &first).await;
    let open = waiting(&server, &key, "delete-task", &second).await;
    let call = server
        .ask("POST", "/api/v1/tools/delete-task/call?wait=60")
        .key(&key)
        .body(json!({ "params": second }))
        .send();
    let approve = decide(&server, &id, json!({ "decision": "approve", "for_seconds": 60 }));
    let (answer, given) = tokio::join!(call, approve);
    assert_eq!(given.status, 200, "{}", given.text);
    assert_eq!(answer.json()["data"]["deleted"], true, "{}", answer.text);
    let path = format!("/api/v1/approvals/{open}");
    let settled = server.ask("GET", path).owner().send().await.json();
    assert_eq!(settled["state"], "used", "nothing is left to decide: {settled}");
    assert_eq!(standing(&server).await[0]["used"], 1);
}

/// An entry of a script that asks before it runs.
fn dropping(description: &str) -> Value {
    json!({
        "name": "drop",
        "description": description,
        "destructive": true,
        "input_schema": { "type": "object", "properties": { "n": { "type": "integer" } } },
        "config": { "script_path": "drop.py" },
        "script": "def run(params, context):\n    return {'done': True}\n",
    })
}

#[tokio::test]
async fn promise_an_approval_never_crosses_a_changed_definition() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada", "grants": ["registry:write", "drop:call"] })).await;
    let made = server.ask("POST", "/api/v1/tools").key(&key).body(dropping("Drops a thing.")).send().await;
    assert_eq!(made.status, 201, "{}", made.text);
    let (approved, late) = (
        waiting(&server, &key, "drop", &json!({ "n": 1 })).await,
        waiting(&server, &key, "drop", &json!({ "n": 2 })).await,
    );
    assert_eq!(decide(&server, &approved, json!({ "decision": "approve" })).await.status, 200);
    let changed = dropping("Drops everything.");
    let put = server.ask("PUT", "/api/v1/tools/drop").key(&key).body(changed).send().await;
    assert_eq!(put.status, 200, "{}", put.text);
    let again = waiting(&server, &key, "drop", &json!({ "n": 1 })).await;
    assert_ne!(again, approved, "the yes was to what the tool was");
    let refused = decide(&server, &late, json!({ "decision": "approve" })).await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (409, "version_conflict"));
    assert_eq!(decide(&server, &again, json!({ "decision": "approve" })).await.status, 200);
    assert_eq!(server.call(&key, "drop", json!({ "n": 1 })).await.json()["data"]["done"], true);
}

#[tokio::test]
async fn promise_a_standing_approval_never_crosses_a_changed_definition() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada", "grants": ["registry:write", "drop:call"] })).await;
    let made = server.ask("POST", "/api/v1/tools").key(&key).body(dropping("Drops a thing.")).send().await;
    assert_eq!(made.status, 201, "{}", made.text);
    let (first, late) = (
        waiting(&server, &key, "drop", &json!({ "n": 1 })).await,
        waiting(&server, &key, "drop", &json!({ "n": 2 })).await,
    );
    assert_eq!(
        decide(&server, &first, json!({ "decision": "approve", "for_seconds": 600 })).await.status,
        200
    );
    assert_eq!(server.call(&key, "drop", json!({ "n": 3 })).await.json()["data"]["done"], true);
    assert_eq!(standing(&server).await[0]["changed"], false);
    let put =
        server.ask("PUT", "/api/v1/tools/drop").key(&key).body(dropping("Drops everything.")).send().await;
    assert_eq!(put.status, 200, "{}", put.text);
    let before = standing(&server).await.remove(0);
    assert_eq!((&before["changed"], &before["used"]), (&json!(true), &json!(1)), "it is told: {before}");
    waiting(&server, &key, "drop", &json!({ "n": 4 })).await;
    let refused = decide(&server, &late, json!({ "decision": "approve", "for_seconds": 600 })).await;
    assert_eq!(
        (refused.status.as_u16(), refused.code().as_str()),
        (409, "version_conflict"),
        "{}",
        refused.text
    );
}

#[tokio::test]
async fn promise_what_runs_code_is_approved_call_by_call() {
    let definition = ToolDefinition {
        destructive: true,
        permissions: Permission::new("code", "execute").into_iter().collect(),
        parameters: open_object(),
        output: Some(json!({ "type": "object" })),
        examples: vec![Example::new("As it is", &json!({}), json!({}))],
        tags: vec!["test".into()],
        ..ToolDefinition::mutation("run-anything", "Runs any code. Use it never. Returns nothing much.")
    };
    let ran = async || Ending::Done(ToolAnswer::new(json!({})).unwrap());
    let tool = native(definition, move |_, _| ran());
    let server = TestServer::with(vec![tool]);
    let key = server.key(json!({ "user": "ada", "grants": ["code:execute"] })).await;
    let id = waiting(&server, &key, "run-anything", &json!({})).await;
    let shown = server.ask("GET", format!("/api/v1/approvals/{id}")).owner().send().await.json();
    assert_eq!(shown["standingAllowed"], false);
    let refused = decide(&server, &id, json!({ "decision": "approve", "for_seconds": 60 })).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(standing(&server).await.is_empty());
    assert_eq!(decide(&server, &id, json!({ "decision": "approve" })).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_a_standing_approval_counts_what_it_let_through_and_nothing_that_was_refused() {
    let definition = ToolDefinition {
        destructive: true,
        permissions: Permission::new("drops", "write").into_iter().collect(),
        parameters: json!({
            "type": "object",
            "properties": { "n": { "type": "integer", "description": "Which.", "minimum": 0, "maximum": 9 } },
            "additionalProperties": false,
        }),
        output: Some(json!({ "type": "object" })),
        examples: vec![Example::new("As it is", &json!({}), json!({}))],
        tags: vec!["test".into()],
        rate_limit: Some(RateLimit { max_calls: 3, window_ms: 3_600_000 }),
        ..ToolDefinition::mutation("drop-thing", "Drops a thing. Use it never. Returns nothing much.")
    };
    let ran = async || Ending::Done(ToolAnswer::new(json!({})).unwrap());
    let tool = native(definition, move |_, _| ran());
    let server = TestServer::with(vec![tool]);
    let key = server.key(json!({ "user": "ada", "grants": ["drops:write"] })).await;
    let first = waiting(&server, &key, "drop-thing", &json!({ "n": 1 })).await;
    let second = waiting(&server, &key, "drop-thing", &json!({ "n": 2 })).await;
    waiting(&server, &key, "drop-thing", &json!({ "n": 3 })).await;
    assert_eq!(
        decide(&server, &first, json!({ "decision": "approve", "for_seconds": 60 })).await.status,
        200
    );

    // All three calls of the hour are used up: by those that wait too, which were counted when they asked.
    let refused = server.call(&key, "drop-thing", json!({ "n": 4 })).await;
    assert_eq!(refused.code(), "rate_limited", "{}", refused.text);
    assert_eq!(standing(&server).await[0]["used"], 0);
    let body = json!({ "params": { "n": 2 }, "context": { "approvalId": second } });
    let passed = server.ask("POST", "/api/v1/tools/drop-thing/call").key(&key).body(body).send().await;
    assert_eq!(passed.status, 200, "{}", passed.text);
    let listed = standing(&server).await.remove(0);
    assert_eq!((&listed["used"], listed["uses"].as_array().unwrap().len()), (&json!(1), 1), "{listed}");
}
