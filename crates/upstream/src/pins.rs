//! Pinned definitions: what a server's tools were when a person let them in, and what has changed since.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;
use toolroom_contract::canonical;

use crate::items::RemoteTool;

/// A hash for each tool, by the server's own name for it.
pub type Pins = BTreeMap<String, String>;

/// How a server's tools compare with the pins; names in the server's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// As they were.
    pub same: Vec<String>,
    /// Not pinned yet.
    pub new: Vec<String>,
    /// Pinned, and no longer as they were.
    pub changed: Vec<String>,
    /// Pinned, and no longer there.
    pub gone: Vec<String>,
}

/// The hash of a definition: the same for every spelling of the same JSON. `_meta` is left out, because it
/// is for machines and may differ from one listing to the next.
pub fn hash(definition: &RawValue) -> String {
    let mut value: Value = serde_json::from_str(definition.get()).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.shift_remove("_meta");
    }
    canonical::digest("upstream tool", &value).to_hex()
}

/// The pins of these tools.
pub fn pin<'a>(tools: impl IntoIterator<Item = &'a RemoteTool>) -> Pins {
    let mut pins = Pins::new();
    for tool in tools {
        // Of two tools with one name, the first is the one that is called.
        pins.entry(tool.name.clone()).or_insert_with(|| hash(&tool.raw));
    }
    pins
}

/// Compares a server's tools with its pins.
pub fn compare<'a>(pins: &Pins, tools: impl IntoIterator<Item = &'a RemoteTool>) -> Comparison {
    let mut comparison = Comparison::default();
    let mut seen = BTreeMap::new();
    for tool in tools {
        if seen.insert(tool.name.as_str(), ()).is_some() {
            continue;
        }
        let list = match pins.get(&tool.name) {
            None => &mut comparison.new,
            Some(pinned) if *pinned == hash(&tool.raw) => &mut comparison.same,
            Some(_) => &mut comparison.changed,
        };
        list.push(tool.name.clone());
    }
    comparison.gone = pins.keys().filter(|name| !seen.contains_key(name.as_str())).cloned().collect();
    comparison
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(text: &str) -> RemoteTool {
        let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
        let name = serde_json::from_str::<Value>(text).unwrap()["name"].as_str().unwrap().to_owned();
        RemoteTool { name, raw }
    }

    #[test]
    fn whatever_a_person_could_be_shown_counts_and_spelling_does_not() {
        let was = tool(r#"{"name":"a","description":"reads","inputSchema":{"type":"object"}}"#);
        let same = tool(
            r#"{"inputSchema": {"type": "object"}, "description": "reads", "name": "a", "_meta":{"x":1}}"#,
        );
        assert_eq!(hash(&was.raw), hash(&same.raw));
        for other in [
            r#"{"name":"a","description":"reads, and sends","inputSchema":{"type":"object"}}"#,
            r#"{"name":"a","description":"reads","inputSchema":{"type":"object","properties":{"to":{}}}}"#,
            r#"{"name":"a","description":"reads","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#,
            r#"{"name":"a","description":"reads","inputSchema":{"type":"object"},"vendor":1}"#,
        ] {
            assert_ne!(hash(&was.raw), hash(&tool(other).raw), "{other}");
        }
    }

    #[test]
    fn same_new_changed_and_gone_are_told_apart() {
        let before = [tool(r#"{"name":"a"}"#), tool(r#"{"name":"b"}"#), tool(r#"{"name":"c"}"#)];
        let pins = pin(&before);
        let after = [
            tool(r#"{"name":"d"}"#),
            tool(r#"{"name":"b","description":"new"}"#),
            tool(r#"{"name":"a"}"#),
            tool(r#"{"name":"a","description":"a second one"}"#),
        ];
        let expected = Comparison {
            same: vec!["a".into()],
            new: vec!["d".into()],
            changed: vec!["b".into()],
            gone: vec!["c".into()],
        };
        assert_eq!(compare(&pins, &after), expected);
        assert_eq!(compare(&Pins::new(), &before).new, ["a", "b", "c"]);
    }
}
