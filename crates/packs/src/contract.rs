//! What the contracts of native tools have in common.

use std::sync::Arc;

use serde_json::Value;
use toolroom_contract::definition::{Example, NextAction, Varies};
use toolroom_contract::handler::{NativeTool, Shapes, Typed};
use toolroom_contract::{Category, Effect, Handler, Permission, Priority, ToolDefinition};

/// Seconds for which a read may be answered again. Safe, because every change by this process moves the user's
/// generation on before it is answered, and because dates in words and the day itself are part of the key.
const CACHE_SECONDS: u64 = 30;

/// What sets one tool of a pack apart.
#[derive(Default)]
pub(crate) struct Contract {
    pub name: &'static str,
    pub description: &'static str,
    /// What it works on: the resource half of its permission.
    pub resource: &'static str,
    /// The other half; `read` changes nothing.
    pub action: &'static str,
    pub tags: &'static [&'static str],
    /// For a mutation: repeating has no further effect.
    pub idempotent: bool,
    pub destructive: bool,
    /// For a query: its answer changes with the clock, so that none is kept.
    pub uncached: bool,
    pub effect: Option<Effect>,
    pub examples: Vec<Example>,
    pub next_actions: Vec<NextAction>,
}

impl Contract {
    /// The tool with this contract and this code.
    pub(crate) fn tool<T: NativeTool>(self, code: T) -> (ToolDefinition, Arc<dyn Handler>) {
        let is_read = self.action == "read";
        let cacheable = is_read && !self.uncached;
        let definition = ToolDefinition {
            permissions: Permission::new(self.resource, self.action).into_iter().collect(),
            parameters: Shapes::<T>::parameters(),
            output: Some(Shapes::<T>::output()),
            category: if is_read { Category::Query } else { Category::Mutation },
            cacheable,
            cache_ttl: cacheable.then_some(CACHE_SECONDS),
            idempotent: is_read || self.idempotent,
            examples: self.examples,
            tags: self.tags.iter().map(|tag| (*tag).to_owned()).collect(),
            destructive: self.destructive,
            effect: self.effect,
            next_actions: self.next_actions,
            ..ToolDefinition::query(self.name, self.description)
        };
        (definition, Arc::new(Typed(code)))
    }
}

/// A step that may follow, with one argument out of the call or its answer.
pub(crate) fn next(action: &str, description: &str, argument: &str, pointer: &str) -> NextAction {
    NextAction::new(action, Priority::Low, description).with_from(argument, pointer)
}

/// A call and its answer, in which these fields of the things at these pointers differ from call to call.
pub(crate) fn example(
    description: &str,
    params: &Value,
    expected_result: Value,
    things: &[&str],
    fields: &[(&str, Varies)],
) -> Example {
    let mut example = Example::new(description, params, expected_result);
    for (thing, (field, varies)) in things.iter().flat_map(|thing| fields.iter().map(move |one| (thing, one)))
    {
        let place = format!("{thing}/{field}");
        if example.expected_result.pointer(&place).is_some_and(|value| varies.accepts(value)) {
            example.varies.insert(place, *varies);
        }
    }
    example
}

/// A thing of the examples, with these fields instead.
pub(crate) fn with(mut thing: Value, fields: Value) -> Value {
    if let (Value::Object(thing), Value::Object(fields)) = (&mut thing, fields) {
        thing.extend(fields);
    }
    thing
}
