//! Arguments that headers repeat: `x-mcp-header` in an input schema. The one place that says where the mark counts, for
//! the tools that we publish and for those of other servers.

use std::collections::HashSet;

use serde_json::{Map, Value};

const MARK: &str = "x-mcp-header";
/// Keywords whose values are data: what stands in them is not a schema.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];
/// Keywords whose members have names of the author's choice, each with a schema.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// An argument that a header repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderParam {
    /// The header's whole name, in lower case.
    pub header: String,
    /// The properties that lead to the argument.
    pub path: Vec<String>,
}

impl HeaderParam {
    /// The arguments that an input schema marks; an error says why it may not.
    pub fn of_schema(schema: &Value) -> Result<Vec<Self>, String> {
        let mut found = Vec::new();
        collect(schema, &mut Vec::new(), &mut found)?;
        if count(schema) != found.len() {
            return Err(format!("{MARK} is only allowed on a plain property"));
        }
        let mut names = HashSet::new();
        match found.iter().find(|one| !names.insert(one.header.as_str())) {
            Some(twice) => Err(format!("two properties have the same {MARK} {}", twice.header)),
            None => Ok(found),
        }
    }

    /// The argument, if the call has it.
    pub fn argument<'a>(&self, arguments: &'a Map<String, Value>) -> Option<&'a Value> {
        let (first, rest) = self.path.split_first()?;
        rest.iter().try_fold(arguments.get(first)?, |value, name| value.get(name))
    }
}

/// The schema without the marks.
pub fn without_header_params(mut schema: Value) -> Value {
    each_schema(&mut schema, &mut |fields| {
        fields.remove(MARK);
    });
    schema
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<HeaderParam>) -> Result<(), String> {
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        toolroom_work::step(1 + path.len());
        path.push(name.clone());
        if let Some(mark) = property.get(MARK) {
            let mark = mark.as_str().filter(|mark| is_token(mark));
            let mark = mark.ok_or_else(|| format!("{MARK} of '{name}' is not a header name"))?;
            let kind = property.get("type").and_then(Value::as_str);
            if !matches!(kind, Some("string" | "integer" | "boolean")) {
                return Err(format!("{MARK} of '{name}' is only allowed on a string, integer or boolean"));
            }
            let header = format!("mcp-param-{}", mark.to_ascii_lowercase());
            found.push(HeaderParam { header, path: path.clone() });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

fn is_token(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(allowed)
}

/// How many marks there are in any schema, those included that no path of properties leads to.
fn count(schema: &Value) -> usize {
    toolroom_work::step(1);
    match schema {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.iter().map(|(key, value)| count_field(key, value)).sum(),
        _ => 0,
    }
}

fn count_field(key: &str, value: &Value) -> usize {
    match (key, value) {
        (MARK, _) => 1,
        (key, Value::Object(members)) if NAMED.contains(&key) => members.values().map(count).sum(),
        (key, _) if DATA.contains(&key) => 0,
        (_, value) => count(value),
    }
}

/// Visits every schema within a schema, by the same rule as the count.
fn each_schema(schema: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| each_schema(item, visit)),
        Value::Object(fields) => {
            visit(fields);
            for (key, value) in fields.iter_mut() {
                match value {
                    Value::Object(members) if NAMED.contains(&key.as_str()) => {
                        members.values_mut().for_each(|member| each_schema(member, visit));
                    }
                    _ if DATA.contains(&key.as_str()) => {}
                    value => each_schema(value, visit),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{HeaderParam, without_header_params};

    #[test]
    fn marks_are_found_along_properties_only() {
        let schema = json!({
            "type": "object",
            "properties": {
                "region": { "type": "string", "x-mcp-header": "Region" },
                "deep": { "type": "object", "properties": { "on": { "type": "boolean", "x-mcp-header": "On" } } },
            },
        });
        let found = HeaderParam::of_schema(&schema).unwrap();
        assert_eq!(found[0].header, "mcp-param-region");
        assert_eq!(found[1].path, ["deep", "on"]);
        let arguments = json!({ "deep": { "on": true } });
        assert_eq!(found[1].argument(arguments.as_object().unwrap()), Some(&json!(true)));
        assert_eq!(found[0].argument(arguments.as_object().unwrap()), None);
    }

    #[test]
    fn a_wrong_mark_makes_the_schema_invalid_and_can_be_left_out() {
        for schema in [
            json!({ "properties": { "a": { "type": "number", "x-mcp-header": "A" } } }),
            json!({ "properties": { "a": { "type": "string", "x-mcp-header": "" } } }),
            json!({ "properties": { "a": { "type": "string", "x-mcp-header": "a b" } } }),
            json!({ "properties": { "a": { "type": "array", "items": { "x-mcp-header": "A" } } } }),
            json!({ "properties": {
                "a": { "type": "string", "x-mcp-header": "X" },
                "b": { "type": "string", "x-mcp-header": "x" },
            } }),
            json!({ "$defs": { "a": { "type": "string", "x-mcp-header": "A" } } }),
        ] {
            assert!(HeaderParam::of_schema(&schema).is_err(), "{schema}");
            assert_eq!(HeaderParam::of_schema(&without_header_params(schema)), Ok(Vec::new()));
        }
    }

    #[test]
    fn what_only_looks_like_a_mark_is_none_and_stays() {
        let mark = json!({ "x-mcp-header": "A" });
        for schema in [
            json!({ "properties": { "x-mcp-header": { "type": "string" } } }),
            json!({ "properties": { "a": { "const": mark } } }),
            json!({ "properties": { "a": { "enum": [mark] } } }),
            json!({ "properties": { "a": { "default": mark } } }),
            json!({ "properties": { "a": { "examples": [mark] } } }),
            json!({ "$defs": { "x-mcp-header": { "type": "string" } } }),
            // A property may be called like a keyword.
            json!({ "properties": { "default": { "type": "string" }, "properties": { "type": "string" } } }),
        ] {
            assert_eq!(HeaderParam::of_schema(&schema), Ok(Vec::new()), "{schema}");
            assert_eq!(without_header_params(schema.clone()), schema);
        }
        let named: Value = json!({ "properties": { "default": { "type": "string", "x-mcp-header": "D" } } });
        assert_eq!(HeaderParam::of_schema(&named).unwrap()[0].path, ["default"]);
    }

    #[test]
    fn promise_any_marks_for_headers_take_work_that_grows_with_the_schema_alone() {
        let target = toolroom_work::fuzz::Target {
            name: "x-mcp-header",
            words: &[
                r#"{"properties":{"a":"#,
                r#"{"type":"string","x-mcp-header":"A"}"#,
                r#""x-mcp-header":"b","#,
                "}}",
                "}",
                r#"{"anyOf":["#,
                "]}",
                r#""$defs":{"#,
                r#""default":"#,
                ",",
                "{}",
                "[",
                "]",
            ],
            sample: 150,
            longest: 20_000,
            fixed: 200,
            // A property counts once for each that it is nested in, and JSON is not nested deeper than this.
            per_byte: 128,
        };
        target.run(|text| {
            // What is no JSON at all still has its length in a mark.
            let schema = serde_json::from_str(text).unwrap_or_else(|_| {
                let cut: String = text.chars().take(200).collect();
                let nested = (0..60).fold(
                    json!({ "type": "string", "x-mcp-header": cut }),
                    |inner, at| json!({ "properties": { format!("p{at}"): inner } }),
                );
                if text.len() > 2_000 {
                    nested
                } else {
                    json!({ "properties": { text: { "x-mcp-header": text } } })
                }
            });
            let _ = HeaderParam::of_schema(&schema);
        });
    }
}
