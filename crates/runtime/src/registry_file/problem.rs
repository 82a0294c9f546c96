//! What is wrong with a registry file, where, and what to do.

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use super::Entries;
use toolroom_contract::text::plain_reason;

/// What is wrong with a registry file, where, and what to do.
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

impl FileProblem {
    /// A problem of the whole file.
    pub(crate) fn whole(path: &Path, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (file, field) = (path.to_owned(), String::new());
        Self { file, line: 0, column: 0, field, message: message.into(), remedy: remedy.into() }
    }

    /// A problem of JSON that is none, or not what is expected. `from` is where the part begins that was read,
    /// `empty` what a file without entries reads.
    pub(crate) fn malformed(
        path: &Path,
        error: &serde_json::Error,
        field: String,
        from: (usize, usize),
        empty: &str,
    ) -> Self {
        let text = error.to_string();
        let (line, column) = within(from, (error.line(), error.column().max(1)));
        Self {
            file: path.to_owned(),
            line,
            column,
            field: if field == "." { String::new() } else { field },
            message: plain_reason(text.split(" at line ").next().unwrap_or(&text)),
            remedy: format!("Fix that line; a file without entries reads {empty}"),
        }
    }
}

/// The text of a registry file.
pub(crate) fn text_of<E: Entries>(path: &Path) -> Result<String, FileProblem> {
    let failed = |error: io::Error| {
        let remedy = match error.kind() {
            io::ErrorKind::NotFound => format!("Restore the file, or start a new one with {}", E::EMPTY),
            io::ErrorKind::InvalidData => "Save the file as UTF-8.".to_owned(),
            _ => "Fix the file's permissions, or restore it from a backup.".to_owned(),
        };
        FileProblem::whole(path, error.to_string(), remedy)
    };
    match fs::read_to_string(path) {
        Err(error) if E::OPTIONAL && error.kind() == io::ErrorKind::NotFound => Ok(E::EMPTY.to_owned()),
        read => read.map_err(failed),
    }
}

/// A place in a part of the file, as a place in the whole.
pub(crate) fn within(from: (usize, usize), (line, column): (usize, usize)) -> (usize, usize) {
    if line <= 1 { (from.0, from.1 + column - 1) } else { (from.0 + line - 1, column) }
}

/// Line and column of an offset, from 1.
pub(crate) fn place_of(text: &str, offset: usize) -> (usize, usize) {
    (text[..offset].matches('\n').count() + 1, column_of(text, offset))
}

pub(crate) fn column_of(text: &str, offset: usize) -> usize {
    let before = &text[..offset];
    let line_begins = before.rfind('\n').map_or(0, |newline| newline + 1);
    before[line_begins..].chars().count() + 1
}
