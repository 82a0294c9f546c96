//! What the contracts of all task tools have in common.

use std::sync::Arc;

use serde_json::{Value, json};
use toolroom_contract::definition::{Argument, Example, NextAction, Varies, When};
use toolroom_contract::handler::{NativeTool, Shapes, Typed};
use toolroom_contract::{Category, Handler, Permission, Priority, ResponseTime, ToolDefinition};

/// Seconds for which a read may be answered again. Safe, because every change by this process moves the user's
/// generation on before it is answered, and because dates in words and the day itself are part of the key.
const CACHE_SECONDS: u64 = 30;

/// What sets one task tool apart.
pub(super) struct Contract {
    pub name: &'static str,
    pub description: &'static str,
    /// The action half of its permission on tasks.
    pub action: &'static str,
    /// For a mutation: repeating has no further effect.
    pub idempotent: bool,
    pub destructive: bool,
    pub examples: Vec<Example>,
    pub next_actions: Vec<NextAction>,
}

impl Contract {
    /// The tool with this contract and this code.
    pub(super) fn tool<T: NativeTool>(self, code: T) -> (ToolDefinition, Arc<dyn Handler>) {
        let is_read = self.action == "read";
        let definition = ToolDefinition {
            name: self.name.into(),
            description: self.description.into(),
            version: semver::Version::new(1, 0, 0),
            permissions: Permission::new("tasks", self.action).into_iter().collect(),
            parameters: Shapes::<T>::parameters(),
            output: Some(Shapes::<T>::output()),
            category: if is_read { Category::Query } else { Category::Mutation },
            response_time: ResponseTime::Fast,
            cacheable: is_read,
            cache_ttl: is_read.then_some(CACHE_SECONDS),
            idempotent: is_read || self.idempotent,
            examples: self.examples,
            tags: vec!["tasks".into(), "todo".into(), "productivity".into()],
            rate_limit: None,
            deprecated: None,
            timeout: None,
            parallel: None,
            destructive: self.destructive,
            next_actions: self.next_actions,
            derived: Vec::new(),
        };
        (definition, Arc::new(Typed(code)))
    }
}

/// A call and its answer, in which the tasks at these pointers have ids and times of their own.
pub(super) fn example(description: &str, params: &Value, expected_result: Value, tasks: &[&str]) -> Example {
    let mut example = Example::new(description, params, expected_result);
    for task in tasks {
        let place = |field: &str| format!("{task}/{field}");
        let done = example.expected_result.pointer(&place("completedAt")).is_some_and(Value::is_string);
        let times = [("createdAt", true), ("updatedAt", true), ("completedAt", done)];
        let times = times.into_iter().filter(|(_, varies)| *varies).map(|(field, _)| (field, Varies::Time));
        for (field, varies) in times.chain([("taskId", Varies::Id), ("version", Varies::Number)]) {
            if example.expected_result.pointer(&place(field)).is_some() {
                example.varies.insert(place(field), varies);
            }
        }
    }
    example
}

/// A task as an answer shows it: the one of the examples, with these fields.
pub(super) fn task(fields: Value) -> Value {
    let mut task = json!({
        "taskId": 1, "title": "Buy milk", "description": null, "priority": "high", "due": null, "status": "pending",
        "tags": ["shopping"], "version": 1, "createdAt": "2030-01-04T09:00:00Z",
        "updatedAt": "2030-01-04T09:00:00Z", "completedAt": null
    });
    if let (Some(task), Value::Object(fields)) = (task.as_object_mut(), fields) {
        task.extend(fields);
    }
    task
}

/// A step that may follow, for the task of the answer.
pub(super) fn next_for_task(action: &str, description: &str) -> NextAction {
    NextAction {
        action: action.into(),
        when: When::Success,
        priority: Priority::Low,
        description: Some(description.into()),
        arguments: [("taskId".to_owned(), Argument::From("/data/task/taskId".into()))].into(),
    }
}
