//! The change of a client's file as people are shown it: keys of ours and secrets of others are masked.

use std::io;

use similar::{ChangeTag, TextDiff};

use super::edit::Format;
use super::entry::MASK;
use crate::terminal::{self, Tint};

/// Where entries keep what only their servers should know.
pub(super) const SECRET_PARTS: [&str; 4] = ["env", "environment", "headers", "http_headers"];
/// Stands for a value of somebody else's.
const HIDDEN: &str = "\"********\"";

/// Shows what would change.
pub(super) fn show(path: &str, format: Format, before: &str, after: &str) -> io::Result<()> {
    let shown = |text: &str| hidden(format, &masked(text));
    let (before, after) = (shown(before), shown(after));
    terminal::put(&format!("{path}\n"), Some(Tint::Quiet))?;
    let diff = TextDiff::from_lines(&before, &after);
    for hunk in diff.unified_diff().context_radius(1).iter_hunks() {
        for change in hunk.iter_changes() {
            let (sign, tint) = match change.tag() {
                ChangeTag::Insert => ("+", Some(Tint::Good)),
                ChangeTag::Delete => ("-", Some(Tint::Bad)),
                ChangeTag::Equal => (" ", None),
            };
            terminal::put(&format!("{sign} {}\n", change.value().trim_end_matches(['\r', '\n'])), tint)?;
        }
    }
    Ok(())
}

/// The text with the secrets of other entries hidden. What only names a variable is none.
fn hidden(format: Format, text: &str) -> String {
    let is_name = |name: &str| {
        let of_name = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
        !name.is_empty() && name.chars().all(of_name)
    };
    // Nothing but the name: what stands beside it may be a secret.
    let names_variable = |value: &str| {
        let bare = value.trim_matches(['"', '\'']);
        let inner = bare.strip_prefix("${").or_else(|| bare.strip_prefix("{env:"));
        let name = inner.and_then(|rest| rest.strip_suffix('}')).or_else(|| bare.strip_prefix('$'));
        name.is_some_and(|name| is_name(name.strip_prefix("env:").unwrap_or(name)))
    };
    let is_our_key = |value: &str| value.trim_matches(['"', '\'']).trim_start_matches("Bearer ") == MASK;
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for range in format.secrets(text) {
        let value = &text[range.clone()];
        if !is_our_key(value) && !names_variable(value) {
            shown.push_str(&text[at..range.start]);
            shown.push_str(HIDDEN);
            at = range.end;
        }
    }
    shown + &text[at..]
}

/// The text with every key of ours masked.
pub(super) fn masked(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("tr_") {
        let key = &rest[at + 3..];
        let length = key.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
        let length = length.unwrap_or(key.len());
        shown.push_str(&rest[..at]);
        shown.push_str(if length < 20 { &rest[at..at + 3 + length] } else { MASK });
        rest = &key[length..];
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_under_env_and_headers_is_hidden_and_the_names_of_variables_are_not() {
        let json = "\u{feff}{ \"mcpServers\": { // a\n \"git\": { \"env\": { \"A\": \"secret\", \"B\": \"${X}\" },\n \
                    \"headers\": {\"C\": \"Bearer abc\"}, \"args\": [\"env\"] } } }";
        let shown = hidden(Format::Json, json);
        assert_eq!(shown, json.replace("\"secret\"", HIDDEN).replace("\"Bearer abc\"", HIDDEN));
        let toml = "[mcp_servers.git]\ncommand = \"x\"\nenv = { A = \"secret\" } # b\n\n[mcp_servers.b.http_headers]\n\
                    \"X-Key\" = 'secret'\n[mcp_servers.c.env]\nB = \"$B\"\n";
        let shown = hidden(Format::Toml, toml);
        assert_eq!(shown, toml.replace("\"secret\"", HIDDEN).replace("'secret'", HIDDEN));
    }
}
