//! What callers send is kept as they sent it, or refused: titles, nulls, ids, fractions of a second, big integers.

use serde_json::{Value, json};

use super::databases::on_both;
use super::profile_client::ProfileClient;

#[tokio::test]
async fn tabs_and_line_ends_become_a_space_in_titles_and_stay_in_descriptions() {
    on_both(|server| async move {
        let one = ProfileClient::new(&server, "todo-chatbot", "ada").await;
        let (two, three) = (one.at("todo_tasks"), one.at("assistant"));
        let (title, description) = ("\tBuy\r\nmilk\tand\n\neggs\n", "first\r\n\tsecond\n");
        let (kept, lines) = ("Buy milk and eggs", "first\n\tsecond");
        let task = json!({ "title": title, "description": description });
        one.ask("create_task", task.clone()).await;
        let mut for_user = task.clone();
        for_user["user_id"] = "ada".into();
        let added = two.ask("add_task", for_user).await;
        assert_eq!((&added["data"]["title"], &added["data"]["description"]), (&json!(kept), &json!(lines)));
        three.ask("add_task", task.clone()).await;
        let (_, canonical) = one.call("create-task", task).await;
        assert_eq!(canonical["data"]["task"]["title"], kept);
        let all = one.ask("list_tasks", json!({})).await["tasks"].clone();
        for task in all.as_array().unwrap() {
            assert_eq!((&task["title"], &task["description"]), (&json!(kept), &json!(lines)));
        }
        // Counted as it is kept: 200 characters, though 201 were sent.
        let long = format!("{}\r\n{}", "x".repeat(100), "y".repeat(99));
        assert_eq!(one.ask("create_task", json!({ "title": long })).await["success"], true);
        for bad in ["bell\u{7}", "null\u{0}", "escape\u{1b}[2J", "next\u{9b}line"] {
            for field in ["title", "description"] {
                let mut params = json!({ "title": "T" });
                params[field] = bad.into();
                assert_eq!(one.ask("create_task", params).await["success"], false, "{field} {bad:?}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn null_for_an_optional_field_that_takes_none_reads_as_absent() {
    on_both(|server| async move {
        let one = ProfileClient::new(&server, "todo-chatbot", "ada").await;
        let (two, three) = (one.at("todo_tasks"), one.at("assistant"));
        let made = one.ask("create_task", json!({ "title": "A", "description": null, "status": null })).await;
        assert_eq!(made["success"], true, "{made}");
        let params = json!({
            "user_id": "ada", "title": "B", "description": null, "priority": null, "due_date": null
        });
        let made = two.ask("add_task", params).await;
        assert_eq!((&made["success"], &made["data"]["priority"]), (&json!(true), &json!("Medium")), "{made}");
        let params = json!({ "title": "C", "priority": null, "due_date": null, "description": null });
        let made = three.ask("add_task", params).await;
        assert_eq!((&made["success"], &made["task"]["priority"]), (&json!(true), &json!("medium")), "{made}");
        let id = made["task"]["id"].clone();
        let changed =
            three.ask("update_task", json!({ "task_id": id, "title": null, "priority": "high" })).await;
        assert_eq!(
            (&changed["success"], &changed["task"]["title"]),
            (&json!(true), &json!("C")),
            "{changed}"
        );
        let (status, made) = one
            .call("create-task", json!({ "title": "D", "due": null, "tags": null, "priority": null }))
            .await;
        assert_eq!(status, 200, "{made}");
        let (status, listed) = one
            .call("list-tasks", json!({ "limit": null, "cursor": null, "status": null, "whole": null }))
            .await;
        assert_eq!((status, listed["data"]["total"].clone()), (200, json!(4)), "{listed}");
        // What must be there must be there.
        let (status, refused) = one.call("create-task", json!({ "title": null })).await;
        assert_eq!(
            (status, &refused["error"]["details"][0]["pointer"]),
            (400, &json!("/title")),
            "{refused}"
        );
    })
    .await;
}

#[tokio::test]
async fn fractions_of_a_second_are_kept() {
    on_both(|server| async move {
        let three = ProfileClient::new(&server, "assistant", "ada").await;
        let made =
            three.ask("add_task", json!({ "title": "T", "due_date": "2031-01-28T10:00:00.25+01:00" })).await;
        assert_eq!(made["task"]["due_date"], "2031-01-28T09:00:00.25Z", "{made}");
        let (_, read) = three.call("get-task", json!({ "taskId": 1 })).await;
        let due: jiff::Timestamp = read["data"]["task"]["due"].as_str().unwrap().parse().unwrap();
        assert_eq!(due.subsec_microsecond(), 250_000, "{read}");
    })
    .await;
}

#[tokio::test]
async fn integers_beyond_64_bits_are_refused_and_never_turned_into_floats() {
    on_both(|server| async move {
        let ada = ProfileClient::new(&server, "todo-chatbot", "ada").await;
        let big = "1180591620717411303424";
        for (path, body) in [
            ("/api/v1/profiles/todo-chatbot/functions/get_task", format!(r#"{{"task_id": {big}}}"#)),
            ("/api/v1/tools/get-task/call", format!(r#"{{"params": {{"taskId": {big}}}}}"#)),
        ] {
            let answer = server.ask("POST", path).key(&ada.key).text(body).send().await;
            match path.contains("/functions/") {
                true => assert_eq!(answer.json()["success"], false, "{}", answer.text),
                false => assert_eq!(answer.status, 400, "{}", answer.text),
            }
            assert!(answer.text.contains(big) && answer.text.contains("does not fit into 64 bits"), "{}", answer.text);
            if path.ends_with("/call") {
                assert_eq!(answer.json()["error"]["details"][0]["pointer"], "/params/taskId", "{}", answer.text);
            }
        }
        let frame = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"get_task","arguments":{{"task_id":{big}}}}}}}"#
        );
        let answer = server
            .ask("POST", "/mcp/todo-chatbot")
            .key(&ada.key)
            .header("accept", "application/json, text/event-stream")
            .text(frame)
            .send()
            .await;
        assert!(answer.text.contains("-32602") && answer.text.contains("does not fit into 64 bits"), "{}", answer.text);
        assert!(answer.text.contains("/params/arguments/task_id: "), "{}", answer.text);
        // Zero has no sign.
        let path = "/api/v1/profiles/todo-chatbot/functions/get_task";
        let answer = server.ask("POST", path).key(&ada.key).text(r#"{"task_id": -0}"#.to_owned()).send().await;
        let frame = r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"get_task","arguments":{"task_id":-0},
            "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/clientInfo":{"name":"test","version":"1.0.0"},
                "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        let over_mcp = server
            .ask("POST", "/mcp/todo-chatbot")
            .key(&ada.key)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "get_task")
            .text(frame.to_owned())
            .send()
            .await;
        for answer in [answer, over_mcp] {
            assert!(answer.text.contains("ID: 0") && !answer.text.contains("-0.0"), "{}", answer.text);
        }
        // The largest that fit are echoed to the letter.
        let answer = ada.ask("get_task", json!({ "task_id": u64::MAX })).await;
        assert_eq!(answer["message"], format!("Task not found with ID: {}", u64::MAX));
        let path = "/api/v1/profiles/todo-chatbot/functions/get_task";
        for sent in ["1e21", "3.5e300", "42.0"] {
            let body = format!(r#"{{"task_id": {sent}}}"#);
            let answer = server.ask("POST", path).key(&ada.key).text(body).send().await;
            let sent = sent.trim_end_matches(".0");
            assert_eq!(answer.json()["message"], format!("Task not found with ID: {sent}"));
        }
    })
    .await;
}

#[tokio::test]
async fn an_array_is_no_body_of_a_call() {
    on_both(|server| async move {
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        for body in [json!([{ "taskId": 1 }, {}]), json!([]), json!({ "params": {}, "context": [] })] {
            let answer = server
                .ask("POST", "/api/v1/tools/list-tasks/call")
                .key(&ada.key)
                .body(body.clone())
                .send()
                .await;
            assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        }
        let answer = server.ask("POST", "/api/v1/keys").owner().body(json!(["ada"])).send().await;
        assert_eq!(answer.status, 400, "{}", answer.text);
        let bodies: Vec<Value> = vec![json!([]), json!([{ "status": "all" }])];
        for body in bodies {
            let answer = ada.ask("list_tasks", body).await;
            assert_eq!(answer["success"], false, "{answer}");
        }
    })
    .await;
}
