//! `delete-task`: a soft delete, once a person has agreed.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom_contract::definition::Argument;
use toolroom_contract::effect::{Named, Undo};
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::ids::TaskId;
use toolroom_contract::{
    Effect, EffectKind, Handler, HintsDraft, Priority, SuggestedAction, ToolContext, ToolDefinition,
    ToolError,
};
use toolroom_store::Unit;
use toolroom_store::tasks::{self, Changed};

use super::contract::{Contract, example, of_tasks, tasks_at};
use super::refusal;
use super::task_store::{Author, Done, TaskStore};
use super::titles::TitleChange;
use crate::deserialize::{some_whole, whole};

struct DeleteTask(Arc<TaskStore>);

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    /// Which task.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
    task_id: i64,
    /// Delete it only if it still has this version.
    #[serde(default, deserialize_with = "some_whole", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 1, max = 9_007_199_254_740_991_i64))]
    expected_version: Option<i64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// Always true.
    deleted: bool,
    /// The task that is gone.
    task_id: i64,
    /// What it was called.
    title: String,
}

impl NativeTool for DeleteTask {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let days = self.0.settings.keep_deleted_days;
        let delete = move |unit: &mut Unit<'_>, author: &Author| {
            let expected = params.expected_version;
            match tasks::delete(unit, author.user, TaskId(params.task_id), expected, &author.actor)? {
                Changed::Applied { task, .. } => {
                    if days == 0 {
                        tasks::purge(unit, unit.now)?;
                    }
                    let gone = TitleChange { id: task.id, version: task.version, title: None };
                    let data = Output { deleted: true, task_id: task.id.0, title: task.title };
                    Ok(Done { hints: undo(data.task_id, days), data, titles: vec![gone] })
                }
                Changed::Conflict { current } => {
                    Err(refusal::version_conflict(&current, expected.unwrap_or_default()))
                }
                Changed::NotFound | Changed::NoChange(_) => Err(refusal::not_found()),
            }
        };
        self.0.change(context, delete).await
    }

    async fn rehearse(&self, params: Params, context: &ToolContext) -> Result<(), ToolError> {
        self.0.rehearse(&Author::of(context), params.task_id, params.expected_version).await
    }

    async fn names(&self, params: Params, context: &ToolContext) -> Vec<Named> {
        let (user, id) = (Author::of(context).user, params.task_id);
        let found = self.0.store.read(move |unit| tasks::get(unit, user, TaskId(id))).await;
        let task = found.ok().flatten();
        task.map(|task| Named { noun: "task".to_owned(), id: id.into(), title: Some(task.title) })
            .into_iter()
            .collect()
    }

    fn records_claim(&self) -> bool {
        true
    }
}

fn undo(id: i64, days: u32) -> HintsDraft {
    if days == 0 {
        return HintsDraft::default().because("Deleted tasks are not kept: this one cannot be restored.");
    }
    let restore = SuggestedAction::new("restore-task", Priority::Low)
        .with("taskId", id)
        .described(format!("Restore it; that is possible for {days} days."));
    HintsDraft::default().next(restore)
}

pub(super) fn tool(tasks: &Arc<TaskStore>) -> (ToolDefinition, Arc<dyn Handler>) {
    let kept = tasks.settings.keep_deleted_days > 0;
    Contract {
        name: "delete-task",
        description: "Deletes a task; a person is asked first. Use it when the user wants a task gone rather \
                      than done: to remove, erase, discard or drop it from the list. restore-task can bring \
                      it back for a while. Returns the taskId and the title of what was deleted.",
        action: "delete",
        idempotent: true,
        destructive: true,
        effect: Some(Effect {
            undo: kept.then(|| Undo {
                tool: "restore-task".into(),
                arguments: [("taskId".to_owned(), Argument::From("/data/taskId".into()))].into(),
            }),
            ..Effect::new(EffectKind::Delete, tasks_at(["/params/taskId", "/data/taskId"]))
        }),
        examples: vec![example(
            "Delete a task",
            &json!({ "taskId": 1 }),
            json!({ "deleted": true, "taskId": 1, "title": "Buy milk" }),
            &[],
        )],
        ..of_tasks()
    }
    .tool(DeleteTask(Arc::clone(tasks)))
}
