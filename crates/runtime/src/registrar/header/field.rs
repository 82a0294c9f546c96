//! The fields of a header: their names, and the lines that belong to each.

use std::collections::HashSet;

use serde_json::Value;

use super::text::Line;
use super::{HeaderError, parameter};

/// A field with the lines that belong to it.
pub struct Field<'a> {
    pub name: FieldName,
    pub number: usize,
    /// What follows the colon.
    pub inline: &'a str,
    lines: Vec<&'a Line>,
}

/// The fields of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldName {
    Params,
    Returns,
    Example,
    /// One word or number of the entry.
    Plain(&'static str),
    /// A list with commas.
    List(&'static str),
    /// JSON.
    Json(&'static str),
    /// A word of the entry's `config`.
    Config(&'static str),
    /// JSON in the entry's `config`.
    ConfigJson(&'static str),
}

const KNOWN: &str = "name, description, params, returns, example, version, category, tags, permissions, timeout, \
                     parallel_capable, responseTime, idempotent, destructive, cacheable, cacheTTL, rateLimit, \
                     deprecated, effect, nextActions, entrypoint, isolation, env, limits";

impl FieldName {
    /// Ignores case, spaces, hyphens and underscores.
    fn of(word: &str) -> Option<Self> {
        let word: String = word.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).collect();
        Some(match word.to_lowercase().as_str() {
            "params" | "parameters" | "input" | "inputs" | "args" | "arguments" => Self::Params,
            "returns" | "output" | "outputs" | "result" => Self::Returns,
            "example" => Self::Example,
            "name" => Self::Plain("name"),
            "description" => Self::Plain("description"),
            "version" => Self::Plain("version"),
            "category" => Self::Plain("category"),
            "responsetime" => Self::Plain("responseTime"),
            "timeout" => Self::Plain("timeout"),
            "parallel" | "parallelcapable" => Self::Plain("parallel_capable"),
            "idempotent" => Self::Plain("idempotent"),
            "destructive" => Self::Plain("destructive"),
            "cacheable" => Self::Plain("cacheable"),
            "cachettl" => Self::Plain("cacheTTL"),
            "tags" => Self::List("tags"),
            "permissions" => Self::List("permissions"),
            "ratelimit" => Self::Json("rateLimit"),
            "deprecated" => Self::Json("deprecated"),
            "effect" => Self::Json("effect"),
            "nextactions" => Self::Json("nextActions"),
            "entrypoint" => Self::Config("entrypoint"),
            "isolation" => Self::Config("isolation"),
            "env" => Self::ConfigJson("env"),
            "limits" => Self::ConfigJson("limits"),
            _ => return None,
        })
    }

    /// As error messages and entries call it.
    pub fn key(self) -> &'static str {
        match self {
            Self::Params => "input_schema",
            Self::Returns => "output_schema",
            Self::Example => "examples",
            Self::Plain(key) | Self::List(key) | Self::Json(key) => key,
            Self::Config(_) | Self::ConfigJson(_) => "config",
        }
    }
}

/// The description, which is everything before the first field, and the fields.
pub fn divide(lines: &[Line]) -> Result<(String, Vec<Field<'_>>), HeaderError> {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut fields: Vec<Field<'_>> = Vec::new();
    let mut begun = false;
    for line in lines {
        toolroom_work::step(1 + line.text.len());
        let at_the_left = line.indent() == 0 && !line.is_blank();
        let field = line.text.split_once(':').filter(|_| at_the_left);
        let field = field.and_then(|(word, rest)| Some((FieldName::of(word)?, rest.trim())));
        match (field, fields.last_mut()) {
            (Some((name, inline)), _) => {
                fields.push(Field { name, number: line.number, inline, lines: Vec::new() });
            }
            (None, Some(_)) if at_the_left => {
                return Err(HeaderError::new(
                    line.number,
                    format!("'{}' is not a field of the header", line.text),
                    format!(
                        "Put the description before the first field, and indent what belongs to a field. The fields are: {KNOWN}."
                    ),
                ));
            }
            (None, Some(field)) if !line.is_blank() => field.lines.push(line),
            (None, Some(_)) => {}
            (None, None) if line.is_blank() => begun = false,
            (None, None) => match paragraphs.last_mut().filter(|_| begun) {
                Some(paragraph) => *paragraph += &format!(" {}", line.text.trim()),
                None => {
                    paragraphs.push(line.text.trim().to_owned());
                    begun = true;
                }
            },
        }
    }
    Ok((paragraphs.join("\n"), fields))
}

impl Field<'_> {
    /// Whether it is a JSON Schema instead of lines.
    pub fn is_schema(&self) -> bool {
        let below = self.lines.first().is_some_and(|line| line.text.trim_start().starts_with('{'));
        self.inline.starts_with('{') || (self.inline.is_empty() && below)
    }

    /// All of it in one line.
    pub fn words(&self) -> String {
        let lines = self.lines.iter().map(|line| line.text.trim());
        [self.inline].into_iter().chain(lines).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    }

    pub fn json(&self) -> Result<Value, HeaderError> {
        let lines = self.lines.iter().map(|line| line.text.as_str());
        let text = [self.inline].into_iter().chain(lines).collect::<Vec<_>>().join("\n");
        serde_json::from_str(&text).map_err(|error| {
            let line = self.number + error.line().saturating_sub(1);
            HeaderError::new(line, format!("not JSON: {error}"), "Write this field as JSON.")
        })
    }

    pub fn parameters(&self) -> Result<Vec<parameter::Parameter>, HeaderError> {
        if !self.inline.is_empty() && !self.inline.eq_ignore_ascii_case("none") {
            return Err(HeaderError::new(
                self.number,
                format!("cannot parse '{}'", self.inline),
                "Put each one on its own indented line, such as '  city (string, required): the city'; \
                 or write a JSON Schema, or 'none'.",
            ));
        }
        let mut found: Vec<parameter::Parameter> = Vec::new();
        let mut names = HashSet::new();
        let indent = self.lines.first().map_or(0, |line| line.indent());
        let mut whole: Vec<(usize, String)> = Vec::new();
        for line in &self.lines {
            match whole.last_mut().filter(|_| line.indent() > indent) {
                Some((_, text)) => *text += &format!(" {}", line.text.trim()),
                None => whole.push((line.number, line.text.clone())),
            }
        }
        for (number, text) in whole {
            let one = parameter::parse(&text, number)?;
            if !names.insert(one.name.clone()) {
                let message = format!("'{}' appears twice", one.name);
                return Err(HeaderError::new(number, message, "Keep one of them."));
            }
            found.push(one);
        }
        Ok(found)
    }
}
