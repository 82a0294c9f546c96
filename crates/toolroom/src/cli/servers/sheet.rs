//! A server on one page, for people.

use serde_json::Value;
use toolroom_contract::text::shell_word;

use super::review::difference;
use crate::terminal::plain;

/// A server on one page: its state, its tools, what is pending review and why.
pub fn sheet(server: &Value) -> String {
    let name = plain(&server["name"]);
    let mut page = name.clone();
    let mut line = |label: &str, text: String| {
        if !text.is_empty() {
            page.push_str(&format!("\n{label:<12} {}", text.replace('\n', " ")));
        }
    };
    line("state", plain(&server["state"]));
    line("reason", plain(&server["reason"]));
    line("transport", plain(&server["transport"]));
    line("speaks", plain(&server["revision"]));
    line(
        "says it is",
        [&server["server"]["name"], &server["server"]["version"]].map(plain).join(" ").trim().to_owned(),
    );
    line("permission", plain(&server["permission"]));
    line("connections", plain(&server["connections"]));
    line("incomplete", plain(&server["incomplete"]));
    for (field, value) in server["entry"].as_object().into_iter().flatten() {
        line(&format!("  {field}"), if value.is_object() { value.to_string() } else { plain(value) });
    }
    page.push_str(&tools(server, &name));
    if let Some(stderr) = server["stderr"].as_str().filter(|text| !text.trim().is_empty()) {
        page.push_str("\n\nlast lines on stderr");
        let lines: Vec<&str> = stderr.trim_end().lines().collect();
        for text in &lines[lines.len().saturating_sub(10)..] {
            page.push_str(&format!("\n  {text}"));
        }
    }
    // What a server says must not steer the terminal.
    page.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
}

fn tools(server: &Value, name: &str) -> String {
    let Some(tools) = server["tools"].as_array().filter(|tools| !tools.is_empty()) else {
        return "\n\nno tools known".to_owned();
    };
    let mut text = "\n\ntools".to_owned();
    for tool in tools {
        let remote = plain(&tool["tool"]);
        let approve =
            || format!("toolroom servers approve {} --tool {}", shell_word(name), shell_word(&remote));
        let shown = tool["name"].as_str().unwrap_or(&remote).to_owned();
        let note = match tool["standing"].as_str() {
            Some("open") => String::new(),
            Some("changed") => format!("  pending review: changed; {}", approve()),
            Some("new") => format!("  pending review: new; {}", approve()),
            Some("left_out") => "  left out by the entry".to_owned(),
            _ => format!("  rejected: {}", plain(&tool["reason"])),
        };
        text.push_str(&format!("\n  {shown}{note}"));
        if tool["pendingHash"].is_string() {
            for line in difference(tool).lines().skip(1) {
                text.push_str(&format!("\n    {line}"));
            }
        }
        for change in tool["changes"].as_array().into_iter().flatten() {
            text.push_str(&format!(
                "\n      {} {}: {}",
                plain(&change["impact"]),
                plain(&change["pointer"]),
                plain(&change["message"])
            ));
        }
    }
    text
}
