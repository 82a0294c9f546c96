//! `/v1/responses`, as OpenAI's clients use it.

use serde_json::{Value, json};
use toolroom_model::{Message, Turn, Usage};

use super::scripted::{Scripted, call};
use crate::test_server::{Answer, TestServer};

async fn respond(server: &TestServer, key: &str, body: Value) -> Answer {
    server
        .ask("POST", "/v1/responses")
        .header("authorization", format!("Bearer {key}"))
        .body(body)
        .send()
        .await
}

/// The events of a stream: each names its type twice, and they are numbered.
fn events(text: &str) -> Vec<Value> {
    let mut events = Vec::new();
    for block in text.split("\n\n").filter(|block| block.contains("data: ")) {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        let event: Value = serde_json::from_str(field("data: ")).unwrap();
        assert_eq!(event["type"], field("event: "), "{block}");
        assert_eq!(event["sequence_number"], events.len(), "{block}");
        events.push(event);
    }
    events
}

fn words(response: &Value) -> &str {
    response["output"][0]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{response}"))
}

async fn count(server: &TestServer, key: &str) -> Value {
    server.function(key, "todo-chatbot", "list_tasks", json!({})).await.json()["count"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_has_openais_shape_and_its_tools_ran_on_the_server() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let body = json!({
        "model": "toolroom/todo-chatbot",
        "instructions": "Be kind.",
        "input": [{ "role": "user", "content": [{ "type": "input_text", "text": "add buy milk" }] }],
        "temperature": 0.2,
        "metadata": { "from": "a test" },
    });
    let done = respond(&server, &key, body).await;
    assert_eq!(done.status, 200, "{}", done.text);
    let done = done.json();
    let id = done["id"].as_str().unwrap().strip_prefix("resp_").unwrap();
    assert_eq!((&done["object"], &done["status"]), (&json!("response"), &json!("completed")));
    assert!(done["created_at"].is_i64());
    assert_eq!(done["toolroom"]["tool_calls"][0]["name"], "create_task");
    let part = json!({
        "type": "output_text", "text": "Added task 1 “Buy milk”.", "annotations": [], "logprobs": [],
    });
    let message = json!({
        "id": format!("msg_{id}"), "type": "message", "role": "assistant", "status": "completed", "content": [part],
    });
    assert_eq!(done["output"], json!([message]));
    let given = [
        ("model", json!("toolroom/todo-chatbot")),
        ("instructions", json!("Be kind.")),
        ("temperature", json!(0.2)),
        ("metadata", json!({ "from": "a test" })),
        ("tools", json!([])),
        ("tool_choice", json!("auto")),
        ("parallel_tool_calls", json!(true)),
        ("previous_response_id", Value::Null),
        ("store", json!(true)),
        ("error", Value::Null),
    ];
    for (field, value) in given {
        assert_eq!(done[field], value, "{field}");
    }
    assert_eq!(done["usage"]["total_tokens"], 0, "the offline planner has no tokens");
    assert_eq!(count(&server, &key).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_response_is_shown_again_and_forgotten_by_its_user_alone() {
    let server = TestServer::new();
    let (ada, bob) = (server.key(json!({ "user": "ada" })).await, server.key(json!({ "user": "bob" })).await);
    let ask = async |method: &str, key: &str, id: &str| {
        let asked = server.ask(method, format!("/v1/responses/{id}"));
        asked.header("authorization", format!("Bearer {key}")).send().await
    };
    let body = json!({
        "model": "toolroom/todo-chatbot", "input": "add buy milk", "metadata": { "from": "a test" },
        "instructions": "Be kind.",
    });
    let made = respond(&server, &ada, body.clone()).await.json();
    let id = made["id"].as_str().unwrap();
    let shown = ask("GET", &ada, id).await;
    assert_eq!((shown.status.as_u16(), shown.json()), (200, made.clone()));
    let refused = async |method: &str, key: &str, id: &str| {
        let answer = ask(method, key, id).await;
        assert_eq!(answer.status, 404, "{method} {id}: {}", answer.text);
        let error = answer.json()["error"].take();
        assert_eq!((&error["type"], &error["param"]), (&json!("invalid_request_error"), &Value::Null));
    };
    for method in ["GET", "DELETE"] {
        refused(method, &bob, id).await;
        refused(method, &ada, "resp_nothing").await;
        // The id of an item is none of a response.
        refused(method, &ada, &id.replace("resp_", "msg_")).await;
    }
    let whole = respond(&server, &ada, json!([])).await;
    assert_eq!(
        (whole.status.as_u16(), &whole.json()["error"]["param"]),
        (400, &Value::Null),
        "{}",
        whole.text
    );
    let mut unkept = body;
    unkept["store"] = json!(false);
    let unkept = respond(&server, &ada, unkept).await.json();
    refused("GET", &ada, unkept["id"].as_str().unwrap()).await;
    let gone = ask("DELETE", &ada, id).await;
    assert_eq!(
        (gone.status.as_u16(), gone.json()),
        (200, json!({ "id": id, "object": "response", "deleted": true }))
    );
    refused("GET", &ada, id).await;
    let after = json!({ "model": "toolroom", "input": "and bread", "previous_response_id": id });
    assert_eq!(respond(&server, &ada, after).await.json()["error"]["code"], "previous_response_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_events_of_a_stream_come_in_the_documented_order() {
    let turn = Turn { usage: Usage { input: 7, output: 2 }, ..call("list-tasks", json!({})) };
    let said = Turn { usage: Usage { input: 9, output: 4 }, ..Turn::text("You have no tasks.") };
    let server = TestServer::speaking(Scripted::new([turn, said]));
    let key = server.key(json!({ "user": "ada" })).await;
    let body = json!({ "model": "toolroom", "input": "what is on my list?", "stream": true });
    let sent = respond(&server, &key, body).await;
    assert_eq!(sent.headers["content-type"], "text/event-stream");
    let events = events(&sent.text);
    let mut kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    kinds.dedup();
    let order = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(kinds, order);
    assert_eq!(events[0]["response"]["status"], "in_progress");
    assert_eq!(events[0]["response"]["output"], json!([]));
    let deltas: String = events.iter().filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!(deltas, "You have no tasks.");
    let whole = &events.last().unwrap()["response"];
    assert_eq!((&whole["id"], words(whole)), (&events[0]["response"]["id"], "You have no tasks."));
    let usage = &whole["usage"];
    assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(16), &json!(6)));
    assert_eq!(usage["total_tokens"], 22);
    let done = events.iter().find(|event| event["type"] == "response.output_item.done").unwrap();
    assert_eq!(done["item"], whole["output"][0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_is_gone_on_from_by_its_id_and_its_instructions_are_not_carried_over() {
    let model = Scripted::new(["Hello Ada.", "Your name is Ada.", "I do not know."].map(Turn::text));
    let server = TestServer::speaking(model.clone());
    let key = server.key(json!({ "user": "ada" })).await;
    let first = json!({ "model": "toolroom", "instructions": "Be kind.", "input": "I am Ada." });
    let first = respond(&server, &key, first).await.json();
    let follow = |input: &str| json!({ "model": "toolroom", "previous_response_id": first["id"], "input": input, "instructions": "Be brief." });
    let second = respond(&server, &key, follow("Who am I?")).await.json();
    assert_eq!((words(&second), &second["previous_response_id"]), ("Your name is Ada.", &first["id"]));
    let third = json!({ "model": "toolroom", "previous_response_id": second["id"], "input": "And you?" });
    respond(&server, &key, third).await;
    // Another branch from the same response.
    respond(&server, &key, follow("What else?")).await;
    let said = |asked: &[Message]| -> Vec<String> {
        let text = |message: &Message| match message {
            Message::System { text } => format!("system: {text}"),
            Message::User { text } => format!("user: {text}"),
            Message::Assistant { text, .. } => format!("assistant: {text}"),
            Message::Tool { .. } => panic!("no tool ran"),
        };
        asked.iter().map(text).collect()
    };
    let asked = model.asked.lock().unwrap().clone();
    let hello = ["user: I am Ada.", "assistant: Hello Ada."];
    assert_eq!(said(&asked[1]), [&["system: Be brief."], &hello[..], &["user: Who am I?"]].concat());
    let who = ["user: Who am I?", "assistant: Your name is Ada."];
    assert_eq!(said(&asked[2]), [&hello[..], &who, &["user: And you?"]].concat());
    assert_eq!(said(&asked[3]), [&["system: Be brief."], &hello[..], &["user: What else?"]].concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_stored_or_is_anothers_or_of_a_profile_out_of_reach_is_not_there() {
    let server = TestServer::new();
    let ada = server.key(json!({ "user": "ada" })).await;
    let confined = server.key(json!({ "user": "ada", "profiles": ["todo-chatbot"] })).await;
    let bob = server.key(json!({ "user": "bob" })).await;
    let first = |store: bool| json!({ "model": "toolroom", "input": "hello", "store": store });
    let forgotten = respond(&server, &ada, first(false)).await.json();
    assert_eq!(forgotten["store"], false);
    let stored = respond(&server, &ada, first(true)).await.json();
    let made_up = json!("resp_00000000000000000000000000000000");
    let cases = [
        (&ada, &forgotten["id"]),
        (&bob, &stored["id"]),
        (&confined, &stored["id"]),
        (&ada, &made_up),
        (&ada, &Value::from("nonsense")),
    ]
    .map(|(key, id)| (key, id.clone()));
    for (key, id) in cases {
        let body = json!({ "model": "todo-chatbot", "input": "hello", "previous_response_id": id });
        let refused = respond(&server, key, body).await;
        assert_eq!(refused.status, 400, "{}", refused.text);
        let error = &refused.json()["error"];
        assert_eq!(error["code"], "previous_response_not_found");
        assert_eq!(error["param"], "previous_response_id");
        let body = json!({ "model": "todo-chatbot", "input": [
            { "type": "item_reference", "id": id.as_str().unwrap().replace("resp_", "msg_") },
            { "role": "user", "content": "hello" },
        ] });
        let refused = respond(&server, key, body).await;
        assert_eq!((refused.status.as_u16(), &refused.json()["error"]["param"]), (400, &json!("input.0.id")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_counts_after_the_response_that_asked_and_only_once() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    server.function(&key, "todo-chatbot", "create_task", json!({ "title": "Old" })).await;
    let ask = json!({ "model": "todo-chatbot", "input": "delete task 1" });
    let asked = respond(&server, &key, ask).await.json();
    assert!(!asked["toolroom"]["pending_confirmation"].is_null(), "{asked}");
    assert_eq!(count(&server, &key).await, 1);
    let yes = json!({ "model": "todo-chatbot", "input": "yes", "previous_response_id": asked["id"] });
    let done = respond(&server, &key, yes.clone()).await.json();
    assert_eq!(words(&done), "Deleted task 1 “Old”.");
    assert_eq!(count(&server, &key).await, 0);
    let again = respond(&server, &key, yes).await.json();
    assert_eq!(again["toolroom"]["tool_calls"], json!([]), "{again}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_counts_after_a_history_that_the_client_keeps_too() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    server.function(&key, "todo-chatbot", "create_task", json!({ "title": "Old" })).await;
    let mut items = vec![json!({ "role": "user", "content": "delete task 1" })];
    let ask = |items: &[Value]| json!({ "model": "todo-chatbot", "input": items, "store": false });
    let asked = respond(&server, &key, ask(&items)).await.json();
    items.push(asked["output"][0].clone());
    items.push(json!({ "role": "user", "content": "yes" }));
    let done = respond(&server, &key, ask(&items)).await.json();
    assert_eq!(words(&done), "Deleted task 1 “Old”.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clients_own_tools_are_called_by_items_and_their_outputs_are_taken() {
    let window = |which: u32| call("open_window", json!({ "which": which }));
    let opened = || Turn::text("It is open.");
    let server = TestServer::speaking(Scripted::new([window(2), opened(), opened(), opened(), window(3)]));
    let key = server.key(json!({ "user": "ada" })).await;
    let tool = json!({ "type": "function", "name": "open_window", "parameters": { "type": "object" } });
    let body = json!({ "model": "toolroom", "input": "open window 2", "tools": [tool] });
    let first = respond(&server, &key, body.clone()).await.json();
    let made = &first["output"][0];
    assert_eq!((&made["type"], &made["name"]), (&json!("function_call"), &json!("open_window")), "{first}");
    assert_eq!((&made["arguments"], &made["status"]), (&json!("{\"which\":2}"), &json!("completed")));
    assert_eq!(first["tools"], json!([tool]));
    let result =
        json!({ "type": "function_call_output", "call_id": made["call_id"], "output": "{\"open\": true}" });
    let asked = json!({ "role": "user", "content": "open window 2" });
    let thought = json!({ "type": "reasoning", "id": "rs_1", "summary": [] });
    let reference = json!({ "type": "item_reference", "id": made["id"] });
    let ways = [
        json!({ "model": "toolroom", "previous_response_id": first["id"], "input": [result] }),
        json!({ "model": "toolroom", "input": [asked, thought, made, result], "store": false }),
        json!({ "model": "toolroom", "input": [asked, reference, result] }),
    ];
    for way in ways {
        let done = respond(&server, &key, way.clone()).await.json();
        assert_eq!(done["output"][0]["content"][0]["text"], "It is open.", "{way} {done}");
    }
    let mut body = body;
    body["stream"] = true.into();
    let events = events(&respond(&server, &key, body).await.text);
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let order = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(kinds, order);
    assert_eq!(events[2]["item"]["arguments"], "");
    assert_eq!(events[4]["arguments"], "{\"which\":3}");
    assert_eq!(events[5]["item"], events[6]["response"]["output"][0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_taken_is_refused_in_openais_form_and_changes_nothing() {
    let server = TestServer::new();
    let key = server.key(json!({ "user": "ada" })).await;
    let message = |content: Value| json!([{ "role": "user", "content": content }]);
    let result = json!([{ "type": "function_call_output", "call_id": "c", "output": "x" }]);
    let cases = [
        (json!({ "model": "gpt-9" }), 404, "model_not_found", "model"),
        (json!({ "input": [] }), 400, "invalid_input", "input"),
        (json!({ "input": null }), 400, "invalid_input", "input"),
        (json!({ "input": "" }), 400, "invalid_input", "input"),
        (
            json!({ "input": message(json!([{ "type": "input_image" }])) }),
            400,
            "invalid_input",
            "input.0.content",
        ),
        (json!({ "input": [{ "role": "user" }] }), 400, "invalid_input", "input.0.content"),
        (json!({ "input": [{ "type": "computer_call" }] }), 400, "invalid_input", "input.0.type"),
        (json!({ "input": result }), 400, "invalid_input", "input.0.call_id"),
        (json!({ "input": [{ "role": "assistant", "content": "hi" }] }), 400, "invalid_input", "input"),
        (json!({ "tools": [{ "type": "web_search" }] }), 400, "invalid_input", "tools"),
        (json!({ "background": true }), 400, "invalid_input", "background"),
        (json!({ "conversation": "conv_1" }), 400, "invalid_input", "conversation"),
        (json!({ "prompt": { "id": "p" } }), 400, "invalid_input", "prompt"),
    ];
    for (changed, status, code, param) in cases {
        let mut body = json!({ "model": "toolroom", "input": "add buy milk" });
        for (name, value) in changed.as_object().unwrap() {
            body[name] = value.clone();
        }
        let refused = respond(&server, &key, body.clone()).await;
        assert_eq!(refused.status, status, "{body} {}", refused.text);
        assert_eq!(refused.headers["content-type"], "application/json");
        let error = &refused.json()["error"];
        assert_eq!(error["type"], "invalid_request_error");
        assert_eq!((&error["code"], &error["param"]), (&json!(code), &json!(param)), "{body}");
    }
    let none = json!({ "model": "toolroom", "input": "add buy milk", "tool_choice": "none" });
    assert_eq!(respond(&server, &key, none).await.json()["toolroom"]["tool_calls"], json!([]));
    assert_eq!(count(&server, &key).await, 0);
    let stranger = respond(&server, "wrong", json!({ "model": "toolroom", "input": "hi" })).await;
    assert_eq!(
        (stranger.status.as_u16(), &stranger.json()["error"]["code"]),
        (401, &json!("invalid_api_key"))
    );
}
