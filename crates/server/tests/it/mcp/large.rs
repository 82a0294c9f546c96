//! Large results: a preview for the model, the whole as a resource, for its caller alone.

use serde_json::{Value, json};
use toolroom_contract::{Answer, Ending};
use toolroom_runtime::catalogue::NewTool;

use super::legacy::Legacy;
use super::test_server::{Ask, McpTestServer, open_object, query};

const ITEMS: usize = 2_000;

fn long_list() -> NewTool {
    query("long-list", open_object(), |_, _| async {
        let items: Vec<Value> =
            (0..ITEMS).map(|n| json!({ "id": n, "text": format!("Item number {n} of many") })).collect();
        Ending::Done(Answer::new(json!({ "items": items })).unwrap())
    })
}

fn long_text() -> NewTool {
    query("long-text", open_object(), |_, _| async {
        let text = "A line that is not JSON.\n".repeat(4_000);
        let answer = Answer::new(json!({})).unwrap();
        Ending::Done(answer.with_content(vec![json!({ "type": "text", "text": text })]))
    })
}

fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

async fn part(server: &McpTestServer, uri: &str, query: &str) -> Value {
    let uri = format!("{uri}{query}");
    server.ask("resources/read", json!({ "uri": uri })).send().await.result()["contents"][0].clone()
}

fn called(server: &McpTestServer, tool: &str) -> Ask {
    server.call(tool, json!({}))
}

#[tokio::test]
async fn a_result_past_the_budget_is_a_valid_preview_and_nothing_of_it_is_lost() {
    let server = McpTestServer::with(vec![long_list()]);
    let result = called(&server, "long-list").send().await.result();
    let text = text_of(&result);
    assert!(text.chars().count() <= 20_000, "{}", text.len());
    let preview: Value = serde_json::from_str(text).unwrap();
    assert_eq!(preview["preview"]["data"]["items"][0]["id"], 0);
    assert_eq!(preview["leftOut"][0]["pointer"], "/data/items");
    assert_eq!(preview["leftOut"][0]["of"], ITEMS);
    let uri = preview["whole"]["uri"].as_str().unwrap();
    assert_eq!(
        (&result["content"][1]["type"], &result["content"][1]["uri"]),
        (&json!("resource_link"), &json!(uri))
    );

    let whole = part(&server, uri, "").await["text"].as_str().unwrap().to_owned();
    let document: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(document["data"]["items"].as_array().unwrap().len(), ITEMS);
    let pages = preview["whole"]["pages"].as_u64().unwrap();
    let mut together = String::new();
    for page in 1..=pages {
        together.push_str(part(&server, uri, &format!("?page={page}")).await["text"].as_str().unwrap());
    }
    assert_eq!(together, whole);
    let one = part(&server, uri, "?pointer=/data/items/1999/text").await;
    assert_eq!(one["text"], "\"Item number 1999 of many\"");
    let second = part(&server, uri, "?pointer=/data/items&page=2").await;
    let items: Vec<Value> = serde_json::from_str(second["text"].as_str().unwrap()).unwrap();
    assert!(!items.is_empty() && second["_meta"]["dev.toolroom/page"]["page"] == 2);
    let wrong = server.ask("resources/read", json!({ "uri": format!("{uri}?page=0") })).send().await;
    assert_eq!(wrong.json()["error"]["code"], -32602);
}

#[tokio::test]
async fn structured_content_of_a_preview_still_fits_the_listed_schema() {
    let server = McpTestServer::with(vec![long_list()]);
    let list = server.ask("tools/list", json!({})).send().await.result();
    let tools = list["tools"].as_array().unwrap();
    let schema = &tools.iter().find(|tool| tool["name"] == "long-list").unwrap()["outputSchema"];
    let structured = called(&server, "long-list").send().await.result()["structuredContent"].clone();
    assert!(structured.to_string().len() < 5_000, "{}", structured.to_string().len());
    assert!(structured["whole"]["uri"].is_string() && structured["metadata"].is_object(), "{structured}");
    let validator = toolroom_contract::validator::Validator::compile(schema).unwrap();
    assert!(validator.refusals(&structured).is_empty());
}

#[tokio::test]
async fn text_that_is_no_json_is_cut_with_a_note_and_read_on_by_page() {
    let server = McpTestServer::with(vec![long_text()]);
    let result = called(&server, "long-text").send().await.result();
    let text = text_of(&result);
    assert!(
        text.starts_with("A line that is not JSON.") && text.contains("?page=1"),
        "{}",
        &text[text.len() - 200..]
    );
    let uri = result["content"][1]["uri"].as_str().unwrap();
    assert_eq!(part(&server, uri, "").await["text"].as_str().unwrap().len(), 25 * 4_000);
    assert!(part(&server, uri, "?page=2").await["text"].is_string());
}

#[tokio::test]
async fn promise_a_kept_result_is_its_callers_alone() {
    let server = McpTestServer::with(vec![long_list()]);
    let grants: &[&str] = &["*"];
    let (ada, bob) = (server.key("ada", grants, None).await, server.key("bob", grants, None).await);
    let other_key_of_ada = server.key("ada", &["tasks:*"], None).await;
    let result = called(&server, "long-list").key(&ada).send().await.result();
    let uri = result["content"][1]["uri"].as_str().unwrap();
    let read = |key: &str| server.ask("resources/read", json!({ "uri": uri })).key(key);
    assert!(read(&ada).send().await.json()["result"].is_object());
    for stranger in [&bob, &other_key_of_ada] {
        assert_eq!(read(stranger).send().await.json()["error"]["code"], -32602);
        let listed = server.ask("resources/list", json!({})).key(stranger).send().await.text;
        assert!(!listed.contains("toolroom://results/"), "{listed}");
    }
}

#[tokio::test]
async fn a_caller_sets_a_budget_of_its_own_and_older_clients_get_the_preview_too() {
    let server = McpTestServer::with(vec![long_list()]);
    let small =
        called(&server, "long-list").meta("dev.toolroom/textBudget", json!(2_000)).send().await.result();
    assert!(text_of(&small).len() <= 2_000, "{}", text_of(&small).len());
    let large =
        called(&server, "long-list").meta("dev.toolroom/textBudget", json!(900_000)).send().await.result();
    assert!(
        large["structuredContent"]["data"].is_object() && large["content"].as_array().unwrap().len() == 1
    );
    let older = Legacy::begin(&server, "2024-11-05").await;
    let result = older.ask("tools/call", json!({ "name": "long-list" })).await.result();
    // That revision has no links; the text names the address.
    assert_eq!(result["content"].as_array().unwrap().len(), 1);
    assert!(text_of(&result).contains("toolroom://results/"));
}

#[tokio::test]
async fn the_text_of_fifty_tasks_is_shorter_than_their_envelope() {
    let server = McpTestServer::new();
    for n in 0..50 {
        server.call("create-task", json!({ "title": format!("Task number {n}") })).send().await.result();
    }
    let result = server.call("list-tasks", json!({ "limit": 50 })).send().await.result();
    let (text, envelope) = (text_of(&result).len(), result["structuredContent"].to_string().len());
    let one = server.call("get-status", json!({})).send().await.result();
    let (short, short_envelope) = (text_of(&one).len(), one["structuredContent"].to_string().len());
    println!(
        "fifty tasks: {text} characters of text, {envelope} of envelope; status: {short} and {short_envelope}"
    );
    assert_eq!(
        serde_json::from_str::<Value>(text_of(&result)).unwrap()["data"]["tasks"].as_array().unwrap().len(),
        50
    );
    assert!(text < envelope && short * 10 < short_envelope * 9, "{text} {envelope} {short} {short_envelope}");
}
