//! `mcp.json` as text: its servers, where each stands, and changes that touch nothing else.

use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use toolroom_upstream::config::{ConfigError, ServerEntry, Standing, TWICE, read_file};

use super::ServerEntries;
use crate::registry_file::problem::{place_of, text_of, within};
use crate::registry_file::{Entries, FileProblem};

/// Where servers stand; a new one goes to the first that is there.
const SECTIONS: [&str; 2] = ["mcpServers", "mcp_servers"];

/// Where a variable of an entry comes from.
pub type Environment = dyn Fn(&str) -> Option<String> + Send + Sync;

/// The file's text.
pub fn text(path: &Path) -> Result<String, FileProblem> {
    text_of::<ServerEntries>(path)
}

/// Reads the servers of a text. What is wrong with the whole ends it; what is wrong with an entry is told there.
pub fn read(path: &Path, text: &str, environment: &Environment) -> Result<Vec<ServerEntry>, FileProblem> {
    let layout = JsonLayout::read(path, text)?;
    layout.refuse_doubles(path)?;
    let mut entries = read_file(text, &|name| environment(name)).map_err(|errors| {
        let error = errors.into_iter().next();
        whole(path, error.map_or_else(|| "it cannot be used".to_owned(), |error| error.message))
    })?;
    for entry in &mut entries {
        if layout.sections.iter().any(|section| section.has_twice(&entry.name)) {
            let (server, message) = (Some(entry.name.clone()), TWICE.to_owned());
            entry.standing = Standing::Invalid(ConfigError { server, field: None, place: None, message });
        }
        if let Err(error) = entry.resolve_sandbox(home_of(path)) {
            entry.standing = Standing::Invalid(error);
        }
        if let Standing::Invalid(error) = &mut entry.standing {
            error.place = layout.place(&entry.name, error.field.as_deref());
        }
    }
    Ok(entries)
}

/// The home that the file is in.
pub(super) fn home_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new("."))
}

/// The text with this entry under this name: in the place of the one that is there, or behind the others.
pub(super) fn with(path: &Path, text: &str, name: &str, entry: &Value) -> Result<String, FileProblem> {
    let layout = JsonLayout::read(path, text)?;
    let rendered = serde_json::to_string_pretty(entry).unwrap_or_default().replace('\n', "\n    ");
    if let Some((section, at)) = layout.find(name) {
        return Ok(spliced(text, section.members[at].value.clone(), &rendered));
    }
    let line = format!("{}: {rendered}", Value::from(name));
    let added = |object: &Object, indent: &str, line: &str, close: &str| match object.members.last() {
        Some(last) => spliced(text, last.value.end..last.value.end, &format!(",\n{indent}{line}")),
        None => spliced(text, object.place.clone(), &format!("{{\n{indent}{line}\n{close}}}")),
    };
    Ok(match layout.sections.first() {
        Some(section) => added(section, "    ", &line, "  "),
        None => {
            let section = format!("\"{}\": {{\n    {line}\n  }}", SECTIONS[0]);
            added(&layout.root, "  ", &section, "")
        }
    })
}

/// The text without the entry of this name.
pub(super) fn without(path: &Path, text: &str, name: &str) -> Result<String, FileProblem> {
    let layout = JsonLayout::read(path, text)?;
    let Some((section, at)) = layout.find(name) else { return Ok(text.to_owned()) };
    let gone = match at {
        0 if section.members.len() == 1 => return Ok(spliced(text, section.place.clone(), "{}")),
        // With the comma behind it.
        0 => {
            let end = section.members[0].value.end;
            let comma = text[end..].find(',').unwrap_or(0);
            section.place.start + 1..end + comma + 1
        }
        // With the comma before it.
        _ => section.members[at - 1].value.end..section.members[at].value.end,
    };
    Ok(spliced(text, gone, ""))
}

fn spliced(text: &str, place: Range<usize>, with: &str) -> String {
    format!("{}{with}{}", &text[..place.start], &text[place.end..])
}

/// Where things stand in the text.
struct JsonLayout<'a> {
    text: &'a str,
    root: Object,
    sections: Vec<Object>,
}

struct Object {
    /// From its opening brace to behind its closing one.
    place: Range<usize>,
    members: Vec<Member>,
}

struct Member {
    name: String,
    value: Range<usize>,
}

/// The fields of an object in their order, each value as text.
pub(super) struct Members<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Members(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl Object {
    /// The object at that place of the text.
    fn read(text: &str, place: Range<usize>) -> Result<Self, serde_json::Error> {
        let Members(fields) = serde_json::from_str(&text[place.clone()])?;
        let member = |(name, raw): (String, &RawValue)| {
            let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
            Member { name, value: start..start + raw.get().len() }
        };
        Ok(Self { place, members: fields.into_iter().map(member).collect() })
    }
}

impl Object {
    fn has_twice(&self, name: &str) -> bool {
        self.members.iter().filter(|member| member.name == name).count() > 1
    }
}

impl<'a> JsonLayout<'a> {
    fn read(path: &Path, text: &'a str) -> Result<Self, FileProblem> {
        let from = text.len() - text.trim_start().len();
        let to = text.trim_end().len().max(from);
        let malformed = |error: &serde_json::Error, field: &str, start: usize| {
            FileProblem::malformed(path, error, field.to_owned(), place_of(text, start), ServerEntries::EMPTY)
        };
        let root = Object::read(text, from..to).map_err(|error| malformed(&error, "", from))?;
        let mut sections = Vec::new();
        for member in &root.members {
            if !SECTIONS.contains(&member.name.as_str()) {
                continue;
            }
            let place = member.value.clone();
            sections.push(match &text[place.clone()] {
                "null" => Object { place, members: Vec::new() },
                _ => Object::read(text, place)
                    .map_err(|error| malformed(&error, &member.name, member.value.start))?,
            });
        }
        Ok(Self { text, root, sections })
    }

    fn find(&self, name: &str) -> Option<(&Object, usize)> {
        self.sections.iter().find_map(|section| {
            let at = section.members.iter().position(|member| member.name == name)?;
            Some((section, at))
        })
    }

    /// Of two sections with one name a reader of JSON sees one, and which one is anybody's guess.
    fn refuse_doubles(&self, path: &Path) -> Result<(), FileProblem> {
        let twice = self.root.members.iter().find(|member| self.root.has_twice(&member.name));
        let Some(member) = twice else { return Ok(()) };
        let (line, column) = place_of(self.text, member.value.start);
        let message = "appears twice in the file".to_owned();
        let remedy = "Remove or rename one of the two.".to_owned();
        let field = member.name.clone();
        Err(FileProblem { file: path.to_owned(), line, column, field, message, remedy })
    }

    /// Line and column of a field of a server.
    fn place(&self, server: &str, field: Option<&str>) -> Option<(usize, usize)> {
        let (section, at) = self.find(server)?;
        let place = section.members[at].value.clone();
        let text = &self.text[place.clone()];
        let name = field.and_then(|field| field.rsplit('.').next());
        let inside = name.and_then(|name| text.find(&format!("\"{name}\""))).unwrap_or(0);
        Some(within(place_of(self.text, place.start), place_of(text, inside)))
    }
}

fn whole(path: &Path, message: String) -> FileProblem {
    FileProblem::whole(
        path,
        message,
        format!("Fix the file; one without entries reads {}", ServerEntries::EMPTY),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TEXT: &str = "{\n  \"other\": [1,  2],\n  \"mcpServers\": {\n    \"a\": {\"url\":\"http://a\"},\n    \
                        \"b\": { \"command\":   \"b\" }\n  },\n  \"mcp_servers\": { \"c\": {\"url\": \"http://c\"} }\n}\n";

    fn names(text: &str) -> Vec<String> {
        let entries = read(Path::new("mcp.json"), text, &|_| None).unwrap();
        entries.into_iter().map(|entry| entry.name).collect()
    }

    fn put(text: &str, name: &str, entry: &Value) -> String {
        with(Path::new("mcp.json"), text, name, entry).unwrap()
    }

    fn remove(text: &str, name: &str) -> String {
        without(Path::new("mcp.json"), text, name).unwrap()
    }

    #[test]
    fn a_change_leaves_every_other_byte_as_it_was() {
        let changed = put(TEXT, "a", &json!({ "url": "http://new" }));
        assert_eq!(
            changed,
            TEXT.replace("{\"url\":\"http://a\"}", "{\n      \"url\": \"http://new\"\n    }")
        );
        let added = put(TEXT, "d", &json!({ "url": "http://d" }));
        assert_eq!(names(&added), ["a", "b", "d", "c"]);
        assert_eq!(remove(&added, "d"), TEXT);
        for (gone, left) in [("a", ["b", "c"]), ("b", ["a", "c"]), ("c", ["a", "b"])] {
            assert_eq!(names(&remove(TEXT, gone)), left);
        }
    }

    #[test]
    fn a_file_without_servers_gets_its_first() {
        for text in [
            "{}",
            "{\"mcpServers\": {}}",
            " {\n}\n",
            "{\"x\": 1}",
            "{\"mcp_servers\":{}}",
            "{\"mcpServers\": null}",
        ] {
            let added = put(text, "a", &json!({ "url": "http://a" }));
            assert_eq!(names(&added), ["a"], "{added}");
        }
        assert!(names(&remove(&put("{}", "a", &json!({ "url": "http://a" })), "a")).is_empty());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let wrong = |text: &str| read(Path::new("mcp.json"), text, &|_| None).unwrap_err();
        assert_eq!(wrong("{\n  \"mcpServers\": {,}\n}").line, 2);
        assert_eq!(wrong("[]").line, 1);
        let text = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"timeout\": -1, \"url\": \"http://a\"\n    },\n    \
                    \"b\": {\"url\": \"http://b\"}, \"c\": {\"url\": \"http://c\"}, \"c\": {}\n  }\n}";
        let entries = read(Path::new("mcp.json"), text, &|_| None).unwrap();
        let told: Vec<Option<String>> = entries
            .iter()
            .map(|entry| match &entry.standing {
                Standing::Invalid(error) => Some(error.to_string()),
                _ => None,
            })
            .collect();
        assert!(told[0].as_ref().unwrap().starts_with("line 4, column 7: server 'a': timeout: "), "{told:?}");
        assert_eq!(told[1], None, "the others are used");
        assert!(told[2].as_ref().unwrap().contains("appears twice"), "{told:?}");
    }
}
