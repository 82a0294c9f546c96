//! The parameters of a call: an object as it is, or pairs whose values are read as the tool's schema says.

use std::io::Read;

use anyhow::Result;
use serde_json::{Map, Value};
use toolroom_contract::exact;
use toolroom_profiles::DEFAULT;

use super::Call;
use crate::cli::Globals;
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
        let schema = match self.param.iter().any(is_doubtful) {
            true => self.schema(globals).await?,
            false => Value::Null,
        };
        let pairs: Result<Map<String, Value>> =
            self.param.iter().map(|pair| parameter(pair, &schema)).collect();
        Ok(Value::Object(pairs?))
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

fn parameter(pair: &str, schema: &Value) -> Result<(String, Value)> {
    let (name, text) = pair.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
        Failure::usage(
            format!("--param '{pair}' has no '='"),
            "Write --param NAME=VALUE, such as --param limit=3.",
        )
    })?;
    let read: Option<Value> = serde_json::from_str(&exact::plain_zeros(text)).ok();
    let types = types(&schema["properties"][name]);
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
