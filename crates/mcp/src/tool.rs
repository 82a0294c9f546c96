//! A tool as servers list it, with its annotations.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom_contract::Policy;

/// A tool. What older revisions lack is left out.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// The same for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    /// What it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What it may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
}

/// What a tool may do, as its server says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Annotations {
    /// The tool's name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// Cannot be taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Repeating has no further effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// Reaches beyond this system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl Annotations {
    /// As they follow from the contract.
    pub fn of(title: Option<String>, policy: &Policy) -> Self {
        Self {
            title,
            read_only_hint: Some(policy.read_only),
            destructive_hint: Some(policy.needs_approval),
            idempotent_hint: Some(policy.repeatable),
            open_world_hint: Some(policy.open_world),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolroom_contract::confidence::Source;
    use toolroom_contract::{Category, ToolDefinition};

    use super::*;

    #[test]
    fn annotations_say_the_same_to_mcp_clients() {
        let of = |definition: &ToolDefinition, source| {
            json!(Annotations::of(Some("A tool".to_owned()), &Policy::of(definition, source)))
        };
        assert_eq!(
            of(&ToolDefinition::query("get-it", "Gets it."), Source::Native),
            json!({
                "title": "A tool", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
                "openWorldHint": false,
            })
        );
        let definition = ToolDefinition {
            category: Category::Mutation,
            destructive: true,
            idempotent: false,
            ..ToolDefinition::mutation("drop-it", "Drops it.")
        };
        assert_eq!(
            of(&definition, Source::Upstream),
            json!({
                "title": "A tool", "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false,
                "openWorldHint": true,
            })
        );
    }
}
