//! Tools that ask their client, and calls that wait for a person: forms, sealed states, decisions.

use serde_json::{Value, json};
use toolroom_contract::handler::Question;
use toolroom_contract::{Answer, ClientInput, ClientRequest, Ending, ToolContext};
use toolroom_runtime::catalogue::NewTool;
use toolroom_store::pending::{self, Decision};

use super::test_server::{Ask, McpTestServer, native, open_object, query};

fn done(data: Value) -> Ending {
    Ending::Done(Answer::new(data).unwrap())
}

fn form(message: &str) -> ClientRequest {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let params = json!({ "message": message, "requestedSchema": schema });
    ClientRequest { method: "elicitation/create".into(), params }
}

fn greeter() -> NewTool {
    query("greet-user", open_object(), |_, context: ToolContext| async move {
        let client = context.client.unwrap_or_default();
        match client.responses.get("name").map(|response| &response["content"]["name"]) {
            Some(Value::String(name)) => done(json!({ "hello": name, "state": client.state })),
            _ => Ending::NeedsClient(ClientInput {
                requests: [("name".to_owned(), form("Who are you?"))].into(),
                state: Some("round 1".into()),
            }),
        }
    })
}

fn sampler() -> NewTool {
    query("ask-model", open_object(), |_, _| async {
        let request =
            ClientRequest { method: "sampling/createMessage".into(), params: json!({ "messages": [] }) };
        Ending::NeedsClient(ClientInput { requests: [("m".to_owned(), request)].into(), state: None })
    })
}

fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

fn again(ask: Ask, asked: &Value, key: &str, response: Value) -> Ask {
    ask.param("inputResponses", json!({ key: response })).param("requestState", asked["requestState"].clone())
}

#[tokio::test]
async fn a_tool_asks_its_client_and_goes_on_with_the_answer() {
    let server = McpTestServer::with(vec![greeter()]);
    let call = || server.call("greet-user", json!({})).capable(json!({ "elicitation": {} }));
    let asked = call().send().await.result();
    assert_eq!(asked["resultType"], "input_required");
    assert_eq!(asked["inputRequests"]["name"]["method"], "elicitation/create");
    assert_eq!(asked["inputRequests"]["name"]["params"]["message"], "Who are you?");
    assert!(asked.get("ttlMs").is_none());
    let done = again(call(), &asked, "name", accept(json!({ "name": "Ada" }))).send().await.result();
    assert_eq!(done["structuredContent"]["data"], json!({ "hello": "Ada", "state": "round 1" }));
    let wrong = again(call(), &asked, "other", accept(json!({}))).send().await.result();
    assert_eq!(wrong["resultType"], "input_required", "what is missing is asked for again");
}

#[tokio::test]
async fn nothing_is_asked_that_the_client_did_not_declare() {
    let server = McpTestServer::with(vec![greeter(), sampler()]);
    for (tool, capabilities, missing) in [
        ("greet-user", json!({}), "elicitation"),
        ("greet-user", json!({ "elicitation": { "url": {} } }), "elicitation"),
        ("ask-model", json!({ "elicitation": {} }), "sampling"),
    ] {
        let got = server.call(tool, json!({})).capable(capabilities).send().await;
        assert_eq!(got.error(), (400, -32021), "{tool}");
        assert!(got.json()["error"]["data"]["requiredCapabilities"][missing].is_object(), "{}", got.text);
    }
}

#[tokio::test]
async fn a_state_that_was_changed_or_is_another_callers_or_calls_is_refused() {
    let server = McpTestServer::with(vec![
        greeter(),
        query("other-tool", open_object(), |_, _| async { done(json!({})) }),
    ]);
    let (ada, bob) = (server.key("ada", &["*"], None).await, server.key("bob", &["*"], None).await);
    let call =
        |key: &str| server.call("greet-user", json!({})).capable(json!({ "elicitation": {} })).key(key);
    let asked = call(&ada).send().await.result();
    let state = asked["requestState"].as_str().unwrap().to_owned();
    let reply = || json!({ "name": accept(json!({ "name": "Ada" })) });
    let changed =
        [format!("{state}x"), state.replacen('.', "A.", 1), String::new(), "x.y".into(), "a".repeat(100_000)];
    for text in changed {
        let ask = call(&ada).param("inputResponses", reply()).param("requestState", json!(text));
        assert_eq!(ask.send().await.error().1, -32602, "{}", &text[..text.len().min(80)]);
    }
    let strangers = call(&bob).param("inputResponses", reply()).param("requestState", json!(state));
    assert_eq!(strangers.send().await.error().1, -32602);
    let other = server.call("other-tool", json!({})).key(&ada).param("requestState", json!(state));
    assert_eq!(other.send().await.error().1, -32602);
    let sound = call(&ada).param("inputResponses", reply()).param("requestState", json!(state));
    assert_eq!(sound.send().await.result()["resultType"], "complete");
}

async fn task(server: &McpTestServer, key: &str) -> Value {
    let made = server.call("create-task", json!({ "title": "Old" })).key(key).send().await.result();
    made["structuredContent"]["data"]["task"]["taskId"].clone()
}

fn delete(server: &McpTestServer, key: &str, id: &Value) -> Ask {
    server.call("delete-task", json!({ "taskId": id })).key(key).capable(json!({ "elicitation": {} }))
}

async fn exists(server: &McpTestServer, key: &str, id: &Value) -> bool {
    let got = server.call("get-task", json!({ "taskId": id })).key(key).send().await.result();
    got.get("isError").is_none()
}

#[tokio::test]
async fn a_call_that_waits_for_approval_shows_a_form_and_an_approval_lets_it_through_once() {
    let server = McpTestServer::new();
    let key = server.key("ada", &["tasks:*"], None).await;
    let id = task(&server, &key).await;
    let asked = delete(&server, &key, &id).send().await.result();
    let (name, form) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(
        form["params"]["requestedSchema"]["properties"]["decision"]["enum"],
        json!(["approve", "deny"])
    );
    assert!(form["params"]["message"].as_str().unwrap().contains("delete-task"), "{form}");
    assert!(exists(&server, &key, &id).await);
    let yes = || again(delete(&server, &key, &id), &asked, name, accept(json!({ "decision": "approve" })));
    let gone = yes().send().await.result();
    assert!(gone.get("isError").is_none(), "{gone}");
    assert!(!exists(&server, &key, &id).await);
    let replayed = yes().send().await.result();
    assert_eq!(replayed["structuredContent"]["error"]["code"], "approval_expired", "{replayed}");
}

#[tokio::test]
async fn an_approval_holds_for_its_own_caller_and_arguments_alone() {
    let server = McpTestServer::new();
    let (ada, bob) =
        (server.key("ada", &["tasks:*"], None).await, server.key("bob", &["tasks:*"], None).await);
    let (one, two) = (task(&server, &ada).await, task(&server, &ada).await);
    let asked = delete(&server, &ada, &one).send().await.result();
    let name = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let yes = accept(json!({ "decision": "approve" }));
    let other = again(delete(&server, &ada, &two), &asked, &name, yes.clone()).send().await;
    assert_eq!(other.error().1, -32602);
    let stranger = again(delete(&server, &bob, &one), &asked, &name, yes).send().await;
    assert_eq!(stranger.error().1, -32602);
    assert!(exists(&server, &ada, &one).await && exists(&server, &ada, &two).await);
}

#[tokio::test]
async fn a_no_is_told_as_denied_and_a_form_put_off_leaves_the_matter_open() {
    let server = McpTestServer::new();
    let key = server.key("ada", &["tasks:*"], None).await;
    for no in [json!({ "action": "decline" }), accept(json!({ "decision": "deny" }))] {
        let id = task(&server, &key).await;
        let asked = delete(&server, &key, &id).send().await.result();
        let name = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
        let told = again(delete(&server, &key, &id), &asked, &name, no).send().await.result();
        assert_eq!(told["structuredContent"]["error"]["code"], "approval_denied");
        assert_eq!(told["isError"], true);
        assert!(exists(&server, &key, &id).await);
    }
    let id = task(&server, &key).await;
    let asked = delete(&server, &key, &id).send().await.result();
    let name = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let off =
        again(delete(&server, &key, &id), &asked, &name, json!({ "action": "cancel" })).send().await.result();
    assert_eq!(off["structuredContent"]["error"]["code"], "approval_required");
    let garbled = again(delete(&server, &key, &id), &asked, &name, accept(json!({ "decision": "maybe" })));
    assert_eq!(garbled.send().await.result()["resultType"], "input_required", "asked again");
    assert!(exists(&server, &key, &id).await);
}

#[tokio::test]
async fn a_client_without_forms_is_told_what_waits_and_goes_through_after_the_decision() {
    let server = McpTestServer::new();
    let key = server.key("ada", &["tasks:*"], None).await;
    let id = task(&server, &key).await;
    let plain = || server.call("delete-task", json!({ "taskId": id })).key(&key);
    let told = plain().send().await.result();
    assert_eq!(told["isError"], true);
    let waits = told["structuredContent"]["error"]["pending"].clone();
    assert!(waits["id"].is_string() && waits["expires_at"].is_string(), "{told}");
    assert!(told["content"][0]["text"].as_str().unwrap().contains(waits["id"].as_str().unwrap()));
    let request = waits["id"].as_str().unwrap().parse().unwrap();
    let person = server.app.runtime.users.ensure("ada").await.unwrap().id;
    let store = &server.app.runtime.store;
    store
        .write(move |unit| pending::decide(unit, request, &Decision::Approve, person))
        .await
        .map_err(|error: pending::DecideError| error.to_string())
        .unwrap();
    let gone = plain().send().await.result();
    assert!(gone.get("isError").is_none(), "{gone}");
}

fn asker() -> NewTool {
    let mut tool = native(
        query("pick-colour", open_object(), |_, _| async { unreachable!() }).definition,
        |_, context: ToolContext| async move {
            match context.answer {
                Some(answer) => done(json!({ "colour": answer })),
                None => Ending::NeedsInput(Question {
                    text: "Which colour?".into(),
                    choices: vec!["red".into(), "blue".into()],
                    schema: None,
                    timeout: 60.0,
                }),
            }
        },
    );
    tool.definition.category = toolroom_contract::Category::Mutation;
    tool.definition.idempotent = false;
    tool
}

#[tokio::test]
async fn a_question_to_a_person_takes_the_same_road() {
    let server = McpTestServer::with(vec![asker()]);
    let call = || server.call("pick-colour", json!({})).capable(json!({ "elicitation": { "form": {} } }));
    let asked = call().send().await.result();
    let (name, form) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(form["params"]["message"], "Which colour?");
    assert_eq!(form["params"]["requestedSchema"]["properties"]["answer"]["enum"], json!(["red", "blue"]));
    let wrong = again(call(), &asked, name, accept(json!({ "answer": "green" }))).send().await.result();
    assert_eq!(wrong["resultType"], "input_required");
    let done = again(call(), &asked, name, accept(json!({ "answer": "blue" }))).send().await.result();
    assert_eq!(done["structuredContent"]["data"], json!({ "colour": "blue" }));
}

#[tokio::test]
async fn blocks_that_a_tool_answers_with_are_passed_on_as_they_are() {
    let blocks = vec![
        json!({ "type": "text", "text": "a picture", "vendor": { "kept": true } }),
        json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" }),
        json!({ "type": "resource_link", "uri": "x:y", "name": "y" }),
    ];
    let sent = blocks.clone();
    let server = McpTestServer::with(vec![query("show-picture", open_object(), move |_, _| {
        let blocks = sent.clone();
        async move { Ending::Done(Answer::new(json!({ "shown": 1 })).unwrap().with_content(blocks)) }
    })]);
    let result = server.call("show-picture", json!({})).send().await.result();
    assert_eq!(result["content"], json!(blocks));
    assert_eq!(result["structuredContent"]["data"], json!({ "shown": 1 }));
    assert!(result["structuredContent"].get("content").is_none(), "nothing is sent twice");
}
