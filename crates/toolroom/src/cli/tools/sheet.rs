//! A tool on one page, for people.

use serde_json::Value;
use toolroom_contract::text::shell_word;

use crate::terminal::plain;

/// A tool on one page: what it is, its parameters, an example to paste.
pub fn sheet(tool: &Value) -> String {
    let mut page =
        format!("{} {}\n{}\n", plain(&tool["name"]), plain(&tool["version"]), plain(&tool["description"]));
    let flags =
        [("cacheable", "cacheable"), ("idempotent", "idempotent"), ("destructive", "waits for a person")];
    let flags: Vec<&str> =
        flags.iter().filter(|(field, _)| tool[field] == true).map(|(_, word)| *word).collect();
    let mut line = |label: &str, text: String| {
        if !text.is_empty() {
            page.push_str(&format!("\n{label:<13} {text}"));
        }
    };
    line("category", plain(&tool["category"]));
    line("response time", plain(&tool["responseTime"]));
    line("permissions", plain(&tool["permissions"]));
    line("tags", plain(&tool["tags"]));
    line("it is", flags.join(", "));
    line("filled in", plain(&tool["derived"]));
    if let Some(gone) = tool.get("deprecated") {
        line(
            "deprecated",
            format!("use {}; removed on {}", plain(&gone["replacement"]), plain(&gone["removalDate"])),
        );
    }
    page.push_str(&parameters(&tool["parameters"]));
    if let Some(example) = tool["examples"].get(0) {
        page.push_str(&format!(
            "\n\nExample: {}\n  toolroom call {} --params {}",
            plain(&example["description"]),
            shell_word(&plain(&tool["name"])),
            shell_word(&example["params"].to_string())
        ));
    }
    page
}

fn parameters(schema: &Value) -> String {
    let Some(properties) = schema["properties"].as_object().filter(|map| !map.is_empty()) else {
        return "\n\nno parameters".to_owned();
    };
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut text = "\n\nparameters".to_owned();
    for (name, property) in properties {
        let kind = match property.get("enum") {
            Some(choices) => plain(choices),
            None => plain(&property["type"]),
        };
        let must = if required.iter().any(|one| one == name) { ", required" } else { "" };
        text.push_str(&format!("\n  {name} ({kind}{must})"));
        if property["description"].is_string() {
            text.push_str(&format!(": {}", plain(&property["description"]).replace('\n', " ")));
        }
    }
    text
}
