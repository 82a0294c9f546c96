//! One table of a TOML file: found, appended and removed. Every other byte stays as it is.

use serde_json::{Map, Value};
use toml_edit::{Array, Document, InlineTable, Item, Table};

use super::edit::{Added, line_end};

/// The table at this path, if there is one.
pub(super) fn find(text: &str, path: &[&str]) -> Result<Option<Value>, String> {
    let file: Value = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    Ok(path.iter().try_fold(&file, |inside, name| inside.get(name)).cloned())
}

/// Appends a table that is not there.
pub(super) fn insert(text: &str, path: &[&str], entry: &Value) -> Result<(String, Added), String> {
    let end = line_end(text);
    let added = Added { parents: 0, line: !text.is_empty() && !text.ends_with('\n') };
    let mut written = text.to_owned();
    if added.line {
        written.push_str(end);
    }
    if !text.is_empty() {
        written.push_str(end);
    }
    written.push_str(&format!("[{}]{end}", path.join(".")));
    for (name, value) in entry.as_object().into_iter().flatten() {
        written.push_str(&format!("{name} = {}{end}", in_toml(value)));
    }
    // A parent that is written in one line takes no further tables.
    Document::parse(written.as_str()).map_err(|error| error.message().to_owned())?;
    Ok((written, added))
}

/// Removes a table with those below it.
pub(super) fn remove(text: &str, path: &[&str], added: Added) -> Result<String, String> {
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
    let end = line_end(text);
    let (mut before, after) = (&text[..span.start], &text[stop..]);
    if before == end || before.ends_with(&format!("{end}{end}")) {
        before = &before[..before.len() - end.len()];
    }
    if added.line && after.is_empty() {
        before = before.strip_suffix(end).unwrap_or(before);
    }
    Ok(format!("{before}{after}"))
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
