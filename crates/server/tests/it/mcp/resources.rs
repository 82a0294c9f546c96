//! Resources: contracts, documentation, executions; listed, read, watched.

use serde_json::{Value, json};
use toolroom_contract::{Answer, Ending};

use super::legacy::{Legacy, NEWEST};
use super::test_server::{McpTestServer, open_object, query};

fn uris(result: &Value) -> Vec<String> {
    let all = result["resources"].as_array().unwrap();
    all.iter().map(|resource| resource["uri"].as_str().unwrap().to_owned()).collect()
}

async fn read(server: &McpTestServer, uri: &str) -> Value {
    let result = server.ask("resources/read", json!({ "uri": uri })).send().await.result();
    assert_eq!(result["contents"][0]["uri"], uri);
    result
}

#[tokio::test]
async fn contracts_documentation_and_the_log_are_listed_and_can_be_read() {
    let server = McpTestServer::new();
    let list = server.ask("resources/list", json!({})).send().await.result();
    let all = uris(&list);
    for wanted in ["toolroom://tools/create-task", "toolroom://docs/errors", "toolroom://executions"] {
        assert!(all.contains(&wanted.to_owned()), "{wanted}: {all:?}");
    }
    assert!(list["ttlMs"].is_u64() && list["cacheScope"] == "private");
    let contract = read(&server, "toolroom://tools/create-task").await;
    let text: Value = serde_json::from_str(contract["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["name"], "create-task");
    assert!(text["parameters"]["properties"]["title"].is_object(), "{text}");
    assert!(contract["ttlMs"].is_u64() && contract["cacheScope"] == "private");
    let page = read(&server, "toolroom://docs/errors").await;
    assert_eq!(page["contents"][0]["mimeType"], "text/markdown");
    let templates = server.ask("resources/templates/list", json!({})).send().await.result();
    let templates = templates["resourceTemplates"].to_string();
    for wanted in ["toolroom://tools/{name}", "toolroom://executions/{id}", "toolroom://results/{id}"] {
        assert!(templates.contains(wanted), "{templates}");
    }
}

#[tokio::test]
async fn a_profile_shows_the_contracts_under_its_own_names() {
    let server = McpTestServer::new();
    let ask =
        server.ask("resources/read", json!({ "uri": "toolroom://tools/add_task" })).profile("assistant");
    let text = ask.send().await.result()["contents"][0]["text"].as_str().unwrap().to_owned();
    let contract: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&contract["name"], &contract["canonical"]["name"]),
        (&json!("add_task"), &json!("create-task"))
    );
}

#[tokio::test]
async fn what_one_may_not_read_is_not_there_and_each_revision_says_so_with_its_own_code() {
    let server = McpTestServer::new();
    let key = server.key("ada", &["cards:*"], None).await;
    let hidden = server.ask("resources/read", json!({ "uri": "toolroom://tools/create-task" })).key(&key);
    let hidden = hidden.send().await.json();
    let nowhere = server.ask("resources/read", json!({ "uri": "toolroom://tools/nothing" })).key(&key);
    let nowhere = nowhere.send().await.json();
    assert_eq!(hidden["error"]["code"], -32602);
    assert_eq!(hidden["error"]["message"], nowhere["error"]["message"]);
    assert_eq!(nowhere["error"]["data"]["uri"], "toolroom://tools/nothing");
    let older = Legacy::to(&server).key(&key).begun(NEWEST, json!({})).await;
    let gone = older.ask("resources/read", json!({ "uri": "toolroom://tools/nothing" })).await;
    assert_eq!(gone.json()["error"]["code"], -32002);
    let listed = uris(&server.ask("resources/list", json!({})).key(&key).send().await.result());
    assert!(!listed.iter().any(|uri| uri.ends_with("create-task")), "{listed:?}");
}

#[tokio::test]
async fn the_log_shows_ones_own_calls_and_others_only_with_the_grant() {
    let server = McpTestServer::new();
    let (ada, bob) =
        (server.key("ada", &["tasks:*"], None).await, server.key("bob", &["tasks:*"], None).await);
    let all = server.key("eve", &["executions:read"], None).await;
    server.call("create-task", json!({ "title": "Buy milk" })).key(&ada).send().await.result();
    let recent = async |key: &str| -> Value {
        let ask = server.ask("resources/read", json!({ "uri": "toolroom://executions" })).key(key);
        let text = ask.send().await.result()["contents"][0]["text"].as_str().unwrap().to_owned();
        serde_json::from_str::<Value>(&text).unwrap()["executions"].clone()
    };
    let theirs = recent(&ada).await;
    assert_eq!(theirs[0]["tool"], "create-task");
    let one = theirs[0]["uri"].as_str().unwrap().to_owned();
    assert_eq!(recent(&bob).await, json!([]));
    assert_eq!(recent(&all).await[0]["user"], "ada");
    let ask = |key: &str| server.ask("resources/read", json!({ "uri": one })).key(key);
    assert!(ask(&ada).send().await.result()["contents"][0]["text"].as_str().unwrap().contains("Buy milk"));
    assert_eq!(ask(&bob).send().await.json()["error"]["code"], -32602);
    assert!(ask(&all).send().await.json()["result"].is_object());
}

#[tokio::test]
async fn a_long_list_of_resources_comes_in_pages_without_gaps_or_repeats() {
    let trivial = |n: usize| {
        query(&format!("tool-{n:03}"), open_object(), |_, _| async {
            Ending::Done(Answer::new(json!({})).unwrap())
        })
    };
    let server = McpTestServer::with((0..450).map(trivial).collect());
    let (mut all, mut cursor) = (Vec::new(), None::<Value>);
    loop {
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        let result = server.ask("resources/list", params).send().await.result();
        all.extend(uris(&result));
        cursor = result.get("nextCursor").cloned();
        if cursor.is_none() {
            break;
        }
    }
    let mut once = all.clone();
    once.sort();
    once.dedup();
    assert_eq!(all, once);
    assert_eq!(all.iter().filter(|uri| uri.starts_with("toolroom://tools/tool-")).count(), 450);
    let bad = server.ask("resources/list", json!({ "cursor": "!" })).send().await;
    assert_eq!(bad.json()["error"]["code"], -32602);
}

#[tokio::test]
async fn a_listener_hears_of_a_watched_contract_and_of_the_lists_that_change_with_it() {
    use jiff::tz::TimeZone;
    let server = McpTestServer::new();
    let wanted = json!({
        "resourcesListChanged": true,
        "resourceSubscriptions": ["toolroom://tools/create-task", "toolroom://nowhere"],
    });
    let mut events = server.ask("subscriptions/listen", json!({ "notifications": wanted })).open().await;
    let granted = events.next().await.unwrap();
    assert_eq!(
        granted["params"]["notifications"]["resourceSubscriptions"],
        json!(["toolroom://tools/create-task"])
    );
    let new =
        query("one-more", open_object(), |_, _| async { Ending::Done(Answer::new(json!({})).unwrap()) });
    let today = server.app.runtime.clock.now().to_zoned(TimeZone::UTC).date();
    server.app.runtime.registry.register(new, today).await.unwrap();
    let heard = events.next().await.unwrap();
    assert_eq!(heard["method"], "notifications/resources/list_changed");
    assert_eq!(heard["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    let news = toolroom_server::mcp_sources::News::Resource("toolroom://tools/create-task".into());
    server.app.tell_mcp(news);
    let heard = events.next().await.unwrap();
    assert_eq!(heard["method"], "notifications/resources/updated");
    assert_eq!(heard["params"]["uri"], "toolroom://tools/create-task");
}

#[tokio::test]
async fn an_older_client_watches_what_can_be_watched() {
    let server = McpTestServer::new();
    let client = Legacy::begin(&server, NEWEST).await;
    let watch = json!({ "uri": "toolroom://tools/create-task" });
    assert_eq!(client.ask("resources/subscribe", watch.clone()).await.result(), json!({}));
    let nothing = client.ask("resources/subscribe", json!({ "uri": "toolroom://nowhere" })).await;
    assert_eq!(nothing.json()["error"]["code"], -32002);
    assert_eq!(client.ask("resources/unsubscribe", watch).await.result(), json!({}));
}
