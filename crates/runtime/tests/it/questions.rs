//! A tool that asks a person in the middle of its call.

use std::sync::Arc;

use serde_json::json;
use toolroom_contract::error::PendingKind;
use toolroom_contract::handler::Question;
use toolroom_contract::{ClientInput, ClientRequest, ClientSide, Ending, ErrorCode};
use toolroom_store::pending::Decision;

use crate::test_runtime::{TestRuntime, data, error};
use crate::tools::{Tool, done, mutation};

fn asks(tool: Tool) -> Tool {
    tool.runs(|_, context| async move {
        match context.answer {
            Some(answer) => done(json!({ "colour": answer })),
            None => Ending::NeedsInput(Question {
                text: "Which colour?".into(),
                choices: vec!["red".into(), "blue".into()],
                schema: None,
                timeout: 60.0,
            }),
        }
    })
}

#[tokio::test]
async fn the_handler_sees_the_answer_of_a_person_once() {
    let runtime = TestRuntime::new(vec![asks(mutation("ask-colour")).build()]);
    let who = runtime.owner().await;
    let reply = runtime.call(&who, "ask-colour", json!({ "n": 1 })).await;
    let notice = error(&reply, ErrorCode::ApprovalRequired).pending.clone().unwrap();
    assert_eq!(notice.kind, PendingKind::Question);
    assert_eq!(notice.prompt["message"], "Which colour?");
    assert_eq!(notice.prompt["choices"], json!(["red", "blue"]));
    runtime.decide(notice.id, Decision::Answer(json!("blue"))).await;
    let again = || runtime.ask(&who, "ask-colour").params(json!({ "n": 1 })).approval(notice.id).send();
    assert_eq!(*data(&again().await), json!({ "colour": "blue" }));
    error(&again().await, ErrorCode::ApprovalExpired);
}

#[tokio::test]
async fn the_same_call_finds_its_answer_without_the_matters_id_and_asks_only_once() {
    let runtime = TestRuntime::new(vec![asks(mutation("ask-colour")).build()]);
    let who = runtime.owner().await;
    let call = || runtime.call(&who, "ask-colour", json!({ "n": 1 }));
    let first = error(&call().await, ErrorCode::ApprovalRequired).pending.clone().unwrap();
    let second = error(&call().await, ErrorCode::ApprovalRequired).pending.clone().unwrap();
    assert_eq!(first.id, second.id, "a question that stands is not put twice");
    runtime.decide(first.id, Decision::Answer(json!("blue"))).await;
    let other = runtime.call(&who, "ask-colour", json!({ "n": 2 })).await;
    error(&other, ErrorCode::ApprovalRequired);
    assert_eq!(*data(&call().await), json!({ "colour": "blue" }));
    let anew = error(&call().await, ErrorCode::ApprovalRequired).pending.clone().unwrap();
    assert_ne!(anew.id, first.id, "an answer is used once");
}

#[tokio::test]
async fn a_tool_that_asks_its_client_ends_the_call_and_sees_the_answers_when_it_is_made_again() {
    let tool = mutation("ask-client").runs(|_, context| async move {
        let client = context.client.unwrap_or_default();
        match client.responses.get("name") {
            Some(name) => done(json!({ "name": name, "state": client.state })),
            None => Ending::NeedsClient(ClientInput {
                requests: [("name".to_owned(), ClientRequest { method: "x/ask".into(), params: json!({}) })]
                    .into(),
                state: Some("s".into()),
            }),
        }
    });
    let runtime = TestRuntime::new(vec![tool.build()]);
    let who = runtime.owner().await;
    let reply = runtime.ask(&who, "ask-client").key("k").send().await;
    error(&reply, ErrorCode::InputRequired);
    let asked = reply.asks.unwrap();
    assert_eq!(asked.requests["name"].method, "x/ask");
    assert_eq!(runtime.row(reply.execution_id).status.as_str(), "pending");
    let mut again = runtime.ask(&who, "ask-client").key("k");
    let responses = json!({ "name": "Ada" }).as_object().unwrap().clone();
    again.request.context.client =
        Some(Arc::new(ClientSide { responses, state: asked.state.clone(), ..ClientSide::default() }));
    assert_eq!(*data(&again.send().await), json!({ "name": "Ada", "state": "s" }));
}

#[tokio::test]
async fn an_answer_is_bound_to_the_parameters_as_they_are_resolved() {
    let tool =
        asks(mutation("ask-colour")).resolves(|params| json!({ "n": params["n"].as_u64().unwrap() / 10 }));
    let runtime = TestRuntime::new(vec![tool.build()]);
    let who = runtime.owner().await;
    let reply = runtime.call(&who, "ask-colour", json!({ "n": 11 })).await;
    let id = error(&reply, ErrorCode::ApprovalRequired).pending.as_ref().unwrap().id;
    runtime.decide(id, Decision::Answer(json!("red"))).await;
    let other = runtime.ask(&who, "ask-colour").params(json!({ "n": 21 })).approval(id).send().await;
    error(&other, ErrorCode::NotFound);
    let same = runtime.ask(&who, "ask-colour").params(json!({ "n": 12 })).approval(id).send().await;
    assert_eq!(data(&same)["colour"], "red");
}

#[tokio::test]
async fn a_question_frees_the_idempotency_key_until_it_is_answered() {
    let runtime = TestRuntime::new(vec![asks(mutation("ask-colour")).build()]);
    let who = runtime.owner().await;
    let reply = runtime.ask(&who, "ask-colour").key("k").send().await;
    let id = error(&reply, ErrorCode::ApprovalRequired).pending.as_ref().unwrap().id;
    runtime.decide(id, Decision::Answer(json!("red"))).await;
    data(&runtime.ask(&who, "ask-colour").key("k").approval(id).send().await);
    assert!(runtime.ask(&who, "ask-colour").key("k").send().await.result.metadata.replayed);
}

#[tokio::test]
async fn a_question_that_a_person_declines_is_denied() {
    let runtime = TestRuntime::new(vec![asks(mutation("ask-colour")).build()]);
    let who = runtime.owner().await;
    let reply = runtime.call(&who, "ask-colour", json!({})).await;
    let id = error(&reply, ErrorCode::ApprovalRequired).pending.as_ref().unwrap().id;
    runtime.decide(id, Decision::Deny(None)).await;
    error(&runtime.ask(&who, "ask-colour").approval(id).send().await, ErrorCode::ApprovalDenied);
}
