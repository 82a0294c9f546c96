//! An edit of a client's file as text: what was there, what will be there. It is checked before anybody sees it: the
//! entry reads back as it was meant, and removing it gives the first bytes again.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{json_file, toml_file};

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Toml,
}

/// What was done for an entry, so that it can be undone with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Added {
    /// The objects on the way to it.
    pub(super) parents: usize,
    /// A line end that the file did not have.
    pub(super) line: bool,
    /// The entry in whose place it is, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) replaced: Option<String>,
}

const MARK: &str = "\u{feff}";

impl Format {
    /// The entry at this path, if there is one.
    pub(super) fn find(self, text: &str, path: &[&str]) -> Result<Option<Value>, String> {
        let text = text.strip_prefix(MARK).unwrap_or(text);
        match self {
            _ if text.trim().is_empty() => Ok(None),
            Self::Json => json_file::find(text, path),
            Self::Toml => toml_file::find(text, path),
        }
    }

    /// The text with the entry, in place of one that is there.
    pub(super) fn insert(self, text: &str, path: &[&str], entry: &Value) -> Result<(String, Added), String> {
        if self == Self::Json && text.trim().is_empty() {
            return json_file::insert(self.nothing(), path, entry);
        }
        let (mark, body) = text.strip_prefix(MARK).map_or(("", text), |body| (MARK, body));
        let is_there = self.find(body, path)?.is_some();
        let (written, added) = match self {
            Self::Json if is_there => json_file::replace(body, path, entry)?,
            Self::Json => json_file::insert(body, path, entry)?,
            Self::Toml if is_there => toml_file::replace(body, path, entry)?,
            Self::Toml => toml_file::insert(body, path, entry)?,
        };
        let written = format!("{mark}{written}");
        if self.find(&written, path)?.as_ref() != Some(entry) || self.remove(&written, path, &added)? != text
        {
            return Err("it is written in a way that we cannot edit safely".to_owned());
        }
        Ok((written, added))
    }

    /// Where values stand that only a server should know, in order; nowhere in a text that cannot be read.
    pub(super) fn secrets(self, text: &str) -> Vec<Range<usize>> {
        let body = text.strip_prefix(MARK).unwrap_or(text);
        let before = text.len() - body.len();
        let mut found = match self {
            Self::Json => json_file::secrets(body),
            Self::Toml => toml_file::secrets(body),
        };
        found.sort_unstable_by_key(|range| range.start);
        found.into_iter().map(|range| range.start + before..range.end + before).collect()
    }

    /// A file without entries.
    pub(super) fn nothing(self) -> &'static str {
        match self {
            Self::Json => "{}\n",
            Self::Toml => "",
        }
    }

    /// The text without the entry, or with the one in whose place it is.
    pub(super) fn remove(self, text: &str, path: &[&str], added: &Added) -> Result<String, String> {
        let (mark, body) = text.strip_prefix(MARK).map_or(("", text), |body| (MARK, body));
        let kept = match self {
            Self::Json => json_file::remove(body, path, added)?,
            Self::Toml => toml_file::remove(body, path, added)?,
        };
        Ok(format!("{mark}{kept}"))
    }
}

/// The line end that a text uses.
pub(super) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const PATH: &[&str] = &["mcpServers", "toolroom"];

    const GAPS: &[&str] =
        &["", "", " ", "\n", "\n  ", "\r\n\t", " /* a, } */ ", " // b, {\n", " // c \r\n", "/* d\n */"];

    fn gap() -> impl Strategy<Value = &'static str> {
        prop::sample::select(GAPS)
    }

    fn object(inner: impl Strategy<Value = String> + Clone + 'static) -> impl Strategy<Value = String> {
        let name = prop::sample::select(&["a", "b \\\" {", "mcpServers", "ü", "toolroomX"]);
        let member = (gap(), name, gap(), gap(), inner, gap())
            .prop_map(|(a, name, b, c, value, d)| format!("{a}\"{name}\"{b}:{c}{value}{d}"));
        (prop::collection::vec(member, 0..4), any::<bool>(), gap()).prop_map(|(members, comma, gap)| {
            let comma = if comma && !members.is_empty() { "," } else { "" };
            format!("{{{}{comma}{gap}}}", members.join(","))
        })
    }

    fn settings() -> impl Strategy<Value = String> {
        let leaf =
            prop::sample::select(&["1", "null", "\"x, \\\" }\"", "[1, /* e */ {\"f\": 2},]", "{}", "{ }"]);
        let value = leaf.prop_map(str::to_owned).prop_recursive(2, 8, 3, |inner| object(inner.boxed()));
        (gap(), object(value.boxed()), gap())
            .prop_map(|(before, object, after)| format!("{before}{object}{after}"))
    }

    proptest! {
        #[test]
        fn promise_an_entry_that_is_added_to_json_and_removed_leaves_every_byte(text in settings()) {
            let entry = json!({ "command": "/bin/x", "args": ["mcp", "--home", "/h"], "deep": { "a": {} } });
            match Format::Json.insert(&text, PATH, &entry) {
                Ok((written, added)) => {
                    prop_assert_eq!(Format::Json.find(&written, PATH), Ok(Some(entry)));
                    prop_assert_eq!(Format::Json.remove(&written, PATH, &added), Ok(text));
                }
                Err(why) => prop_assert!(why.contains("twice") || why.contains("not an object"), "{}", why),
            }
        }

        #[test]
        fn promise_a_table_that_is_added_to_toml_and_removed_leaves_every_byte(
            lines in prop::collection::vec(prop::sample::select(&[
                "", "# c [x]", "a1 = \"[y]\" # d", "a2 = [1,\n 2]", "[t1]", "[mcp_servers.other]\ncommand = \"x\"",
                "[mcp_servers.other.env]", "[t2] # e", "\"quoted key\" = '''\n[z]\n'''",
            ]), 0..7),
            end in prop::sample::select(&["\n", "\r\n"]),
            last in any::<bool>(),
        ) {
            let text = lines.join("\n").replace('\n', end) + if last { end } else { "" };
            let path = &["mcp_servers", "toolroom"];
            let entry = json!({ "command": "/bin/x", "args": ["mcp"], "env": { "A": "b \"c\"" } });
            if Format::Toml.find(&text, path).is_ok() {
                let (written, added) = Format::Toml.insert(&text, path, &entry).unwrap();
                prop_assert_eq!(Format::Toml.find(&written, path), Ok(Some(entry)));
                prop_assert_eq!(Format::Toml.remove(&written, path, &added), Ok(text));
            }
        }
    }

    #[test]
    fn an_entry_among_others_that_came_later_is_removed_alone() {
        let text = "{ // mine\n  \"mcpServers\": {}\n}\n";
        let (written, added) = Format::Json.insert(text, PATH, &json!({ "command": "x" })).unwrap();
        let lines =
            "{ // mine\n  \"mcpServers\": {\n    \"toolroom\": {\n      \"command\": \"x\"\n    }\n  }\n}\n";
        assert_eq!(written, lines);
        let more = written.replace("\"x\"\n    }", "\"x\"\n    }, // ours\n    \"other\": 1");
        let kept = Format::Json.remove(&more, PATH, &added).unwrap();
        assert_eq!(Format::Json.find(&kept, &["mcpServers"]), Ok(Some(json!({ "other": 1 }))));
        assert!(kept.contains("// ours"));
        let last = "{ \"mcpServers\": { \"other\": 1, /* a */ \"toolroom\": 2 } }";
        let kept = Format::Json.remove(last, PATH, &Added::default()).unwrap();
        assert_eq!(kept, "{ \"mcpServers\": { \"other\": 1 /* a */ } }");
    }
}
