//! `todo_tasks`: the schemas that its contract prints.

use serde_json::{Value, json};

use crate::published::bindings;

#[test]
fn schemas_and_descriptions_are_those_of_the_contract() {
    let printed = [ADD_TASK, LIST_TASKS, COMPLETE_TASK, DELETE_TASK, UPDATE_TASK];
    let bindings = bindings("todo_tasks");
    assert_eq!(bindings.len(), printed.len());
    for (binding, printed) in bindings.into_iter().zip(printed) {
        let printed: Value = serde_json::from_str(printed).unwrap();
        assert_eq!(binding.name, printed["name"].as_str().unwrap());
        assert_eq!(binding.description, printed["description"].as_str().unwrap());
        let mut parameters = printed["parameters"].clone();
        parameters["additionalProperties"] = json!(false);
        assert_eq!(binding.parameters.to_string(), parameters.to_string());
    }
}

const ADD_TASK: &str = r#"{
  "name": "add_task",
  "description": "Create a new task for the user. Returns the created task with its ID.",
  "parameters": {
    "type": "object",
    "properties": {
      "user_id": {
        "type": "string",
        "description": "ID of the user creating the task"
      },
      "title": {
        "type": "string",
        "description": "Task title (1-255 characters)",
        "minLength": 1,
        "maxLength": 255
      },
      "description": {
        "type": "string",
        "description": "Optional task description",
        "maxLength": 1000
      },
      "priority": {
        "type": "string",
        "enum": ["Low", "Medium", "High"],
        "description": "Priority level (default: Medium)"
      },
      "due_date": {
        "type": "string",
        "description": "Due date in YYYY-MM-DD format"
      }
    },
    "required": ["user_id", "title"]
  }
}"#;

const LIST_TASKS: &str = r#"{
  "name": "list_tasks",
  "description": "List all tasks for the user, ordered by creation time (newest first)",
  "parameters": {
    "type": "object",
    "properties": {
      "user_id": {
        "type": "string",
        "description": "ID of the user whose tasks to list"
      }
    },
    "required": ["user_id"]
  }
}"#;

const COMPLETE_TASK: &str = r#"{
  "name": "complete_task",
  "description": "Mark a task as completed. Idempotent - completing an already-completed task succeeds.",
  "parameters": {
    "type": "object",
    "properties": {
      "task_id": {
        "type": "string",
        "description": "ID of the task to complete"
      },
      "user_id": {
        "type": "string",
        "description": "ID of the user (for ownership verification)"
      }
    },
    "required": ["task_id", "user_id"]
  }
}"#;

const DELETE_TASK: &str = r#"{
  "name": "delete_task",
  "description": "Permanently delete a task. Cannot be undone.",
  "parameters": {
    "type": "object",
    "properties": {
      "task_id": {
        "type": "string",
        "description": "ID of the task to delete"
      },
      "user_id": {
        "type": "string",
        "description": "ID of the user (for ownership verification)"
      }
    },
    "required": ["task_id", "user_id"]
  }
}"#;

const UPDATE_TASK: &str = r#"{
  "name": "update_task",
  "description": "Update task attributes. Only provided fields are modified.",
  "parameters": {
    "type": "object",
    "properties": {
      "task_id": {
        "type": "string",
        "description": "ID of the task to update"
      },
      "user_id": {
        "type": "string",
        "description": "ID of the user (for ownership verification)"
      },
      "title": {
        "type": "string",
        "description": "New title (1-255 characters)",
        "minLength": 1,
        "maxLength": 255
      },
      "description": {
        "type": "string",
        "description": "New description",
        "maxLength": 1000
      },
      "priority": {
        "type": "string",
        "enum": ["Low", "Medium", "High"],
        "description": "New priority level"
      },
      "due_date": {
        "type": "string",
        "description": "New due date in YYYY-MM-DD format"
      },
      "completed": {
        "type": "boolean",
        "description": "New completion status"
      }
    },
    "required": ["task_id", "user_id"]
  }
}"#;
