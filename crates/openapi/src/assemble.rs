//! One schema that stands alone: what it refers to is put in its place, or once beside it if it is used several times
//! or contains itself.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value, json};
use toolroom_contract::canonical::digest;
use toolroom_work::{is_spent, step};

use crate::names;
use crate::schema::{Component, Schemas, collect};

/// The largest schema of a tool, in bytes: what the contract takes.
const LARGEST: usize = 256 << 10;
/// A component up to this size is put in its place however often it is used.
const SMALL: usize = 160;
/// Deeper than this, schemas stand beside the others.
const DEEPEST: usize = 40;

impl Schemas<'_> {
    /// The schema with everything that it refers to.
    pub(crate) fn assembled(&mut self, root: &Value) -> Result<Value, String> {
        let parts = self.reachable(root)?;
        let mut assembly =
            Assembly { parts: &parts, names: BTreeMap::new(), wanted: Vec::new(), path: Vec::new() };
        let mut whole = assembly.place(root, 0);
        let mut definitions = Map::new();
        let mut done = BTreeSet::new();
        while let Some(reference) = assembly.wanted.pop() {
            if !done.insert(reference.clone()) || is_spent() {
                continue;
            }
            let Some(part) = parts.get(&reference) else { continue };
            assembly.path = vec![reference.clone()];
            let definition = assembly.place(&part.component.schema, 2);
            definitions.insert(assembly.name(&reference), definition);
        }
        definitions.sort_keys();
        if let (false, Some(whole)) = (definitions.is_empty(), whole.as_object_mut()) {
            whole.insert("$defs".to_owned(), definitions.into());
        }
        let size = whole.to_string().len();
        step(size / 8);
        if size > LARGEST { Err(too_large()) } else { Ok(whole) }
    }

    /// Everything that a schema refers to, and how often.
    fn reachable(&mut self, root: &Value) -> Result<BTreeMap<String, Part>, String> {
        let mut parts: BTreeMap<String, Part> = BTreeMap::new();
        let mut wanted = Vec::new();
        collect(root, &mut wanted);
        let mut size = 0;
        while let Some(reference) = wanted.pop() {
            step(1);
            if let Some(part) = parts.get_mut(&reference) {
                part.uses += 1;
                continue;
            }
            let component = self.component(&reference)?;
            size += component.size;
            if size > LARGEST {
                return Err(too_large());
            }
            step(component.size / 8);
            wanted.extend(component.references.iter().cloned());
            parts.insert(reference, Part { component, uses: 1 });
        }
        Ok(parts)
    }
}

fn too_large() -> String {
    format!("its schema has more than {} KiB", LARGEST >> 10)
}

struct Part {
    component: Rc<Component>,
    uses: usize,
}

struct Assembly<'p> {
    parts: &'p BTreeMap<String, Part>,
    /// The names of definitions, by what they are of.
    names: BTreeMap<String, String>,
    wanted: Vec<String>,
    /// What is being put in place, one in the other.
    path: Vec<String>,
}

impl Assembly<'_> {
    fn place(&mut self, schema: &Value, depth: usize) -> Value {
        step(1);
        let Value::Object(fields) = schema else { return schema.clone() };
        if let Some(Value::String(reference)) = fields.get("$ref") {
            return self.refer(reference, fields, depth);
        }
        let mut placed = Map::new();
        for (name, value) in fields {
            let value = match (name.as_str(), value) {
                ("items" | "additionalProperties" | "not", sub) => self.place(sub, depth + 1),
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(subs)) => {
                    subs.iter().map(|sub| self.place(sub, depth + 2)).collect()
                }
                ("properties", Value::Object(subs)) => {
                    subs.iter().map(|(name, sub)| (name.clone(), self.place(sub, depth + 2))).collect()
                }
                (_, other) => other.clone(),
            };
            placed.insert(name.clone(), value);
        }
        placed.into()
    }

    fn refer(&mut self, reference: &str, around: &Map<String, Value>, depth: usize) -> Value {
        let part = self.parts.get(reference);
        let is_small = |part: &Part| part.component.size <= SMALL && part.component.references.is_empty();
        let inline = part.filter(|part| {
            (part.uses == 1 || is_small(part))
                && depth < DEEPEST
                && !self.path.iter().any(|open| open == reference)
        });
        let Some(part) = inline else {
            self.wanted.push(reference.to_owned());
            let mut placed = around.clone();
            placed.insert("$ref".to_owned(), format!("#/$defs/{}", self.name(reference)).into());
            return placed.into();
        };
        self.path.push(reference.to_owned());
        let mut placed = self.place(&part.component.schema, depth);
        self.path.pop();
        if let (Some(placed), Some(text)) = (placed.as_object_mut(), around.get("description")) {
            placed.insert("description".to_owned(), text.clone());
        }
        placed
    }

    /// The name of a definition: that of the component, or with a hash where another has it.
    fn name(&mut self, reference: &str) -> String {
        if let Some(name) = self.names.get(reference) {
            return name.clone();
        }
        let last = reference.rsplit('/').next().unwrap_or_default();
        let mut name = names::parameter(last).replace('.', "_");
        if name.is_empty() || self.names.values().any(|taken| *taken == name) {
            name = format!("{name}_{}", &digest("component", &json!(reference)).to_hex()[..6]);
        }
        step(self.names.len());
        self.names.insert(reference.to_owned(), name.clone());
        name
    }
}
