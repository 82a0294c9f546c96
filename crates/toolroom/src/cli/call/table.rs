//! Answers of known shapes as tables, for people at a terminal.

use std::io;

use serde_json::Value;

use crate::terminal::{self, Rows, Tint, cell, name_cell, plain, tinted};

/// Prints data as a table, and says whether it has a shape that is known.
pub fn say(data: &Value) -> io::Result<bool> {
    let list = |name: &str| data[name].as_array().filter(|items| items.iter().all(Value::is_object));
    let titled = |items: &&Vec<Value>| items.iter().all(|item| task(item)["title"].is_string());
    if let Some(items) = list("tasks").or_else(|| list("matches")).filter(titled) {
        tasks(items)?;
    } else if let Some(items) =
        list("tools").filter(|items| items.iter().all(|item| item["name"].is_string()))
    {
        let mut rows = Rows::new(&["name", "description"]);
        for tool in items {
            rows.add([name_cell(plain(&tool["name"])), cell(plain(&tool["description"]))]);
        }
        rows.say("no tools")?;
    } else {
        return Ok(false);
    }
    if let Some(cursor) = data["nextCursor"].as_str() {
        terminal::remark(&format!("there are more: --param cursor={cursor}"));
    }
    Ok(true)
}

/// A match has its task inside.
fn task(item: &Value) -> &Value {
    item.get("task").unwrap_or(item)
}

fn tasks(items: &[Value]) -> io::Result<()> {
    let is_scored = items.iter().any(|item| item["confidence"].is_number());
    let mut header = vec!["id", "title", "status", "priority", "due", "tags"];
    header.extend(is_scored.then_some("fits"));
    let mut rows = Rows::new(&header);
    for item in items {
        let task = task(item);
        let first =
            |names: &[&str]| names.iter().find_map(|name| task.get(*name)).map(plain).unwrap_or_default();
        let status = match task["completed"].as_bool() {
            Some(done) => (if done { "completed" } else { "open" }).to_owned(),
            None => first(&["status"]),
        };
        let tint = if status == "completed" { Tint::Quiet } else { Tint::Good };
        let mut cells = vec![
            cell(first(&["taskId", "task_id", "id"])),
            cell(first(&["title"])),
            tinted(status, tint),
            cell(first(&["priority"])),
            cell(first(&["due", "due_date"])),
            cell(first(&["tags"])),
        ];
        let fits = item["confidence"].as_f64().map(|score| format!("{:.0} %", score * 100.0));
        cells.extend(is_scored.then(|| cell(fits.unwrap_or_default())));
        rows.add(cells);
    }
    rows.say("no tasks")
}
