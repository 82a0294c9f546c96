//! Which parts of a value are secret, and the serialiser that leaves them out.

use std::collections::HashMap;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value};

/// What is written in place of a secret.
pub const MASKED: &str = "[masked]";

/// A schema that spreads further than this is masked whole rather than in part.
const MAX_NODES: usize = 4096;

/// The secrets of one tool's values, compiled from a JSON Schema: what is `writeOnly` or a password.
/// Properties that bear the name of a secret are masked under any schema.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    nodes: Vec<Node>,
    root: Option<usize>,
}

/// A place in the value. `None` where nothing below is marked.
#[derive(Clone, Debug, Default)]
struct Node {
    secret: bool,
    properties: HashMap<String, usize>,
    /// Properties that `properties` does not name.
    other: Option<usize>,
    items: Option<usize>,
}

impl Mask {
    pub fn compile(schema: &Value) -> Self {
        let mut compiler = Compiler { whole: schema, nodes: Vec::new(), known: HashMap::new() };
        let root = compiler.node(vec![schema]);
        let mut mask = Self { nodes: compiler.nodes, root: Some(root) };
        mask.prune();
        mask
    }

    /// Whether the schema marks nothing, so that only names count.
    pub fn is_trivial(&self) -> bool {
        self.root.is_none()
    }

    /// Drops every link to a place below which nothing is secret.
    fn prune(&mut self) {
        let mut marked: Vec<bool> = self.nodes.iter().map(|node| node.secret).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (index, node) in self.nodes.iter().enumerate() {
                let below = node.properties.values().chain(&node.other).chain(&node.items);
                if !marked[index] && below.into_iter().any(|child| marked[*child]) {
                    marked[index] = true;
                    changed = true;
                }
            }
        }
        for node in &mut self.nodes {
            // A named property that is clean stays: it must not fall to `other`.
            let keeps_names = node.other.is_some_and(|child| marked[child]);
            node.properties.retain(|_, child| keeps_names || marked[*child]);
            node.other = node.other.filter(|child| marked[*child]);
            node.items = node.items.filter(|child| marked[*child]);
        }
        self.root = self.root.filter(|root| marked[*root]);
    }
}

/// Places are sets of subschemas that apply together, so that `allOf` and its like, and recursive `$ref`s,
/// need no special case at the time of the call.
struct Compiler<'a> {
    whole: &'a Value,
    nodes: Vec<Node>,
    known: HashMap<Vec<*const Value>, usize>,
}

impl<'a> Compiler<'a> {
    fn node(&mut self, schemas: Vec<&'a Value>) -> usize {
        let mut flat = Vec::new();
        for schema in schemas {
            self.flatten(schema, &mut flat);
        }
        let mut key: Vec<*const Value> = flat.iter().map(|schema| *schema as *const Value).collect();
        key.sort_unstable();
        if let Some(index) = self.known.get(&key) {
            return *index;
        }
        let index = self.nodes.len();
        self.known.insert(key, index);
        let secret = index >= MAX_NODES || flat.iter().any(|schema| is_secret(schema));
        self.nodes.push(Node { secret, ..Node::default() });
        if !secret {
            self.children(index, &flat);
        }
        index
    }

    fn children(&mut self, index: usize, flat: &[&'a Value]) {
        let mut properties: HashMap<&str, Vec<&'a Value>> = HashMap::new();
        for (name, schema) in flat.iter().filter_map(|s| s.get("properties")?.as_object()).flatten() {
            properties.entry(name).or_default().push(schema);
        }
        for (name, schemas) in properties {
            let child = self.node(schemas);
            self.nodes[index].properties.insert(name.to_owned(), child);
        }
        let patterns =
            flat.iter().filter_map(|s| s.get("patternProperties")?.as_object()).flat_map(Map::values);
        let additional = flat.iter().filter_map(|s| s.get("additionalProperties"));
        let other: Vec<&Value> = patterns.chain(additional).collect();
        self.nodes[index].other = (!other.is_empty()).then(|| self.node(other));

        let tuples = flat.iter().filter_map(|s| s.get("prefixItems")?.as_array()).flatten();
        let items = flat.iter().filter_map(|s| s.get("items"));
        let old_tuples = items.clone().filter_map(Value::as_array).flatten();
        let items: Vec<&Value> = tuples.chain(old_tuples).chain(items).collect();
        self.nodes[index].items = (!items.is_empty()).then(|| self.node(items));
    }

    /// A schema and all that apply in the same place.
    fn flatten(&self, schema: &'a Value, flat: &mut Vec<&'a Value>) {
        if !schema.is_object() || flat.iter().any(|known| std::ptr::eq(*known, schema)) {
            return;
        }
        flat.push(schema);
        let referred = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
        if let Some(target) = referred.and_then(|pointer| self.whole.pointer(pointer)) {
            self.flatten(target, flat);
        }
        for word in ["allOf", "anyOf", "oneOf"] {
            for part in schema.get(word).and_then(Value::as_array).into_iter().flatten() {
                self.flatten(part, flat);
            }
        }
        for part in ["if", "then", "else"].iter().filter_map(|word| schema.get(word)) {
            self.flatten(part, flat);
        }
    }
}

fn is_secret(schema: &Value) -> bool {
    schema.get("writeOnly") == Some(&Value::Bool(true))
        || schema.get("format").and_then(Value::as_str) == Some("password")
}

/// Whether a property of this name is a secret whatever its schema says; case, `-` and `_` aside.
pub fn is_secret_name(name: &str) -> bool {
    const LONGEST: usize = "authorization".len();
    let mut plain = [0; LONGEST];
    let mut length = 0;
    for byte in name.bytes().filter(|byte| !matches!(byte, b'-' | b'_')) {
        if length == LONGEST {
            return false;
        }
        plain[length] = byte.to_ascii_lowercase();
        length += 1;
    }
    matches!(&plain[..length], b"password" | b"token" | b"secret" | b"apikey" | b"authorization")
}

/// Serialises a value with its secrets masked, without copying it.
#[derive(Clone, Copy, Debug)]
pub struct Masked<'a>(pub &'a Value, pub &'a Mask);

impl Serialize for Masked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Place { value: self.0, mask: self.1, node: self.1.root }.serialize(serializer)
    }
}

struct Place<'a> {
    value: &'a Value,
    mask: &'a Mask,
    node: Option<usize>,
}

impl<'a> Place<'a> {
    fn below(&self, value: &'a Value, child: impl FnOnce(&Node) -> Option<usize>) -> Self {
        let node = self.node.and_then(|node| child(&self.mask.nodes[node]));
        Self { value, mask: self.mask, node }
    }
}

impl Serialize for Place<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.node.is_some_and(|node| self.mask.nodes[node].secret) {
            return serializer.serialize_str(MASKED);
        }
        match self.value {
            Value::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    if is_secret_name(name) {
                        map.serialize_entry(name, MASKED)?;
                    } else {
                        let child = |node: &Node| node.properties.get(name).copied().or(node.other);
                        map.serialize_entry(name, &self.below(value, child))?;
                    }
                }
                map.end()
            }
            Value::Array(values) => {
                let mut seq = serializer.serialize_seq(Some(values.len()))?;
                for value in values {
                    seq.serialize_element(&self.below(value, |node| node.items))?;
                }
                seq.end()
            }
            plain => plain.serialize(serializer),
        }
    }
}
