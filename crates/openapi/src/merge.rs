//! `allOf`: parts of a record in several places become one record, which agents read more easily.

use serde_json::{Map, Value};
use toolroom_work::step;

use crate::schema::Schemas;

/// Records made of records made of records: deeper than this they stay apart.
const DEEPEST: usize = 16;

impl<'a> Schemas<'a> {
    /// A schema with `allOf` in it: merged where its parts fit together, else with the parts as they are.
    pub(crate) fn merged(&mut self, schema: &'a Map<String, Value>) -> Result<Map<String, Value>, String> {
        let own = self.keywords(schema)?;
        let mut parts = Vec::new();
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            parts.push(self.convert(part)?);
        }
        // One part with a description of its own is the usual way to describe a reference in 3.0.
        if let [Value::Object(only)] = &parts[..]
            && only.contains_key("$ref")
            && own.keys().all(|name| name == "description")
        {
            let mut only = only.clone();
            only.extend(own);
            return Ok(only);
        }
        let mut whole = Map::new();
        let mut fits = true;
        for part in &parts {
            let part = self.part(part)?;
            fits = fits && part.is_some_and(|part| absorb(&mut whole, &part));
        }
        if fits && absorb(&mut whole, &own) {
            return Ok(whole);
        }
        let mut apart = own;
        apart.insert("allOf".to_owned(), parts.into());
        Ok(apart)
    }

    /// The keywords of a part; `None` if it cannot be merged.
    fn part(&mut self, part: &Value) -> Result<Option<Map<String, Value>>, String> {
        let Some(part) = part.as_object() else { return Ok(None) };
        let Some(Value::String(reference)) = part.get("$ref") else { return Ok(Some(part.clone())) };
        // A record that is part of itself, directly or by others.
        if self.open.contains(reference) || self.open.len() > DEEPEST {
            return Ok(None);
        }
        let component = self.component(reference)?;
        step(component.size / 8);
        let fields = component.schema.as_object().filter(|schema| !schema.contains_key("$ref"));
        Ok(fields.cloned())
    }
}

/// Adds the keywords of one schema to another; false if no schema says both.
fn absorb(whole: &mut Map<String, Value>, part: &Map<String, Value>) -> bool {
    step(part.len());
    for (name, value) in part {
        let Some(there) = whole.get_mut(name) else {
            whole.insert(name.clone(), value.clone());
            continue;
        };
        match (name.as_str(), there, value) {
            (_, there, value) if there == value => {}
            ("description" | "default", there, value) => *there = value.clone(),
            ("properties", Value::Object(there), Value::Object(more)) => {
                step(more.len());
                there.extend(more.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            ("required", Value::Array(there), Value::Array(more)) => {
                step(there.len() * more.len() / 8);
                let new: Vec<Value> = more.iter().filter(|name| !there.contains(name)).cloned().collect();
                there.extend(new);
            }
            ("type", there, value) => match common(there, value) {
                Some(common) => *there = common,
                None => return false,
            },
            _ => return false,
        }
    }
    // Closed to what the other parts have, a part would refuse the whole.
    if part.get("additionalProperties") == Some(&Value::Bool(false)) {
        whole.remove("additionalProperties");
    }
    true
}

/// The types that both have.
fn common(one: &Value, other: &Value) -> Option<Value> {
    let list = |types: &Value| match types {
        Value::Array(types) => types.clone(),
        one => vec![one.clone()],
    };
    let other = list(other);
    let both: Vec<Value> = list(one).into_iter().filter(|name| other.contains(name)).collect();
    match both.len() {
        0 => None,
        1 => both.into_iter().next(),
        _ => Some(both.into()),
    }
}
