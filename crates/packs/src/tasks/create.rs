//! `create-task`: makes a task.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom_contract::definition::Varies;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::{Effect, EffectKind, Handler, HintsDraft, ToolContext, ToolDefinition, ToolError};
use toolroom_store::Unit;
use toolroom_store::tasks::{self, NewTask, Task as StoredTask};

use super::contract::{Contract, example, next_for_task, of_tasks, task, tasks_at};
use super::dates::{self, DueRead};
use super::hints;
use super::task::{Priority, Status, Task};
use super::task_store::{Author, Done, TaskStore};
use super::titles::TitleChange;
use crate::deserialize::present;
use crate::text;

struct CreateTask(Arc<TaskStore>);

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// What is to be done, on one line: tabs and line ends become a space, other control characters are refused.
    #[schemars(length(min = 1, max = 255))]
    pub title: String,
    /// Details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 2000))]
    pub description: Option<String>,
    /// How important it is (medium if not given).
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Priority")]
    pub priority: Option<Priority>,
    /// A date, an instant (2026-11-20T15:00:00+01:00) or words ("next friday 3pm").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 200))]
    pub due: Option<String>,
    /// Labels, each of 1 to 50 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", length(max = 20))]
    pub tags: Option<Vec<String>>,
    /// Give completed only for what is done already (pending if not given).
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Status")]
    pub status: Option<Status>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// The task as it was made.
    task: Task,
    /// The due date as it was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due_echo: Option<String>,
}

/// A task that passed every check, ready to be made.
pub(super) struct Creation {
    new: NewTask,
    pub due: Option<DueRead>,
}

impl Creation {
    pub(super) fn check(params: &Params, author: &Author) -> Result<Self, ToolError> {
        let due =
            params.due.as_deref().map(|due| dates::due("due", due, author.now, &author.zone)).transpose()?;
        let new = NewTask {
            title: text::title(&params.title)?,
            description: params.description.as_deref().map(text::description).transpose()?.flatten(),
            priority: params.priority.unwrap_or(Priority::Medium).into(),
            due: due.as_ref().map(|read| read.due),
            tags: text::tags("tags", params.tags.as_deref().unwrap_or_default())?,
            completed: params.status == Some(Status::Completed),
        };
        Ok(Self { new, due })
    }

    pub(super) fn apply(&self, unit: &mut Unit<'_>, author: &Author) -> Result<StoredTask, ToolError> {
        Ok(tasks::insert(unit, author.user, &self.new, &author.actor)?)
    }
}

/// What the index of titles must know of a task that is there.
pub(super) fn title_of(task: &StoredTask) -> TitleChange {
    TitleChange { id: task.id, version: task.version, title: Some(task.title.clone()) }
}

impl NativeTool for CreateTask {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let author = Author::of(context);
        let creation = Creation::check(&params, &author)?;
        let alike = self.0.titles.alike(&self.0.store, author.user, &creation.new.title).await?;
        let make = move |unit: &mut Unit<'_>, author: &Author| {
            let task = creation.apply(unit, author)?;
            let mut hints = hints::about_due(HintsDraft::default(), &task, creation.due.as_ref(), author);
            hints.warnings.extend(hints::duplicates(unit, author, &task, &alike)?);
            let titles = vec![title_of(&task)];
            let due_echo = creation.due.as_ref().map(|read| read.echo.clone());
            Ok(Done { data: Output { task: task.into(), due_echo }, hints, titles })
        };
        self.0.change(context, make).await
    }

    fn trimmed(&self) -> &'static [&'static str] {
        &["title", "description"]
    }

    fn echoes(&self, params: &Value, context: &ToolContext) -> Vec<(String, String)> {
        dates::echoes(params, context, &["due"])
    }

    async fn rehearse(&self, params: Params, context: &ToolContext) -> Result<(), ToolError> {
        Creation::check(&params, &Author::of(context)).map(drop)
    }

    fn records_claim(&self) -> bool {
        true
    }
}

pub(super) fn tool(tasks: &Arc<TaskStore>) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "create-task",
        description: "Makes a new task on the user's todo list. Use it to add, note down or plan something \
                      to do, or to remember or be reminded of it. Dates may be given in words; what they \
                      were read as comes back in dueEcho, to be said to the user. Returns the task with its \
                      taskId, and warns if an open task has the same title.",
        action: "write",
        effect: Some(Effect::new(EffectKind::Create, tasks_at(["/data/task/taskId"])).receipts([
                "Added {target}[, due {/data/dueEcho|/data/task/due}][, {/data/task/priority?high|low} priority].",
            ])),
        examples: vec![
            example(
                "A task with a priority and a tag",
                &json!({ "title": "Buy milk", "priority": "high", "tags": ["shopping"] }),
                json!({ "task": task(json!({})) }),
                &["/task"],
            ),
            example(
                "A due date in words, said back",
                &json!({ "title": "Call mom", "due": "next friday 3pm" }),
                json!({
                    "task": task(json!({
                        "taskId": 2, "title": "Call mom", "priority": "medium", "due": "2030-01-11T15:00:00Z", "tags": []
                    })),
                    "dueEcho": "Friday 2030-01-11 15:00 (Etc/UTC, UTC+00:00)"
                }),
                &["/task"],
            )
            .varying([("/task/due", Varies::Time), ("/dueEcho", Varies::String)]),
        ],
        next_actions: vec![next_for_task("update-task", "Change the task, or add a date or tags.")],
        ..of_tasks()
    }
    .tool(CreateTask(Arc::clone(tasks)))
}
