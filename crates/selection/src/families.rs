//! The names that the gate knows: the built-in tools, canonical and as the profiles publish them.

use crate::gate::{Class, Intent};

/// What a built-in tool is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// One of the task tools.
    Task(Intent),
    /// Searches the web.
    Web,
    /// Runs code.
    Code,
    /// Asks a person.
    Human,
    /// The registry's own tools, which serve agents and no wish of a person.
    Registry,
}

impl Family {
    /// The family of a tool, by its name.
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            "create-task" | "create_task" | "add_task" => Self::Task(Intent::Create),
            "list-tasks" | "list_tasks" => Self::Task(Intent::List),
            "complete-task" | "complete_task" => Self::Task(Intent::Complete),
            "delete-task" | "delete_task" => Self::Task(Intent::Delete),
            "update-task" | "update_task" => Self::Task(Intent::Update),
            "find-tasks" | "find_task" => Self::Task(Intent::Find),
            "get-task" | "get_task" => Self::Task(Intent::Get),
            "restore-task" => Self::Task(Intent::Restore),
            "search-web" | "web_search" => Self::Web,
            "execute-code" | "code_execution" => Self::Code,
            "request-human-input" | "request_human_input" => Self::Human,
            "search-tools" | "describe-tool" | "call-tool" | "get-status" | "batch-tasks" => Self::Registry,
            _ => return None,
        })
    }

    /// Whether a tool serves to find and call others, which a person's words seldom ask for.
    pub(crate) fn is_finder(name: &str) -> bool {
        matches!(name, "search-tools" | "describe-tool" | "call-tool")
    }

    /// Whether it answers to a class, and for tasks to an intent.
    pub(crate) fn serves(self, class: Class, intent: Intent) -> bool {
        match self {
            Self::Task(own) => class == Class::Tasks && own == intent,
            Self::Web => class == Class::Web,
            Self::Code => class == Class::Code,
            Self::Human => class == Class::Human,
            Self::Registry => false,
        }
    }
}
