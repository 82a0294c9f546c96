//! What the contracts of all task tools have in common.

use serde_json::{Value, json};
use toolroom_contract::definition::{Example, NextAction, Varies};
use toolroom_contract::effect::Target;

use crate::contract;
pub(super) use crate::contract::Contract;

/// The contract of a task tool, to be filled in.
pub(super) fn of_tasks() -> Contract {
    Contract { resource: "tasks", tags: &["tasks", "todo", "productivity"], ..Contract::default() }
}

/// Tasks as the target of a call, with their ids at these places.
pub(super) fn tasks_at<const N: usize>(places: [&str; N]) -> Target {
    Target::new(&["task", "todo", "to-do", "reminder", "list"], "taskId", "title").at(places)
}

/// The one task of a call and its answer.
pub(super) fn the_task() -> Target {
    tasks_at(["/params/taskId", "/data/task/taskId"])
}

/// A call and its answer, in which the tasks at these pointers have ids and times of their own.
pub(super) fn example(description: &str, params: &Value, expected_result: Value, tasks: &[&str]) -> Example {
    let times = ["createdAt", "updatedAt", "completedAt"].map(|field| (field, Varies::Time));
    let fields = [&times[..], &[("taskId", Varies::Id), ("version", Varies::Number)]].concat();
    contract::example(description, params, expected_result, tasks, &fields)
}

/// A task as an answer shows it: the one of the examples, with these fields.
pub(super) fn task(fields: Value) -> Value {
    let task = json!({
        "taskId": 1, "title": "Buy milk", "description": null, "priority": "high", "due": null, "status": "pending",
        "tags": ["shopping"], "version": 1, "createdAt": "2030-01-04T09:00:00Z",
        "updatedAt": "2030-01-04T09:00:00Z", "completedAt": null
    });
    contract::with(task, fields)
}

/// A step that may follow, for the task of the answer.
pub(super) fn next_for_task(action: &str, description: &str) -> NextAction {
    contract::next(action, description, "taskId", "/data/task/taskId")
}
