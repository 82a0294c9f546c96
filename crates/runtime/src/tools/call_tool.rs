//! `call-tool`: call a tool by name, for clients that see only a few tools.
//!
//! It has no handler: the resolve step turns the call into the call that it names, so that the named
//! tool's permissions, schema, limits and journal row apply, and nothing else.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolroom_contract::definition::Example;
use toolroom_contract::handler::schema_of;
use toolroom_contract::{Category, ResponseTime, ToolDefinition};

use crate::catalogue::{Executor, NewTool};

pub(super) fn tool() -> NewTool {
    NewTool { definition: definition(), executor: Executor::Forward }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used: the resolve step reads the fields")]
struct Params {
    /// The tool to call.
    #[schemars(length(min = 1, max = 64))]
    name: String,
    /// Its parameters, as its contract says.
    #[serde(default)]
    params: Map<String, Value>,
}

fn definition() -> ToolDefinition {
    ToolDefinition {
        name: "call-tool".into(),
        description:
            "Calls another tool by name. Use it when a tool that you found with search-tools is not in \
                      your own list of tools. Returns what that tool returns, under that tool's permissions, \
                      limits and approval."
                .into(),
        version: semver::Version::new(1, 0, 0),
        permissions: Vec::new(),
        parameters: schema_of::<Params>(),
        output: Some(json!({ "type": "object" })),
        category: Category::Mutation,
        response_time: ResponseTime::Slow,
        cacheable: false,
        cache_ttl: None,
        idempotent: false,
        examples: vec![Example {
            description: "Ask how the service is".into(),
            params: json!({ "name": "get-status", "params": {} }).as_object().cloned().unwrap_or_default(),
            expected_result: json!({ "status": "ok", "<more>": "<any>" }),
        }],
        tags: vec!["registry".into(), "discovery".into()],
        rate_limit: None,
        deprecated: None,
        timeout: None,
        parallel: None,
        destructive: false,
        next_actions: Vec::new(),
        derived: Vec::new(),
    }
}
