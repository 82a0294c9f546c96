//! What a change is shown as: made from the tool's result by its contract, never from a model's words.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolroom_contract::{EffectKind, ErrorCode, ToolResult};

use crate::toolset::Resolved;

/// The proof of a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// One line for each thing that was changed.
    pub text: String,
    /// What the call may have done; empty if nothing.
    pub kinds: Vec<EffectKind>,
    /// Words for what it did that to, if the tool says it.
    #[serde(default)]
    pub nouns: Vec<String>,
    /// The ids of what it touched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<Value>,
    /// The call that takes it back: `{"name": …, "params": …}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<Value>,
}

/// The receipt of a call that may change something; `None` if it failed.
pub fn receipt(name: &str, call: &Resolved<'_>, result: &ToolResult) -> Option<Receipt> {
    let (effect, params) = (&call.tool.effect, &*call.params);
    let (data, usual) = match result.error() {
        Some(error) if error.code == ErrorCode::NoChanges => (error.data.as_ref()?, None),
        Some(_) => return None,
        None => (result.data()?, Some(format!("Called {name}."))),
    };
    let text = effect.receipt_text(params, data).or(usual)?;
    let targets = effect.targets(&Value::Null, data);
    // Of several changes, each may have failed.
    let happened = effect.each.is_none() || !targets.is_empty();
    let (kinds, nouns) = match happened {
        true => (effect.kinds().collect(), effect.nouns().to_vec()),
        false => Default::default(),
    };
    let undo = effect.undo.as_ref().zip(effect.undo_arguments(params, data));
    let undo = undo.map(|(undo, arguments)| json!({ "name": undo.tool, "params": arguments }));
    Some(Receipt { text, kinds, nouns, ids: targets.into_iter().map(|one| one.id).collect(), undo })
}
