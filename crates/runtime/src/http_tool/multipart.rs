//! Bodies of several parts, as forms with files have them.

use serde_json::Value;

use super::param_encoding::text;

/// The parts of a body.
pub(super) struct Parts {
    boundary: String,
    body: Vec<u8>,
}

impl Parts {
    /// No parts yet; the boundary must be random, so that no content can contain it.
    pub(super) fn new(boundary: &str) -> Self {
        Self { boundary: format!("toolroom-{boundary}"), body: Vec::new() }
    }

    /// A value; objects are JSON.
    pub(super) fn field(&mut self, name: &str, value: &Value) {
        let kind =
            if value.is_object() || value.is_array() { "Content-Type: application/json\r\n" } else { "" };
        self.part(&format!("name=\"{}\"", quoted(name)), kind, text(value).as_bytes());
    }

    /// A file, named after its field.
    pub(super) fn file(&mut self, name: &str, bytes: &[u8]) {
        let name = quoted(name);
        let named = format!("name=\"{name}\"; filename=\"{name}\"");
        self.part(&named, "Content-Type: application/octet-stream\r\n", bytes);
    }

    fn part(&mut self, named: &str, kind: &str, bytes: &[u8]) {
        let head = format!("--{}\r\nContent-Disposition: form-data; {named}\r\n{kind}\r\n", self.boundary);
        self.body.extend_from_slice(head.as_bytes());
        self.body.extend_from_slice(bytes);
        self.body.extend_from_slice(b"\r\n");
    }

    /// The type of the body, and the body.
    pub(super) fn finish(mut self) -> (String, Vec<u8>) {
        self.body.extend_from_slice(format!("--{}--\r\n", self.boundary).as_bytes());
        (format!("multipart/form-data; boundary={}", self.boundary), self.body)
    }
}

fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
