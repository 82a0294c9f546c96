//! A validation that takes long leaves the threads that answer requests alone.

use std::sync::Mutex;

use serde_json::{Value, json};
use toolroom_contract::ErrorCode;

use crate::test_runtime::{TestRuntime, data, error};
use crate::tools::{done, query};

/// A schema that refers to itself three times at every level of the value.
fn choices_in_choices() -> Value {
    let choice = json!({ "properties": { "a": { "$ref": "#/$defs/n" } } });
    json!({
        "type": "object",
        "properties": { "a": { "description": "A tree.", "$ref": "#/$defs/n" } },
        "$defs": { "n": { "type": "object", "anyOf": [choice.clone(), choice.clone(), choice] } }
    })
}

/// It is wrong at the bottom, in as many ways as there are ways through the schema.
fn deep() -> Value {
    (0..61).fold(json!(1), |inner, _| json!({ "a": inner }))
}

/// One thread answers both calls: the plain one ends first only if the other has left that thread.
async fn plain_ends_before(
    runtime: &TestRuntime,
    costly: &'static str,
    params: Value,
) -> toolroom_runtime::Reply {
    let who = runtime.owner().await;
    let ended = Mutex::new(Vec::new());
    let call = async |name, params| {
        let reply = runtime.call(&who, name, params).await;
        ended.lock().unwrap().push(name);
        reply
    };
    let (reply, plain) = tokio::join!(call(costly, params), call("get-plain", json!({})));
    assert_eq!(data(&plain)["ok"], true);
    assert_eq!(*ended.lock().unwrap(), ["get-plain", costly]);
    reply
}

#[tokio::test]
async fn parameters_that_take_many_steps_to_check_hold_up_no_other_call() {
    let costly = query("get-deep").is(|tool| {
        tool.parameters = choices_in_choices();
        tool.parameters["additionalProperties"] = json!(false);
    });
    let runtime = TestRuntime::new(vec![costly.build(), query("get-plain").build()]);
    let reply = plain_ends_before(&runtime, "get-deep", deep()).await;
    let refused = error(&reply, ErrorCode::InvalidInput);
    assert!(refused.message.contains("more ways than can be listed"), "{}", refused.message);
}

#[tokio::test]
async fn an_output_that_takes_many_steps_to_check_holds_up_no_other_call() {
    let costly = query("get-deep")
        .is(|tool| tool.output = Some(choices_in_choices()))
        .runs(|_, _| async { done(deep()) });
    let runtime = TestRuntime::new(vec![costly.build(), query("get-plain").build()]);
    let reply = plain_ends_before(&runtime, "get-deep", json!({})).await;
    let refused = error(&reply, ErrorCode::InvalidOutput);
    assert!(refused.message.contains("breaks its own contract"), "{}", refused.message);
}
