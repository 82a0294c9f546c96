//! Search and selection, through the public interface.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod odd_input;
mod search;
mod selection;
mod trained;
mod wishes;

use toolroom_selection::{Index, ToolText};

/// The built-in tools and a few that others might register.
pub const TOOLS: [(&str, &str, &str); 17] = [
    (
        "create-task",
        "Makes a task for the user.",
        "Use it when the user wants to remember or plan something to do.",
    ),
    ("list-tasks", "Lists the user's tasks, newest first.", "Use it to see what there is to do."),
    (
        "complete-task",
        "Marks a task as done, or opens it again.",
        "Use it when the user says that something is done.",
    ),
    ("delete-task", "Deletes a task; a person is asked first.", "Use it when the user wants a task gone."),
    (
        "update-task",
        "Changes the named fields of a task.",
        "Use it to rename, reschedule, label or reword a task.",
    ),
    (
        "find-tasks",
        "Finds tasks by the words of their titles.",
        "Use it when the user names a task in words.",
    ),
    ("get-task", "Reads one task by its taskId.", "Use it when you need the details of a task."),
    ("restore-task", "Brings back a task that was deleted.", "Use it when the user regrets a delete."),
    ("search-web", "Searches the web.", "Use it for news, weather, prices and whatever is current."),
    ("execute-code", "Runs Python or shell code.", "Use it for computations and to process data or files."),
    ("request-human-input", "Asks a person a question.", "Use it when information is missing."),
    (
        "search-tools",
        "Finds tools by what they do.",
        "Use it when you know what you want done and not which tool does it.",
    ),
    (
        "describe-tool",
        "Shows the contract of one tool.",
        "Use it before you call a tool that you do not know.",
    ),
    ("call-tool", "Calls another tool by its name.", "Use it for tools that are not in your list."),
    ("get-status", "Tells how the service is.", "Use it to see whether everything works."),
    ("book_table", "Books a table at a restaurant.", "Use it to reserve a seat for dinner."),
    ("play_music", "Plays a song or an album on the speakers.", "Use it when the user wants to hear music."),
];

pub fn texts() -> Vec<ToolText<'static>> {
    let text = |(name, description, use_for)| ToolText { name, description, use_for, ..ToolText::default() };
    TOOLS.into_iter().map(text).collect()
}

pub fn index() -> Index {
    Index::build(&texts())
}
