//! Bad input by every way in: refused by name and limit, never a server error, nothing written.

use serde_json::{Value, json};

use super::databases::on_both;
use super::profile_client::ProfileClient;
use crate::test_server::TestServer;

/// Every way to make a task: the path, and how the arguments are wrapped.
const WAYS: [&str; 4] = [
    "/api/v1/profiles/todo-chatbot/functions/create_task",
    "/api/v1/profiles/todo_tasks/functions/add_task",
    "/api/v1/profiles/assistant/functions/add_task",
    "/api/v1/tools/create-task/call",
];

/// The body of a call by one of the ways; `fields` is JSON text.
fn body(way: &str, fields: &str) -> String {
    if way.ends_with("/call") {
        format!("{{\"params\":{{{fields}}}}}")
    } else if way.contains("todo_tasks") {
        format!("{{\"user_id\":\"ada\",{fields}}}")
    } else {
        format!("{{{fields}}}")
    }
}

/// Refused with a status below 500; the answer says each of `words`.
async fn refused(server: &TestServer, key: &str, way: &str, fields: &str, words: &[&str]) {
    let answer = server.ask("POST", way).key(key).text(body(way, fields)).send().await;
    let shown: String = fields.chars().take(80).collect();
    assert!(answer.status.as_u16() < 500, "{way} {shown}: {}", answer.text);
    let json = answer.json();
    let refused = json["success"] == false || answer.status.is_client_error();
    assert!(refused, "{way} {shown}: {}", answer.text);
    let said = answer.text.to_lowercase();
    for word in words {
        assert!(said.contains(&word.to_lowercase()), "{way} {shown}: {word} is not in {}", answer.text);
    }
}

async fn refused_everywhere(cases: &[(&str, &[&str])]) {
    on_both(|server| async move {
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        for (fields, words) in cases {
            for way in WAYS {
                refused(&server, &ada.key, way, fields, words).await;
            }
        }
        assert_eq!(ada.ask("list_tasks", json!({})).await["count"], 0, "nothing was written");
    })
    .await;
}

#[tokio::test]
async fn unknown_fields_and_wrong_types_are_named() {
    refused_everywhere(&[
        (r#""title":"A","colour":"red""#, &["colour"]),
        (r#""title":"A","__proto__":{"x":1}"#, &["__proto__"]),
        (r#""title":5"#, &["title", "string"]),
        (r#""title":["A"]"#, &["title", "string"]),
        (r#""title":{"a":1}"#, &["title", "string"]),
        (r#""title":null"#, &["title", "string"]),
        (r#""title":true"#, &["title", "string"]),
        (r#""title":"A","description":7"#, &["description", "string"]),
    ])
    .await;
}

#[tokio::test]
async fn control_characters_and_lone_surrogates_are_refused_by_name() {
    refused_everywhere(&[
        (r#""title":"a\u0000b""#, &["title", "control characters"]),
        (r#""title":"a\u001bb""#, &["title", "control characters"]),
        (r#""title":"\u001b[31m""#, &["title", "control characters"]),
        (r#""title":"A","description":"a\u0000b""#, &["description", "control characters"]),
        (r#""title":"\ud800""#, &["title", "lone surrogate"]),
        (r#""title":"a\udc00b""#, &["title", "lone surrogate"]),
        (r#""title":"\ude00\ud83d""#, &["title", "lone surrogate"]),
        (r#""title":"A","description":"\ud800x""#, &["description", "lone surrogate"]),
    ])
    .await;
}

#[tokio::test]
async fn text_of_a_megabyte_is_refused_with_its_limit() {
    let million = format!(r#""title":"{}""#, "x".repeat(1_000_000));
    let mebibyte = format!(r#""title":"{}""#, "x".repeat(1 << 20));
    on_both(|server| async {
        let server = server;
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        for (way, limit) in WAYS.into_iter().zip(["200", "255", "200", "255"]) {
            refused(&server, &ada.key, way, &million, &["title", limit]).await;
            // Beyond what a body may have, the field is never read.
            refused(&server, &ada.key, way, &mebibyte, &["body_too_large", "1048576 bytes"]).await;
        }
        assert_eq!(ada.ask("list_tasks", json!({})).await["count"], 0);
    })
    .await;
}

#[tokio::test]
async fn deep_and_wide_bodies_are_refused() {
    let deep = format!(r#""title":{}{}"#, "[".repeat(1_000), "]".repeat(1_000));
    let deep_objects = format!(r#""title":{}1{}"#, r#"{"a":"#.repeat(1_000), "}".repeat(1_000));
    let wide: Vec<String> = (0..10_000).map(|n| format!(r#""k{n}":{n}"#)).collect();
    let wide = format!(r#""title":"A",{}"#, wide.join(","));
    let (deep, deep_objects, wide) = (deep.as_str(), deep_objects.as_str(), wide.as_str());
    refused_everywhere(&[
        (deep, &["title", "128 levels"]),
        (deep_objects, &["title", "128 levels"]),
        (wide, &["k0"]),
    ])
    .await;
}

#[tokio::test]
async fn bodies_that_are_no_object_are_refused() {
    on_both(|server| async move {
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        for way in WAYS {
            for text in [
                "",
                "[]",
                "null",
                "\"title\"",
                "5",
                "{",
                "{\"title\":\"A\"} x",
                "{'title':'A'}",
                "\u{feff}{}",
            ] {
                let answer = server.ask("POST", way).key(&ada.key).text(text.to_owned()).send().await;
                let refused = answer.status.is_client_error() || answer.json()["success"] == false;
                assert!(refused && answer.status.as_u16() < 500, "{way} {text}: {}", answer.text);
            }
        }
        assert_eq!(ada.ask("list_tasks", json!({})).await["count"], 0);
    })
    .await;
}

/// Every tool that takes the id of a task, with the arguments that it needs besides.
const BY_ID: [(&str, &str, &str); 14] = [
    ("todo-chatbot", "get_task", ""),
    ("todo-chatbot", "update_task", r#","title":"B""#),
    ("todo-chatbot", "delete_task", ""),
    ("todo_tasks", "complete_task", r#","user_id":"ada""#),
    ("todo_tasks", "delete_task", r#","user_id":"ada""#),
    ("todo_tasks", "update_task", r#","user_id":"ada","title":"B""#),
    ("assistant", "list_tasks", ""),
    ("assistant", "update_task", r#","title":"B""#),
    ("assistant", "delete_task", ""),
    ("assistant", "complete_task", ""),
    ("", "get-task", ""),
    ("", "update-task", r#","title":"B""#),
    ("", "complete-task", ""),
    ("", "restore-task", ""),
];

async fn by_id(
    server: &TestServer,
    key: &str,
    (profile, tool, rest): (&str, &str, &str),
    id: &str,
) -> (u16, Value) {
    let (path, text) = match profile {
        "" => (format!("/api/v1/tools/{tool}/call"), format!(r#"{{"params":{{"taskId":{id}{rest}}}}}"#)),
        "todo_tasks" => (
            format!("/api/v1/profiles/{profile}/functions/{tool}"),
            format!(r#"{{"task_id":"{}"{rest}}}"#, id.trim_matches('"')),
        ),
        _ => (format!("/api/v1/profiles/{profile}/functions/{tool}"), format!(r#"{{"task_id":{id}{rest}}}"#)),
    };
    let answer = server.ask("POST", path).key(key).text(text).send().await;
    (answer.status.as_u16(), answer.json())
}

/// Canonical tools name the field and the limit; to the profiles, such a task does not exist.
#[tokio::test]
async fn ids_beyond_2_to_the_53_name_no_task() {
    on_both(|server| async move {
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        ada.ask("add_task", json!({ "title": "A" })).await;
        for way in BY_ID {
            // Beyond 64 bits a number would lose digits on the way: it is refused, whatever it is to name.
            // In `todo_tasks` an id is a text, and loses nothing.
            let (status, answer) = by_id(&server, &ada.key, way, "99999999999999999999999").await;
            match way.0 {
                "todo_tasks" => assert_eq!(answer["error"]["code"], "not_found", "{way:?}: {answer}"),
                "" => assert_eq!(
                    (status, &answer["error"]["code"]),
                    (400, &json!("invalid_input")),
                    "{way:?}: {answer}"
                ),
                _ => {
                    assert_eq!((status, &answer["success"]), (200, &json!(false)), "{way:?}: {answer}");
                    assert!(answer.to_string().contains("does not fit into 64 bits"), "{way:?}: {answer}");
                }
            }
            for id in ["9007199254740992", "9007199254740993", "18446744073709551615"] {
                let (status, answer) = by_id(&server, &ada.key, way, id).await;
                let text = answer.to_string().to_lowercase();
                if way.0.is_empty() {
                    assert_eq!((status, &answer["error"]["details"][0]["pointer"]), (400, &json!("/taskId")));
                    assert!(text.contains("9007199254740991"), "{way:?} {id}: {answer}");
                } else {
                    assert_eq!((status, &answer["success"]), (200, &json!(false)), "{way:?} {id}: {answer}");
                    assert!(text.contains("not found"), "{way:?} {id}: {answer}");
                }
            }
            let (status, answer) = by_id(&server, &ada.key, way, "9007199254740991").await;
            assert!(status == 200 && answer["success"] == false || status == 404, "{way:?}: {answer}");
        }
        assert_eq!(ada.ask("list_tasks", json!({})).await["count"], 1);
    })
    .await;
}

#[tokio::test]
async fn ids_of_zero_below_zero_and_between_are_refused() {
    on_both(|server| async move {
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        ada.ask("add_task", json!({ "title": "A" })).await;
        for way in BY_ID {
            for id in ["0", "-1", "-9007199254740993", "1.5", "1e300", "-1e300"] {
                let (status, answer) = by_id(&server, &ada.key, way, id).await;
                let refused = answer["success"] == false || answer["error"]["code"] == "invalid_input";
                assert!(refused && status < 500, "{way:?} {id}: {answer}");
            }
        }
        assert_eq!(ada.ask("list_tasks", json!({})).await["tasks"][0]["title"], "A");
    })
    .await;
}

#[tokio::test]
async fn a_field_that_comes_twice_is_refused_by_name_on_every_way_in() {
    let server = TestServer::new();
    for (path, body) in [
        ("/api/v1/profiles/assistant/functions/add_task", r#"{"title": "x", "title": "y"}"#),
        ("/api/v1/tools/create-task/call", r#"{"params": {"title": "x", "title": "y"}}"#),
        ("/api/v1/tools/create-task/call", r#"{"params": {"title": "x"}, "params": {"title": "y"}}"#),
    ] {
        let answer = server.ask("POST", path).text(body.to_owned()).send().await;
        match path.contains("/functions/") {
            true => assert_eq!(answer.json()["code"], "VALIDATION_ERROR", "{}", answer.text),
            false => assert_eq!(answer.json()["error"]["code"], "invalid_input", "{}", answer.text),
        }
        assert!(answer.text.contains("twice") || answer.text.contains("'title'"), "{}", answer.text);
    }
    let listed =
        server.ask("POST", "/api/v1/profiles/assistant/functions/list_tasks").body(json!({})).send().await;
    assert_eq!(listed.json()["count"], 0, "nothing was written");
}
