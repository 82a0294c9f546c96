//! Messages as text.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use toolroom_contract::write_json;

use crate::{Id, RpcError};

/// The text of a request.
pub fn request(id: &Id, method: &str, params: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Request<'a, P> {
        jsonrpc: &'static str,
        id: &'a Id,
        method: &'a str,
        params: &'a P,
    }
    written(&Request { jsonrpc: "2.0", id, method, params })
}

/// The text of a notification.
pub fn notification(method: &str, params: Option<&impl Serialize>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Notification<'a, P> {
        jsonrpc: &'static str,
        method: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<&'a P>,
    }
    written(&Notification { jsonrpc: "2.0", method, params })
}

/// The text of the answer to a request; without an id where that is not known.
pub fn response(id: Option<&Id>, outcome: Result<&[u8], &RpcError>) -> Vec<u8> {
    let length = outcome.map_or(128, <[u8]>::len);
    let mut out = Vec::with_capacity(length + 64);
    out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    if let Some(id) = id {
        out.extend_from_slice(br#","id":"#);
        write_json(&mut out, id);
    }
    match outcome {
        Ok(result) => {
            out.extend_from_slice(br#","result":"#);
            out.extend_from_slice(result);
        }
        Err(error) => {
            out.extend_from_slice(br#","error":"#);
            write_json(&mut out, error);
        }
    }
    out.push(b'}');
    out
}

/// A parameter on its way out.
#[derive(Clone, Copy)]
pub enum Field<'a> {
    /// A text.
    Text(&'a str),
    /// A value.
    Value(&'a Value),
    /// An object.
    Object(&'a Map<String, Value>),
}

impl Serialize for Field<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Value(value) => value.serialize(serializer),
            Self::Object(fields) => fields.serialize(serializer),
        }
    }
}

/// Parameters with their `_meta`.
pub struct ParamsWithMeta<'a> {
    /// The parameters.
    pub fields: &'a [(&'static str, Field<'a>)],
    /// Left out if it is empty.
    pub meta: &'a Map<String, Value>,
}

impl Serialize for ParamsWithMeta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, field) in self.fields {
            map.serialize_entry(name, field)?;
        }
        if !self.meta.is_empty() {
            map.serialize_entry("_meta", self.meta)?;
        }
        map.end()
    }
}

fn written(message: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    write_json(&mut out, message);
    out
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn requests_are_written_whole() {
        let arguments = json!({ "b": 2, "a": 1.0 });
        let fields = [("name", Field::Text("x")), ("arguments", Field::Value(&arguments))];
        let mut meta = Map::new();
        let text = |meta: &Map<String, Value>| {
            String::from_utf8(request(&3.into(), "tools/call", &ParamsWithMeta { fields: &fields, meta }))
                .unwrap()
        };
        let start = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x","arguments":{"b":2,"a":1.0}"#;
        assert_eq!(text(&meta), format!("{start}}}}}"));
        meta.insert("progressToken".into(), json!(3));
        assert_eq!(text(&meta), format!(r#"{start},"_meta":{{"progressToken":3}}}}}}"#));
    }
}
