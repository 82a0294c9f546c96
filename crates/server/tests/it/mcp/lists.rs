//! `server/discover` and `tools/list`.

use serde_json::{Value, json};

use super::test_server::{MODERN, McpTestServer, open_object, query};
use toolroom_contract::{Answer, Ending};

fn names(result: &Value) -> Vec<String> {
    let tools = result["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn trivial(name: &str) -> toolroom_runtime::catalogue::NewTool {
    query(name, open_object(), |_, _| async { Ending::Done(Answer::new(json!({ "ok": true })).unwrap()) })
}

#[tokio::test]
async fn discover_tells_revisions_capabilities_and_how_long_that_holds() {
    let result = McpTestServer::new().ask("server/discover", json!({})).send().await.result();
    assert!(result["supportedVersions"].as_array().unwrap().contains(&json!(MODERN)));
    assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
    assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("private")));
    assert!(result["ttlMs"].is_u64() && result["instructions"].is_string());
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "toolroom");
}

#[tokio::test]
async fn what_is_not_declared_is_not_found() {
    let server = McpTestServer::new();
    let declared = server.ask("server/discover", json!({})).send().await.result()["capabilities"].clone();
    for (capability, method) in
        [("prompts", "prompts/list"), ("resources", "resources/list"), ("completions", "completion/complete")]
    {
        let found = server.ask(method, json!({})).send().await;
        assert_eq!(found.status == 404, declared.get(capability).is_none(), "{method}");
    }
}

#[tokio::test]
async fn a_list_has_what_the_caller_may_use_in_a_stable_order_with_annotations_and_schemas() {
    let server = McpTestServer::new();
    let list = || server.ask("tools/list", json!({}));
    let first = list().send().await.result();
    assert_eq!(first, list().send().await.result());
    let all = names(&first);
    let mut sorted = all.clone();
    sorted.sort();
    assert_eq!(all, sorted);
    let tool = first["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "delete-task").unwrap();
    assert_eq!(tool["title"], "Delete task");
    assert_eq!(tool["inputSchema"]["type"], "object");
    assert_eq!(tool["outputSchema"]["type"], "object");
    assert_eq!(tool["annotations"]["destructiveHint"], true);
    assert_eq!(tool["annotations"]["readOnlyHint"], false);
    assert!(tool["description"].as_str().unwrap().starts_with("A person must agree"), "{tool}");
    assert_eq!(first["cacheScope"], "private");
    assert!(first["ttlMs"].is_u64());
    let key = server.key("ada", &["cards:*"], None).await;
    let few = names(&server.ask("tools/list", json!({})).key(&key).send().await.result());
    assert!(!few.contains(&"create-task".to_owned()) && few.contains(&"search-tools".to_owned()), "{few:?}");
}

#[tokio::test]
async fn structured_content_fits_the_output_schema_that_was_listed() {
    let server = McpTestServer::new();
    let list = server.ask("tools/list", json!({})).send().await.result();
    let schema = |name: &str| {
        let tools = list["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == name).unwrap()["outputSchema"].clone()
    };
    for (name, arguments) in [
        ("create-task", json!({ "title": "Buy milk" })),
        ("list-tasks", json!({})),
        ("get-status", json!({})),
        ("search-tools", json!({ "query": "task" })),
        ("get-task", json!({ "taskId": 999 })),
    ] {
        let result = server.call(name, arguments).send().await.result();
        let validator = toolroom_contract::validator::Validator::compile(&schema(name)).unwrap();
        let problems = validator.refusals(&result["structuredContent"]);
        assert!(problems.is_empty(), "{name}: {problems:?}");
    }
}

#[tokio::test]
async fn a_long_list_comes_in_pages_without_gaps_or_repeats() {
    let tools = (0..450).map(|n| trivial(&format!("tool-{n:03}"))).collect();
    let server = McpTestServer::with(tools);
    let (mut all, mut cursor, mut pages) = (Vec::new(), None::<Value>, 0);
    loop {
        let ask = server.ask("tools/list", json!({}));
        let ask = match &cursor {
            Some(cursor) => ask.param("cursor", cursor.clone()),
            None => ask,
        };
        let page = ask.send().await.result();
        all.extend(names(&page));
        pages += 1;
        cursor = page.get("nextCursor").cloned();
        if cursor.is_none() {
            break;
        }
    }
    let mut unique = all.clone();
    unique.dedup();
    assert_eq!(all, unique);
    assert!(pages >= 3 && all.len() >= 450, "{pages} pages, {}", all.len());
    let bad = server.ask("tools/list", json!({})).param("cursor", json!("%%%")).send().await;
    assert_eq!(bad.error(), (200, -32602));
}

#[tokio::test]
async fn every_name_is_one_that_all_clients_take_and_can_be_called() {
    let server = McpTestServer::new();
    let today = jiff::Zoned::now().date();
    for odd in ["1st-tool", "_hidden", "--"] {
        server.app.runtime.registry.register(trivial(odd), today).await.unwrap();
    }
    let listed = names(&server.ask("tools/list", json!({})).send().await.result());
    for name in &listed {
        assert!(name.len() <= 64 && name.starts_with(|c: char| c.is_ascii_alphabetic()), "{name}");
        assert!(
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'),
            "{name}"
        );
    }
    assert!(listed.contains(&"create-task".to_owned()));
    let alias = listed.iter().find(|name| name.starts_with("st-tool_")).unwrap();
    let result = server.call(alias, json!({})).send().await.result();
    assert_eq!(result["structuredContent"]["data"]["ok"], true);
}

#[tokio::test]
async fn a_long_description_is_cut_below_what_clients_take() {
    let mut tool = trivial("talk-much");
    tool.definition.description = format!("Use it to talk. Returns words. {}", "It says a lot. ".repeat(200));
    let server = McpTestServer::with(vec![tool]);
    let list = server.ask("tools/list", json!({})).send().await.result();
    let tools = list["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "talk-much"), "{list}");
    for tool in tools {
        assert!(tool["description"].as_str().unwrap().chars().count() < 1024, "{}", tool["name"]);
    }
}
