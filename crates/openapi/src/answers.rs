//! What an operation answers: the schema of its data, if that is small, and a few words.

use serde_json::{Map, Value};

use crate::document::Document;
use crate::operations::Operation;
use crate::schema::Schemas;

/// The largest schema of an answer that is published, in bytes.
const LARGEST: usize = 8 << 10;

/// What an operation answers.
pub(crate) struct Answer<'a> {
    pub(crate) schema: Option<Value>,
    pub(crate) words: Option<&'a str>,
}

pub(crate) fn of<'a>(
    document: &Document<'a>,
    operation: &Operation<'a>,
    schemas: &mut Schemas<'a>,
) -> Result<Answer<'a>, String> {
    let responses = operation.fields.get("responses").and_then(Value::as_object);
    let good = responses.and_then(|responses| {
        let good = |status: &str| status.starts_with('2');
        let all = responses.iter().filter(|(status, _)| good(status));
        all.min_by_key(|(status, _)| status.as_str()).map(|(_, response)| response)
    });
    let Some(good) = good else { return Ok(Answer { schema: None, words: None }) };
    let good = document.resolve(good)?;
    let words = good.get("description").and_then(Value::as_str);
    // A schema that cannot be used promises nothing: the answer is passed on as it comes.
    let schema = json(good).and_then(|schema| {
        let converted = schemas.convert(schema).ok()?;
        let mut whole = schemas.assembled(&converted).ok()?;
        strip_null(&mut whole);
        let is_worth = whole.as_object().is_some_and(|whole| !whole.is_empty());
        (is_worth && whole.to_string().len() <= LARGEST).then_some(whole)
    });
    Ok(Answer { schema, words })
}

/// The schema of the JSON answer, where that is the only kind there is.
fn json(response: &Map<String, Value>) -> Option<&Value> {
    let content = response.get("content").and_then(Value::as_object)?;
    let is_json = |name: &String| {
        let name = name.split(';').next().unwrap_or_default().trim();
        name == "application/json" || name.ends_with("+json")
    };
    if !content.keys().all(is_json) {
        return None;
    }
    content.values().next()?.get("schema")
}

/// Data is never null.
fn strip_null(schema: &mut Value) {
    let Some(Value::Array(types)) = schema.get_mut("type") else { return };
    types.retain(|name| name != "null");
    if let [one] = &types[..] {
        let one = one.clone();
        schema["type"] = one;
    }
}
