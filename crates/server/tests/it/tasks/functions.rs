//! The OpenAI function schemas of each profile, compared with the committed ones.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::profile_client::ProfileClient;
use crate::test_server::TestServer;

const PUBLISHED: [(&str, &[&str]); 3] = [
    ("todo-chatbot", &["create_task", "list_tasks", "get_task", "update_task", "delete_task"]),
    ("todo_tasks", &["add_task", "list_tasks", "complete_task", "delete_task", "update_task"]),
    ("assistant", &["add_task", "list_tasks", "update_task", "delete_task", "complete_task", "find_task"]),
];

async fn functions(server: &TestServer, key: &str, profile: &str) -> Value {
    server.ask("GET", format!("/api/v1/profiles/{profile}/functions")).key(key).send().await.json()
}

fn committed(profile: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/functions"))
        .join(format!("{profile}.json"))
}

#[tokio::test]
async fn the_committed_function_schemas_are_those_that_are_served() {
    let server = TestServer::new();
    let ada = ProfileClient::new(&server, "default", "ada").await;
    for profile in ["default", "todo-chatbot", "todo_tasks", "assistant"] {
        let served = functions(&server, &ada.key, profile).await;
        let text = serde_json::to_string_pretty(&served).unwrap() + "\n";
        let path = committed(profile);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == text,
            "schema/functions/{profile}.json is not what is served: run with UPDATE_EXPECT=1 and look at the diff"
        );
    }
}

#[tokio::test]
async fn each_profile_shows_the_published_tools_in_their_order() {
    let server = TestServer::new();
    let ada = ProfileClient::new(&server, "default", "ada").await;
    let listed = server.ask("GET", "/api/v1/profiles").key(&ada.key).send().await.json();
    for (profile, tools) in PUBLISHED {
        let found = listed["profiles"].as_array().unwrap().iter().find(|one| one["name"] == profile).unwrap();
        assert_eq!(found["tools"], json!(tools));
    }
}

#[tokio::test]
async fn every_function_has_the_form_that_openai_takes() {
    let server = TestServer::new();
    let ada = ProfileClient::new(&server, "default", "ada").await;
    for (profile, tools) in PUBLISHED {
        for (function, name) in
            functions(&server, &ada.key, profile).await.as_array().unwrap().iter().zip(tools)
        {
            let fields: Vec<&String> = function.as_object().unwrap().keys().collect();
            assert_eq!(fields, ["type", "function"]);
            assert_eq!(
                (&function["type"], &function["function"]["name"]),
                (&json!("function"), &json!(name))
            );
            assert!(!function["function"]["description"].as_str().unwrap().is_empty());
            let parameters = &function["function"]["parameters"];
            assert_eq!(
                (&parameters["type"], &parameters["additionalProperties"]),
                (&json!("object"), &json!(false))
            );
        }
    }
}

#[tokio::test]
async fn no_function_but_those_of_todo_tasks_takes_a_user() {
    let server = TestServer::new();
    let ada = ProfileClient::new(&server, "default", "ada").await;
    for (profile, _) in PUBLISHED {
        for function in functions(&server, &ada.key, profile).await.as_array().unwrap() {
            let properties = &function["function"]["parameters"]["properties"];
            assert_eq!(properties.get("user_id").is_some(), profile == "todo_tasks", "{function}");
        }
    }
}

#[tokio::test]
async fn who_may_not_use_a_tool_does_not_see_it_and_cannot_call_it() {
    let server = TestServer::new();
    let reader = server.key(json!({ "user": "ada", "grants": ["tasks:read"] })).await;
    let names: Vec<Value> = functions(&server, &reader, "assistant").await.as_array().unwrap().to_vec();
    let names: Vec<&Value> = names.iter().map(|function| &function["function"]["name"]).collect();
    assert_eq!(names, ["list_tasks", "find_task"]);
    let hidden = server.function(&reader, "assistant", "add_task", json!({ "title": "A" })).await;
    let unknown = server.function(&reader, "assistant", "no_such_tool", json!({ "title": "A" })).await;
    assert_eq!(hidden.status, unknown.status);
    assert_eq!(hidden.json()["error"]["message"], unknown.json()["error"]["message"]);
}
