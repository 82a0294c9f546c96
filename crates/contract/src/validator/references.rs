//! Where the references of a schema lead, for those who rewrite schemas.

use serde_json::Value;

use super::graph::{Names, id};

/// Everything that references can name in a schema.
pub(crate) struct References<'a>(Names<'a>);

impl<'a> References<'a> {
    pub(crate) fn of(schema: &'a Value) -> Self {
        let mut names = Names::default();
        names.collect(schema, schema);
        Self(names)
    }

    /// Whether references within the schema start from itself.
    pub(crate) fn is_resource(schema: &Value) -> bool {
        id(schema).is_some()
    }

    /// What a reference leads to, and the resource that is in; nothing if that is decided only in a call.
    pub(crate) fn only_target(&self, reference: &str, from: &'a Value) -> Option<(&'a Value, &'a Value)> {
        if self.0.has_many(reference) {
            return None;
        }
        match self.0.resolve(reference, from).0.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }
}
