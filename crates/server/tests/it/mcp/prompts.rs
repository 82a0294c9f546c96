//! Prompts and completion.

use serde_json::{Value, json};

use super::legacy::Legacy;
use super::test_server::McpTestServer;

fn names(result: &Value) -> Vec<String> {
    let all = result["prompts"].as_array().unwrap();
    all.iter().map(|prompt| prompt["name"].as_str().unwrap().to_owned()).collect()
}

fn said(result: &Value) -> String {
    result["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn prompts_speak_of_the_tools_under_the_names_of_the_profile() {
    let server = McpTestServer::new();
    let list = server.ask("prompts/list", json!({})).send().await.result();
    assert_eq!(names(&list), ["task-intents", "use-task-tools", "use-tool", "work-on-task"]);
    assert!(list["ttlMs"].is_u64() && list["cacheScope"] == "private");
    let intents = |profile: &'static str| {
        let arguments = json!({ "request": "drop the milk task" });
        server.ask("prompts/get", json!({ "name": "task-intents", "arguments": arguments })).profile(profile)
    };
    let canonical = said(&intents("default").send().await.result());
    assert!(canonical.contains("find-tasks, then delete-task") && canonical.contains("drop the milk task"));
    let assistant = said(&intents("assistant").send().await.result());
    assert!(assistant.contains("find_task, then delete_task") && !assistant.contains("delete-task"));
    let chatbot = said(&intents("todo-chatbot").send().await.result());
    assert!(chatbot.contains("update_task") && !chatbot.contains("find_task"), "{chatbot}");
}

#[tokio::test]
async fn who_has_no_task_tools_is_shown_no_prompts_on_them() {
    let server = McpTestServer::new();
    let key = server.key("ada", &["cards:*"], None).await;
    assert_eq!(names(&server.ask("prompts/list", json!({})).key(&key).send().await.result()), ["use-tool"]);
    let hidden = server.ask("prompts/get", json!({ "name": "task-intents" })).key(&key).send().await;
    assert_eq!(hidden.json()["error"]["code"], -32602);
}

#[tokio::test]
async fn a_prompt_carries_a_contract_and_says_what_argument_is_missing() {
    let server = McpTestServer::new();
    let get =
        |arguments: Value| server.ask("prompts/get", json!({ "name": "use-tool", "arguments": arguments }));
    let result = get(json!({ "name": "create-task" })).send().await.result();
    assert_eq!(result["messages"][1]["content"]["resource"]["uri"], "toolroom://tools/create-task");
    for (wrong, place) in [
        (json!({}), "arguments/name"),
        (json!({ "name": 1 }), "arguments/name"),
        (json!({ "name": "no-such" }), "name"),
    ] {
        let got = get(wrong).send().await.json();
        assert_eq!(got["error"]["code"], -32602);
        assert!(got["error"]["message"].as_str().unwrap().starts_with(place), "{got}");
    }
    let older = Legacy::begin(&server, "2025-03-26").await;
    let old = older.ask("prompts/get", json!({ "name": "use-task-tools" })).await.result();
    assert!(said(&old).contains("create-task") && old.get("resultType").is_none());
}

#[tokio::test]
async fn arguments_are_completed_with_what_is_the_callers_own() {
    let server = McpTestServer::new();
    let (ada, bob) =
        (server.key("ada", &["tasks:*"], None).await, server.key("bob", &["tasks:*"], None).await);
    for title in ["Buy milk", "Milk the cow", "Call mom"] {
        server.call("create-task", json!({ "title": title })).key(&ada).send().await.result();
    }
    let complete = async |reference: Value, argument: &str, value: &str, key: &str| -> Value {
        let params = json!({ "ref": reference, "argument": { "name": argument, "value": value } });
        server.ask("completion/complete", params).key(key).send().await.result()["completion"].clone()
    };
    let title = json!({ "type": "ref/prompt", "name": "work-on-task" });
    let found = complete(title.clone(), "title", "mil", &ada).await;
    assert_eq!(found["values"], json!(["Milk the cow", "Buy milk"]));
    assert_eq!((&found["total"], &found["hasMore"]), (&json!(2), &json!(false)));
    assert_eq!(complete(title, "title", "mil", &bob).await["values"], json!([]));
    let tool = json!({ "type": "ref/prompt", "name": "use-tool" });
    assert_eq!(complete(tool, "name", "create", &ada).await["values"], json!(["create-task"]));
    let template = json!({ "type": "ref/resource", "uri": "toolroom://profiles/{name}" });
    assert_eq!(complete(template, "name", "assi", &ada).await["values"], json!(["assistant"]));
    let contract = json!({ "type": "ref/resource", "uri": "toolroom://tools/{name}" });
    assert_eq!(complete(contract, "name", "dlt", &ada).await["values"][0], "delete-task");
    let unknown =
        json!({ "ref": { "type": "ref/prompt", "name": "no" }, "argument": { "name": "a", "value": "" } });
    assert_eq!(
        server.ask("completion/complete", unknown).key(&ada).send().await.json()["error"]["code"],
        -32602
    );
}

#[tokio::test]
async fn at_most_a_hundred_values_are_given_and_the_rest_is_counted() {
    let server = McpTestServer::new();
    for n in 0..105 {
        server.call("create-task", json!({ "title": format!("Task {n:03}") })).send().await.result();
    }
    let reference = json!({ "type": "ref/prompt", "name": "work-on-task" });
    let params = json!({ "ref": reference, "argument": { "name": "title", "value": "task" } });
    let found = server.ask("completion/complete", params).send().await.result()["completion"].clone();
    assert_eq!(found["values"].as_array().unwrap().len(), 100);
    assert_eq!((&found["total"], &found["hasMore"]), (&json!(105), &json!(true)));
}

#[tokio::test]
async fn titles_that_complete_an_argument_are_read_through_the_pipeline_and_are_in_the_log() {
    let server = McpTestServer::new();
    server.call("create-task", json!({ "title": "Milk the cow" })).send().await.result();
    let reference = json!({ "type": "ref/prompt", "name": "work-on-task" });
    let params = json!({ "ref": reference, "argument": { "name": "title", "value": "mil" } });
    let looks = async || {
        let read =
            server.ask("resources/read", json!({ "uri": "toolroom://executions" })).send().await.result();
        let log: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
        log["executions"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| {
                let one = one.to_string();
                one.contains("list-tasks") || one.contains("list_tasks")
            })
            .count()
    };
    for profile in ["default", "todo-chatbot", "todo_tasks", "assistant"] {
        let before = looks().await;
        let asked = server.ask("completion/complete", params.clone()).profile(profile);
        let found = asked.send().await.result()["completion"]["values"].clone();
        assert_eq!(found, json!(["Milk the cow"]), "{profile}");
        assert_eq!(looks().await, before + 1, "{profile}");
    }
}
