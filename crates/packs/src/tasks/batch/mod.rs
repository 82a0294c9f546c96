//! `batch-tasks`: many changes in one transaction, with a result for each.

mod operation;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom_contract::error::ErrorClass;
use toolroom_contract::handler::{NativeTool, Reply};
use toolroom_contract::hints::{Warning, WarningKind};
use toolroom_contract::{
    Effect, EffectKind, ErrorCode, FieldError, Handler, HintsDraft, Priority, ToolContext, ToolDefinition,
    ToolError,
};
use toolroom_store::Unit;

use super::TaskSettings;
use super::contract::{Contract, example, of_tasks, task, tasks_at};
use super::refusal::below;
use super::task::Task;
use super::task_store::{Author, Done, TaskStore};
use super::update::{Edited, field_words};
use operation::{Operation, Step};

struct BatchTasks(Arc<TaskStore>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// What to do, in this order.
    #[schemars(length(min = 1, max = 100))]
    operations: Vec<Operation>,
    /// True: all or nothing (the default). False: each operation succeeds or fails on its own.
    #[serde(default = "yes")]
    atomic: bool,
}

fn yes() -> bool {
    true
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
struct Output {
    /// How many operations took effect.
    applied: usize,
    /// How many did not.
    failed: usize,
    /// One for each operation, in the same order.
    results: Vec<Item>,
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// Which operation, from 0.
    index: usize,
    /// Whether it took effect.
    ok: bool,
    /// The task as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task: Option<Task>,
    /// The fields that differ from before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changed: Option<Vec<String>>,
    /// The due date as it was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due_echo: Option<String>,
    /// Why it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<ItemError>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct ItemError {
    /// The stable code.
    #[schemars(with = "String")]
    code: ErrorCode,
    /// What went wrong and what to do.
    message: String,
    /// The bad fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    details: Vec<FieldError>,
    /// Data that belongs to the failure, such as the current version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

impl From<&ToolError> for ItemError {
    fn from(error: &ToolError) -> Self {
        Self {
            code: error.code,
            message: error.message.clone(),
            details: error.details.clone(),
            data: error.data.as_deref().cloned(),
        }
    }
}

/// The operations, each checked as far as that can be done without the tasks.
struct Batch {
    steps: Vec<Result<Step, ToolError>>,
    atomic: bool,
    settings: TaskSettings,
}

impl Batch {
    fn check(params: &Params, author: &Author, settings: TaskSettings) -> Result<Self, ToolError> {
        if !(1..=100).contains(&params.operations.len()) {
            return Err(ToolError::invalid("/operations", "must have 1 to 100 items"));
        }
        let check =
            |(at, operation): (usize, &Operation)| Step::check(operation, author).map_err(|e| located(at, e));
        let steps: Vec<_> = params.operations.iter().enumerate().map(check).collect();
        let batch = Self { steps, atomic: params.atomic, settings };
        let bad: Vec<_> =
            batch.steps.iter().enumerate().filter_map(|(at, s)| Some((at, s.as_ref().err()?))).collect();
        match bad.is_empty() || !batch.atomic {
            true => Ok(batch),
            false => Err(nothing_applied(&bad, batch.steps.len())),
        }
    }

    fn apply(&self, unit: &mut Unit<'_>, author: &Author) -> Result<Done<Output>, ToolError> {
        let mut done = Done { data: Output::default(), hints: HintsDraft::default(), titles: Vec::new() };
        for (index, step) in self.steps.iter().enumerate() {
            let due = step.as_ref().ok().and_then(Step::due);
            let applied = match step {
                Ok(step) => step.apply(unit, author, &self.settings).map_err(|error| located(index, error)),
                Err(error) => Err(error.clone()),
            };
            match applied {
                Ok(Edited { task, changed, titles }) => {
                    done.titles.extend(titles);
                    done.hints.assumptions.extend(due.and_then(|due| due.assumption.clone()));
                    done.data.applied += 1;
                    done.data.results.push(Item {
                        index,
                        ok: true,
                        task: Some(task.into()),
                        changed: step.as_ref().is_ok_and(Step::is_edit).then_some(changed),
                        due_echo: due.map(|due| due.echo.clone()),
                        error: None,
                    });
                }
                Err(error) if error.code.class() == ErrorClass::System => return Err(error),
                Err(error) if self.atomic => {
                    return Err(nothing_applied(&[(index, &error)], self.steps.len()));
                }
                Err(error) => {
                    done.data.failed += 1;
                    done.data.results.push(Item { index, error: Some((&error).into()), ..Item::default() });
                }
            }
        }
        done.hints = about(done.hints, &done.data);
        Ok(done)
    }
}

fn about(hints: HintsDraft, output: &Output) -> HintsDraft {
    let all = output.results.len();
    if output.failed == 0 {
        return hints.complete(all, all);
    }
    let message = format!("{} of {all} operations failed; their results say why.", output.failed);
    let warning = Warning::new(WarningKind::Conflict, Priority::High, message);
    hints.complete(output.applied, all).warn(warning)
}

/// The refusal of one operation, with pointers from the root of the parameters.
fn located(index: usize, error: ToolError) -> ToolError {
    let pointer = format!("/operations/{index}");
    if !error.details.is_empty() {
        return below(&pointer, error);
    }
    let field = match error.code {
        ErrorCode::NotFound => "/taskId",
        ErrorCode::VersionConflict => "/expectedVersion",
        _ => return error,
    };
    let message = error.message.clone();
    error.with_detail(FieldError {
        pointer: format!("{pointer}{field}"),
        message,
        expected: None,
        example: None,
    })
}

/// The failure of the whole, because of these operations.
fn nothing_applied(bad: &[(usize, &ToolError)], all: usize) -> ToolError {
    let (code, first) = bad.first().map_or((ErrorCode::Internal, ""), |(_, e)| (e.code, e.message.as_str()));
    let numbers: Vec<String> = bad.iter().map(|(index, _)| index.to_string()).collect();
    let message = format!("Nothing was applied, because of operation {}. {first}", numbers.join(", "));
    let result = |index: usize| {
        let error = bad.iter().find(|(at, _)| *at == index).map(|(_, error)| ItemError::from(*error));
        Item { index, error, ..Item::default() }
    };
    let output = Output { applied: 0, failed: all, results: (0..all).map(result).collect() };
    let mut error = ToolError::new(code, message).with_data(json!(output));
    error.details = bad.iter().flat_map(|(_, error)| error.details.clone()).collect();
    error.next = bad.first().map(|(_, error)| error.next.clone()).unwrap_or_default();
    error
}

impl NativeTool for BatchTasks {
    type Params = Params;
    type Output = Output;

    async fn run(&self, params: Params, context: &ToolContext) -> Result<Reply<Output>, ToolError> {
        let batch = Batch::check(&params, &Author::of(context), self.0.settings.clone())?;
        self.0.change(context, move |unit, author| batch.apply(unit, author)).await
    }

    fn records_claim(&self) -> bool {
        true
    }
}

pub(super) fn tool(tasks: &Arc<TaskStore>) -> (ToolDefinition, Arc<dyn Handler>) {
    Contract {
        name: "batch-tasks",
        description: "Makes, updates, completes and restores up to 100 tasks in one call. Use it for bulk \
                      work, when many tasks change at once or several changes belong together; all take \
                      effect or none, unless atomic is false. It cannot delete: a person is asked about each \
                      delete, so that delete-task is called one by one. Returns how many operations were \
                      applied and failed, and a result for each.",
        action: "write",
        effect: Some(Effect {
                also: vec![EffectKind::Create, EffectKind::Complete, EffectKind::Restore],
                question: vec!["make these changes: {/params/operations}".into()],
                words: field_words("/item"),
                each: Some("/data/results".into()),
                ..Effect::new(
                    EffectKind::Update,
                    tasks_at(["/params/operations/*/taskId", "/data/results/*/task/taskId"]),
                )
                .receipts([
                    "Not done: {/item/error/message}",
                    "Changed {target}: {/item/changed}.",
                    "{target} is so already; nothing was changed{/item/changed?[]:}.",
                    "Added or restored {target}[, due {/item/dueEcho|/item/task/due}][, {/item/task/priority?high|low} \
                     priority].",
                ])
            }),
        examples: vec![example(
            "A new task, and another one done",
            &json!({ "operations": [
                { "op": "create", "title": "Water the plants" },
                { "op": "complete", "taskId": 1 }
            ] }),
            json!({
                "applied": 2,
                "failed": 0,
                "results": [
                    {
                        "index": 0, "ok": true,
                        "task": task(json!({
                            "taskId": 3, "title": "Water the plants", "priority": "medium", "tags": []
                        }))
                    },
                    {
                        "index": 1, "ok": true, "changed": [],
                        "task": task(json!({
                            "status": "completed", "tags": ["shopping", "home"], "version": 4,
                            "updatedAt": "2030-01-05T09:00:00Z", "completedAt": "2030-01-05T09:00:00Z"
                        }))
                    }
                ]
            }),
            &["/results/0/task", "/results/1/task"],
        )],
        ..of_tasks()
    }
    .tool(BatchTasks(Arc::clone(tasks)))
}
