//! A profile's own shape, and on whose behalf a call is made.

use std::sync::Arc;

use serde_json::{Value, json};
use toolroom_contract::ToolError;
use toolroom_contract::{ErrorCode, Principal};
use toolroom_profiles::{Binding, Caller, Input, Profile, Published, Show, Tools};

use crate::test_runtime::{TestRuntime, data, error};
use crate::tools::{done, mutation, query};

fn input(params: &Value, _: &Caller<'_>) -> Result<Input, ToolError> {
    let mut input = Input::of(json!({ "text": params["note"] }));
    input.user_key = params["user_id"].as_str().map(str::to_owned);
    if params["note"] == "read" {
        input.params = json!({});
        input.tool = Some("get-note");
    }
    Ok(input)
}

fn output(call: &Published<'_>) -> Value {
    match call.result.error() {
        None => {
            json!({ "success": true, "user": &*call.user.key, "text": call.result.data().unwrap()["text"] })
        }
        Some(error) => json!({ "success": false, "why": error.code.as_str() }),
    }
}

fn published() -> Profile {
    Profile {
        name: "published".into(),
        description: "A shape of its own.".into(),
        requires_approval: false,
        show: Show::List,
        chat: Default::default(),
        tools: Tools::Listed(vec![Binding {
            name: "put_note".into(),
            canonical: "set-note".into(),
            description: "Puts a note.".into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "note": { "type": "string", "minLength": 1, "maxLength": 10 },
                    "user_id": { "type": "string" }
                },
                "required": ["note"],
                "additionalProperties": false
            }),
            plain: None,
            trimmed: &["note"],
            input,
            output,
        }]),
    }
}

fn runtime() -> TestRuntime {
    TestRuntime::with_profiles(
        vec![
            mutation("set-note")
                .params(
                    json!({ "text": { "type": "string", "description": "The text.", "maxLength": 20 } }),
                    &["text"],
                    json!({ "text": "a" }),
                )
                .destructive()
                .runs(|params, context| async move {
                    done(json!({ "text": params["text"], "user": context.user.unwrap().id.0 }))
                })
                .build(),
            query("get-note")
                .needs("archive:read")
                .runs(|_, context| async move { done(json!({ "user": context.user.unwrap().id.0 })) })
                .build(),
        ],
        vec![published()],
    )
}

fn put(runtime: &TestRuntime, who: &Arc<Principal>, params: Value) -> crate::test_runtime::Ask {
    runtime.ask(who, "put_note").profile("published").params(params)
}

#[tokio::test]
async fn a_call_goes_through_the_published_schema_and_both_maps() {
    let runtime = runtime();
    let who = runtime.owner().await;
    // Destructive, and without approval where the published contract acts at once.
    let reply = put(&runtime, &who, json!({ "note": "  hello  " })).send().await;
    assert_eq!(data(&reply)["text"], "hello");
    assert_eq!(reply.published.unwrap(), json!({ "success": true, "user": "owner", "text": "hello" }));
    let row = runtime.row(reply.execution_id);
    assert_eq!((row.tool.as_str(), row.profile.as_str()), ("put_note", "published"));
    // Twelve characters, of which the outer two do not count; then one too many.
    data(&put(&runtime, &who, json!({ "note": " 0123456789 " })).send().await);
    error(&put(&runtime, &who, json!({ "note": "0123456789x" })).send().await, ErrorCode::InvalidInput);
    error(&put(&runtime, &who, json!({ "note": "   " })).send().await, ErrorCode::InvalidInput);
}

#[tokio::test]
async fn a_refusal_by_the_published_schema_is_journaled_and_goes_through_the_output_map() {
    let runtime = runtime();
    let who = runtime.owner().await;
    let reply = put(&runtime, &who, json!({ "text": "canonical" })).send().await;
    let body = error(&reply, ErrorCode::InvalidInput);
    assert!(body.details.iter().any(|detail| detail.pointer == "/note"));
    assert_eq!(reply.published.as_ref().unwrap(), &json!({ "success": false, "why": "invalid_input" }));
    let row = runtime.row(reply.execution_id);
    assert_eq!((row.code.as_deref(), row.input.get()), (Some("invalid_input"), r#"{"text":"canonical"}"#));
}

#[tokio::test]
async fn a_profile_shows_only_its_own_names() {
    let runtime = runtime();
    let who = runtime.owner().await;
    for (profile, name) in [("published", "set-note"), ("default", "put_note"), ("no-such", "set-note")] {
        let reply = runtime.ask(&who, name).profile(profile).params(json!({ "note": "a" })).send().await;
        error(&reply, ErrorCode::ToolNotFound);
        assert!(reply.published.is_none());
    }
}

#[tokio::test]
async fn a_forbidden_published_tool_is_answered_like_an_unknown_one() {
    let runtime = runtime();
    let nobody = runtime.user("nobody", &[]).await;
    let reply = put(&runtime, &nobody, json!({ "note": "a" })).send().await;
    error(&reply, ErrorCode::ToolNotFound);
    assert!(reply.published.is_none());
    assert_eq!(runtime.row(reply.execution_id).code.as_deref(), Some("permission_denied"));
}

#[tokio::test]
async fn the_permission_of_the_tool_that_a_map_chooses_is_needed_too() {
    let runtime = runtime();
    let writer = runtime.user("writer", &["notes:write"]).await;
    let reply = put(&runtime, &writer, json!({ "note": "read" })).send().await;
    error(&reply, ErrorCode::ToolNotFound);
    assert_eq!(runtime.row(reply.execution_id).code.as_deref(), Some("permission_denied"));
    let owner = runtime.owner().await;
    data(&put(&runtime, &owner, json!({ "note": "read" })).send().await);
}

#[tokio::test]
async fn a_key_that_is_confined_to_profiles_reaches_no_other() {
    let runtime = runtime();
    let mut confined = Principal::clone(&*runtime.owner().await);
    confined.profiles = Some(vec!["published".into()]);
    let confined = Arc::new(confined);
    data(&put(&runtime, &confined, json!({ "note": "a" })).send().await);
    error(&runtime.call(&confined, "get-note", json!({})).await, ErrorCode::ToolNotFound);
    confined_to_nothing(&runtime).await;
}

async fn confined_to_nothing(runtime: &TestRuntime) {
    let mut nowhere = Principal::clone(&*runtime.owner().await);
    nowhere.profiles = Some(Vec::new());
    let reply = put(runtime, &Arc::new(nowhere), json!({ "note": "a" })).send().await;
    error(&reply, ErrorCode::ToolNotFound);
}

#[tokio::test]
async fn naming_another_user_without_act_as_is_not_found_whether_they_exist_or_not() {
    let runtime = runtime();
    runtime.user("bob", &[]).await;
    let ann = runtime.user("ann", &["notes:*", "archive:*"]).await;
    for name in ["bob", "nobody-knows", ""] {
        for reply in [
            put(&runtime, &ann, json!({ "note": "a", "user_id": name })).send().await,
            runtime.ask(&ann, "get-note").acting_as(name).send().await,
        ] {
            let body = error(&reply, ErrorCode::NotFound);
            assert_eq!(body.message, "You have nothing with that name.");
        }
    }
    data(&put(&runtime, &ann, json!({ "note": "a", "user_id": "ann" })).send().await);
    data(&runtime.ask(&ann, "get-note").acting_as("ann").send().await);
}

#[tokio::test]
async fn with_act_as_an_unknown_user_reads_empty_and_the_first_write_makes_them() {
    let runtime = runtime();
    let admin = runtime.user("admin", &["notes:*", "archive:*", "users:act-as"]).await;
    let exists = async || {
        let found: Result<_, toolroom_store::StoreError> =
            runtime.runtime.store.read(|unit| toolroom_store::users::find(unit, "carol")).await;
        found.unwrap().map(|user| user.id.0)
    };
    let read = runtime.ask(&admin, "get-note").acting_as("carol").send().await;
    assert_eq!((data(&read)["user"].as_i64(), exists().await), (Some(0), None));
    let wrote = put(&runtime, &admin, json!({ "note": "a", "user_id": "carol" })).send().await;
    assert_eq!(wrote.published.as_ref().unwrap()["user"], "carol");
    let id = exists().await.unwrap();
    assert_eq!(data(&wrote)["user"], id);
    let read = runtime.ask(&admin, "get-note").acting_as("carol").send().await;
    assert_eq!(data(&read)["user"], id);
    // The row names whose call it was, and who made it.
    let row = runtime.row(read.execution_id);
    assert_eq!((row.user.as_str(), row.by.as_deref()), ("carol", Some("admin")));
    error(&runtime.ask(&admin, "get-note").acting_as("bad\nname").send().await, ErrorCode::NotFound);
}
