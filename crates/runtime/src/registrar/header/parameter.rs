//! One parameter as a line: `city (string, required, max 100): the city`.

use serde_json::{Map, Value, json};

use super::HeaderError;

/// A parameter, or a field of the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub schema: Value,
    /// Whether the line says `required` or `optional`.
    pub required: Option<bool>,
}

const SHAPE: &str = "Write 'city (string, required, max 100): the city'. Types: string, integer, number, boolean, \
                     array, object, any, date, date-time, email, uri, 'array of strings', 'string or null'. Then, \
                     as needed: required, optional, 'min 1', 'max 9', '1 to 9', 'one of a | b', 'default x', secret.";

/// Reads one line; `number` is its place in the file.
pub fn parse(line: &str, number: usize) -> Result<Parameter, HeaderError> {
    let wrong = |message: String| HeaderError::new(number, message, SHAPE);
    let line = line.trim();
    let line = line.strip_prefix("- ").unwrap_or(line);
    let end = line.find(|c: char| c.is_whitespace() || c == '(' || c == ':').unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    if name.is_empty() {
        return Err(wrong(format!("'{line}' names no parameter")));
    }
    let rest = rest.trim_start();
    let Some(inside) = rest.strip_prefix('(') else {
        return Err(wrong(format!("'{name}' has no type")));
    };
    let close = closing(inside).ok_or_else(|| wrong(format!("'{name}': a parenthesis is not closed")))?;
    let description = inside[close + 1..].trim_start();
    let description = match description.strip_prefix(':') {
        Some(text) => text.trim(),
        None if description.is_empty() => "",
        None => return Err(wrong(format!("'{name}': a colon is missing after the parenthesis"))),
    };
    let mut traits = Traits::default();
    for word in split(&inside[..close], ',') {
        traits.read(word.trim()).map_err(|message| wrong(format!("'{name}': {message}")))?;
    }
    let schema = traits.schema(description).map_err(|message| wrong(format!("'{name}': {message}")))?;
    Ok(Parameter { name: name.to_owned(), schema, required: traits.required })
}

/// What is in the parentheses.
#[derive(Default)]
struct Traits {
    kind: Option<Map<String, Value>>,
    choices: Option<Vec<Value>>,
    least: Option<Value>,
    most: Option<Value>,
    default: Option<Value>,
    secret: bool,
    required: Option<bool>,
}

impl Traits {
    fn read(&mut self, word: &str) -> Result<(), String> {
        let lower = word.to_lowercase();
        if let Some(rest) = after(&lower, word, &["default", "defaults to"]) {
            self.default = Some(literal(rest));
        } else if let Some(rest) = after(&lower, word, &["one of"]) {
            self.choices = Some(split(rest, '|').map(|choice| literal(choice.trim())).collect());
        } else if let Some(rest) = after(&lower, word, &["min", "at least"]) {
            self.least = Some(number(rest)?);
        } else if let Some(rest) = after(&lower, word, &["max", "at most"]) {
            self.most = Some(number(rest)?);
        } else if let Some((least, most)) = lower.split_once(" to ") {
            (self.least, self.most) = (Some(number(least)?), Some(number(most)?));
        } else {
            match lower.as_str() {
                "required" => self.required = Some(true),
                "optional" => self.required = Some(false),
                "secret" => self.secret = true,
                "" => return Err("an empty word in the parenthesis".into()),
                _ if self.kind.is_none() => self.kind = Some(kind(&lower, DEEPEST)?),
                _ => return Err(format!("cannot parse '{word}'")),
            }
        }
        Ok(())
    }

    fn schema(&self, description: &str) -> Result<Value, String> {
        let mut schema = match (&self.kind, &self.choices) {
            (Some(kind), _) => kind.clone(),
            (None, Some(_)) => Map::new(),
            (None, None) => return Err("no type is given".into()),
        };
        if let Some(choices) = &self.choices {
            schema.insert("enum".into(), choices.clone().into());
        }
        for (bound, name) in [(&self.least, "min"), (&self.most, "max")] {
            if let Some(bound) = bound {
                schema.insert(keyword(&schema, name)?, bound.clone());
            }
        }
        if self.secret {
            schema.insert("writeOnly".into(), true.into());
        }
        if let Some(default) = &self.default {
            schema.insert("default".into(), default.clone());
        }
        if !description.is_empty() {
            schema.insert("description".into(), description.into());
        }
        Ok(schema.into())
    }
}

/// What a bound is called for the type.
fn keyword(schema: &Map<String, Value>, name: &str) -> Result<String, String> {
    let of = |wanted: &str| match schema.get("type") {
        Some(Value::String(one)) => one == wanted,
        Some(Value::Array(many)) => many.iter().any(|one| one == wanted),
        _ => false,
    };
    if of("string") {
        Ok(format!("{name}Length"))
    } else if of("array") {
        Ok(format!("{name}Items"))
    } else if of("integer") || of("number") {
        Ok(format!("{name}imum"))
    } else {
        Err("a limit needs the type string, integer, number or array".into())
    }
}

/// Deeper nesting is a mistake, and would use up the stack.
const DEEPEST: usize = 8;

fn kind(word: &str, deeper: usize) -> Result<Map<String, Value>, String> {
    toolroom_work::step(word.len());
    let deeper = deeper.checked_sub(1).ok_or("the type is nested too deeply: at most 8 levels")?;
    let known = |value: Value| Ok(value.as_object().cloned().unwrap_or_default());
    if let Some((first, "null")) = word.rsplit_once(" or ") {
        let mut schema = kind(first.trim(), deeper)?;
        if let Some(one) = schema.get("type").cloned() {
            schema.insert("type".into(), json!([one, "null"]));
        }
        return Ok(schema);
    }
    if let Some((_, item)) = word.split_once(" of ").filter(|(list, _)| matches!(*list, "array" | "list")) {
        let item = kind(item.trim().trim_end_matches('s'), deeper)?;
        return known(json!({ "type": "array", "items": item }));
    }
    match word {
        "string" | "str" | "text" => known(json!({ "type": "string" })),
        "integer" | "int" => known(json!({ "type": "integer" })),
        "number" | "float" => known(json!({ "type": "number" })),
        "boolean" | "bool" => known(json!({ "type": "boolean" })),
        "array" | "list" => known(json!({ "type": "array" })),
        "object" | "dict" => known(json!({ "type": "object" })),
        "any" => Ok(Map::new()),
        "date" | "date-time" | "time" | "email" | "uri" | "uuid" => {
            known(json!({ "type": "string", "format": word }))
        }
        other => Err(format!("'{other}' is not a type")),
    }
}

/// What follows one of the words, as it is written.
fn after<'a>(lower: &str, word: &'a str, starts: &[&str]) -> Option<&'a str> {
    let start = starts
        .iter()
        .find(|start| lower.strip_prefix(**start).is_some_and(|rest| rest.starts_with([' ', '=', ':'])))?;
    // Lowering a word can change its length only outside ASCII, where no keyword is.
    Some(word.get(start.len()..)?.trim_start_matches([' ', '=', ':']).trim())
}

fn number(text: &str) -> Result<Value, String> {
    let value = serde_json::from_str::<Value>(text.trim()).ok().filter(Value::is_number);
    value.ok_or_else(|| format!("'{}' is not a number", text.trim()))
}

/// JSON if it parses, else the words themselves.
fn literal(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// Where the parenthesis ends that was opened before the text.
fn closing(text: &str) -> Option<usize> {
    Depths::new(text).find(|(_, letter, depth)| *letter == ')' && *depth < 0).map(|(at, ..)| at)
}

/// Splits at a character outside of brackets and quotes.
fn split(text: &str, between: char) -> impl Iterator<Item = &str> {
    let cuts = Depths::new(text).filter(move |(_, letter, depth)| *letter == between && *depth == 0);
    let mut start = 0;
    let ends: Vec<usize> = cuts.map(|(at, ..)| at).chain([text.len()]).collect();
    ends.into_iter().map(move |end| {
        let part = &text[start..end];
        start = (end + between.len_utf8()).min(text.len());
        part
    })
}

/// The characters outside of quotes, with how many brackets are open after each.
struct Depths<'a> {
    letters: std::str::CharIndices<'a>,
    depth: i32,
}

impl<'a> Depths<'a> {
    fn new(text: &'a str) -> Self {
        Self { letters: text.char_indices(), depth: 0 }
    }
}

impl Iterator for Depths<'_> {
    type Item = (usize, char, i32);

    fn next(&mut self) -> Option<Self::Item> {
        toolroom_work::step(1);
        let (at, letter) = self.letters.next()?;
        match letter {
            '"' => {
                while let Some((_, inner)) = self.letters.next() {
                    toolroom_work::step(1);
                    match inner {
                        '"' => break,
                        '\\' => drop(self.letters.next()),
                        _ => {}
                    }
                }
            }
            '(' | '[' | '{' => self.depth += 1,
            ')' | ']' | '}' => self.depth -= 1,
            _ => {}
        }
        Some((at, letter, self.depth))
    }
}
