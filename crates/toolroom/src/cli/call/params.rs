//! The parameters of a call: an object as it is, or pairs whose values are read as the tool's schema says.

use std::io::Read;

use anyhow::Result;
use serde_json::{Map, Value};
use toolroom_contract::exact;
use toolroom_profiles::DEFAULT;

use super::Call;
use crate::cli::Globals;
use crate::cli::suggest::closest;
use crate::client::encoded;
use crate::failure::Failure;

impl Call {
    pub(super) async fn parameters(&self, globals: &Globals) -> Result<Value> {
        if let Some(given) = &self.params {
            return object(given);
        }
        // Only what could be a number, a boolean or null is in doubt.
        let is_doubtful = |pair: &String| {
            let text = pair.split_once('=').map_or("", |(_, text)| text);
            serde_json::from_str::<Value>(text).is_ok_and(|value| !value.is_string())
        };
        let names: Vec<&str> =
            self.param.iter().map(|pair| pair.split('=').next().unwrap_or_default()).collect();
        let is_repeated = (1..names.len()).any(|at| names[..at].contains(&names[at]));
        let schema = match is_repeated || self.param.iter().any(is_doubtful) {
            true => self.schema(globals).await?,
            false => Value::Null,
        };
        Ok(Value::Object(all(&self.param, &schema)?))
    }

    /// The parameter that was probably meant by one that the tool does not have.
    pub(super) async fn meant_parameter(&self, globals: &Globals, given: &Value) -> Option<String> {
        let schema = self.schema(globals).await.ok()?;
        let known = schema["properties"].as_object()?;
        let mut unknown = given.as_object()?.keys().filter(|name| !known.contains_key(*name));
        unknown.find_map(|name| closest(name, known.keys().map(String::as_str))).map(str::to_owned)
    }

    /// The tool's parameters; nothing if there is no such tool, which its call will say.
    async fn schema(&self, globals: &Globals) -> Result<Value> {
        let client = globals.client().await?.acting_as(self.user.clone())?;
        let schema = if self.profile == DEFAULT {
            let tool = client.get(&format!("/api/v1/tools/{}", encoded(&self.tool))).await;
            tool.map(|tool| tool["parameters"].clone())
        } else {
            let functions =
                client.get(&format!("/api/v1/profiles/{}/functions", encoded(&self.profile))).await;
            functions.map(|found| {
                let mut functions = found.as_array().into_iter().flatten().map(|one| &one["function"]);
                let found = functions.find(|function| function["name"] == *self.tool);
                found.map(|function| function["parameters"].clone()).unwrap_or_default()
            })
        };
        client.close().await;
        Ok(schema.unwrap_or_default())
    }
}

fn object(given: &str) -> Result<Value> {
    let unreadable = |what: &str, error: &dyn std::fmt::Display| {
        Failure::usage(
            format!("--params: {what}: {error}"),
            "Give an object: --params '{\"key\": \"value\"}', --params @FILE, or --params - for stdin.",
        )
    };
    let text = if given == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(|error| unreadable("stdin", &error))?;
        text
    } else if let Some(path) = given.strip_prefix('@') {
        std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))?
    } else {
        given.to_owned()
    };
    if let Some(oversized) = exact::oversized_integer(&text) {
        return Err(unreadable(&oversized.pointer, &oversized).into());
    }
    Ok(serde_json::from_str(&exact::plain_zeros(&text)).map_err(|error| unreadable("not JSON", &error))?)
}

/// One value for each name, or a list where the schema takes one.
fn all(pairs: &[String], schema: &Value) -> Result<Map<String, Value>> {
    let mut found: Map<String, Value> = Map::new();
    for pair in pairs {
        let (name, value) = parameter(pair, schema)?;
        let is_list = types(&schema["properties"][&name]).contains(&"array");
        match found.get_mut(&name) {
            None => drop(found.insert(name, value)),
            Some(Value::Array(items)) if is_list => items.push(value),
            Some(first) if is_list => *first = Value::Array(vec![first.take(), value]),
            Some(_) => {
                let message = format!("--param {name} is given twice, and takes one value");
                return Err(Failure::usage(message, "Leave one of them out.").into());
            }
        }
    }
    Ok(found)
}

fn parameter(pair: &str, schema: &Value) -> Result<(String, Value)> {
    let wrong = |lacks: &str| {
        let message = format!("--param '{pair}' has no {lacks}");
        Failure::usage(message, "Write --param NAME=VALUE, such as --param limit=3.")
    };
    let (name, text) = pair.split_once('=').ok_or_else(|| wrong("'='"))?;
    if name.is_empty() {
        return Err(wrong("name before the '='").into());
    }
    let read: Option<Value> = serde_json::from_str(&exact::plain_zeros(text)).ok();
    let property = &schema["properties"][name];
    let mut types = types(property);
    // One of several values of a list.
    if types.contains(&"array") && !matches!(read, Some(Value::Array(_))) {
        types = item_types(property);
    }
    let is_text = !types.is_empty() && types.iter().all(|kind| *kind == "string" || *kind == "null");
    let value = match read {
        Some(Value::Null) if types.contains(&"null") => Value::Null,
        Some(Value::String(text)) => Value::String(text),
        Some(value) if !is_text => {
            if let Some(oversized) = exact::oversized_integer(text) {
                let number = oversized.number;
                return Err(Failure::usage(
                    format!(
                        "--param {name}: the integer {number} does not fit into 64 bits and would lose digits"
                    ),
                    "Write it as a string: --param 'NAME=\"VALUE\"'.",
                )
                .into());
            }
            value
        }
        _ => Value::String(text.to_owned()),
    };
    Ok((name.to_owned(), value))
}

/// The types that the items of a list may have; none if its schema does not say.
fn item_types(schema: &Value) -> Vec<&str> {
    let choices = ["anyOf", "oneOf"].into_iter().filter_map(|name| schema[name].as_array()).flatten();
    let lists = std::iter::once(schema).chain(choices).filter(|one| types(one).contains(&"array"));
    lists.filter_map(|list| list.get("items")).flat_map(types).collect()
}

/// The types that a schema takes; none if it does not say.
fn types(schema: &Value) -> Vec<&str> {
    let mut found: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    for choice in ["anyOf", "oneOf"].iter().filter_map(|name| schema[*name].as_array()).flatten() {
        let inner = types(choice);
        // A choice that says nothing takes everything.
        if inner.is_empty() {
            return Vec::new();
        }
        found.extend(inner);
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_parameter_that_is_given_twice_is_a_list_where_one_is_taken_and_else_an_error() {
        let tags =
            json!({ "anyOf": [{ "type": "array", "items": { "type": "string" } }, { "type": "null" }] });
        let schema = json!({ "properties": { "title": { "type": "string" }, "tags": tags } });
        let read =
            |pairs: &[&str]| all(&pairs.iter().map(|pair| (*pair).to_owned()).collect::<Vec<_>>(), &schema);
        assert_eq!(read(&["tags=a", "title=x", "tags=2", "tags=c"]).unwrap()["tags"], json!(["a", "2", "c"]));
        assert_eq!(read(&["tags=[\"a\"]", "tags=b"]).unwrap()["tags"], json!(["a", "b"]));
        assert!(read(&["title=a", "title=b"]).unwrap_err().to_string().contains("given twice"));
        assert!(read(&["=3"]).unwrap_err().to_string().contains("no name before the '='"));
    }

    #[test]
    fn the_schema_says_whether_a_value_is_text() {
        let schema = json!({ "properties": {
            "title": { "type": "string" }, "limit": { "type": "integer" }, "due": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
            "any": {}, "either": { "type": ["string", "integer"] }
        } });
        let read = |pair| parameter(pair, &schema).unwrap().1;
        assert_eq!(
            (read("title=123"), read("title=true"), read("title=\"a\"")),
            (json!("123"), json!("true"), json!("a"))
        );
        assert_eq!((read("limit=3"), read("limit=x")), (json!(3), json!("x")));
        assert_eq!(
            (read("due=null"), read("due=2026"), read("title=null")),
            (json!(null), json!("2026"), json!("null"))
        );
        assert_eq!(
            (read("any=[1]"), read("either=3"), read("other=false")),
            (json!([1]), json!(3), json!(false))
        );
        assert_eq!(read("title=123456789012345678901234567890"), json!("123456789012345678901234567890"));
        assert!(parameter("limit=123456789012345678901234567890", &schema).is_err());
    }
}
