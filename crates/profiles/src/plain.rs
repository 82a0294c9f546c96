//! Profile `plain`, and how profiles of a home's owner show tools unless they say otherwise: names and parameters as they
//! are, few words, and the data alone as the answer.

use serde_json::{Value, json};
use toolroom_contract::confidence::Source;
use toolroom_contract::{ToolDefinition, ToolError, spelling};

use crate::executor::with_blocks;
use crate::profile::{
    Binding, ChatRules, Input, Pick, Picked, Plain, Profile, Published, Show, Style, Tools,
};

/// Its name.
pub const NAME: &str = "plain";

/// A list of more tools than this shows those that find the others.
const LIST_UP_TO: usize = 40;
/// The sentences of a description up to this length; the first in any case.
const SHORT: usize = 100;
/// The parameter that names what is to be emptied.
const CLEAR: &str = "clear";

/// The profile.
pub(crate) fn profile() -> Profile {
    Profile {
        name: NAME.into(),
        description: "Everything that the caller may use, in few words; answers are the data alone.".into(),
        requires_approval: true,
        show: Show::UpTo(LIST_UP_TO),
        chat: ChatRules::default(),
        tools: Tools::Picked(Picked {
            picks: vec![Pick::Name("*".into())],
            style: Style::Plain { output_schemas: false },
            ..Picked::default()
        }),
    }
}

/// A tool in few words.
pub(crate) fn binding(
    name: &str,
    definition: &ToolDefinition,
    source: Source,
    output_schemas: bool,
) -> Binding {
    let mut parameters = spelling::lean(&definition.parameters, short);
    // Tools of others get the nulls that they take: nobody else knows what they mean by them.
    let clear = if source == Source::Native { clear_instead_of_null(&mut parameters) } else { Vec::new() };
    let output = definition.output.as_ref().filter(|output| output_schemas && output["type"] == "object");
    Binding {
        name: name.to_owned().into(),
        canonical: definition.name.clone().into(),
        description: short(&definition.description).into(),
        parameters,
        trimmed: &[],
        plain: Some(Plain { clear, output_schema: output.cloned() }),
        input: |params, _| Ok(Input::of(params.clone())),
        output: answer,
    }
}

/// The data alone, or what went wrong.
pub(crate) fn answer(published: &Published<'_>) -> Value {
    let result = published.result;
    match result.error() {
        None => with_blocks(result.data().cloned().unwrap_or_default(), published),
        Some(error) => match &error.pending {
            Some(notice) => json!({ "pending": notice, "error": error }),
            None => json!({ "error": error }),
        },
    }
}

/// The first sentences of a text.
fn short(text: &str) -> String {
    let text = text.trim();
    let mut end = None;
    for at in sentence_ends(text) {
        if end.is_none() || at <= SHORT {
            end = Some(at);
        }
    }
    text[..end.filter(|_| text.len() > SHORT).unwrap_or(text.len())].to_owned()
}

fn sentence_ends(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices(". ").map(|(at, _)| at + 1).filter(|at| {
        // Not the end of "e.g." or "i.e.", nor of a single letter.
        let word = text[..at - 1].rsplit(|letter: char| letter.is_whitespace() || letter == '(').next();
        word.is_none_or(|word| word.chars().count() > 1 && !word.contains('.'))
    })
}

/// Where a field may be null, a list says which are emptied: some clients send null for whatever they leave out. Gives the
/// names that it may have.
fn clear_instead_of_null(schema: &mut Value) -> Vec<String> {
    let mut found = Vec::new();
    let required: Vec<String> = serde_json::from_value(schema["required"].clone()).unwrap_or_default();
    let mut here = Vec::new();
    for (name, field) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        if !required.contains(name) && spelling::take_null_out(field) {
            here.push(name.clone());
            // What comes after the first sentence tells what null does.
            if let Some(Value::String(text)) = field.get_mut("description") {
                let end = sentence_ends(text).next().unwrap_or(text.len());
                text.truncate(end);
            }
        }
        found.extend(clear_instead_of_null(field));
    }
    if let Some(items) = schema.get_mut("items") {
        found.extend(clear_instead_of_null(items));
    }
    for word in ["anyOf", "oneOf", "allOf"] {
        for part in schema.get_mut(word).and_then(Value::as_array_mut).into_iter().flatten() {
            found.extend(clear_instead_of_null(part));
        }
    }
    if !here.is_empty() {
        schema["properties"][CLEAR] = json!({
            "type": "array", "items": { "type": "string", "enum": here }, "description": "Fields to empty",
        });
    }
    found.extend(here);
    found
}

/// The parameters with null in the fields that are to be emptied, and without the nulls of clients that send them for
/// what they leave out.
pub(crate) fn cleared(params: &Value, names: &[String], pointer: &str) -> Result<Value, ToolError> {
    match params {
        Value::Object(fields) => {
            let mut mapped = serde_json::Map::new();
            for (name, value) in fields.iter().filter(|(name, value)| *name != CLEAR && !value.is_null()) {
                mapped.insert(name.clone(), cleared(value, names, &format!("{pointer}/{name}"))?);
            }
            for name in emptied(fields.get(CLEAR), names, pointer)? {
                if mapped.insert(name.to_owned(), Value::Null).is_some() {
                    let message = format!("'{name}' has a value and is to be emptied; send one of the two");
                    return Err(ToolError::invalid(format!("{pointer}/{CLEAR}"), message));
                }
            }
            Ok(mapped.into())
        }
        Value::Array(items) => {
            let each = |(at, item)| cleared(item, names, &format!("{pointer}/{at}"));
            items.iter().enumerate().map(each).collect::<Result<Vec<Value>, _>>().map(Value::Array)
        }
        other => Ok(other.clone()),
    }
}

fn emptied<'a>(list: Option<&'a Value>, names: &[String], pointer: &str) -> Result<Vec<&'a str>, ToolError> {
    let wrong = || {
        let message = format!("must be a list of some of these: {}", names.join(", "));
        ToolError::invalid(format!("{pointer}/{CLEAR}"), message)
    };
    let list = match list {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(list) => list.as_array().ok_or_else(wrong)?,
    };
    let known = |name: &'a Value| name.as_str().filter(|name| names.iter().any(|known| known == name));
    list.iter().map(|name| known(name).ok_or_else(wrong)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_cut_after_a_whole_sentence() {
        let long = format!("Makes a task. {}", "It has many words, e.g. these and those. ".repeat(4));
        assert_eq!(
            short(&long),
            "Makes a task. It has many words, e.g. these and those. It has many words, e.g. these and those."
        );
        assert_eq!(short("Greets."), "Greets.");
        let first = format!("{} with an end. And more.", "word ".repeat(30));
        assert_eq!(short(&first), format!("{} with an end.", "word ".repeat(30)));
    }
}
