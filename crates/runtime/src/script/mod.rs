//! Tools that are scripts: their calls go to processes of their own.

mod failure;
mod lines;
mod secrets;

use serde_json::Value;
use toolroom_contract::context::ContextFields;
use toolroom_contract::{Answer, HintsDraft, ToolContext, ToolError};
use toolroom_worker::{ScriptSpec, Scripts};

use crate::Runtime;
use crate::catalogue::Tool;
use lines::Lines;
use secrets::Secrets;

/// A script, and the processes that run it.
pub struct Script {
    /// What is run, and how.
    pub spec: ScriptSpec,
    scripts: Scripts,
}

impl Script {
    /// A script that runs in these processes.
    pub fn new(spec: ScriptSpec, scripts: Scripts) -> Self {
        Self { spec, scripts }
    }

    /// Runs the script. Dropping the future ends it, with every process that it started.
    pub(crate) async fn run(
        &self,
        runtime: &Runtime,
        tool: &Tool,
        params: &Value,
        context: &ToolContext,
    ) -> Result<Answer, ToolError> {
        let secrets = Secrets::new(params, &tool.mask);
        let lines = Lines::new(runtime, context, &self.spec.kind, &secrets);
        let told = serde_json::to_value(fields(context)).map_err(ToolError::internal)?;
        let ran = self.scripts.call(&self.spec, params, &told, &lines).await;
        match ran {
            Ok(output) => {
                if output.truncated {
                    lines.note_cut();
                }
                Ok(Answer { data: output.data, hints: HintsDraft::default() })
            }
            Err(error) => Err(failure::of(tool, &self.spec, &secrets, error)),
        }
    }
}

/// What a script is told of its call: the published context, and nothing else.
fn fields(context: &ToolContext) -> ContextFields {
    ContextFields {
        user_id: context.user.as_ref().map(|user| user.key.to_string()),
        session_id: context.session_id.as_deref().map(str::to_owned),
        correlation_id: Some(context.correlation_id.to_string()),
        trace_id: Some(context.trace_id),
        agent_id: Some(context.agent_id.to_string()),
        agent_version: Some(context.agent_version.to_string()),
        timestamp: Some(context.timestamp),
        timezone: context.time_zone.iana_name().map(str::to_owned),
        metadata: context.metadata.clone(),
        idempotency_key: context.claim.as_ref().map(|claim| claim.key.clone()),
        approval_id: None,
        dry_run: false,
    }
}
