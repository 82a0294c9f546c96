//! Which parts of a value are secret, and the serialiser that leaves them out.

mod compile;
mod sealed;
mod secrets;

use std::collections::HashMap;

use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;

pub use secrets::Secrets;

/// What is written instead of a secret.
pub const MASKED: &str = "[masked]";

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
        let (nodes, root) = compile::nodes(schema);
        let mut mask = Self { nodes, root: Some(root) };
        mask.prune();
        mask
    }

    /// Whether the schema marks nothing, so that only names count.
    pub fn is_trivial(&self) -> bool {
        self.root.is_none()
    }

    /// Whether what a JSON pointer leads to is secret, or lies in something secret.
    pub fn hides(&self, pointer: &str) -> bool {
        let mut node = self.root;
        for token in pointer.split('/').skip(1) {
            let name = toolroom_contract::pointer::name(token);
            let at = node.map(|node| &self.nodes[node]);
            if at.is_some_and(|node| node.secret) || is_secret_name(&name) {
                return true;
            }
            let item = name.parse::<usize>().ok().and_then(|_| at?.items);
            node = item.or_else(|| at?.properties.get(&name).copied().or(at?.other));
        }
        node.is_some_and(|node| self.nodes[node].secret)
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
pub struct Masked<'a> {
    value: &'a Value,
    mask: &'a Mask,
    /// Masked wherever they stand.
    secrets: Option<&'a Secrets>,
}

impl<'a> Masked<'a> {
    pub fn new(value: &'a Value, mask: &'a Mask) -> Self {
        Self { value, mask, secrets: None }
    }

    /// These values are masked wherever they stand: a tool may repeat what it was given.
    pub fn without(self, secrets: &'a Secrets) -> Self {
        Self { secrets: (!secrets.is_empty()).then_some(secrets), ..self }
    }
}

impl Serialize for Masked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Masked { value, mask, secrets } = *self;
        Place { value, mask, secrets, node: mask.root }.serialize(serializer)
    }
}

/// JSON in a text, if it names secrets: what was meant as parameters may have been encoded once too often.
fn encoded(text: &str) -> Option<Value> {
    let trimmed = text.trim_ascii();
    let is_container = trimmed.starts_with('{') && trimmed.ends_with('}')
        || trimmed.starts_with('[') && trimmed.ends_with(']');
    let inner: Value = is_container.then(|| serde_json::from_str(trimmed).ok()).flatten()?;
    names_secret(&inner).then_some(inner)
}

fn names_secret(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            members.iter().any(|(name, value)| is_secret_name(name) || names_secret(value))
        }
        Value::Array(values) => values.iter().any(names_secret),
        _ => false,
    }
}

struct Place<'a> {
    value: &'a Value,
    mask: &'a Mask,
    secrets: Option<&'a Secrets>,
    node: Option<usize>,
}

impl<'a> Place<'a> {
    fn below(&self, value: &'a Value, child: impl FnOnce(&Node) -> Option<usize>) -> Self {
        let node = self.node.and_then(|node| child(&self.mask.nodes[node]));
        Self { value, mask: self.mask, secrets: self.secrets, node }
    }

    /// Whether it is secret, or has another shape than what the schema's secrets are in: then they may be anywhere.
    fn is_secret(&self) -> bool {
        self.node.is_some_and(|node| {
            let Node { secret, properties, other, items } = &self.mask.nodes[node];
            let (in_object, in_list) = (!properties.is_empty() || other.is_some(), items.is_some());
            let may_hold = match self.value {
                Value::Object(_) => in_list && !in_object,
                Value::Array(_) => in_object && !in_list,
                Value::String(_) | Value::Number(_) => in_object || in_list,
                Value::Null | Value::Bool(_) => false,
            };
            *secret || may_hold
        })
    }

    /// The place of a property, unless its name says enough.
    fn property(&self, name: &str, value: &'a Value) -> Option<Self> {
        let child = |node: &Node| node.properties.get(name).copied().or(node.other);
        (!is_secret_name(name)).then(|| self.below(value, child))
    }
}

impl Serialize for Place<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_secret() {
            return serializer.serialize_str(MASKED);
        }
        if let Some(inner) = self.value.as_str().and_then(encoded) {
            let masked = Masked { value: &inner, mask: &Mask::default(), secrets: self.secrets };
            return serializer.serialize_str(&serde_json::to_string(&masked).map_err(S::Error::custom)?);
        }
        match (self.value, self.secrets) {
            (Value::Object(members), secrets) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    match secrets {
                        Some(secrets) => map.serialize_key(&*secrets.hide(name))?,
                        None => map.serialize_key(name)?,
                    }
                    match self.property(name, value) {
                        Some(place) => map.serialize_value(&place)?,
                        None => map.serialize_value(MASKED)?,
                    }
                }
                map.end()
            }
            (Value::Array(values), _) => {
                let mut seq = serializer.serialize_seq(Some(values.len()))?;
                for value in values {
                    seq.serialize_element(&self.below(value, |node| node.items))?;
                }
                seq.end()
            }
            (Value::String(text), Some(secrets)) => serializer.serialize_str(&secrets.hide(text)),
            (Value::Number(number), Some(secrets)) if secrets.has_number(number) => {
                serializer.serialize_str(MASKED)
            }
            (plain, _) => plain.serialize(serializer),
        }
    }
}
