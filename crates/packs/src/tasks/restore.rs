//! `restore-task`: brings back a deleted task.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::ids::TaskId;
use toolroom_contract::{Effect, EffectKind, Handler, HintsDraft, ToolContext, ToolDefinition, ToolError};
use toolroom_store::tasks::{self, Changed};
use toolroom_store::{Unit, plausible_time};

use super::contract::{Contract, example, next_for_task, of_tasks, task, the_task};
use super::create::title_of;
use super::task::Task;
use super::task_store::{Author, Done, TaskStore};
use super::update::Edited;
use super::{TaskSettings, refusal};
use crate::deserialize::whole;

struct RestoreTask(Arc<TaskStore>);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// Which task.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
    task_id: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Output {
    /// The task as it is now.
    task: Task,
}

/// Brings a task back; one that is there stays as it is.
pub(super) fn restore(
    unit: &mut Unit<'_>,
    author: &Author,
    id: i64,
    settings: &TaskSettings,
) -> Result<Edited, ToolError> {
    let since = settings.kept_since(plausible_time::now(unit)?);
    match tasks::restore(unit, author.user, TaskId(id), since, &author.actor)? {
        Changed::Applied { task, .. } => {
            Ok(Edited { titles: vec![title_of(&task)], task, changed: Vec::new() })
        }
        Changed::NoChange(task) => Ok(Edited { task, changed: Vec::new(), titles: Vec::new() }),
        Changed::NotFound | Changed::Conflict { .. } => Err(refusal::not_found()),
    }
}

impl NativeTool for RestoreTask {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let settings = self.0.settings.clone();
        let bring_back = move |unit: &mut Unit<'_>, author: &Author| {
            let Edited { task, titles, .. } = restore(unit, author, params.task_id, &settings)?;
            let mut hints = HintsDraft::default();
            if titles.is_empty() {
                hints = hints.because("The task was not deleted; nothing was changed.");
            }
            Ok(Done { data: Output { task: task.into() }, hints, titles })
        };
        self.0.change(context, bring_back).await
    }

    fn records_claim(&self) -> bool {
        true
    }
}

pub(super) fn tool(tasks: &Arc<TaskStore>) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "restore-task",
        description: "Brings back a task that was deleted. Use it to undo or take back a delete, or to \
                      recover a task from the bin; the taskId is the one that delete-task gave. Deleted \
                      tasks are kept for 30 days unless set otherwise. Returns the task as it was, with a \
                      new version.",
        action: "write",
        idempotent: true,
        effect: Some(Effect::new(EffectKind::Restore, the_task())),
        examples: vec![example(
            "Take a delete back",
            &json!({ "taskId": 1 }),
            json!({ "task": task(json!({
                "status": "completed", "tags": ["shopping", "home"], "version": 6,
                "updatedAt": "2030-01-05T09:00:00Z", "completedAt": "2030-01-05T09:00:00Z"
            })) }),
            &["/task"],
        )],
        next_actions: vec![next_for_task("get-task", "Read the task again.")],
        ..of_tasks()
    }
    .tool(RestoreTask(Arc::clone(tasks)))
}
