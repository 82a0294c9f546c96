//! Frames that are no messages: the right code for each, and nothing runs.

use serde_json::json;

use super::test_server::{MODERN, McpTestServer};

#[tokio::test]
async fn what_is_not_a_message_is_refused_with_its_code_and_never_runs() {
    let server = McpTestServer::new();
    let meta = format!(
        r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"{MODERN}","io.modelcontextprotocol/clientCapabilities":{{}}}}"#
    );
    let call = |head: &str, arguments: &str| {
        format!(
            r#"{{{head},"method":"tools/call","params":{{"name":"create-task","arguments":{arguments},{meta}}}}}"#
        )
    };
    let sound = r#""jsonrpc":"2.0","id":1"#;
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let cases: Vec<(String, i64)> = vec![
        (String::new(), -32700),
        ("{".into(), -32700),
        ("\u{feff}{}".into(), -32700),
        ("nonsense".into(), -32700),
        (call(sound, r#"{"title":"\ud800"}"#), -32700),
        (call(sound, "{\"title\":\"a\u{0}b\"}"), -32700),
        (call(sound, &deep), -32700),
        (call(sound, r#"{"title":1e999}"#), -32700),
        ("{} {}".into(), -32700),
        ("42".into(), -32600),
        ("null".into(), -32600),
        ("{}".into(), -32600),
        ("[]".into(), -32600),
        (format!("[{}]", call(sound, r#"{"title":"x"}"#)), -32600),
        (call(r#""jsonrpc":"2.0","id":null"#, r#"{"title":"x"}"#), -32600),
        (call(r#""jsonrpc":"2.0","id":1.5"#, r#"{"title":"x"}"#), -32600),
        (call(r#""jsonrpc":"2.0","id":[1]"#, r#"{"title":"x"}"#), -32600),
        (call(r#""jsonrpc":"2.0","id":true"#, r#"{"title":"x"}"#), -32600),
        (call(r#""jsonrpc":"1.0","id":1"#, r#"{"title":"x"}"#), -32600),
        (call(r#""id":1"#, r#"{"title":"x"}"#), -32600),
        (call(r#""jsonrpc":"2.0","id":1,"id":2"#, r#"{"title":"x"}"#), -32600),
        (call(r#""jsonrpc":"2.0","id":1,"Method":"tools/list""#, r#"{"title":"x"}"#), -32600),
        (call(r#""jsonrpc":"2.0","id":1,"method":"tools/list""#, r#"{"title":"x"}"#), -32600),
        (call(sound, r#"{"title":"x","title":"y"}"#), -32600),
        (call(sound, r#"{"title":"x","\u0074itle":"y"}"#), -32600),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.into(), -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#.into(), -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}"#.into(), -32602),
        (call(sound, "[1]"), -32602),
        (call(sound, r#""x""#), -32602),
    ];
    let ask = server.call("create-task", json!({}));
    for (body, code) in cases {
        let got = ask.send_text(&body).await;
        assert_eq!(got.json()["error"]["code"], code, "{}: {}", &body[..body.len().min(120)], got.text);
        assert!(got.status == 400 || code == -32602, "{body}");
    }
    let invalid = server.raw(&[&ask.bytes("xx")[..ask.bytes("xx").len() - 2], b"\xff\xfe"].concat()).await;
    assert_eq!(invalid.error(), (400, -32700));
    let tasks = server.call("list-tasks", json!({})).send().await.result();
    assert_eq!(tasks["structuredContent"]["data"]["tasks"], json!([]), "nothing ran");
}

#[tokio::test]
async fn ids_come_back_as_they_were() {
    let server = McpTestServer::new();
    for id in [json!(0), json!(-7), json!(u64::MAX), json!(i64::MIN), json!(""), json!("ü\"\\\n"), json!("1")]
    {
        let mut ask = server.ask("server/discover", json!({}));
        ask.message["id"] = id.clone();
        assert_eq!(ask.send().await.json()["id"], id);
    }
}

#[tokio::test]
async fn a_notification_is_taken_without_an_answer() {
    let server = McpTestServer::new();
    let mut ask = server.ask("notifications/cancelled", json!({ "requestId": 1 }));
    ask.message.as_object_mut().unwrap().remove("id");
    let got = ask.send().await;
    assert_eq!((got.status, got.text.as_str()), (202, ""));
}
