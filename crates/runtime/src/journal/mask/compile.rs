//! Finds what a JSON Schema marks as secret, through every keyword that applies a schema to a part of the value.
//!
//! What cannot be followed counts as secret: a mask that is too wide hides a line of the log, one that is too
//! narrow shows a password.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::Node;

/// A schema that spreads further than this is masked whole rather than in part.
const MAX_NODES: usize = 4096;

/// The places of a value of this schema, and which of them is the whole.
pub(super) fn nodes(schema: &Value) -> (Vec<Node>, usize) {
    let mut named = Named::default();
    named.collect(schema, 0);
    let mut compiler = Compiler { whole: schema, named, nodes: Vec::new(), known: HashMap::new() };
    let root = compiler.node(vec![schema]);
    (compiler.nodes, root)
}

/// What references can name besides a pointer.
#[derive(Default)]
struct Named<'a> {
    /// By `$anchor` and `$dynamicAnchor`. The same name in several resources counts for all of them.
    anchors: HashMap<&'a str, Vec<&'a Value>>,
    /// Schemas with an `$id`.
    resources: Vec<(&'a str, &'a Value)>,
}

impl<'a> Named<'a> {
    fn collect(&mut self, schema: &'a Value, depth: usize) {
        if depth > 128 {
            return;
        }
        let text = |word: &str| schema.get(word).and_then(Value::as_str);
        for name in ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text) {
            self.anchors.entry(name).or_default().push(schema);
        }
        if let Some(id) = text("$id") {
            self.resources.push((id, schema));
        }
        match schema {
            Value::Object(members) => members.values().for_each(|part| self.collect(part, depth + 1)),
            Value::Array(parts) => parts.iter().for_each(|part| self.collect(part, depth + 1)),
            _ => {}
        }
    }
}

/// Places are sets of subschemas that apply together, so that `allOf` and its like, and recursive `$ref`s,
/// need no special case at the time of the call.
struct Compiler<'a> {
    whole: &'a Value,
    named: Named<'a>,
    nodes: Vec<Node>,
    known: HashMap<Vec<*const Value>, usize>,
}

/// The schemas that apply to one place.
#[derive(Default)]
struct Flat<'a> {
    schemas: Vec<&'a Value>,
    /// One of them refers to something that is not there.
    lost: bool,
}

impl<'a> Compiler<'a> {
    fn node(&mut self, schemas: Vec<&'a Value>) -> usize {
        let mut flat = Flat::default();
        for schema in schemas {
            self.flatten(schema, &mut flat);
        }
        let mut key: Vec<*const Value> = flat.schemas.iter().map(|schema| *schema as *const Value).collect();
        key.sort_unstable();
        if let Some(index) = self.known.get(&key) {
            return *index;
        }
        let index = self.nodes.len();
        self.known.insert(key, index);
        let secret = index >= MAX_NODES || flat.lost || flat.schemas.iter().any(|schema| is_secret(schema));
        self.nodes.push(Node { secret, ..Node::default() });
        if !secret {
            self.children(index, &flat.schemas);
        }
        index
    }

    fn children(&mut self, index: usize, flat: &[&'a Value]) {
        let mut properties: HashMap<&str, Vec<&'a Value>> = HashMap::new();
        for (name, schema) in flat.iter().filter_map(|s| s.get("properties")?.as_object()).flatten() {
            properties.entry(name).or_default().push(schema);
        }
        let patterns =
            flat.iter().filter_map(|s| s.get("patternProperties")?.as_object()).flat_map(Map::values);
        let patterns: Vec<&Value> = patterns.collect();
        let rest = ["additionalProperties", "unevaluatedProperties"];
        let rest = flat.iter().flat_map(|s| rest.iter().filter_map(|word| s.get(word)));
        let other: Vec<&Value> = patterns.iter().copied().chain(rest).collect();
        for (name, mut schemas) in properties {
            // A pattern may fit the name too.
            schemas.extend(&patterns);
            let child = self.node(schemas);
            self.nodes[index].properties.insert(name.to_owned(), child);
        }
        self.nodes[index].other = (!other.is_empty()).then(|| self.node(other));

        let tuples = flat.iter().filter_map(|s| s.get("prefixItems")?.as_array()).flatten();
        let items = ["items", "additionalItems", "unevaluatedItems", "contains"];
        let items = flat.iter().flat_map(|s| items.iter().filter_map(|word| s.get(word)));
        let old_tuples = items.clone().filter_map(Value::as_array).flatten();
        let items: Vec<&Value> = tuples.chain(old_tuples).chain(items).collect();
        self.nodes[index].items = (!items.is_empty()).then(|| self.node(items));
    }

    /// A schema and all that apply in the same place.
    fn flatten(&self, schema: &'a Value, flat: &mut Flat<'a>) {
        if !schema.is_object() || flat.schemas.iter().any(|known| std::ptr::eq(*known, schema)) {
            return;
        }
        flat.schemas.push(schema);
        for word in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(reference) = schema.get(word).and_then(Value::as_str) else { continue };
            let targets = self.targets(reference);
            flat.lost |= targets.is_empty();
            targets.into_iter().for_each(|target| self.flatten(target, flat));
        }
        for word in ["allOf", "anyOf", "oneOf"] {
            for part in schema.get(word).and_then(Value::as_array).into_iter().flatten() {
                self.flatten(part, flat);
            }
        }
        for part in ["if", "then", "else"].iter().filter_map(|word| schema.get(word)) {
            self.flatten(part, flat);
        }
        for word in ["dependentSchemas", "dependencies"] {
            let parts = schema.get(word).and_then(Value::as_object).into_iter().flat_map(Map::values);
            parts.for_each(|part| self.flatten(part, flat));
        }
    }

    /// Every schema that a reference may mean. Where that depends on the `$id` around it, all that fit.
    fn targets(&self, reference: &str) -> Vec<&'a Value> {
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = toolroom_contract::pointer::unescaped(fragment);
        let last = |id: &str| id.trim_end_matches('#').rsplit('/').next().unwrap_or_default().to_owned();
        let resources = self.named.resources.iter();
        let mut resources: Vec<&Value> = resources
            .filter(|(id, _)| base.is_empty() || last(id) == last(base))
            .map(|(_, schema)| *schema)
            .collect();
        if base.is_empty() {
            resources.push(self.whole);
        }
        match fragment.as_str() {
            "" if base.is_empty() => resources,
            pointer if pointer.is_empty() || pointer.starts_with('/') => {
                resources.into_iter().filter_map(|resource| resource.pointer(pointer)).collect()
            }
            name => self.named.anchors.get(name).cloned().unwrap_or_default(),
        }
    }
}

fn is_secret(schema: &Value) -> bool {
    schema.get("writeOnly") == Some(&Value::Bool(true))
        || schema.get("format").and_then(Value::as_str) == Some("password")
}
