//! Profile `executor` over HTTP: the functions, code, and a question that a person answers.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::test_server::{Answer, TestServer};

async fn key(server: &TestServer) -> String {
    server.key(json!({ "user": "ada", "grants": ["code:execute", "web:search", "humans:ask"] })).await
}

async fn run(server: &TestServer, key: &str, function: &str, params: Value) -> Value {
    let answer = server.function(key, "executor", function, params).await;
    let told = answer.json();
    let wanted = if told["status"] == "pending" { 202 } else { 200 };
    assert_eq!(answer.status, wanted, "{function}: {}", answer.text);
    told
}

async fn decide(server: &TestServer, id: &Value, verdict: Value) -> Answer {
    let path = format!("/api/v1/approvals/{}", id.as_str().unwrap());
    server.ask("POST", path).owner().body(verdict).send().await
}

#[tokio::test]
async fn the_committed_functions_are_those_that_are_served() {
    let server = TestServer::new();
    let key = key(&server).await;
    let served = server.ask("GET", "/api/v1/profiles/executor/functions").key(&key).send().await.json();
    let text = serde_json::to_string_pretty(&served).unwrap() + "\n";
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/functions/executor.json"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "schema/functions/executor.json is not what is served: run with UPDATE_EXPECT=1"
    );
    let names: Vec<&Value> = served.as_array().unwrap().iter().map(|one| &one["function"]["name"]).collect();
    assert_eq!(names, ["web_search", "code_execution", "request_human_input"]);
}

#[tokio::test]
async fn code_answers_with_what_it_wrote_however_it_ends() {
    let server = TestServer::new();
    let key = key(&server).await;
    let good = run(&server, &key, "code_execution", json!({ "code": "print(6 * 7)" })).await;
    assert_eq!((&good["status"], &good["data"]["stdout"]), (&json!("success"), &json!("42\n")), "{good}");
    let code = "import sys\nprint('so far')\nprint('why', file=sys.stderr)\nsys.exit(3)";
    let bad = run(&server, &key, "code_execution", json!({ "code": code })).await;
    assert_eq!(bad["status"], "error");
    assert_eq!(bad["data"], json!({ "stdout": "so far\n", "stderr": "why\n", "exit_code": 3 }));
    assert_eq!(bad["error"], json!({ "code": "ToolExecutionError", "retryable": false }));
    assert!(bad["message"].as_str().unwrap().contains("exit code 3: why"), "{bad}");
    let path = format!("/api/v1/executions/{}", bad["execution_id"].as_str().unwrap());
    let row = server.ask("GET", path).key(&key).send().await.json();
    assert_eq!((&row["tool"], &row["profile"]), (&json!("code_execution"), &json!("executor")), "{row}");
    let shell = json!({ "code": "echo $((6 * 7))", "language": "shell" });
    assert_eq!(run(&server, &key, "code_execution", shell).await["data"]["stdout"], "42\n");
}

#[tokio::test]
async fn promise_failed_code_is_a_failed_call_on_every_edge_and_in_the_log() {
    let server = TestServer::new();
    let key = key(&server).await;
    let answer =
        server.call(&key, "execute-code", json!({ "code": "print('half')\nraise SystemExit(3)" })).await;
    assert!(!answer.status.is_success(), "{}", answer.text);
    let body = answer.json();
    assert_eq!(body["error"]["code"], "tool_execution_error", "{body}");
    assert_eq!(body["error"]["data"]["stdout"], "half\n", "{body}");
    assert_eq!(body["error"]["data"]["exitCode"], 3, "{body}");
    let path = format!("/api/v1/executions/{}", body["metadata"]["executionId"].as_str().unwrap());
    let row = server.ask("GET", path).key(&key).send().await.json();
    assert_ne!(row["status"], "success", "{row}");
}

#[tokio::test]
async fn a_question_is_pending_until_a_person_answers_with_one_of_the_choices() {
    let server = TestServer::new();
    let key = key(&server).await;
    let params = json!({ "question": "Which colour?", "choices": ["red", "Blue"] });
    let asked = run(&server, &key, "request_human_input", params.clone()).await;
    assert_eq!(asked["status"], "pending");
    let pending = &asked["data"]["pending"];
    assert_eq!(
        (&pending["kind"], &pending["prompt"]["message"]),
        (&json!("question"), &json!("Which colour?"))
    );
    assert!(pending["expires_at"].is_string());
    let again = run(&server, &key, "request_human_input", params.clone()).await;
    assert_eq!(again["data"]["pending"]["id"], pending["id"], "nobody is asked twice");

    let refused = decide(&server, &pending["id"], json!({ "answer": "green" })).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text.contains("must be one of: red, Blue"), "{}", refused.text);
    let taken = decide(&server, &pending["id"], json!({ "answer": " blue " })).await;
    assert_eq!(taken.status, 200, "{}", taken.text);

    let answered = run(&server, &key, "request_human_input", params).await;
    assert_eq!(answered["status"], "success");
    assert_eq!(answered["data"], json!({ "answer": "Blue", "choice": 1 }));
}

#[tokio::test]
async fn free_text_answers_a_question_by_its_id_and_a_person_may_decline() {
    let server = TestServer::new();
    let key = key(&server).await;
    let path = "/api/v1/profiles/executor/functions/request_human_input";
    let params = json!({ "question": "Which city?" });
    let asked = run(&server, &key, "request_human_input", params.clone()).await;
    let id = asked["data"]["pending"]["id"].clone();
    decide(&server, &id, json!({ "answer": "Seoul, please" })).await;
    let ask = server.ask("POST", path).key(&key).header("x-approval-id", id.as_str().unwrap());
    assert_eq!(ask.body(params).send().await.json()["data"]["answer"], "Seoul, please");

    let other = json!({ "question": "And which street?" });
    let asked = run(&server, &key, "request_human_input", other.clone()).await;
    decide(&server, &asked["data"]["pending"]["id"], json!({ "decision": "deny" })).await;
    let denied = run(&server, &key, "request_human_input", other).await;
    assert_eq!((&denied["status"], &denied["error"]["code"]), (&json!("error"), &json!("Denied")));
}

#[tokio::test]
async fn search_without_an_engine_says_how_to_set_one_up() {
    let server = TestServer::new();
    let key = key(&server).await;
    let response = run(&server, &key, "web_search", json!({ "query": "weather in Seoul" })).await;
    assert_eq!(response["error"], json!({ "code": "NotConfigured", "retryable": false }));
    assert!(response["message"].as_str().unwrap().contains("TOOLROOM_SEARCH_URL"));
}

#[tokio::test]
async fn tasks_and_the_registrys_own_tools_are_not_in_it() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada", "grants": ["*"] })).await;
    for name in ["create-task", "add_task", "search-tools", "get-status", "execute-code"] {
        let response = run(&server, &key, name, json!({})).await;
        assert_eq!(response["error"]["code"], "ToolNotFound", "{name}");
    }
}
