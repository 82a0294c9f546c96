//! `assistant`: the schemas and descriptions that its contract prints.

use serde_json::{Value, json};

use crate::published::bindings;

#[test]
fn schemas_and_descriptions_are_those_of_the_contract() {
    let bindings = bindings("assistant");
    assert_eq!(bindings.len(), PRINTED.len());
    for (binding, (name, description, schema)) in bindings.into_iter().zip(PRINTED) {
        assert_eq!(binding.name, *name);
        assert_eq!(binding.description, *description);
        let mut schema: Value = serde_json::from_str(schema).unwrap();
        schema["additionalProperties"] = json!(false);
        assert_eq!(binding.parameters.to_string(), schema.to_string());
    }
}

/// Name, description and schema.
const PRINTED: &[(&str, &str, &str)] = &[
    (
        "add_task",
        "Create a new task for the user. Use after collecting title, priority (optional), due_date (optional), and description (optional).",
        ADD_TASK,
    ),
    (
        "list_tasks",
        "Retrieve user's tasks. Use when user asks to 'show my tasks' or when you need to display a specific task before deletion/update.",
        LIST_TASKS,
    ),
    (
        "update_task",
        "Update one or more fields of an existing task. Use after getting confirmation from user.",
        UPDATE_TASK,
    ),
    (
        "delete_task",
        "Permanently delete a task. ALWAYS ask for confirmation before calling this tool.",
        DELETE_TASK,
    ),
    (
        "complete_task",
        "Mark a task as complete or incomplete. Use when user says 'mark done', 'complete', 'finished', etc.",
        COMPLETE_TASK,
    ),
    (
        "find_task",
        "Search for tasks by partial title or keywords using fuzzy matching. Use when user mentions a task by name instead of ID (e.g., 'the milk task', 'update shopping').",
        FIND_TASK,
    ),
];

const ADD_TASK: &str = r#"{
  "type": "object",
  "properties": {
    "title": {
      "type": "string",
      "minLength": 1,
      "maxLength": 200,
      "description": "Task title (required)"
    },
    "priority": {
      "type": "string",
      "enum": ["high", "medium", "low"],
      "default": "medium",
      "description": "Task priority level"
    },
    "due_date": {
      "type": "string",
      "format": "date-time",
      "description": "ISO 8601 datetime string (optional)"
    },
    "description": {
      "type": "string",
      "maxLength": 1000,
      "description": "Additional task details (optional)"
    }
  },
  "required": ["title"]
}"#;

const LIST_TASKS: &str = r#"{
  "type": "object",
  "properties": {
    "status": {
      "type": "string",
      "enum": ["all", "pending", "completed"],
      "default": "all",
      "description": "Filter tasks by completion status"
    },
    "task_id": {
      "type": "integer",
      "description": "Get specific task by ID (optional)"
    }
  },
  "required": []
}"#;

const UPDATE_TASK: &str = r#"{
  "type": "object",
  "properties": {
    "task_id": {
      "type": "integer",
      "description": "ID of task to update (required)"
    },
    "title": {
      "type": "string",
      "minLength": 1,
      "maxLength": 200,
      "description": "New task title (optional)"
    },
    "priority": {
      "type": "string",
      "enum": ["high", "medium", "low"],
      "description": "New priority level (optional)"
    },
    "due_date": {
      "type": ["string", "null"],
      "format": "date-time",
      "description": "New due date or null to remove (optional)"
    },
    "description": {
      "type": ["string", "null"],
      "maxLength": 1000,
      "description": "New description or null to remove (optional)"
    },
    "completed": {
      "type": "boolean",
      "description": "Mark task as complete/incomplete (optional)"
    }
  },
  "required": ["task_id"]
}"#;

const DELETE_TASK: &str = r#"{
  "type": "object",
  "properties": {
    "task_id": {
      "type": "integer",
      "description": "ID of task to delete (required)"
    }
  },
  "required": ["task_id"]
}"#;

const COMPLETE_TASK: &str = r#"{
  "type": "object",
  "properties": {
    "task_id": {
      "type": "integer",
      "description": "ID of task to mark complete/incomplete (required)"
    },
    "completed": {
      "type": "boolean",
      "default": true,
      "description": "true to mark complete, false to mark incomplete"
    }
  },
  "required": ["task_id"]
}"#;

const FIND_TASK: &str = r#"{
  "type": "object",
  "properties": {
    "query": {
      "type": "string",
      "minLength": 1,
      "description": "Search query (partial title, keywords, etc.)"
    },
    "threshold": {
      "type": "number",
      "minimum": 0,
      "maximum": 1,
      "default": 0.6,
      "description": "Minimum similarity score (0-1) to return match"
    }
  },
  "required": ["query"]
}"#;
