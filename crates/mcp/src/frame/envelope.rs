//! The fields that JSON-RPC gives a message, as pieces of its text.

use super::fields::each_field;

/// The fields of a message, their types not looked at yet, so that an error can carry the id.
#[derive(Default)]
pub(super) struct Envelope<'a> {
    pub(super) version: Option<&'a str>,
    pub(super) id: Option<&'a str>,
    pub(super) method: Option<&'a str>,
    pub(super) params: Option<&'a str>,
    pub(super) result: Option<&'a str>,
    pub(super) error: Option<&'a str>,
    /// A field such as `Method` is there: other readers might take it for `method`.
    pub(super) odd: bool,
}

impl<'a> Envelope<'a> {
    /// `None` if the text is not an object. The last of several fields with one name counts.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let mut envelope = Self::default();
        each_field(text, |key, value| envelope.take(key, value))?;
        Some(envelope)
    }

    fn take(&mut self, key: &str, value: &'a str) {
        const NAMES: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
        let place = match key {
            "jsonrpc" => &mut self.version,
            "id" => &mut self.id,
            "method" => &mut self.method,
            "params" => &mut self.params,
            "result" => &mut self.result,
            "error" => &mut self.error,
            other => {
                self.odd |= NAMES.iter().any(|name| name.eq_ignore_ascii_case(other));
                return;
            }
        };
        *place = Some(value);
    }
}
