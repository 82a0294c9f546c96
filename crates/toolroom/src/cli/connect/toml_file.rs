//! One table of a TOML file: found, appended, replaced and removed. Every other byte stays as it is.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Array, Document, InlineTable, Item, Table};

use super::diff::SECRET_PARTS;
use super::edit::{Added, line_end};

/// The table at this path, if there is one.
pub(super) fn find(text: &str, path: &[&str]) -> Result<Option<Value>, String> {
    let file: Value = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    Ok(path.iter().try_fold(&file, |inside, name| inside.get(name)).cloned())
}

/// Appends a table that is not there.
pub(super) fn insert(text: &str, path: &[&str], entry: &Value) -> Result<(String, Added), String> {
    let end = line_end(text);
    let added = Added { line: !text.is_empty() && !text.ends_with('\n'), ..Added::default() };
    let mut written = text.to_owned();
    if added.line {
        written.push_str(end);
    }
    if !text.is_empty() {
        written.push_str(end);
    }
    written.push_str(&table(path, entry, end));
    // A parent that is written in one line takes no further tables.
    Document::parse(written.as_str()).map_err(|error| error.message().to_owned())?;
    Ok((written, added))
}

/// Writes a table in place of the one that is there, with those below it.
pub(super) fn replace(text: &str, path: &[&str], entry: &Value) -> Result<(String, Added), String> {
    let range = lines(text, path)?;
    let before = text[range.clone()].to_owned();
    let written = table(path, entry, line_end(text));
    let written = format!("{}{written}{}", &text[..range.start], &text[range.end..]);
    Ok((written, Added { replaced: Some(before), ..Added::default() }))
}

/// Removes a table with those below it; or puts back the one in whose place it is.
pub(super) fn remove(text: &str, path: &[&str], added: &Added) -> Result<String, String> {
    let range = lines(text, path)?;
    let (mut before, after) = (&text[..range.start], &text[range.end..]);
    if let Some(replaced) = &added.replaced {
        return Ok(format!("{before}{replaced}{after}"));
    }
    let end = line_end(text);
    if before == end || before.ends_with(&format!("{end}{end}")) {
        before = &before[..before.len() - end.len()];
    }
    if added.line && after.is_empty() {
        before = before.strip_suffix(end).unwrap_or(before);
    }
    Ok(format!("{before}{after}"))
}

/// A table with its header.
fn table(path: &[&str], entry: &Value, end: &str) -> String {
    let fields = entry.as_object().into_iter().flatten();
    let fields = fields.map(|(name, value)| format!("{name} = {}{end}", in_toml(value)));
    format!("[{}]{end}{}", path.join("."), fields.collect::<String>())
}

/// Where the lines of a table stand, with those of the tables below it.
fn lines(text: &str, path: &[&str]) -> Result<Range<usize>, String> {
    let file = Document::parse(text).map_err(|error| error.message().to_owned())?;
    let found = path.iter().try_fold(file.as_item(), |inside, name| inside.get(name));
    let table = found.and_then(Item::as_table).filter(|table| !table.is_dotted() && !table.is_implicit());
    let span = table.and_then(Table::span).ok_or("the entry is not a table with a header of its own")?;
    let last = found.map_or(span.end, last_byte);
    let stop = text[last..].find('\n').map_or(text.len(), |line| last + line + 1);
    let mut own: Value =
        toml::from_str(&text[span.start..stop]).map_err(|error| error.message().to_owned())?;
    for name in path {
        own = match own {
            Value::Object(mut fields) if fields.len() == 1 => fields.remove(*name).unwrap_or_default(),
            _ => return Err("another table stands between the lines of the entry".to_owned()),
        };
    }
    Ok(span.start..stop)
}

/// Where the text of secrets stands.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    fn collect(item: &Item, is_secret: bool, found: &mut Vec<Range<usize>>) {
        if let Some(table) = item.as_table_like() {
            for (name, inner) in table.iter() {
                collect(inner, is_secret || SECRET_PARTS.contains(&name), found);
            }
        } else if is_secret && item.is_str() {
            found.extend(item.span());
        }
    }
    let mut found = Vec::new();
    if let Ok(file) = Document::parse(text) {
        collect(file.as_item(), false, &mut found);
    }
    found
}

fn last_byte(item: &Item) -> usize {
    let own = item.span().map_or(0, |span| span.end);
    let inner = item.as_table().into_iter().flat_map(Table::iter).map(|(_, inner)| last_byte(inner)).max();
    inner.unwrap_or(0).max(own)
}

/// A value in TOML, on one line.
pub(super) fn in_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => number.as_i64().unwrap_or_default().into(),
        Value::Array(items) => items.iter().map(in_toml).collect::<Array>().into(),
        Value::Object(fields) => inline(fields).into(),
        Value::String(text) => text.as_str().into(),
        Value::Null => "".into(),
    }
}

fn inline(fields: &Map<String, Value>) -> InlineTable {
    fields.iter().map(|(name, value)| (name.as_str(), in_toml(value))).collect()
}
