//! Profile `executor`: what goes in, and the ToolResponse that comes out.

use std::sync::Arc;

use serde_json::{Value, json};
use toolroom_contract::confidence::Source;
use toolroom_contract::error::{Outcome, PendingKind, PendingNotice};
use toolroom_contract::ids::PendingId;
use toolroom_contract::{Content, ErrorCode, FieldError, ToolDefinition, ToolError};
use toolroom_profiles::{Origin, Pick, Tools, built_in, is_failure};

use crate::published::{PublishedClient, client, failed as published_failure, result};

fn answered(client: &PublishedClient, data: Value) -> Value {
    serde_json::from_str(&client.answer(json!({}), data)).unwrap()
}

fn failed(client: &PublishedClient, error: &ToolError) -> Value {
    serde_json::from_str(&client.failure(json!({}), error)).unwrap()
}

#[test]
fn published_parameters_become_canonical_ones() {
    for (tool, published, canonical) in [
        ("web_search", json!({"query": " x ", "max_results": 3}), json!({"query": "x", "maxResults": 3})),
        ("web_search", json!({"query": "x"}), json!({"query": "x"})),
        (
            "code_execution",
            json!({"code": " x", "language": "shell"}),
            json!({"code": " x", "language": "shell"}),
        ),
        (
            "request_human_input",
            json!({"question": "Which?", "choices": ["a", "b"]}),
            json!({"question": "Which?", "choices": ["a", "b"]}),
        ),
    ] {
        assert_eq!(client("executor", tool).input(published).unwrap().params, canonical);
    }
    for (tool, bad) in [
        ("web_search", json!({"query": "  "})),
        ("web_search", json!({"query": "x", "max_results": 21})),
        ("code_execution", json!({"code": "x", "language": "perl"})),
        ("code_execution", json!({"code": "x", "files": []})),
        ("request_human_input", json!({"choices": ["a"]})),
    ] {
        let response: Value = serde_json::from_str(&client("executor", tool).refusal(bad)).unwrap();
        assert_eq!(
            (&response["status"], &response["error"]["code"]),
            (&json!("error"), &json!("InvalidInput"))
        );
        assert!(response["data"]["details"][0]["pointer"].is_string(), "{response}");
    }
}

#[test]
fn a_success_has_status_data_and_execution_id_in_that_order() {
    let response = answered(&client("executor", "request_human_input"), json!({"answer": "blue"}));
    assert_eq!(response, json!({"status": "success", "data": {"answer": "blue"}, "execution_id": null}));
    assert_eq!(response.as_object().unwrap().keys().collect::<Vec<_>>(), ["status", "data", "execution_id"]);
    assert!(!is_failure(&response));
}

#[test]
fn blocks_that_are_no_text_are_in_the_data_where_nothing_travels_beside_it() {
    let client = client("executor", "request_human_input");
    let image = json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" });
    let blocks = [json!({ "type": "text", "text": "a picture" }), image.clone()];
    for (data, with_image) in [
        (json!({ "text": "a picture" }), json!({ "text": "a picture", "content": [image] })),
        (json!({ "content": 1 }), json!({ "value": { "content": 1 }, "content": [image] })),
        (json!([1]), json!({ "value": [1], "content": [image] })),
    ] {
        let mut picture = result("data", data.clone());
        picture.content = Some(Arc::new(Content::of(&blocks)));
        assert_eq!(client.publish(&json!({}), &picture)["data"], with_image);
        assert_eq!(client.publish_to(&json!({}), &picture, false)["data"], data, "they travel on their own");
        picture.content = Some(Arc::new(Content::of(&blocks[..1])));
        assert_eq!(client.publish(&json!({}), &picture)["data"], data, "the text is there already");
    }
    let mut broken = published_failure(&ToolError::new(ErrorCode::ToolExecutionError, "It broke."));
    broken.content = Some(Arc::new(Content::of(&blocks)));
    assert_eq!(client.publish(&json!({}), &broken)["data"], json!({ "content": [image] }));
}

#[test]
fn failed_code_says_that_its_output_was_cut() {
    let client = client("executor", "code_execution");
    let ran = json!({"stdout": "a", "stderr": "b", "exitCode": 3, "files": [], "truncated": true});
    assert_eq!(answered(&client, ran.clone())["data"]["truncated"], true);
    let late = ToolError::new(ErrorCode::ToolTimeout, "Too late.").with_data(ran);
    assert_eq!(failed(&client, &late)["data"]["truncated"], true);
}

#[test]
fn code_that_fails_is_an_error_with_what_it_wrote() {
    let client = client("executor", "code_execution");
    let ran = |code: i32| json!({"stdout": "a", "stderr": "b", "exitCode": code, "files": [], "truncated": false, "sandbox": {"level": "full"}});
    let error = ToolError::new(ErrorCode::ToolExecutionError, "The code failed with exit code 3: b")
        .with_data(ran(3));
    let response = failed(&client, &error);
    assert_eq!(
        response,
        json!({
            "status": "error", "data": {"stdout": "a", "stderr": "b", "exit_code": 3},
            "message": "The code failed with exit code 3: b", "execution_id": null,
            "error": {"code": "ToolExecutionError", "retryable": false}
        })
    );
    assert!(is_failure(&response));
    let response = answered(&client, ran(0));
    assert_eq!((&response["status"], &response["data"]["exit_code"]), (&json!("success"), &json!(0)));
    assert_eq!(response["data"]["sandbox"]["level"], "full");
    assert!(response["data"].get("exitCode").is_none());
    let late = ToolError::new(ErrorCode::ToolTimeout, "The code did not end within 1 s.")
        .with_data(json!({"stdout": "so far", "stderr": "", "exitCode": 137}));
    let response = failed(&client, &late);
    assert_eq!(response["data"], json!({"stdout": "so far", "stderr": "", "exit_code": 137}));
    assert_eq!(response["error"]["code"], "ToolTimeout");
}

#[test]
fn a_wait_for_a_person_is_pending_with_what_it_takes_to_go_on() {
    let mut error = ToolError::new(ErrorCode::ApprovalRequired, "A person must answer a question first.");
    let id = PendingId::new();
    error.pending = Some(Box::new(PendingNotice {
        id,
        kind: PendingKind::Question,
        expires_at: "2026-11-15T12:00:00Z".parse().unwrap(),
        prompt: json!({"message": "Which?"}),
        server: None,
    }));
    let response = failed(&client("executor", "request_human_input"), &error);
    assert_eq!(response["status"], "pending");
    assert_eq!(
        response["data"]["pending"],
        json!({"id": id, "kind": "question", "expires_at": "2026-11-15T12:00:00Z", "prompt": {"message": "Which?"}})
    );
    assert!(response["message"].as_str().unwrap().contains(&id.to_string()));
    assert!(response.get("error").is_none() && !is_failure(&response));
}

#[test]
fn every_error_has_the_code_that_executors_know() {
    let client = client("executor", "web_search");
    for (canonical, known) in [
        (ErrorCode::InvalidInput, "InvalidInput"),
        (ErrorCode::NotFound, "NotFound"),
        (ErrorCode::ToolNotFound, "ToolNotFound"),
        (ErrorCode::ToolRemoved, "ToolNotFound"),
        (ErrorCode::VersionConflict, "Conflict"),
        (ErrorCode::IdempotencyConflict, "Conflict"),
        (ErrorCode::AlreadyExists, "Conflict"),
        (ErrorCode::BreakingChange, "Conflict"),
        (ErrorCode::InProgress, "Conflict"),
        (ErrorCode::ApprovalDenied, "Denied"),
        (ErrorCode::DefinitionPending, "Denied"),
        (ErrorCode::ApprovalExpired, "Denied"),
        (ErrorCode::RateLimited, "RateLimited"),
        (ErrorCode::Busy, "ServiceUnavailable"),
        (ErrorCode::ToolTimeout, "ToolTimeout"),
        (ErrorCode::ToolExecutionError, "ToolExecutionError"),
        (ErrorCode::InvalidOutput, "InvalidOutput"),
        (ErrorCode::OutputTooLarge, "ToolExecutionError"),
        (ErrorCode::Cancelled, "Cancelled"),
        (ErrorCode::ServiceUnavailable, "ServiceUnavailable"),
        (ErrorCode::JournalUnavailable, "ServiceUnavailable"),
        (ErrorCode::NotConfigured, "NotConfigured"),
        (ErrorCode::Internal, "ToolExecutionError"),
    ] {
        let response = failed(&client, &ToolError::new(canonical, "why"));
        assert_eq!(
            (&response["status"], &response["error"]["code"]),
            (&json!("error"), &json!(known)),
            "{canonical}"
        );
        assert_eq!(response["message"], "why");
    }
    let mut error = ToolError::new(ErrorCode::RateLimited, "Later.").retry_after_ms(1500);
    error.outcome = Some(Outcome::Unknown);
    let response = failed(&client, &error);
    assert_eq!(
        response["error"],
        json!({"code": "RateLimited", "retryable": false, "outcome": "unknown", "retryAfter": 1500})
    );
}

#[test]
fn bad_fields_are_in_the_data() {
    let detail = |pointer: &str| FieldError {
        pointer: pointer.into(),
        message: "is required".into(),
        expected: None,
        example: None,
    };
    let error = ToolError::new(ErrorCode::InvalidInput, "2 fields are wrong.")
        .with_detail(detail("/a"))
        .with_detail(detail("/b"));
    let response = failed(&client("executor", "web_search"), &error);
    assert_eq!(response["data"]["details"][1]["pointer"], "/b");
}

#[test]
fn tools_of_others_are_taken_under_their_own_names_and_ours_are_not() {
    let profile = built_in().into_iter().find(|one| one.name == "executor").unwrap();
    let Tools::Picked(picked) = profile.tools else { panic!("the catalogue changes") };
    let mut tool = ToolDefinition::query("get_weather", "Says what the weather is.");
    tool.parameters = json!({"type": "object"});
    assert_eq!(picked.name(&tool, from(Source::Script)), Some("get_weather"));
    let binding = picked.binding("get_weather", &tool, Source::Script).unwrap();
    assert_eq!((&*binding.name, &*binding.canonical), ("get_weather", "get_weather"));
    assert_eq!(binding.parameters, tool.parameters);
    assert!(picked.name(&tool, from(Source::Upstream)).is_some());
    assert!(picked.name(&tool, from(Source::Native)).is_none());
    tool.name = "search-web".into();
    assert!(picked.name(&tool, from(Source::Script)).is_none(), "it is listed already");
}

fn from(source: Source) -> Origin<'static> {
    Origin { source, server: None }
}

#[test]
fn a_pick_takes_by_tag_server_and_name_with_any_letters_for_a_star() {
    let mut tool = ToolDefinition::query("files__read_text", "Reads a text.");
    tool.tags = vec!["weather".into()];
    let origin = Origin { source: Source::Upstream, server: Some("files") };
    let takes = |pick: Pick| pick.takes(&tool, origin);
    assert!(takes(Pick::Tag("weather".into())) && !takes(Pick::Tag("news".into())));
    assert!(takes(Pick::Server("files".into())) && !takes(Pick::Server("file".into())));
    for pattern in ["files__read_text", "*", "files__*", "*_text", "f*read*t", "files__read_text*"] {
        assert!(takes(Pick::Name(pattern.into())), "{pattern}");
    }
    for pattern in ["files__read", "read*", "*read", "files__read_text*t", "f*text*read", ""] {
        assert!(!takes(Pick::Name(pattern.into())), "{pattern}");
    }
}
