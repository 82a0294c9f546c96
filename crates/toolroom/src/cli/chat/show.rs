//! What a run shows: its words on stdout, a card for each call on stderr.

use std::io;

use serde_json::Value;

use super::wrap::Wrap;
use crate::terminal::{self, Tint, plain};

/// What the person sees of one answer.
pub struct Screen {
    /// Only the answer as a whole is printed.
    silent: bool,
    /// Whether the last line on stdout is unfinished.
    within: bool,
    wrap: Wrap,
}

impl Screen {
    pub fn new(silent: bool) -> Self {
        Self { silent, within: false, wrap: Wrap::new(terminal::width()) }
    }

    /// Shows an event.
    pub fn show(&mut self, name: &str, data: &Value) -> io::Result<()> {
        if self.silent {
            return Ok(());
        }
        match name {
            "text" => {
                let text = data["text"].as_str().unwrap_or_default();
                let tint = (data["source"] == "receipt").then_some(Tint::Good);
                self.within = !text.ends_with('\n') && (self.within || !text.is_empty());
                terminal::put(&self.wrap.push(text), tint)
            }
            // What is on the screen stays there, so that it must be said that it does not count.
            "withdrawn" => self.note("The model's answer broke off; do not rely on the words above."),
            "tool_started" => {
                self.break_line()?;
                terminal::mark(
                    Tint::Quiet,
                    "→",
                    &format!("{} {}", plain(&data["name"]), brief(&data["input"])),
                );
                Ok(())
            }
            "tool_finished" => {
                self.break_line()?;
                let (tint, mark) =
                    if data["failed"] == true { (Tint::Warn, "✗") } else { (Tint::Good, "✓") };
                terminal::mark(tint, mark, &format!("{}: {}", plain(&data["name"]), outcome(data)));
                Ok(())
            }
            // Asked in the text, and by the next prompt.
            _ => Ok(()),
        }
    }

    /// A remark in between.
    pub fn note(&mut self, text: &str) -> io::Result<()> {
        self.break_line()?;
        terminal::mark(Tint::Quiet, "…", text);
        Ok(())
    }

    /// The end of the answer.
    pub fn end(&mut self) -> io::Result<()> {
        self.break_line()
    }

    fn break_line(&mut self) -> io::Result<()> {
        let rest = self.wrap.finish();
        if std::mem::take(&mut self.within) { terminal::put(&format!("{rest}\n"), None) } else { Ok(()) }
    }
}

/// The result of a call, in one line.
fn outcome(data: &Value) -> String {
    let output = &data["output"];
    let lists = ["tasks", "results", "tools"];
    let count = lists.iter().find_map(|name| Some((*name, output.get(name)?.as_array()?.len())));
    let said = ["message", "error"].iter().find_map(|name| match output.get(name)? {
        Value::String(text) => Some(text.as_str()),
        error => error.get("message")?.as_str(),
    });
    let titled = output["task"]["title"].as_str();
    match (data["receipt"]["text"].as_str(), said.or(titled), count) {
        (Some(receipt), ..) => shortened(receipt),
        (None, Some(said), _) => shortened(said),
        (None, None, Some((name, 1))) => format!("1 {}", name.trim_end_matches('s')),
        (None, None, Some((name, count))) => format!("{count} {name}"),
        (None, None, None) => brief(output),
    }
}

/// JSON on one line, cut short.
fn brief(value: &Value) -> String {
    match value {
        Value::Object(fields) if fields.is_empty() => String::new(),
        value => shortened(&value.to_string()),
    }
}

fn shortened(text: &str) -> String {
    const MOST: usize = 100;
    let text = terminal::one_line(text);
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
