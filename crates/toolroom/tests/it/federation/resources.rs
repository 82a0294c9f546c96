//! Resources and prompts of other servers: listed, read, completed, followed, and usable by whoever calls tools.

use serde_json::{Value, json};

use super::test_servers::{
    Scripted, call, credential, everything, heard, key, listen, mcp, mcp_any, settled, tool, write,
};
use crate::test_home::{Served, TestHome, until};

fn script(resources: Value) -> Value {
    json!({
        "tools": [tool("work", "Works.")],
        "resources": resources,
        "templates": [{ "uriTemplate": "memo://about/{name}", "name": "about" }],
        "prompts": [{ "name": "greet", "arguments": [{ "name": "who", "required": true }], "vendor": 1 }],
    })
}

fn note(name: &str) -> Value {
    json!({ "uri": format!("memo://{name}"), "name": name, "vendor": { "x": 1 } })
}

#[test]
fn resources_and_prompts_are_listed_and_read_over_mcp_with_mapped_addresses() {
    let home = TestHome::new();
    let server = Scripted::new(&home, "s", json!([]));
    server.says(&script(json!([note("note")])));
    write(&home, json!({ "s": server.entry() }));
    let (ada, stranger) = (key(&home, &["s:call"]), key(&home, &["tasks:*"]));
    let served = home.serve();
    settled(&home, "s", "ready", 1);
    let shown = "toolroom://servers/s/memo://note";
    let listed = until("it is listed", || find(&served, &ada, shown));
    assert_eq!((&listed["name"], &listed["vendor"]), (&json!("note"), &json!({ "x": 1 })), "{listed}");
    assert!(find(&served, &stranger, shown).is_none(), "not theirs");
    for (uri, given) in [(shown, shown), ("memo://note", "memo://note")] {
        let read = mcp(&served, &ada, "resources/read", json!({ "uri": uri }), json!({}));
        assert_eq!(read["contents"][0]["text"], "read memo://note", "{read}");
        assert_eq!((&read["contents"][0]["uri"], &read["contents"][0]["vendor"]), (&json!(given), &json!(1)));
    }
    let filled = "toolroom://servers/s/memo://about/ada";
    let read = mcp(&served, &ada, "resources/read", json!({ "uri": filled }), json!({}));
    assert_eq!(read["contents"][0]["text"], "read memo://about/ada");
    let templates = mcp(&served, &ada, "resources/templates/list", json!({}), json!({}));
    assert!(templates.to_string().contains("toolroom://servers/s/memo://about/{name}"), "{templates}");
    let refused = mcp_any(&served, &stranger, "resources/read", json!({ "uri": shown }), json!({}));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let prompts = mcp(&served, &ada, "prompts/list", json!({}), json!({}));
    let greet = prompts["prompts"].as_array().unwrap().iter().find(|one| one["name"] == "s__greet");
    assert_eq!(greet.unwrap()["vendor"], 1, "{prompts}");
    let params = json!({ "name": "s__greet", "arguments": { "who": "Ada" } });
    let got = mcp(&served, &ada, "prompts/get", params, json!({}));
    assert_eq!(got["messages"][0]["content"]["text"], "greet {\"who\": \"Ada\"}", "{got}");
    let logged = home.run(&["logs", "--tool", "s__read-resource", "--json"]).out;
    assert!(logged.contains("memo://note"), "reading is in the log: {logged}");
}

#[test]
fn whoever_calls_tools_can_list_and_use_resources_and_prompts() {
    let home = TestHome::new();
    let server = Scripted::new(&home, "s", json!([]));
    server.says(&script(json!([note("note")])));
    write(&home, json!({ "s": server.entry() }));
    let ada = key(&home, &["s:call"]);
    let served = home.serve();
    settled(&home, "s", "ready", 1);
    let listed = until("they are listed", || {
        let listed = call(&served, &ada, "s__list-resources", json!({})).json;
        listed["data"]["resources"].get(0).cloned()
    });
    assert_eq!(listed["uri"], "memo://note");
    let function = |name: &str, body: Value| {
        served.post(&format!("/api/v1/profiles/executor/functions/{name}"), &credential(&ada), &body).json
    };
    let read = function("s__read-resource", json!({ "uri": listed["uri"] }));
    assert_eq!(read["data"]["contents"][0]["text"], "read memo://note", "{read}");
    let prompt = function("s__get-prompt", json!({ "name": "greet", "arguments": { "who": "Ada" } }));
    assert!(prompt["data"]["messages"][0]["content"]["text"].as_str().unwrap().contains("Ada"), "{prompt}");
    let shown = served.get("/api/v1/servers/s/resources", &credential(&ada)).json;
    assert_eq!(shown["resources"][0]["uri"], "toolroom://servers/s/memo://note");
    let prompt = until("prompts are listed too", || {
        let shown = served.get("/api/v1/servers/s/prompts", &credential(&ada)).json;
        shown["prompts"].get(0).cloned()
    });
    assert_eq!(prompt["name"], "greet");
}

#[test]
fn arguments_are_completed_by_the_server_that_has_the_prompt() {
    let home = TestHome::new();
    write(&home, json!({ "every": everything() }));
    let ada = key(&home, &["every:call"]);
    let served = home.serve();
    settled(&home, "every", "ready", 16);
    let completed = until("it completes", || {
        let params = json!({
            "ref": { "type": "ref/prompt", "name": "every__completable-prompt" },
            "argument": { "name": "department", "value": "E" },
        });
        let got = mcp_any(&served, &ada, "completion/complete", params, json!({}));
        got["completion"]["values"].get(0).cloned()
    });
    assert_eq!(completed, "Engineering");
}

#[test]
fn changes_of_lists_and_of_what_is_followed_are_told() {
    let home = TestHome::new();
    let server = Scripted::new(&home, "s", json!([]));
    server.says(&script(json!([note("note")])));
    write(&home, json!({ "s": server.entry() }));
    let ada = key(&home, &["s:call"]);
    let served = home.serve();
    settled(&home, "s", "ready", 1);
    let shown = "toolroom://servers/s/memo://note";
    until("it is listed", || find(&served, &ada, shown));
    let wanted =
        json!({ "notifications": { "resourcesListChanged": true, "resourceSubscriptions": [shown] } });
    let mut listening = listen(&served, &ada, wanted);
    heard(&mut listening, |message| message["method"] == "notifications/subscriptions/acknowledged");
    until("the server is asked", || server.notes().contains("resources/subscribe").then_some(()));
    server.says(&script(json!([note("note"), note("second")])));
    let mut left = vec!["notifications/resources/list_changed", "notifications/resources/updated"];
    heard(&mut listening, |message| {
        if message["method"] == "notifications/resources/updated" {
            assert_eq!(message["params"]["uri"], shown, "{message}");
        }
        left.retain(|method| message["method"] != *method);
        left.is_empty()
    });
    until("the new one is listed", || find(&served, &ada, "toolroom://servers/s/memo://second"));
}

fn find(served: &Served, key: &str, uri: &str) -> Option<Value> {
    let listed = mcp(served, key, "resources/list", json!({}), json!({}));
    listed["resources"].as_array().unwrap().iter().find(|one| one["uri"] == uri).cloned()
}
