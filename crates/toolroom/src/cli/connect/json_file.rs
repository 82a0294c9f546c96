//! One entry of a JSON file with comments: found, added, replaced and removed. Every other byte stays as it is, because the
//! syntax tree says only where to cut. An entry goes to the front of its object, where no comma of others changes.

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::{Value, json};

use super::diff::SECRET_PARTS;
use super::edit::{Added, line_end};

/// What editors take in their settings, and nothing looser: what we cannot read well, we do not write.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A JSON file with comments, as a value.
pub fn value(text: &str) -> Result<Value, String> {
    let parsed =
        parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| error.to_string())?;
    parsed.value.map(Value::from).ok_or_else(|| "it is empty".to_owned())
}

/// The entry at this path, if there is one.
pub(super) fn find(text: &str, path: &[&str]) -> Result<Option<Value>, String> {
    let tree = Tree::read(text)?;
    let (object, rest) = tree.walk(path)?;
    let found = match rest {
        [name] => member(object, name)?,
        _ => None,
    };
    Ok(found.map(|found| Value::from(found.value.clone())))
}

/// Adds an entry that is not there, and the objects on the way to it.
pub(super) fn insert(text: &str, path: &[&str], entry: &Value) -> Result<(String, Added), String> {
    let tree = Tree::read(text)?;
    let (object, rest) = tree.walk(path)?;
    let Some((name, inner)) = rest.split_first() else {
        return Err("it has no place for an entry".to_owned());
    };
    if member(object, name)?.is_some() {
        return Err(format!("it has '{name}' already"));
    }
    let entry = inner.iter().rev().fold(entry.clone(), |inside, name| json!({ *name: inside }));
    let (at, close) = (tree.front(object), object.range.end - 1);
    let first = object.properties.first().map(|first| first.range.start);
    let is_block = match first {
        Some(first) => text[at..first].contains('\n'),
        None => text.trim_end().contains('\n') || tree.root.properties.is_empty(),
    };
    let (end, outer) = (line_end(text), indent(text, object.range.start));
    let (lead, body) = if is_block {
        let unit = tree.unit();
        let inside = match first {
            Some(first) => indent(text, first).to_owned(),
            None => format!("{outer}{unit}"),
        };
        (format!("{end}{inside}"), pretty(&entry, unit).replace('\n', &format!("{end}{inside}")))
    } else {
        let before = &text[at..first.unwrap_or(at)];
        (before[..before.len() - before.trim_start().len()].to_owned(), entry.to_string())
    };
    // Closes the line of an object that was empty and on one line.
    let closes_line = first.is_none() && is_block && !text[at..close].contains('\n');
    let trail = match first {
        Some(_) => ",".to_owned(),
        None if closes_line => format!("{end}{outer}"),
        None => String::new(),
    };
    let splice = format!("{lead}{}: {body}{trail}", json!(name));
    let text = format!("{}{splice}{}", &text[..at], &text[at..]);
    Ok((text, Added { parents: inner.len(), line: closes_line, replaced: None }))
}

/// Writes an entry in place of the one that is there.
pub(super) fn replace(text: &str, path: &[&str], entry: &Value) -> Result<(String, Added), String> {
    let tree = Tree::read(text)?;
    let range = tree.value_range(path)?;
    let before = &text[range.clone()];
    let body = match before.contains('\n') {
        true => {
            let inside = format!("{}{}", line_end(text), indent(text, range.start));
            pretty(entry, tree.unit()).replace('\n', &inside)
        }
        false => entry.to_string(),
    };
    let written = format!("{}{body}{}", &text[..range.start], &text[range.end..]);
    Ok((written, Added { replaced: Some(before.to_owned()), ..Added::default() }))
}

/// Removes an entry, and the objects that were added with it if nothing else is in them; or puts back the one in whose
/// place it is.
pub(super) fn remove(text: &str, path: &[&str], added: &Added) -> Result<String, String> {
    if let Some(before) = &added.replaced {
        let range = Tree::read(text)?.value_range(path)?;
        return Ok(format!("{}{before}{}", &text[..range.start], &text[range.end..]));
    }
    let mut text = cut(text, path, added.parents == 0 && added.line)?;
    for up in 1..=added.parents.min(path.len().saturating_sub(1)) {
        let parent = &path[..path.len() - up];
        if !Tree::read(&text)?.is_bare(parent)? {
            break;
        }
        text = cut(&text, parent, up == added.parents && added.line)?;
    }
    Ok(text)
}

fn cut(text: &str, path: &[&str], line: bool) -> Result<String, String> {
    let tree = Tree::read(text)?;
    let (object, rest) = tree.walk(path)?;
    let [name] = rest else { return Err("the entry is not there".to_owned()) };
    let found = member(object, name)?.ok_or("the entry is not there")?;
    let tokens = &tree.tokens;
    let first = tokens.partition_point(|token| token.range.start < found.range.start);
    let next = tokens.partition_point(|token| token.range.start < found.range.end);
    let comment =
        |token: &TokenAndRange| matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_));
    let comma = |token: &&TokenAndRange| matches!(token.token, Token::Comma);
    let start = tokens[..first].last().map_or(0, |before| before.range.end);
    let mut end = found.range.end;
    let after = tokens[next..].iter().find(|token| !comment(token)).filter(comma);
    let before = tokens[..first].iter().rev().find(|token| !comment(token)).filter(comma);
    if line && text[end..].starts_with(&format!("{}{}", line_end(text), indent(text, object.range.start))) {
        end += line_end(text).len() + indent(text, object.range.start).len();
    }
    // The comma behind it, else the one before it: a last entry has none in plain JSON.
    let mut cuts = vec![(start, end)];
    cuts.extend(after.or(before).map(|comma| (comma.range.start, comma.range.end)));
    cuts.sort_unstable();
    let (mut kept, mut at) = (String::with_capacity(text.len()), 0);
    for (start, end) in cuts {
        kept.push_str(&text[at..start]);
        at = end;
    }
    kept.push_str(&text[at..]);
    Ok(kept)
}

/// Where the text of secrets stands.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    fn collect(node: &Node, is_secret: bool, found: &mut Vec<Range<usize>>) {
        match node {
            Node::StringLit(text) if is_secret => found.push(text.range.start..text.range.end),
            Node::Object(object) => object.properties.iter().for_each(|prop| {
                collect(&prop.value, is_secret || SECRET_PARTS.contains(&prop.name.as_str()), found);
            }),
            Node::Array(array) => array.elements.iter().for_each(|one| collect(one, is_secret, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS);
    if let Some(root) = parsed.ok().and_then(|parsed| parsed.value) {
        collect(&root, false, &mut found);
    }
    found
}

struct Tree<'a> {
    text: &'a str,
    root: Object<'a>,
    /// Comments too: whatever is not white space.
    tokens: Vec<TokenAndRange<'a>>,
}

impl<'a> Tree<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &OPTIONS).map_err(|error| error.to_string())?;
        match parsed.value {
            Some(Node::Object(root)) => Ok(Self { text, root, tokens: parsed.tokens.unwrap_or_default() }),
            _ => Err("it is not an object".to_owned()),
        }
    }

    /// Goes down as far as there are objects; the names that are left, at least one.
    fn walk<'p, 's>(&self, path: &'p [&'s str]) -> Result<(&Object<'a>, &'p [&'s str]), String> {
        let (mut object, mut rest) = (&self.root, path);
        while let [name, _, ..] = rest {
            match member(object, name)?.map(|found| &found.value) {
                Some(Node::Object(inner)) => (object, rest) = (inner, &rest[1..]),
                Some(_) => return Err(format!("'{name}' is not an object")),
                None => break,
            }
        }
        Ok((object, rest))
    }

    /// Where the value of an entry stands.
    fn value_range(&self, path: &[&str]) -> Result<Range<usize>, String> {
        let (object, rest) = self.walk(path)?;
        let [name] = rest else { return Err("the entry is not there".to_owned()) };
        let found = member(object, name)?.ok_or("the entry is not there")?.value.range();
        Ok(found.start..found.end)
    }

    /// Where an object's first entry goes: behind comments that end the line of its brace.
    fn front(&self, object: &Object) -> usize {
        let open = object.range.start + 1;
        let first = self.tokens.partition_point(|token| token.range.start < open);
        let line = self.text[open..].find('\n').map_or(open, |length| open + length);
        let mut at = open;
        for token in &self.tokens[first..] {
            let is_comment = matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_));
            if token.range.start >= line || self.text[token.range.start..token.range.end].contains('\n') {
                break;
            }
            at = if is_comment { token.range.end } else { return open };
        }
        at
    }

    /// Whether an object has neither entries nor comments.
    fn is_bare(&self, path: &[&str]) -> Result<bool, String> {
        let (object, rest) = self.walk(path)?;
        let [name] = rest else { return Ok(false) };
        let found = member(object, name)?.map(|found| &found.value);
        let inside = |object: &Object| {
            let within = |token: &&TokenAndRange| {
                object.range.start < token.range.start && token.range.end < object.range.end
            };
            self.tokens.iter().any(|token| within(&token))
        };
        Ok(matches!(found, Some(Node::Object(object)) if !inside(object)))
    }

    /// One step of indentation.
    fn unit(&self) -> &'a str {
        let first = self.root.properties.first();
        let step = first.map(|first| indent(self.text, first.range.start)).filter(|step| !step.is_empty());
        step.unwrap_or("  ")
    }
}

/// An entry of an object. Of two with one name, clients take the one or the other.
fn member<'o, 'a>(object: &'o Object<'a>, name: &str) -> Result<Option<&'o ObjectProp<'a>>, String> {
    let mut found = object.properties.iter().filter(|prop| prop.name.as_str() == name);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(format!("it has '{name}' twice")),
        (one, None) => Ok(one),
    }
}

/// The white space before the line on which this is.
fn indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |line| line + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn pretty(value: &Value, unit: &str) -> String {
    use serde::Serialize as _;
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    match value.serialize(&mut writer) {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => value.to_string(),
    }
}
