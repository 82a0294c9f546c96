//! Tools that are scripts: their calls go to processes of their own.

mod answer;
mod env;
mod failure;
mod lines;

use std::os::unix::fs::MetadataExt;

use serde_json::Value;
use toolroom_contract::context::ContextFields;
use toolroom_contract::exact::oversized_integer;
use toolroom_contract::{Ending, ErrorCode, ToolContext, ToolError};
use toolroom_worker::{Kind, Output, ScriptError, ScriptSpec, Scripts};

use crate::Runtime;
use crate::catalogue::Tool;
use crate::journal::Secrets;
use lines::Lines;

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

    /// Tells one state of the script's file from another: what an edited script answers is never mixed
    /// with what it answered before.
    pub(crate) fn stamp(&self) -> [u8; 24] {
        let mut stamp = [0; 24];
        if let Ok(found) = std::fs::metadata(&self.spec.path) {
            stamp[..8].copy_from_slice(&found.mtime().to_le_bytes());
            stamp[8..16].copy_from_slice(&found.mtime_nsec().to_le_bytes());
            stamp[16..].copy_from_slice(&(found.ino() ^ found.size().rotate_left(32)).to_le_bytes());
        }
        stamp
    }

    /// Runs the script. Dropping the future ends it, with every process that it started.
    pub(crate) async fn run(
        &self,
        runtime: &Runtime,
        tool: &Tool,
        params: &Value,
        context: &ToolContext,
    ) -> Result<Ending, ToolError> {
        let (spec, given) = env::resolve(&self.spec, tool.name())?;
        let secrets = Secrets::of(params, &tool.mask).with_environment(&spec.env);
        let lines = Lines::new(runtime, context, &secrets);
        let told = serde_json::to_value(fields(context)).map_err(ToolError::internal)?;
        self.can_be_told(&told)?;
        let ran = self.scripts.call(&spec, params, &told, &lines);
        // Nobody is kept waiting: the script is ended, and runs again from its start when the person has answered.
        let ran = match lines.until_asked(ran).await {
            Ok(ran) => ran,
            Err(question) => return Ok(Ending::NeedsInput(question)),
        };
        match ran.and_then(exact) {
            Ok(output) => {
                if output.truncated {
                    lines.note_cut();
                }
                answer::of(output, &given).map(Ending::Done).map_err(|wrong| failure::bad_hints(tool, &wrong))
            }
            Err(error) => {
                let failed = failure::of(tool, &self.spec, &secrets, context.execution_id, error);
                Err(failure::without(failed, &given))
            }
        }
    }

    /// A program finds its context in a variable, and the system limits those.
    fn can_be_told(&self, context: &Value) -> Result<(), ToolError> {
        let warm = matches!(self.spec.kind, Kind::Python { .. } | Kind::Node { .. });
        if warm || context.to_string().len() <= CONTEXT_LIMIT {
            return Ok(());
        }
        let message = format!("The context is larger than {CONTEXT_LIMIT} bytes; send less metadata.");
        Err(ToolError::new(ErrorCode::InvalidInput, message))
    }
}

/// Refuses the answer of a program with an integer that was rounded when it was read. Warm workers look themselves.
fn exact(mut output: Output) -> Result<Output, ScriptError> {
    let written = output.written.take();
    let Some(found) = written.as_deref().and_then(oversized_integer) else { return Ok(output) };
    let place = match found.pointer.as_str() {
        "" => "that is the answer".to_owned(),
        pointer => format!("at {pointer}"),
    };
    let reason = format!("the integer {place} does not fit into 64 bits and would lose digits");
    Err(ScriptError::BadOutput { reason: Some(reason), detail: output.stderr_tail })
}

/// Bytes of context that a program can be given.
const CONTEXT_LIMIT: usize = 96 << 10;

/// What a script is told about its call: the published context, and nothing else.
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
        client: None,
        execution: None,
        dialogue: None,
    }
}
