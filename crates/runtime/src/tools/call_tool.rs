//! `call-tool`: call a tool by name, for clients that see only a few tools.
//!
//! It has no handler: the resolve step turns the call into the call that it names, so that the named
//! tool's permissions, schema, limits and journal row apply, and nothing else.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolroom_contract::definition::{Example, Varies};
use toolroom_contract::handler::schema_of;
use toolroom_contract::{ResponseTime, ToolDefinition};

use crate::catalogue::{Executor, NewTool};

/// What it is called.
pub(crate) const NAME: &str = "call-tool";

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
        parameters: schema_of::<Params>(),
        output: Some(json!({ "type": "object" })),
        response_time: ResponseTime::Slow,
        examples: vec![
            Example::new(
                "Ask how the service is",
                &json!({ "name": "get-status", "params": {} }),
                json!({ "status": "ok", "version": "0.1.0", "uptime": 3600, "tools": 17, "problems": [] }),
            )
            .varying([
                ("/version", Varies::String),
                ("/uptime", Varies::Number),
                ("/tools", Varies::Number),
            ]),
        ],
        tags: vec!["registry".into(), "discovery".into()],
        ..ToolDefinition::mutation(
            NAME,
            "Calls another tool by name. Use it to run, invoke or execute a function that is not in your own \
             list of tools, for example one that search-tools found. Returns what that tool returns, under \
             that tool's permissions, limits and approval.",
        )
    }
}
