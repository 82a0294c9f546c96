//! `tools.json` as text: what is in it, where, and what is wrong with it.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolroom_contract::entry::ToolEntry;

use super::ToolEntries;
use crate::registry_file::Entries;
use crate::registry_file::problem::{self, FileProblem, column_of, place_of, within};

/// An entry, as it stands in the file.
#[derive(Clone, Debug)]
pub struct Written {
    /// What it says.
    pub entry: ToolEntry,
    /// How it is written, byte for byte.
    pub text: String,
    /// Where it begins: line and column, from 1.
    pub(super) place: (usize, usize),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonLayout<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

/// Reads the file; what is wrong with single entries beyond their form is not looked at.
pub fn read(path: &Path) -> Result<Vec<Written>, FileProblem> {
    parse(path, &problem::text_of::<ToolEntries>(path)?)
}

pub(super) fn parse(path: &Path, text: &str) -> Result<Vec<Written>, FileProblem> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let layout: JsonLayout<'_> = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| malformed(path, error.inner(), error.path().to_string(), (1, 1)))?;
    reader.end().map_err(|error| malformed(path, &error, String::new(), (1, 1)))?;
    // Where the last entry began, so that lines are counted once.
    let (mut from, mut line) = (0, 1);
    let entries = layout.tools.into_iter().enumerate().map(|(index, raw)| {
        let raw = raw.get();
        let offset = raw.as_ptr() as usize - text.as_ptr() as usize;
        line += text[from..offset].matches('\n').count();
        from = offset;
        let place = (line, column_of(text, offset));
        let mut reader = serde_json::Deserializer::from_str(raw);
        let entry = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let field = error.path().to_string();
            let field = if field == "." { String::new() } else { format!(".{field}") };
            malformed(path, error.inner(), format!("tools[{index}]{field}"), place)
        })?;
        Ok(Written { entry, text: raw.to_owned(), place })
    });
    entries.collect()
}

/// The problem of a sound entry: its `pointer` names the field.
pub(super) fn unsound(
    path: &Path,
    index: usize,
    at: &Written,
    pointer: &str,
    message: String,
) -> FileProblem {
    let steps: Vec<&str> = pointer.split('/').filter(|step| !step.is_empty()).collect();
    let inside = steps.last().and_then(|name| at.text.find(&format!("\"{name}\"")));
    let (line, column) = within(at.place, place_of(&at.text, inside.unwrap_or(0)));
    let mut field = format!("tools[{index}]");
    for step in steps {
        field.push('.');
        field.push_str(step);
    }
    let remedy = format!("Fix that entry ('{}'), or remove it.", at.entry.name);
    FileProblem { file: path.to_owned(), line, column, field, message, remedy }
}

fn malformed(path: &Path, error: &serde_json::Error, field: String, from: (usize, usize)) -> FileProblem {
    FileProblem::malformed(path, error, field, from, ToolEntries::EMPTY)
}

/// The whole file with these entries, each as it is written.
pub(super) fn render<'a>(entries: impl Iterator<Item = &'a str>) -> String {
    let entries: Vec<&str> = entries.collect();
    if entries.is_empty() {
        return "{\n  \"tools\": []\n}\n".to_owned();
    }
    format!("{{\n  \"tools\": [\n    {}\n  ]\n}}\n", entries.join(",\n    "))
}

/// An entry of ours, indented as the file is.
pub(super) fn render_entry(entry: &ToolEntry) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(entry)?.replace('\n', "\n    "))
}
