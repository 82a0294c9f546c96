//! `describe-tool`: the whole contract of one tool.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::definition::{Example, NextAction};
use toolroom_contract::handler::{NativeTool, Reply, Shapes, Typed};
use toolroom_contract::{
    ErrorCode, HintsDraft, Priority, SuggestedAction, ToolContext, ToolDefinition, ToolError,
};

use super::Handle;
use crate::catalogue::{Executor, NewTool};
use crate::search;

pub(super) fn tool(handle: Handle) -> NewTool {
    NewTool { definition: definition(), executor: Executor::Native(Arc::new(Typed(DescribeTool(handle)))) }
}

struct DescribeTool(Handle);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// The tool's name, as a list or a search gave it.
    #[schemars(length(min = 1, max = 64))]
    name: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The tool's definition.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    tool: Arc<ToolDefinition>,
}

impl NativeTool for DescribeTool {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let runtime = self.0.runtime()?;
        let snapshot = runtime.registry.snapshot();
        let view = snapshot.view(&context.caller, &context.profile, runtime.today());
        match view.and_then(|view| search::describe(&view, &params.name)) {
            Some(tool) => {
                let hints = HintsDraft::default().related("tool", &tool.name, &tool.name, 1.0);
                Ok(Reply::new(Output { tool }, hints))
            }
            None => Err(ToolError::new(ErrorCode::NotFound, "Unknown tool, or not allowed for you.")
                .with_next(
                    SuggestedAction::new("search-tools", Priority::High)
                        .described("Find the tool by what it does.")
                        .with("query", params.name.replace(['-', '_'], " ")),
                )),
        }
    }
}

fn definition() -> ToolDefinition {
    ToolDefinition {
        parameters: Shapes::<DescribeTool>::parameters(),
        output: Some(Shapes::<DescribeTool>::output()),
        examples: vec![Example::new(
            "Read the contract of get-status",
            &json!({ "name": "get-status" }),
            json!({ "tool": super::get_status::definition().published() }),
        )],
        tags: vec!["registry".into(), "discovery".into()],
        next_actions: vec![
            NextAction::new(
                "call-tool",
                Priority::Medium,
                "Call it, with parameters like those of its example.",
            )
            .with_from("name", "/data/tool/name")
            .with_from("params", "/data/tool/examples/0/params"),
        ],
        ..ToolDefinition::query(
            "describe-tool",
            "Shows the contract of one tool: the schema of its parameters and answer, permissions, limits, \
             examples. Use it to learn how a function is called and which arguments it takes, before you \
             call one that you do not know, for example one that search-tools found. Returns the tool's \
             definition.",
        )
    }
}
