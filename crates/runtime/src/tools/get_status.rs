//! `get-status`: is the service well, and what does it hold?

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::definition::{Example, NextAction, Varies};
use toolroom_contract::handler::{NativeTool, Reply, Shapes, Typed};
use toolroom_contract::hints::{Severity, Warning, WarningKind};
use toolroom_contract::{HintsDraft, Priority, ToolContext, ToolDefinition, ToolError};

use super::Handle;
use crate::catalogue::{Executor, NewTool};

pub(super) fn tool(handle: Handle) -> NewTool {
    NewTool { definition: definition(), executor: Executor::Native(Arc::new(Typed(GetStatus(handle)))) }
}

struct GetStatus(Handle);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// How the service is.
    status: Status,
    /// Its version.
    version: &'static str,
    /// Seconds since it started.
    uptime: u64,
    /// How many tools you may call.
    tools: usize,
    /// What is wrong, if anything.
    problems: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Degraded,
}

impl NativeTool for GetStatus {
    type Params = Params;
    type Output = Output;

    async fn run(&self, _: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let runtime = self.0.runtime()?;
        let mut problems = Vec::new();
        if runtime.journal.healthy().is_err() {
            problems.push("the execution log cannot be written".to_owned());
        }
        if runtime.store.ping().await.is_err() {
            problems.push("the database cannot be reached".to_owned());
        }
        let snapshot = runtime.registry.snapshot();
        let view = snapshot.view(&context.caller, &context.profile, runtime.today());
        let tools = view.map_or(0, |view| view.tools().count());
        let mut hints = HintsDraft::default();
        for problem in &problems {
            hints = hints.warn(Warning::new(WarningKind::Performance, Severity::High, problem.clone()));
        }
        let status = if problems.is_empty() { Status::Ok } else { Status::Degraded };
        let uptime = runtime.since.elapsed().as_secs();
        Ok(Reply::new(Output { status, version: crate::VERSION, uptime, tools, problems }, hints))
    }
}

pub(super) fn definition() -> ToolDefinition {
    ToolDefinition {
        parameters: Shapes::<GetStatus>::parameters(),
        output: Some(Shapes::<GetStatus>::output()),
        examples: vec![
            Example::new(
                "Ask how the service is",
                &json!({}),
                json!({ "status": "ok", "version": "0.1.0", "uptime": 3600, "tools": 17, "problems": [] }),
            )
            .varying([
                ("/version", Varies::String),
                ("/uptime", Varies::Number),
                ("/tools", Varies::Number),
            ]),
        ],
        tags: vec!["registry".into(), "operations".into()],
        next_actions: vec![NextAction::new("search-tools", Priority::Low, "Find a tool by what it does.")],
        ..ToolDefinition::query(
            "get-status",
            "Tells how this service is: healthy or not, version, uptime, how many tools you may call, and \
             what is wrong. Use it to check the health of the server, and when calls fail and you want to \
             know whether the service itself is the reason. Returns status \"ok\" or \"degraded\" with the \
             problems.",
        )
    }
}
