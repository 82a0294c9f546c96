//! `?wait=S`: a call waits for the decision, enters once before it and once after it, and takes no wrong number.

use std::time::Duration;

use serde_json::{Value, json};
use toolroom_contract::definition::{Example, RateLimit};
use toolroom_contract::{Answer as ToolAnswer, Ending, HintsDraft, ToolDefinition};
use toolroom_runtime::catalogue::NewTool;

use crate::mcp::test_server::{native, open_object};
use crate::test_server::{Answer, TestServer};

const WRONG: [&str; 9] = ["NaN", "nan", "inf", "-inf", "infinity", "-1", "1e308", "301", "soon"];

/// Decides the first request that opens, but not before the call has waited a good while.
async fn decide(server: &TestServer, verdict: Value) -> Answer {
    loop {
        let open = server.ask("GET", "/api/v1/approvals").owner().send().await.json();
        if let Some(id) = open["approvals"][0]["id"].as_str() {
            // More than two of the looks that waiting calls take.
            tokio::time::sleep(Duration::from_millis(1200)).await;
            let path = format!("/api/v1/approvals/{id}");
            return server.ask("POST", path).owner().body(verdict).send().await;
        }
        tokio::task::yield_now().await;
    }
}

async fn rows(server: &TestServer, tool: &str) -> Vec<Value> {
    let path = format!("/api/v1/executions?tool={tool}");
    let log = server.ask("GET", path).owner().send().await.json();
    log["executions"].as_array().unwrap().iter().map(|row| row["status"].clone()).collect()
}

async fn task(server: &TestServer, key: &str) -> Value {
    let made = server.call(key, "create-task", json!({ "title": "Old" })).await.json();
    made["data"]["task"]["taskId"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_a_waiting_call_enters_once_before_the_decision_and_once_after() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let id = task(&server, &key).await;
    let waiting = server
        .ask("POST", "/api/v1/tools/delete-task/call?wait=60")
        .key(&key)
        .body(json!({ "params": { "taskId": id } }))
        .send();
    let (answer, _) = tokio::join!(waiting, decide(&server, json!({ "decision": "approve" })));
    assert_eq!(answer.json()["data"]["deleted"], true, "{}", answer.text);
    assert_eq!(rows(&server, "delete-task").await, ["ok", "pending"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_functions_wait_too_and_what_waits_is_202_in_the_profiles_form() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let path = "/api/v1/profiles/executor/functions/request_human_input";
    let body = json!({ "question": "Which colour?" });
    let pending = server.ask("POST", path).key(&key).body(body.clone()).send().await;
    assert_eq!(pending.status, 202, "{}", pending.text);
    let told = pending.json();
    assert_eq!((&told["status"], &told["data"]["pending"]["kind"]), (&json!("pending"), &json!("question")));
    let short = server.ask("POST", format!("{path}?wait=0.05")).key(&key).body(body.clone()).send().await;
    assert_eq!((short.status.as_u16(), &short.json()["status"]), (202, &json!("pending")));
    let waiting = server.ask("POST", format!("{path}?wait=60")).key(&key).body(body).send();
    let (answer, _) = tokio::join!(waiting, decide(&server, json!({ "answer": "blue" })));
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["status"]),
        (200, &json!("success")),
        "{}",
        answer.text
    );
    let default = "/api/v1/profiles/default/functions/delete-task";
    let id = task(&server, &key).await;
    let waiting = server.ask("POST", default).key(&key).body(json!({ "taskId": id })).send().await;
    assert_eq!((waiting.status.as_u16(), &waiting.json()["pending"]["kind"]), (202, &json!("approval")));
}

#[tokio::test]
async fn promise_a_wait_that_is_no_time_is_refused_before_anything_is_done() {
    let server = TestServer::new();
    let admin = server.key(json!({ "user": "ada", "grants": ["*"] })).await;
    let id = task(&server, &admin).await;
    let call = json!({ "params": { "taskId": id } });
    let entry = json!({ "name": "s", "command": "true" });
    for wrong in WRONG {
        for (method, path, body) in [
            ("POST", "/api/v1/tools/delete-task/call", call.clone()),
            ("POST", "/api/v1/profiles/default/functions/delete-task", json!({ "taskId": id })),
            ("POST", "/api/v1/servers", entry.clone()),
            ("PUT", "/api/v1/servers/s", json!({ "command": "true" })),
            ("GET", "/api/v1/servers/s", json!({})),
            ("GET", "/api/v1/servers/s/login", json!({})),
        ] {
            let answer =
                server.ask(method, format!("{path}?wait={wrong}")).key(&admin).body(body).send().await;
            assert_eq!(
                (answer.status.as_u16(), answer.code().as_str()),
                (400, "invalid_input"),
                "{method} {path} {wrong}: {}",
                answer.text
            );
        }
    }
    let servers = server.ask("GET", "/api/v1/servers").key(&admin).send().await.json();
    assert_eq!(servers["total"], 0, "no server was added");
    assert_eq!(rows(&server, "delete-task").await, Vec::<Value>::new(), "no call was made");
}

#[tokio::test]
async fn numbers_in_queries_that_are_none_are_refused_as_problems() {
    let server = TestServer::new();
    for path in [
        "/api/v1/executions?limit=",
        "/api/v1/conversations?limit=",
        "/api/v1/conversations/0198a0a0-0000-7000-8000-000000000000?limit=",
        "/api/v1/approvals?limit=",
        "/api/v1/approvals?all=",
        "/api/v1/approvals?nonsense=",
        "/api/v1/approvals?cursor=",
    ] {
        for wrong in ["NaN", "-1", "1e9", "99999999999999999999999"] {
            let answer = server.ask("GET", format!("{path}{wrong}")).owner().send().await;
            assert_eq!(answer.status, 400, "{path}{wrong}: {}", answer.text);
            assert_eq!(answer.headers["content-type"], "application/problem+json", "{path}{wrong}");
            assert_eq!(answer.code(), "invalid_input");
        }
    }
}

/// A destructive tool that may be called once a minute.
fn seldom() -> NewTool {
    let definition = ToolDefinition {
        destructive: true,
        parameters: open_object(),
        output: Some(json!({ "type": "object" })),
        examples: vec![Example::new("As it is", &json!({}), json!({}))],
        tags: vec!["test".into()],
        rate_limit: Some(RateLimit { max_calls: 1, window_ms: 60_000 }),
        ..ToolDefinition::mutation("wipe-disk", "Wipes the disk. Use it never. Returns nothing much.")
    };
    native(definition, |_, _| async {
        Ending::Done(ToolAnswer {
            data: json!({ "wiped": true }),
            hints: HintsDraft::default(),
            content: None,
        })
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_a_waiting_call_uses_the_rate_limit_once() {
    let server = TestServer::with(vec![seldom()]);
    let key = server.key(json!({ "user": "ada", "grants": ["*"] })).await;
    let path = "/api/v1/tools/wipe-disk/call";
    let waiting = server.ask("POST", format!("{path}?wait=60")).key(&key).body(json!({})).send();
    let (answer, _) = tokio::join!(waiting, decide(&server, json!({ "decision": "approve" })));
    assert_eq!(answer.json()["data"]["wiped"], true, "{}", answer.text);
    assert_eq!(server.call(&key, "wipe-disk", json!({})).await.code(), "rate_limited");
    // An id that no decision stands behind buys nothing.
    let body = json!({ "context": { "approvalId": "0198a0a0-0000-7000-8000-000000000000" } });
    let made_up = server.ask("POST", path).key(&key).body(body).send().await;
    assert_eq!(made_up.code(), "rate_limited");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_ten_calls_that_wait_for_one_approval_one_runs_and_the_others_are_told_who_used_it() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let id = task(&server, &key).await;
    let body = json!({ "params": { "taskId": id } });
    let calls = (0..10).map(|_| {
        server.ask("POST", "/api/v1/tools/delete-task/call?wait=60").key(&key).body(body.clone()).send()
    });
    let approved = json!({ "decision": "approve" });
    let decided = async {
        while rows(&server, "delete-task").await != vec!["pending"; 10] {
            tokio::task::yield_now().await;
        }
        decide(&server, approved).await
    };
    let (answers, decided) = tokio::join!(futures_util::future::join_all(calls), decided);
    assert_eq!(decided.status, 200, "{}", decided.text);
    let (ran, told): (Vec<&Answer>, Vec<&Answer>) = answers.iter().partition(|answer| answer.status == 200);
    assert_eq!((ran.len(), told.len()), (1, 9));
    for answer in told {
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (410, "approval_expired"),
            "{}",
            answer.text
        );
        let body = answer.json();
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.contains("used by another call") && message.contains("to ask again"), "{message}");
        assert_eq!(body["agentHints"]["suggestedNextActions"][0]["action"], "delete-task", "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_calls_that_wait_for_one_decision_hear_the_denial_with_its_reason() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let id = task(&server, &key).await;
    let body = json!({ "params": { "taskId": id } });
    let calls = (0..5).map(|_| {
        server.ask("POST", "/api/v1/tools/delete-task/call?wait=60").key(&key).body(body.clone()).send()
    });
    let decided = async {
        while rows(&server, "delete-task").await != vec!["pending"; 5] {
            tokio::task::yield_now().await;
        }
        decide(&server, json!({ "decision": "deny", "reason": "it is still needed" })).await
    };
    let (answers, decided) = tokio::join!(futures_util::future::join_all(calls), decided);
    assert_eq!(decided.status, 200, "{}", decided.text);
    for answer in answers {
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (403, "approval_denied"),
            "{}",
            answer.text
        );
        assert!(answer.text.contains("it is still needed"), "{}", answer.text);
    }
    let anew = server.ask("POST", "/api/v1/tools/delete-task/call").key(&key).body(body).send().await;
    assert_eq!(anew.status, 202, "{}", anew.text);
}
