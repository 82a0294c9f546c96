//! `todo-chatbot`: the function schemas that its contract prints, with the limits of its tables.

use serde_json::{Value, json};

use crate::published::bindings;

#[test]
fn schemas_and_descriptions_are_those_of_the_contract() {
    let printed = [CREATE_TASK, LIST_TASKS, GET_TASK, UPDATE_TASK, DELETE_TASK];
    let bindings = bindings("todo-chatbot");
    assert_eq!(bindings.len(), printed.len());
    for (binding, printed) in bindings.into_iter().zip(printed) {
        let printed: Value = serde_json::from_str(printed).unwrap();
        let function = &printed["function"];
        assert_eq!(binding.name, function["name"].as_str().unwrap());
        assert_eq!(binding.description, function["description"].as_str().unwrap());
        assert_eq!(binding.parameters.to_string(), limited(function["parameters"].clone()).to_string());
    }
}

/// The printed schema, closed, with the limits that the contract states in its tables.
fn limited(mut schema: Value) -> Value {
    let properties = schema["properties"].as_object_mut().unwrap();
    if let Some(title) = properties.get_mut("title") {
        title["minLength"] = json!(1);
        title["maxLength"] = json!(200);
    }
    if let Some(description) = properties.get_mut("description") {
        description["maxLength"] = json!(2000);
    }
    schema["additionalProperties"] = json!(false);
    schema
}

const CREATE_TASK: &str = r#"{
  "type": "function",
  "function": {
    "name": "create_task",
    "description": "Create a new todo task for the user. Use this when the user wants to add a task, create a reminder, or add something to their todo list.",
    "parameters": {
      "type": "object",
      "properties": {
        "title": {
          "type": "string",
          "description": "Task title (required, 1-200 characters). Should be concise and descriptive."
        },
        "description": {
          "type": "string",
          "description": "Optional task description with additional details (max 2000 characters)"
        },
        "status": {
          "type": "string",
          "enum": ["pending", "completed"],
          "description": "Task status. Default is 'pending'. Use 'completed' only if user explicitly says the task is already done."
        }
      },
      "required": ["title"]
    }
  }
}"#;

const LIST_TASKS: &str = r#"{
  "type": "function",
  "function": {
    "name": "list_tasks",
    "description": "List all tasks or filter by status. Use this when the user wants to see their tasks, check what's pending, or review completed items.",
    "parameters": {
      "type": "object",
      "properties": {
        "status": {
          "type": "string",
          "enum": ["all", "pending", "completed"],
          "description": "Filter tasks by status. 'all' returns all tasks, 'pending' returns only incomplete tasks, 'completed' returns only finished tasks. Default is 'all'."
        }
      }
    }
  }
}"#;

const GET_TASK: &str = r#"{
  "type": "function",
  "function": {
    "name": "get_task",
    "description": "Get details of a specific task by ID. Use this when you need to retrieve information about a particular task.",
    "parameters": {
      "type": "object",
      "properties": {
        "task_id": {
          "type": "integer",
          "description": "The unique ID of the task to retrieve"
        }
      },
      "required": ["task_id"]
    }
  }
}"#;

const UPDATE_TASK: &str = r#"{
  "type": "function",
  "function": {
    "name": "update_task",
    "description": "Update task details or mark as complete/incomplete. Use this when the user wants to change task information or mark a task as done.",
    "parameters": {
      "type": "object",
      "properties": {
        "task_id": {
          "type": "integer",
          "description": "The unique ID of the task to update"
        },
        "title": {
          "type": "string",
          "description": "New task title (1-200 characters)"
        },
        "description": {
          "type": "string",
          "description": "New task description (max 2000 characters)"
        },
        "status": {
          "type": "string",
          "enum": ["pending", "completed"],
          "description": "New task status. Use 'completed' to mark as done, 'pending' to mark as incomplete."
        }
      },
      "required": ["task_id"]
    }
  }
}"#;

const DELETE_TASK: &str = r#"{
  "type": "function",
  "function": {
    "name": "delete_task",
    "description": "Delete a task permanently. IMPORTANT: Always ask for user confirmation before calling this tool, as deletion cannot be undone.",
    "parameters": {
      "type": "object",
      "properties": {
        "task_id": {
          "type": "integer",
          "description": "The unique ID of the task to delete"
        }
      },
      "required": ["task_id"]
    }
  }
}"#;
