//! What a person is asked: rendered from the call by its contract, and from what the tools say of its targets.

use jiff::Timestamp;
use serde_json::Value;
use toolroom_contract::effect::{Named, line};
use toolroom_contract::ids::PendingId;

use super::PendingConfirmation;
use crate::toolset::Resolved;

/// One call in words, without a question mark: "delete task 5 “Buy milk”".
pub fn ask(name: &str, call: &Resolved<'_>, names: &[Named]) -> String {
    let asked = call.tool.effect.question_text(&call.params, call.published, names);
    asked.unwrap_or_else(|| format!("call {name} with {}", line(&call.published.to_string())))
}

/// The whole question.
pub fn question(each: &[String]) -> String {
    match each {
        [one] => format!("Shall I {one}? Please answer yes or no."),
        many => {
            let lines: Vec<String> = many.iter().map(|one| format!("- {one}")).collect();
            format!(
                "Shall I make these {} changes?\n{}\nPlease answer yes or no.",
                many.len(),
                lines.join("\n")
            )
        }
    }
}

impl PendingConfirmation {
    /// As the answer shows it.
    pub fn of(
        id: PendingId,
        expires_at: Timestamp,
        calls: &[(&str, Resolved<'_>)],
        names: &[Named],
        message: String,
    ) -> Self {
        let action = match calls {
            [(first, _), rest @ ..] if rest.iter().all(|(name, _)| name == first) => (*first).to_owned(),
            _ => "several".to_owned(),
        };
        let mut targets: Vec<Named> = calls.iter().flat_map(|(_, call)| call.targets()).collect();
        targets.dedup_by(|one, before| one.is(before));
        let title = |target: &Named| {
            let title = names.iter().find(|one| one.is(target)).and_then(|one| one.title.clone());
            title.map_or(Value::Null, Value::from)
        };
        let target = calls.first().and_then(|(_, call)| call.tool.effect.target.as_ref());
        let (task_id, task_title) = match targets.as_slice() {
            [] => {
                let field = target.and_then(|target| target.title.as_deref());
                let new = field.zip(calls.first()).and_then(|(field, (_, call))| call.params.get(field));
                (Value::Null, new.cloned().unwrap_or_default())
            }
            [one] => (one.id.clone(), title(one)),
            many => (many.iter().map(|one| one.id.clone()).collect(), many.iter().map(title).collect()),
        };
        Self { id, action, task_id, task_title, expires_at, message }
    }
}
