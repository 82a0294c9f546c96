//! `tools.json` as text: what is in it, where, and what is wrong with it.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;
use toolroom_contract::entry::ToolEntry;

/// What is wrong with `tools.json`, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; 0 if it is about the whole file.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The field, such as `tools[2].timeout`; empty if it is about none.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        if !self.field.is_empty() {
            write!(f, ", field '{}'", self.field)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for FileProblem {}

/// A file without entries.
const EMPTY: &str = "{\"tools\": []}";

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
struct Outline<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

/// Reads the file; what is wrong with single entries beyond their form is not looked at.
pub fn read(path: &Path) -> Result<Vec<Written>, FileProblem> {
    parse(path, &text_of(path)?)
}

pub(super) fn text_of(path: &Path) -> Result<String, FileProblem> {
    fs::read_to_string(path).map_err(|error| FileProblem {
        file: path.to_owned(),
        line: 0,
        column: 0,
        field: String::new(),
        message: error.to_string(),
        remedy: match error.kind() {
            io::ErrorKind::NotFound => format!("Put the file back, or start it anew with {EMPTY}"),
            io::ErrorKind::InvalidData => "Save the file as UTF-8.".to_owned(),
            _ => "Mend the file's rights, or put it back from a copy.".to_owned(),
        },
    })
}

pub(super) fn parse(path: &Path, text: &str) -> Result<Vec<Written>, FileProblem> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let outline: Outline<'_> = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| malformed(path, error.inner(), error.path().to_string(), (1, 1)))?;
    reader.end().map_err(|error| malformed(path, &error, String::new(), (1, 1)))?;
    // Where the last entry began, so that lines are counted once.
    let (mut from, mut line) = (0, 1);
    let entries = outline.tools.into_iter().enumerate().map(|(index, raw)| {
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
    let remedy = format!("Mend that entry ('{}'), or take it out.", at.entry.name);
    FileProblem { file: path.to_owned(), line, column, field, message, remedy }
}

fn malformed(path: &Path, error: &serde_json::Error, field: String, from: (usize, usize)) -> FileProblem {
    let text = error.to_string();
    let (line, column) = within(from, (error.line(), error.column().max(1)));
    FileProblem {
        file: path.to_owned(),
        line,
        column,
        field: if field == "." { String::new() } else { field },
        message: text.split(" at line ").next().unwrap_or(&text).to_owned(),
        remedy: format!("Mend that line; a file without entries reads {EMPTY}"),
    }
}

/// A place in a part of the file, as a place in the whole.
fn within(from: (usize, usize), (line, column): (usize, usize)) -> (usize, usize) {
    if line <= 1 { (from.0, from.1 + column - 1) } else { (from.0 + line - 1, column) }
}

fn place_of(text: &str, offset: usize) -> (usize, usize) {
    (text[..offset].matches('\n').count() + 1, column_of(text, offset))
}

fn column_of(text: &str, offset: usize) -> usize {
    let before = &text[..offset];
    let line_begins = before.rfind('\n').map_or(0, |newline| newline + 1);
    before[line_begins..].chars().count() + 1
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
