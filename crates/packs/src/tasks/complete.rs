//! `complete-task`: marks a task as done, or opens it again.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::ids::TaskId;
use toolroom_contract::{Effect, EffectKind, Handler, HintsDraft, ToolContext, ToolDefinition, ToolError};
use toolroom_store::Unit;
use toolroom_store::tasks::Patch;

use super::contract::{Contract, example, of_tasks, task, the_task};
use super::task::Task;
use super::task_store::{Author, Done, TaskStore};
use super::update::{Edit, Edited};
use crate::deserialize::{some_whole, whole};

struct CompleteTask(Arc<TaskStore>);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// Which task.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
    task_id: i64,
    /// False opens the task again (true if not given).
    #[serde(default = "yes")]
    completed: bool,
    /// Change it only if it still has this version.
    #[serde(default, deserialize_with = "some_whole", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1, max = 9_007_199_254_740_991_i64))]
    expected_version: Option<i64>,
}

fn yes() -> bool {
    true
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Output {
    /// The task as it is now.
    task: Task,
    /// `status`, or nothing if it was so already.
    changed: Vec<String>,
}

/// The edit that only says whether a task is done.
pub(super) fn completion(id: i64, completed: bool, expected_version: Option<i64>) -> Edit {
    Edit {
        id: TaskId(id),
        patch: Patch { completed: Some(completed), ..Patch::default() },
        add_tags: Vec::new(),
        remove_tags: Vec::new(),
        expected_version,
        due: None,
    }
}

impl NativeTool for CompleteTask {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let edit = completion(params.task_id, params.completed, params.expected_version);
        let change = move |unit: &mut Unit<'_>, author: &Author| {
            let Edited { task, changed, titles } = edit.apply(unit, author)?;
            let mut hints = HintsDraft::default();
            if changed.is_empty() {
                hints = hints.because("It was already so; nothing was changed.");
            }
            Ok(Done { data: Output { task: task.into(), changed }, hints, titles })
        };
        self.0.change(context, change).await
    }

    async fn rehearse(&self, params: Params, context: &ToolContext) -> Result<(), ToolError> {
        self.0.rehearse(&Author::of(context), params.task_id, params.expected_version).await
    }

    fn records_claim(&self) -> bool {
        true
    }
}

pub(super) fn tool(tasks: &Arc<TaskStore>) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "complete-task",
        description: "Marks a task as done, or opens it again with completed: false. Use it to check or tick \
                      off something that is finished, or not finished after all; find the taskId with \
                      find-tasks if you only have words. Returns the task; completing what is done already \
                      succeeds and changes nothing.",
        action: "write",
        idempotent: true,
        effect: Some(Effect {
            question: vec![
                "mark {target} as open again{/params/completed?false:}".into(),
                "mark {target} as complete".into(),
            ],
            ..Effect::new(EffectKind::Complete, the_task()).receipts([
                "Marked {target} as complete{/data/changed/0:}{/data/task/status?completed:}.",
                "Marked {target} as open again{/data/changed/0:}.",
                "{target} is complete already{/data/task/status?completed:}.",
                "{target} is open already.",
            ])
        }),
        examples: vec![example(
            "Mark a task as done",
            &json!({ "taskId": 1 }),
            json!({
                "task": task(json!({
                    "status": "completed", "tags": ["shopping", "home"], "version": 4,
                    "updatedAt": "2030-01-05T09:00:00Z", "completedAt": "2030-01-05T09:00:00Z"
                })),
                "changed": ["status"]
            }),
            &["/task"],
        )],
        ..of_tasks()
    }
    .tool(CompleteTask(Arc::clone(tasks)))
}
