//! Schemas of a document as JSON Schema 2020-12, each converted once: only keywords that are known and well-formed
//! are taken over. References stay, and are put together by `assemble`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value, json};
use toolroom_contract::validator::Validator;
use toolroom_work::{is_spent, step};

use crate::document::Document;
use crate::words;

/// What a schema is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Parameters: what the document asks for is checked before the call.
    Input,
    /// Answers. Services stray from their documents, so that only the types of fields are taken, and any may be null.
    Output,
}

/// The schemas of a document for one side.
pub(crate) struct Schemas<'a> {
    pub(crate) document: &'a Document<'a>,
    pub(crate) side: Side,
    /// What references lead to, converted.
    known: BTreeMap<String, Rc<Component>>,
    /// References that are being converted, one in the other.
    pub(crate) open: BTreeSet<String>,
    patterns: BTreeMap<String, bool>,
}

/// What a reference leads to.
pub(crate) struct Component {
    pub(crate) schema: Value,
    /// Where it refers to in turn, once for each time.
    pub(crate) references: Vec<String>,
    /// Bytes of its text.
    pub(crate) size: usize,
}

const NUMBERS: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const COUNTS: [&str; 6] =
    ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];
/// Formats that are checked; others only mean something to programs.
const FORMATS: [&str; 10] =
    ["date-time", "date", "email", "uuid", "uri", "hostname", "ipv4", "ipv6", "duration", "password"];

impl<'a> Schemas<'a> {
    pub(crate) fn new(document: &'a Document<'a>, side: Side) -> Self {
        Self { document, side, known: BTreeMap::new(), open: BTreeSet::new(), patterns: BTreeMap::new() }
    }

    /// What a reference leads to.
    pub(crate) fn component(&mut self, reference: &str) -> Result<Rc<Component>, String> {
        if let Some(known) = self.known.get(reference) {
            return Ok(Rc::clone(known));
        }
        let found = self.document.at(reference)?;
        self.open.insert(reference.to_owned());
        let converted = self.convert(found);
        self.open.remove(reference);
        let schema = converted?;
        let mut references = Vec::new();
        collect(&schema, &mut references);
        let size = schema.to_string().len();
        step(size / 8);
        let component = Rc::new(Component { schema, references, size });
        self.known.insert(reference.to_owned(), Rc::clone(&component));
        Ok(component)
    }

    /// A schema converted, with its references as they are.
    pub(crate) fn convert(&mut self, schema: &'a Value) -> Result<Value, String> {
        if is_spent() {
            // The whole reading is thrown away.
            return Ok(Value::Null);
        }
        match schema {
            Value::Bool(false) => Ok(json!({ "not": {} })),
            Value::Object(schema) => {
                step(1 + schema.len());
                let converted = match schema.get("$ref") {
                    Some(Value::String(reference)) => self.reference(reference, schema)?,
                    _ if schema.contains_key("allOf") => self.merged(schema)?,
                    _ => self.keywords(schema)?,
                };
                Ok(Value::Object(converted))
            }
            _ => Ok(json!({})),
        }
    }

    fn reference(&self, reference: &str, schema: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        // It must lead somewhere.
        self.document.at(reference)?;
        let mut converted = Map::new();
        converted.insert("$ref".to_owned(), reference.into());
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            converted = Map::from_iter([("anyOf".to_owned(), json!([converted, { "type": "null" }]))]);
        }
        if let Some(text) = schema.get("description").and_then(Value::as_str) {
            converted.insert("description".to_owned(), words::field(text).into());
        }
        Ok(converted)
    }

    /// The keywords of a schema, `allOf` aside.
    pub(crate) fn keywords(&mut self, schema: &'a Map<String, Value>) -> Result<Map<String, Value>, String> {
        let mut converted = Map::new();
        let nullable = schema.get("nullable") == Some(&Value::Bool(true));
        self.types(schema, nullable, &mut converted);
        if let Some(text) = schema.get("description").and_then(Value::as_str).filter(|text| !text.is_empty())
        {
            converted.insert("description".to_owned(), words::field(text).into());
        }
        if self.side == Side::Input {
            self.limits(schema, nullable, &mut converted);
        }
        self.properties(schema, &mut converted)?;
        for name in ["items", "additionalProperties"] {
            match schema.get(name) {
                Some(sub @ Value::Object(_)) => {
                    converted.insert(name.to_owned(), self.convert(sub)?);
                }
                Some(Value::Bool(false)) if self.side == Side::Input => {
                    converted.insert(name.to_owned(), false.into());
                }
                _ => {}
            }
        }
        for name in ["anyOf", "oneOf", "prefixItems"] {
            let Some(branches) = schema.get(name).and_then(Value::as_array) else { continue };
            let branches: Result<Vec<Value>, String> =
                branches.iter().map(|branch| self.convert(branch)).collect();
            let mut branches = branches?;
            if branches.is_empty() {
                continue;
            }
            if nullable && name != "prefixItems" && !converted.contains_key("type") {
                branches.push(json!({ "type": "null" }));
            }
            // Exactly one cannot be asked for where a branch has become wider.
            let name = if name == "oneOf" && !converted.contains_key("anyOf") { "anyOf" } else { name };
            converted.insert(name.to_owned(), branches.into());
        }
        Ok(converted)
    }

    fn types(&self, schema: &Map<String, Value>, nullable: bool, converted: &mut Map<String, Value>) {
        let word = |name: &Value| match name.as_str() {
            Some("file") => Some("string"),
            Some(name) => TYPES.iter().copied().find(|known| *known == name),
            None => None,
        };
        let mut types: Vec<&str> = match schema.get("type") {
            Some(Value::Array(names)) => names.iter().filter_map(word).collect(),
            Some(name) => word(name).into_iter().collect(),
            None if schema.contains_key("properties") => vec!["object"],
            None => Vec::new(),
        };
        types.dedup();
        if (nullable || self.side == Side::Output) && !types.is_empty() && !types.contains(&"null") {
            types.push("null");
        }
        match types[..] {
            [] => {}
            [one] => {
                converted.insert("type".to_owned(), one.into());
            }
            _ => {
                converted.insert("type".to_owned(), types.into());
            }
        }
    }

    fn limits(&mut self, schema: &Map<String, Value>, nullable: bool, converted: &mut Map<String, Value>) {
        let mut put = |name: &str, value: &Value| converted.insert(name.to_owned(), value.clone());
        for name in NUMBERS {
            // In 3.0 the exclusive ones say whether the others are.
            let other = name.strip_prefix("exclusive").map(str::to_lowercase);
            match (schema.get(name), other) {
                (Some(Value::Bool(true)), Some(other)) => {
                    if let Some(limit @ Value::Number(_)) = schema.get(&other) {
                        put(name, limit);
                    }
                }
                (Some(limit @ Value::Number(number)), _)
                    if name != "multipleOf" || number.as_f64().is_some_and(|step| step > 0.0) =>
                {
                    put(name, limit);
                }
                _ => {}
            }
        }
        for name in COUNTS {
            if let Some(count) = schema.get(name).filter(|count| count.is_u64()) {
                put(name, count);
            }
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty())
        {
            step(values.len());
            let mut values = values.clone();
            if nullable && !values.contains(&Value::Null) {
                values.push(Value::Null);
            }
            put("enum", &values.into());
        }
        for name in ["const", "default"] {
            if let Some(value) = schema.get(name) {
                put(name, value);
            }
        }
        for (name, wanted) in [("uniqueItems", true), ("writeOnly", true)] {
            if schema.get(name) == Some(&Value::Bool(wanted)) {
                put(name, &wanted.into());
            }
        }
        match schema.get("format").and_then(Value::as_str) {
            Some("byte" | "binary") => {
                put("contentEncoding", &"base64".into());
            }
            Some(format) if FORMATS.contains(&format) => {
                put("format", &format.into());
            }
            _ => {}
        }
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
            && self.is_usable(pattern)
        {
            converted.insert("pattern".to_owned(), pattern.into());
        }
    }

    /// Patterns with look-around, for one, cannot be checked here; the service checks them.
    fn is_usable(&mut self, pattern: &str) -> bool {
        step(pattern.len());
        *self.patterns.entry(pattern.to_owned()).or_insert_with_key(|pattern| {
            pattern.len() <= 1000 && Validator::compile(&json!({ "pattern": pattern })).is_ok()
        })
    }

    fn properties(
        &mut self,
        schema: &'a Map<String, Value>,
        converted: &mut Map<String, Value>,
    ) -> Result<(), String> {
        let hidden = if self.side == Side::Input { "readOnly" } else { "writeOnly" };
        let mut properties = Map::new();
        let mut left_out = BTreeSet::new();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if property.get(hidden) == Some(&Value::Bool(true)) {
                left_out.insert(name.as_str());
            } else {
                properties.insert(name.clone(), self.convert(property)?);
            }
        }
        let required = schema.get("required").and_then(Value::as_array).filter(|_| self.side == Side::Input);
        let mut names: Vec<&str> = Vec::new();
        let mut seen = BTreeSet::new();
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !left_out.contains(name) && seen.insert(name) {
                names.push(name);
            }
        }
        if !properties.is_empty() {
            converted.insert("properties".to_owned(), properties.into());
        }
        if !names.is_empty() {
            converted.insert("required".to_owned(), names.into());
        }
        Ok(())
    }
}

/// Every reference in a converted schema.
pub(crate) fn collect(schema: &Value, references: &mut Vec<String>) {
    step(1);
    if let Some(Value::String(reference)) = schema.get("$ref") {
        references.push(reference.clone());
    }
    each_below(schema, &mut |sub| collect(sub, references));
}

/// Every schema directly in a converted one.
fn each_below(schema: &Value, see: &mut dyn FnMut(&Value)) {
    for name in ["items", "additionalProperties", "not"] {
        schema.get(name).into_iter().filter(|sub| sub.is_object()).for_each(&mut *see);
    }
    for name in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        schema.get(name).and_then(Value::as_array).into_iter().flatten().for_each(&mut *see);
    }
    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::values).for_each(&mut *see);
}
