//! A schema as a graph: every subschema that can apply, and where each leads.

use std::collections::HashMap;

use serde_json::Value;

use super::{BadSchema, child};

/// Names that references can lead to (`$id`, `$anchor`): each is kept, compared and resolved.
const MOST_NAMES: usize = 256;
/// Places that all references together may lead to.
const MOST_TARGETS: usize = 80_000;

/// A subschema.
pub(super) struct Node<'a> {
    pub value: &'a Value,
    /// Where it is, as a way from the schema around it.
    place: Place<'a>,
    /// How long its pointer is when it is written out.
    pub pointer_bytes: u64,
    /// What it costs by itself, at a value.
    pub weight: u64,
    pub links: Vec<Link>,
    /// The nearest schema around it with an `$id`, which its references start from.
    resource: &'a Value,
}

/// Where a subschema is. Written out only for an error: names may be long, and above thousands of subschemas.
#[derive(Clone, Copy)]
enum Place<'a> {
    Root,
    /// In a keyword of another.
    In(usize, &'static str),
    /// In a list of a keyword.
    Item(usize, &'static str, usize),
    /// Under a name of a keyword.
    Named(usize, &'static str, &'a str),
    /// Where a reference leads.
    Referred(&'a str),
}

/// From one subschema to another.
#[derive(Clone, Copy)]
pub(super) struct Link {
    pub to: usize,
    /// Whether both apply to the same value.
    pub in_place: bool,
}

pub(super) struct Graph<'a> {
    /// The root is the first.
    pub nodes: Vec<Node<'a>>,
}

/// Keywords with a subschema, with a list of them, and with named ones; and whether they apply to the same value.
const ONE: [(&str, bool); 13] = [
    ("not", true),
    ("if", true),
    ("then", true),
    ("else", true),
    ("items", false),
    ("additionalItems", false),
    ("unevaluatedItems", false),
    ("contains", false),
    ("additionalProperties", false),
    ("unevaluatedProperties", false),
    ("propertyNames", false),
    ("contentSchema", false),
    ("extends", true),
];
const LISTS: [(&str, bool); 5] =
    [("allOf", true), ("anyOf", true), ("oneOf", true), ("prefixItems", false), ("items", false)];
const NAMED: [(&str, bool); 4] =
    [("properties", false), ("patternProperties", false), ("dependentSchemas", true), ("dependencies", true)];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Schemas of the standard itself, which the validator brings along.
const STANDARD: [&str; 2] = ["https://json-schema.org/", "http://json-schema.org/"];
const STANDARD_WEIGHT: u64 = 256;

impl<'a> Graph<'a> {
    /// Reads a schema; more subschemas than that are refused.
    pub fn read(schema: &'a Value, most: usize) -> Result<Self, BadSchema> {
        let mut reader =
            Reader { nodes: Vec::new(), known: HashMap::new(), names: Names::default(), targets: 0 };
        reader.names.collect(schema, schema);
        if reader.names.count > MOST_NAMES {
            let message = format!("more than {MOST_NAMES} names ($id, $anchor, $dynamicAnchor)");
            return Err(BadSchema { pointer: String::new(), message });
        }
        reader.node(schema, Place::Root, schema);
        let mut next = 0;
        while next < reader.nodes.len() {
            if reader.nodes.len() > most {
                let message = format!("more than {most} subschemas");
                return Err(BadSchema { pointer: String::new(), message });
            }
            reader.links(next)?;
            next += 1;
        }
        Ok(Self { nodes: reader.nodes })
    }

    /// The pointer of a node, for an error.
    pub fn pointer(&self, node: usize) -> String {
        pointer(&self.nodes, node)
    }
}

fn pointer(nodes: &[Node<'_>], node: usize) -> String {
    let (mut at, mut tokens, mut start) = (node, Vec::new(), "");
    loop {
        match nodes[at].place {
            Place::Root => break,
            Place::Referred(reference) => {
                start = reference;
                break;
            }
            Place::In(parent, word) => {
                tokens.push(word.to_owned());
                at = parent;
            }
            Place::Item(parent, word, index) => {
                tokens.extend([index.to_string(), word.to_owned()]);
                at = parent;
            }
            Place::Named(parent, word, name) => {
                tokens.extend([name.to_owned(), word.to_owned()]);
                at = parent;
            }
        }
    }
    tokens.iter().rev().fold(start.to_owned(), |pointer, token| child(&pointer, token))
}

struct Reader<'a> {
    nodes: Vec<Node<'a>>,
    known: HashMap<*const Value, usize>,
    names: Names<'a>,
    /// Places that references led to so far.
    targets: usize,
}

impl<'a> Reader<'a> {
    fn node(&mut self, value: &'a Value, place: Place<'a>, around: &'a Value) -> usize {
        let address = std::ptr::from_ref(value);
        if let Some(known) = self.known.get(&address) {
            return *known;
        }
        let length = |word: &str| match value.get(word) {
            Some(Value::Object(map)) => map.len() as u64,
            Some(Value::Array(list)) => list.len() as u64,
            _ => 0,
        };
        let resource = if id(value).is_some() { value } else { around };
        let weight = 1 + length("patternProperties") + length("required") / 8;
        let above = |parent: usize, word: &str| self.nodes[parent].pointer_bytes + word.len() as u64 + 1;
        let pointer_bytes = match place {
            Place::Root => 0,
            Place::In(parent, word) => above(parent, word),
            Place::Item(parent, word, _) => above(parent, word) + 6,
            // Both of the characters that are escaped take one byte more.
            Place::Named(parent, word, name) => {
                let escaped = name.bytes().filter(|byte| matches!(byte, b'~' | b'/')).count();
                above(parent, word) + (name.len() + escaped) as u64 + 1
            }
            Place::Referred(reference) => reference.len() as u64,
        };
        self.nodes.push(Node { value, place, pointer_bytes, weight, links: Vec::new(), resource });
        self.known.insert(address, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    fn links(&mut self, at: usize) -> Result<(), BadSchema> {
        let (value, resource) = (self.nodes[at].value, self.nodes[at].resource);
        let mut found: Vec<(&'a Value, Place<'a>, bool)> = Vec::new();
        for (word, in_place) in ONE {
            if let Some(part) = value.get(word).filter(|part| part.is_object() || part.is_boolean()) {
                found.push((part, Place::In(at, word), in_place));
            }
        }
        for (word, in_place) in LISTS {
            for (index, part) in value.get(word).and_then(Value::as_array).into_iter().flatten().enumerate() {
                found.push((part, Place::Item(at, word, index), in_place));
            }
        }
        for (word, in_place) in NAMED {
            for (name, part) in value.get(word).and_then(Value::as_object).into_iter().flatten() {
                if !part.is_array() {
                    found.push((part, Place::Named(at, word, name), in_place));
                }
            }
        }
        for (part, place, in_place) in found {
            let to = self.node(part, place, resource);
            self.nodes[at].links.push(Link { to, in_place });
        }
        for word in REFERENCES {
            let Some(reference) = value.get(word).and_then(Value::as_str) else { continue };
            if STANDARD.iter().any(|start| reference.starts_with(start)) {
                self.nodes[at].weight += STANDARD_WEIGHT;
                continue;
            }
            let (targets, looked_at) = self.names.resolve(reference, resource);
            self.targets += looked_at;
            if self.targets > MOST_TARGETS {
                let message = format!("references lead to more than {MOST_TARGETS} places together");
                return Err(BadSchema { pointer: child(&pointer(&self.nodes, at), word), message });
            }
            if targets.is_empty() {
                let message = format!("{word} '{reference}' points to nothing in this schema");
                return Err(BadSchema { pointer: child(&pointer(&self.nodes, at), word), message });
            }
            for (target, around) in targets {
                // To itself: the validator passes over it.
                if !std::ptr::eq(target, value) {
                    let to = self.node(target, Place::Referred(reference), around);
                    self.nodes[at].links.push(Link { to, in_place: true });
                }
            }
        }
        Ok(())
    }
}

pub(super) fn id(value: &Value) -> Option<&str> {
    let text = value.get("$id").or_else(|| value.get("id"))?.as_str()?;
    // An `$id` that is only a fragment is an anchor of old drafts.
    (!text.starts_with('#')).then_some(text.trim_end_matches('#'))
}

/// Whatever references can name.
#[derive(Default)]
pub(super) struct Names<'a> {
    /// Schemas with an `$id`, by its last part; the root is one of them, with or without one.
    resources: HashMap<&'a str, Vec<&'a Value>>,
    /// Anchors, with the resource they are in.
    anchors: HashMap<&'a str, Vec<(&'a Value, &'a Value)>>,
    /// How many there are. Data may have an `id` of its own (in an `enum`, say), which does not count.
    count: usize,
}

fn last_part(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or_default()
}

impl<'a> Names<'a> {
    /// Parsed JSON is at most 128 levels deep, so this cannot run away.
    pub(super) fn collect(&mut self, value: &'a Value, around: &'a Value) {
        let mut resource = around;
        if let Value::Object(map) = value {
            if self.resources.is_empty() || id(value).is_some() {
                let name = last_part(id(value).unwrap_or_default());
                self.resources.entry(name).or_default().push(value);
                resource = value;
                self.count += usize::from(value.get("$id").is_some_and(Value::is_string));
            }
            let fragment = value.get("$id").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
            let words = ["$anchor", "$dynamicAnchor"].into_iter();
            let names = words.filter_map(|word| value.get(word)?.as_str()).chain(fragment);
            for name in names {
                self.anchors.entry(name).or_default().push((value, resource));
                self.count += 1;
            }
            map.values().for_each(|part| self.collect(part, resource));
        } else if let Value::Array(parts) = value {
            parts.iter().for_each(|part| self.collect(part, around));
        }
    }

    /// Whether so many have the name of a reference that nobody should look at them all each time.
    pub(super) fn has_many(&self, reference: &str) -> bool {
        const MANY: usize = 8;
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resources = self.resources.get(last_part(document)).filter(|_| !document.is_empty());
        resources.is_some_and(|all| all.len() > MANY)
            || self.anchors.get(fragment).is_some_and(|all| all.len() > MANY)
    }

    /// All that a reference may lead to, each with the resource it is in; and how many were looked at. More than one where that is decided
    /// only in a call (`$dynamicRef`), or where two have the same name: the validator takes one of them.
    pub(super) fn resolve(&self, reference: &str, from: &'a Value) -> (Vec<(&'a Value, &'a Value)>, usize) {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let roots: Vec<&'a Value> = match document {
            "" => vec![from],
            name => self.resources.get(last_part(name)).cloned().unwrap_or_default(),
        };
        let looked_at = roots.len();
        let fragment = crate::pointer::unescaped(fragment);
        let targets: Vec<_> = match fragment.as_str() {
            "" => roots.into_iter().map(|root| (root, root)).collect(),
            pointer if pointer.starts_with('/') => {
                roots.into_iter().filter_map(|root| at_pointer(root, pointer)).collect()
            }
            anchor => self.anchors.get(anchor).cloned().unwrap_or_default(),
        };
        let looked_at = looked_at.max(targets.len());
        toolroom_work::step(looked_at);
        (targets, looked_at)
    }
}

/// What a pointer leads to, and the innermost schema with an `$id` on the way.
fn at_pointer<'a>(root: &'a Value, pointer: &str) -> Option<(&'a Value, &'a Value)> {
    pointer.split('/').skip(1).try_fold((root, root), |(value, resource), token| {
        let name = crate::pointer::name(token);
        let next = match value {
            Value::Object(map) => map.get(&name)?,
            Value::Array(list) => list.get(name.parse::<usize>().ok()?)?,
            _ => return None,
        };
        Some((next, if id(next).is_some() { next } else { resource }))
    })
}
