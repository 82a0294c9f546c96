//! `get-task`: reads one task.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom_contract::effect::Shows;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::ids::TaskId;
use toolroom_contract::{Effect, Handler, HintsDraft, ToolContext, ToolDefinition, ToolError};
use toolroom_store::{StoreError, tasks};

use super::contract::{Contract, example, next_for_task, of_tasks, the_task};
use super::task::{FieldName, PickedTask};
use super::task_store::{Author, TaskStore};
use super::{dates, hints, refusal};
use crate::deserialize::{present, whole};

struct GetTask(Arc<TaskStore>);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// Which task.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
    task_id: i64,
    /// The fields to answer with (all if not given); taskId is always there.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<FieldName>", length(max = 11))]
    fields: Option<Vec<FieldName>>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The task.
    task: PickedTask,
}

impl NativeTool for GetTask {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let author = Author::of(context);
        let (user, id) = (author.user, TaskId(params.task_id));
        let read = self.0.store.read(move |unit| tasks::get(unit, user, id));
        let found = read.await.map_err(|error: StoreError| ToolError::from(error))?;
        let task = found.ok_or_else(refusal::not_found)?;
        let hints = if dates::is_overdue(&task, author.now, &author.zone) {
            HintsDraft::default().next(hints::reschedule(&task))
        } else {
            HintsDraft::default()
        };
        Ok(Reply::new(Output { task: PickedTask::new(task, params.fields.as_deref())? }, hints))
    }

    fn resolve(&self, params: &Value, context: &ToolContext) -> Option<Value> {
        dates::compared(params, context)
    }
}

pub(super) fn tool(tasks: &Arc<TaskStore>) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "get-task",
        description: "Reads one task by its taskId, with all its details. Use it to look at a single item \
                      whose id you have, or when you need its current version before you change it. Returns \
                      the task, or just the fields that you name.",
        action: "read",
        effect: Some(Effect::shows(Shows::One, the_task())),
        examples: vec![example(
            "Two fields of a task",
            &json!({ "taskId": 1, "fields": ["title", "status"] }),
            json!({ "task": { "taskId": 1, "title": "Buy milk", "status": "pending" } }),
            &["/task"],
        )],
        next_actions: vec![next_for_task("update-task", "Change the task.")],
        ..of_tasks()
    }
    .tool(GetTask(Arc::clone(tasks)))
}
