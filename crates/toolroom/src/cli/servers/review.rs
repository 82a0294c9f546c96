//! `toolroom servers approve`: shows what is pending review, then approves exactly that.

use anyhow::Result;
use http::Method;
use serde_json::{Value, json};
use toolroom_contract::text::shell_word;

use crate::client::Client;
use crate::failure::Failure;
use crate::terminal::{self, plain, visible};

/// What a person wants to approve.
pub(super) struct Wanted<'a> {
    pub name: &'a str,
    pub tool: Option<&'a str>,
    /// What they were shown earlier.
    pub hash: Option<&'a str>,
    pub yes: bool,
}

/// Shows what is pending, asks, and approves what was shown. Without a terminal a flag must say yes. `None` if nothing was
/// approved.
pub(super) async fn approve(client: &Client, place: &str, wanted: &Wanted<'_>) -> Result<Option<Value>> {
    let server = client.get(&format!("{place}?wait={}", super::PATIENCE)).await?;
    let tools: Vec<&Value> = server["tools"].as_array().into_iter().flatten().collect();
    let is_wanted =
        |tool: &&&Value| wanted.tool.is_none_or(|name| tool["tool"] == name || tool["name"] == name);
    let waits = |tool: &&&Value| tool["pendingHash"].is_string();
    let pending: Vec<&Value> = tools.iter().filter(is_wanted).filter(waits).copied().collect();
    if wanted.tool.is_some() && !tools.iter().any(|tool| is_wanted(&tool)) {
        let message = format!("{} has no tool named '{}'", wanted.name, wanted.tool.unwrap_or_default());
        return Err(Failure::new(
            message,
            format!("See its tools: toolroom servers show {}", shell_word(wanted.name)),
        )
        .into());
    }
    let shown = match wanted.tool {
        Some(_) => pending.first().map(|tool| &tool["pendingHash"]),
        None => Some(&server["pendingHash"]).filter(|hash| hash.is_string()),
    };
    let Some(shown) = wanted.hash.or(shown.and_then(Value::as_str)) else {
        return Ok(None);
    };
    for tool in pending {
        terminal::remark(&difference(tool));
    }
    if !wanted.yes {
        match terminal::is_confirmed(&format!("approve this for {}?", wanted.name))? {
            Some(false) => return Ok(None),
            // Who gives the hash has seen what it stands for.
            None if wanted.hash.is_none() => return Err(nobody_to_ask(wanted, shown).into()),
            _ => {}
        }
    }
    let body = json!({ "tool": wanted.tool, "hash": shown });
    client.request(Method::POST, &format!("{place}/approve"), Some(&body)).await.map(Some)
}

fn nobody_to_ask(wanted: &Wanted<'_>, shown: &str) -> Failure {
    let tool = wanted.tool.map(|tool| format!(" --tool {}", shell_word(tool))).unwrap_or_default();
    let message = "nothing was approved: there is no terminal to ask on";
    let hint = format!(
        "Approve exactly what is shown: toolroom servers approve {}{tool} --hash {shown}; or whatever is pending: add --yes",
        shell_word(wanted.name)
    );
    Failure::new(message, hint)
}

/// A tool's old and new definition, line by line.
pub(super) fn difference(tool: &Value) -> String {
    let mut text = format!("{} ({})", visible(&plain(&tool["tool"])), plain(&tool["standing"]));
    let mut lines = Vec::new();
    compare("", tool.get("approved"), tool.get("pending"), &mut lines);
    if lines.is_empty() {
        lines.push("    the same definition as before, from a server that nobody has reviewed".to_owned());
    }
    for line in lines {
        text.push('\n');
        text.push_str(&line);
    }
    text
}

/// Objects are compared field by field, everything else as a whole. `_meta` is for machines and not reviewed.
fn compare(at: &str, old: Option<&Value>, new: Option<&Value>, lines: &mut Vec<String>) {
    match (old, new) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let added = new.keys().filter(|name| !old.contains_key(*name));
            for name in old.keys().chain(added).filter(|name| !at.is_empty() || *name != "_meta") {
                compare(&format!("{at}/{name}"), old.get(name), new.get(name), lines);
            }
        }
        (None, Some(Value::Object(new))) if at.is_empty() => {
            for (name, value) in new.iter().filter(|(name, _)| *name != "_meta") {
                compare(&format!("/{name}"), None, Some(value), lines);
            }
        }
        (old, new) if old == new => {}
        (old, new) => {
            let line = |sign: &str, value: &Value| visible(&format!("  {sign} {at}: {value}")).into_owned();
            lines.extend(old.map(|old| line("-", old)));
            lines.extend(new.map(|new| line("+", new)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_each_field_with_both_values_and_hides_nothing() {
        let tool = json!({
            "tool": "read", "standing": "changed",
            "approved": { "name": "read", "description": "Reads.", "inputSchema": { "type": "object" }, "_meta": { "v": 1 } },
            "pending": { "name": "read", "description": "Reads,\u{202e} and sends.",
                "inputSchema": { "type": "object", "required": ["to"] }, "_meta": { "v": 2 } },
        });
        let expected = "read (changed)\n  - /description: \"Reads.\"\n  + /description: \"Reads,\\u202e and sends.\"\n  \
                        + /inputSchema/required: [\"to\"]";
        assert_eq!(difference(&tool), expected);
        let new = json!({ "tool": "more", "standing": "new", "pending": { "name": "more", "description": "Came." } });
        assert_eq!(difference(&new), "more (new)\n  + /name: \"more\"\n  + /description: \"Came.\"");
    }
}
