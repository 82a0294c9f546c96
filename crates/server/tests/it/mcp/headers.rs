//! Envelope and headers: they must be whole, and must agree.

use serde_json::{Value, json};

use super::test_server::{McpTestServer, query};
use toolroom_contract::{Answer, Ending};

#[tokio::test]
async fn a_request_without_what_every_request_must_carry_is_refused() {
    let server = McpTestServer::new();
    let whole = server.ask("server/discover", json!({})).message;
    for missing in ["protocolVersion", "clientCapabilities"] {
        let mut ask = server.ask("server/discover", json!({}));
        ask.message["params"]["_meta"]
            .as_object_mut()
            .unwrap()
            .remove(&format!("io.modelcontextprotocol/{missing}"));
        assert_eq!(ask.send().await.error(), (400, -32602), "{missing}");
    }
    let mut bare = server.ask("server/discover", json!({}));
    bare.message["params"] = json!({});
    let got = bare.send().await;
    assert_eq!(got.error(), (400, -32602));
    assert_eq!(got.json()["id"], whole["id"], "the error names the request");
    let mut nameless = server.ask("server/discover", json!({}));
    nameless.message["params"]["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientInfo");
    assert_eq!(nameless.send().await.status, 200, "clients need not say who they are");
}

#[tokio::test]
async fn a_revision_that_we_do_not_speak_is_refused_with_those_that_we_do() {
    let server = McpTestServer::new();
    let ask = server
        .ask("server/discover", json!({}))
        .meta("io.modelcontextprotocol/protocolVersion", json!("v999.0.0"))
        .with("MCP-Protocol-Version", "v999.0.0");
    let got = ask.send().await;
    assert_eq!(got.error(), (400, -32022));
    let data = got.json()["error"]["data"].clone();
    assert_eq!(data["requested"], "v999.0.0");
    assert!(data["supported"].as_array().unwrap().contains(&json!("2026-07-28")));
}

#[tokio::test]
async fn headers_that_are_missing_or_say_something_else_are_refused() {
    let server = McpTestServer::new();
    let call = || server.call("get-status", json!({}));
    let spoiled = [
        ("no version", call().without("MCP-Protocol-Version")),
        ("old version header, new body", call().with("MCP-Protocol-Version", "2025-11-25")),
        ("new header, old body", call().meta("io.modelcontextprotocol/protocolVersion", json!("2025-11-25"))),
        ("no method", call().without("Mcp-Method")),
        ("other method", call().with("Mcp-Method", "tools/list")),
        ("method in other case", call().with("Mcp-Method", "Tools/Call")),
        ("no name", call().without("Mcp-Name")),
        ("other name", call().with("Mcp-Name", "delete-task")),
        ("broken wrapping", call().with("Mcp-Name", "=?base64?%%%?=")),
        ("wrapped other name", call().with("Mcp-Name", "=?base64?ZGVsZXRlLXRhc2s=?=")),
        ("upper-case wrapping", call().with("Mcp-Name", "=?BASE64?Z2V0LXN0YXR1cw==?=")),
        ("not ASCII", call().with("Mcp-Name", "gét-status")),
    ];
    for (what, ask) in spoiled {
        assert_eq!(ask.send().await.error(), (400, -32020), "{what}");
    }
    let sound = [
        call().with("mcp-name", "get-status").with("MCP-METHOD", "tools/call"),
        call().with("Mcp-Name", "  get-status  "),
        call().with("Mcp-Name", "=?base64?Z2V0LXN0YXR1cw==?="),
    ];
    for ask in sound {
        assert_eq!(ask.send().await.status, 200);
    }
}

#[tokio::test]
async fn a_header_that_comes_twice_is_refused() {
    let server = McpTestServer::new();
    let ask = server.call("get-status", json!({}));
    let body = ask.message.to_string();
    let text = String::from_utf8(ask.bytes(&body)).unwrap();
    for line in
        ["Mcp-Name: get-status\r\n", "Mcp-Method: tools/call\r\n", "MCP-Protocol-Version: 2026-07-28\r\n"]
    {
        let twice = text.replacen(line, &format!("{line}{line}"), 1);
        assert_eq!(server.raw(twice.as_bytes()).await.error(), (400, -32020), "{line}");
    }
}

#[tokio::test]
async fn methods_that_the_revision_lacks_are_404() {
    let server = McpTestServer::new();
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "unknown/method",
        "Tools/List",
    ] {
        let got = server.ask(method, json!({})).send().await;
        assert_eq!(got.error(), (404, -32601), "{method}");
    }
}

#[tokio::test]
async fn kinds_of_content_are_negotiated() {
    let server = McpTestServer::new();
    let ask = || server.ask("server/discover", json!({}));
    assert_eq!(ask().with("Accept", "application/json").send().await.status, 406);
    assert_eq!(ask().with("Accept", "text/event-stream").send().await.status, 406);
    assert_eq!(ask().with("Content-Type", "text/plain").send().await.status, 415);
    for good in ["*/*", "text/event-stream;q=0.5, application/json", "application/*, text/*"] {
        assert_eq!(ask().with("Accept", good).send().await.status, 200, "{good}");
    }
}

#[tokio::test]
async fn the_edge_is_behind_host_origin_and_credentials() {
    let server = McpTestServer::new();
    let ask = || server.ask("server/discover", json!({}));
    assert_eq!(ask().with("Origin", "https://evil.example").send().await.status, 403);
    assert_eq!(ask().with("Origin", "null").send().await.status, 403);
    let key = server.key("ada", &["tasks:*"], None).await;
    let refused = ask().send().await;
    assert_eq!(refused.status, 401);
    assert!(refused.head.contains("www-authenticate: bearer"), "{}", refused.head);
    assert_eq!(ask().key(&key).send().await.status, 200);
    let body = ask().message.to_string();
    let in_query = String::from_utf8(ask().bytes(&body)).unwrap().replacen(
        "/mcp",
        &format!("/mcp?api_key={key}&access_token={key}"),
        1,
    );
    assert_eq!(server.raw(in_query.as_bytes()).await.status, 401, "a token in the query counts for nothing");
}

fn regional() -> toolroom_runtime::catalogue::NewTool {
    let schema: Value = json!({
        "type": "object",
        "properties": {
            "region": { "type": "string", "description": "Where", "maxLength": 50, "x-mcp-header": "Region" },
            "shard": {
                "type": "integer", "description": "Which", "minimum": 0, "maximum": 99, "x-mcp-header": "Shard",
            },
        },
        "additionalProperties": false,
    });
    query("run-query", schema, |params, _| async move { Ending::Done(Answer::new(params).unwrap()) })
}

#[tokio::test]
async fn a_tool_that_one_may_not_use_is_not_given_away_by_its_headers() {
    let mut secret = regional();
    secret.definition.permissions = vec!["vault:read".parse().unwrap()];
    let server = McpTestServer::with(vec![secret]);
    let key = server.key("ada", &["tasks:*"], None).await;
    let arguments = json!({ "region": "us-west1" });
    let forbidden = server.call("run-query", arguments.clone()).key(&key).send().await;
    let unknown = server.call("no-such-tool", arguments).key(&key).send().await;
    assert_eq!((forbidden.status, &forbidden.text), (unknown.status, &unknown.text));
}

#[tokio::test]
async fn mirrored_parameters_agree_with_their_headers() {
    let server = McpTestServer::with(vec![regional()]);
    let call = |arguments: Value| server.call("run-query", arguments);
    let sound = [
        call(json!({ "region": "us-west1" })).with("Mcp-Param-Region", "us-west1"),
        call(json!({ "region": "Hello, 世界" })).with("Mcp-Param-Region", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        call(json!({ "region": " padded " })).with("Mcp-Param-Region", "=?base64?IHBhZGRlZCA=?="),
        call(json!({ "shard": 42 })).with("Mcp-Param-Shard", "42.0"),
        call(json!({})),
        call(json!({})).with("Mcp-Param-Other", "not ours"),
    ];
    for ask in sound {
        let got = ask.send().await;
        assert_eq!(got.status, 200, "{}", got.text);
    }
    let spoiled = [
        call(json!({ "region": "us-west1" })),
        call(json!({ "region": "us-west1" })).with("Mcp-Param-Region", "eu"),
        call(json!({ "region": "us-west1" })).with("Mcp-Param-Region", "US-WEST1"),
        call(json!({})).with("Mcp-Param-Region", "eu"),
        call(json!({ "shard": 42 })).with("Mcp-Param-Shard", "43"),
        call(json!({ "region": "x" })).with("Mcp-Param-Region", "=?base64?SGVsbG8?="),
    ];
    for ask in spoiled {
        assert_eq!(ask.send().await.error(), (400, -32020), "{}", ask.message);
    }
}
