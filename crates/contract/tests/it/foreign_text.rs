//! Readers of what callers and other servers send, with texts that are made to cost much.

use serde_json::{Value, json};
use toolroom_contract::context::ContextFields;
use toolroom_work::fuzz::Target;

#[test]
fn promise_any_context_takes_work_that_grows_with_its_length_alone_and_every_wrong_field_is_named() {
    let target = Target {
        name: "the context of a call",
        words: &[
            "userId",
            "traceId",
            "timestamp",
            "timezone",
            "metadata",
            "approvalId",
            "dryRun",
            "idempotencyKey",
            "~",
            "/",
            "2026-11-20T15:00:00Z",
            "Europe/Berlin",
            "4bf92f3577b34da6a3ce929d0e0e4736",
            "x",
        ],
        sample: 2_000,
        longest: 20_000,
        fixed: 100,
        per_byte: 4,
    };
    target.run(|text| {
        let names: Vec<&str> = text.split(' ').collect();
        let context: serde_json::Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), json!(text.get(..60).unwrap_or(text)))).collect();
        let count = context.len();
        match ContextFields::read(Value::Object(context)) {
            Ok(_) => {}
            Err(details) => assert!(!details.is_empty() && details.len() <= count),
        }
    });
}
