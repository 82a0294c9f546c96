//! OpenAI function schemas of published tools.

use serde_json::{Value, json};
use toolroom_contract::spelling;

use crate::profile::{Binding, Profile, Tools};

/// The function schemas of tools, each given as name, description and parameters.
pub fn functions<'a>(tools: impl IntoIterator<Item = (&'a str, &'a str, &'a Value)>) -> Vec<Value> {
    tools.into_iter().map(|(name, description, parameters)| function(name, description, parameters)).collect()
}

/// The function schema of one tool.
pub fn function(name: &str, description: &str, parameters: &Value) -> Value {
    json!({
        "type": "function",
        "function": { "name": name, "description": description, "parameters": parameters }
    })
}

/// The function schemas of the tools that a profile lists; `None` for the whole catalogue, whose tools only
/// the catalogue knows.
pub fn of_profile(profile: &Profile) -> Option<Vec<Value>> {
    match &profile.tools {
        Tools::Whole => None,
        tools => Some(tools.listed().iter().map(of_binding).collect()),
    }
}

fn of_binding(binding: &Binding) -> Value {
    function(&binding.name, &binding.description, &spelling::of_object(&binding.parameters))
}
