//! What the header of a script says, as an entry of `tools.json`. Only reads the text; nothing runs.

mod field;
mod parameter;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashMap;
use std::fmt;

use serde_json::{Map, Value, json};
use toolroom_contract::entry::ToolEntry;

use field::{Field, FieldName, divide};

/// What is wrong with a header, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderError {
    /// The line of the file.
    pub line: usize,
    message: String,
    /// What to write instead.
    pub remedy: String,
    /// Whether there is no header at all.
    pub no_header: bool,
}

impl HeaderError {
    fn new(line: usize, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { line, message: message.into(), remedy: remedy.into(), no_header: false }
    }
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The entry that the script in `file` describes; `file` is its name without a folder.
pub fn entry_of(file: &str, source: &str) -> Result<Value, HeaderError> {
    let lines = match file.ends_with(".py") {
        true => text::of_python(source)?,
        false => text::of_comments(source)?,
    };
    let (description, fields) = divide(&lines)?;
    let mut reading = Reading::default();
    for field in &fields {
        reading.take(field)?;
    }
    reading.finish(file, description, lines[0].number)
}

/// The entry in the making.
#[derive(Default)]
struct Reading {
    entry: Map<String, Value>,
    config: Map<String, Value>,
    examples: Vec<Value>,
    /// Where each key of the entry comes from.
    places: HashMap<&'static str, usize>,
    seen: HashMap<FieldName, usize>,
}

impl Reading {
    fn take(&mut self, field: &Field<'_>) -> Result<(), HeaderError> {
        if let Some(first) = self.seen.insert(field.name, field.number)
            && field.name != FieldName::Example
        {
            let message = format!("the field is already in line {first}");
            return Err(HeaderError::new(field.number, message, "Keep one of them."));
        }
        self.places.entry(field.name.key()).or_insert(field.number);
        match field.name {
            FieldName::Params => drop(self.entry.insert("input_schema".into(), input(field)?)),
            FieldName::Returns => drop(self.entry.insert("output_schema".into(), output(field)?)),
            FieldName::Example => self.examples.push(example(field)?),
            FieldName::Plain(key) => drop(self.entry.insert(key.into(), plain(key, &field.words()))),
            FieldName::List(key) => drop(self.entry.insert(key.into(), list(&field.words()))),
            FieldName::Json(key) => drop(self.entry.insert(key.into(), field.json()?)),
            FieldName::Config(key) => drop(self.config.insert(key.into(), field.words().into())),
            FieldName::ConfigJson(key) => drop(self.config.insert(key.into(), field.json()?)),
        }
        Ok(())
    }

    /// Fills in what follows from the file, and reads the whole as an entry.
    fn finish(mut self, file: &str, description: String, first: usize) -> Result<Value, HeaderError> {
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        self.entry.entry("name").or_insert_with(|| stem.into());
        if !self.entry.contains_key("description") {
            if description.is_empty() {
                return Err(HeaderError::new(
                    first,
                    "the header does not say what the tool does",
                    "Begin it with a sentence: what it does, when to use it, what it returns.",
                ));
            }
            self.entry.insert("description".into(), description.into());
        }
        if !self.examples.is_empty() {
            self.entry.insert("examples".into(), self.examples.into());
        }
        self.config.insert("script_path".into(), file.into());
        self.entry.insert("config".into(), self.config.into());
        let entry = Value::from(self.entry);
        match serde_path_to_error::deserialize::<_, ToolEntry>(&entry) {
            Ok(_) => Ok(entry),
            Err(error) => {
                let path = error.path().to_string();
                let key = path.split(['.', '[']).next().unwrap_or_default();
                let line = self.places.get(key).copied().unwrap_or(first);
                let message = format!("{path}: {}", error.inner());
                Err(HeaderError::new(line, message, "'toolroom tools add --help' shows a header."))
            }
        }
    }
}

/// What the tool takes: closed to anything else, optional unless it says otherwise.
fn input(field: &Field<'_>) -> Result<Value, HeaderError> {
    if field.is_schema() {
        return field.json();
    }
    let found = field.parameters()?;
    let required: Vec<&str> =
        found.iter().filter(|one| one.required == Some(true)).map(|one| one.name.as_str()).collect();
    let mut schema = json!({ "type": "object" });
    let properties: Map<String, Value> =
        found.iter().map(|one| (one.name.clone(), one.schema.clone())).collect();
    schema["properties"] = properties.into();
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema["additionalProperties"] = false.into();
    Ok(schema)
}

/// What the tool answers: every field is there unless it is optional, and there may be more.
fn output(field: &Field<'_>) -> Result<Value, HeaderError> {
    if field.is_schema() {
        return field.json();
    }
    let found = field.parameters()?;
    let required: Vec<&str> =
        found.iter().filter(|one| one.required != Some(false)).map(|one| one.name.as_str()).collect();
    let properties: Map<String, Value> =
        found.iter().map(|one| (one.name.clone(), one.schema.clone())).collect();
    Ok(json!({ "type": "object", "properties": properties, "required": required }))
}

/// `What it shows: {"city": "Berlin"} -> {"sky": "clear"}`, the words being optional.
fn example(field: &Field<'_>) -> Result<Value, HeaderError> {
    let words = field.words();
    let wrong = |message: &str| {
        let remedy = r#"Write 'example: {"city": "Berlin"} -> {"sky": "clear"}'."#;
        HeaderError::new(field.number, message, remedy)
    };
    let start = words.find('{').ok_or_else(|| wrong("the example has no parameters"))?;
    let (about, rest) = words.split_at(start);
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
    let params =
        values.next().and_then(Result::ok).ok_or_else(|| wrong("its parameters are not a JSON object"))?;
    let rest = rest[values.byte_offset()..].trim();
    let result = rest.strip_prefix("->").ok_or_else(|| wrong("'->' and the answer are missing"))?;
    let result: Value = serde_json::from_str(result).map_err(|_| wrong("its answer is not JSON"))?;
    let about = about.trim().trim_end_matches(':').trim_end();
    let about = if about.is_empty() { "As its author wrote it" } else { about };
    Ok(json!({ "description": about, "params": params, "expectedResult": result }))
}

/// Names stay text even if they look like JSON; the rest is JSON if it parses.
fn plain(key: &str, words: &str) -> Value {
    match (key, words.to_lowercase().as_str()) {
        ("name" | "description" | "version", _) => words.into(),
        (_, "yes") => true.into(),
        (_, "no") => false.into(),
        (_, lower) => serde_json::from_str(lower).unwrap_or_else(|_| lower.into()),
    }
}

fn list(words: &str) -> Value {
    let words = words.trim().trim_start_matches('[').trim_end_matches(']');
    if words.eq_ignore_ascii_case("none") || words.trim().is_empty() {
        return json!([]);
    }
    words.split(',').map(|word| word.trim().trim_matches(['"', '\''])).collect::<Vec<_>>().into()
}
