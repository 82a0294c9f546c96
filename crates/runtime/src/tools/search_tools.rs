//! `search-tools`: find a tool by what it does.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::definition::{Example, NextAction, Varies};
use toolroom_contract::handler::{NativeTool, Reply, Shapes, Typed};
use toolroom_contract::{Category, HintsDraft, Priority, ToolContext, ToolDefinition, ToolError};

use super::Handle;
use crate::catalogue::{Executor, NewTool};
use crate::search;

/// What it is called.
pub(crate) const NAME: &str = "search-tools";

pub(super) fn tool(handle: Handle) -> NewTool {
    NewTool { definition: definition(), executor: Executor::Native(Arc::new(Typed(SearchTools(handle)))) }
}

struct SearchTools(Handle);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// What the tool should do, in a few words.
    #[schemars(length(min = 1, max = 500))]
    query: String,
    /// At most this many tools (10 if not given).
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

fn ten() -> usize {
    10
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The tools that fit, best first, and others behind them up to the limit.
    tools: Vec<Found>,
    /// How many there are, beyond the limit too.
    total: usize,
}

#[derive(Serialize, JsonSchema)]
struct Found {
    name: String,
    description: String,
    category: Category,
    /// How well it fits, 0 to 1.
    score: f64,
}

impl NativeTool for SearchTools {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let runtime = self.0.runtime()?;
        let snapshot = runtime.registry.snapshot();
        let view = snapshot.view(&context.caller, &context.profile, runtime.today());
        let hits = view.map(|view| search::search(&view, &params.query, params.limit)).unwrap_or_default();
        let total = hits.len();
        let best = hits.first().map_or(0.0, |hit| hit.score);
        let tools: Vec<Found> = hits
            .into_iter()
            .take(params.limit)
            .map(|hit| Found {
                name: hit.name,
                description: hit.tool.definition().description.clone(),
                category: hit.tool.definition().category,
                score: (hit.score * 100.0).round() / 100.0,
            })
            .collect();
        let mut hints = HintsDraft::default().matched(best).complete(tools.len(), total);
        if tools.is_empty() {
            hints.context_needed.push("other words for what the tool should do".into());
        }
        for found in tools.iter().take(3) {
            hints = hints.related("tool", &found.name, &found.name, found.score);
        }
        Ok(Reply::new(Output { tools, total }, hints))
    }
}

fn definition() -> ToolDefinition {
    ToolDefinition {
        parameters: Shapes::<SearchTools>::parameters(),
        output: Some(Shapes::<SearchTools>::output()),
        examples: vec![
            Example::new(
                "Find the tool that tells how the service is",
                &json!({ "query": "service status", "limit": 1 }),
                json!({
                    "tools": [{
                        "name": "get-status", "description": super::get_status::definition().description,
                        "category": "query", "score": 0.86
                    }],
                    "total": 5
                }),
            )
            .varying([("/tools/0/score", Varies::Number), ("/total", Varies::Number)]),
        ],
        tags: vec!["registry".into(), "discovery".into()],
        next_actions: vec![
            NextAction::new("describe-tool", Priority::High, "Read the contract of the best match.")
                .with_from("name", "/data/tools/0/name"),
        ],
        ..ToolDefinition::query(
            NAME,
            "Finds tools by what they do. Use it to discover which capabilities, functions or actions there \
             are, when you know what you want done and not which tool does it, for example \"delete a task\". \
             Returns the tools that you may call, best first.",
        )
    }
}
