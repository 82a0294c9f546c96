//! Texts that people write: what stays of their line ends, and which characters would deceive a reader.

use std::borrow::Cow;

/// A text on one line: each run of tabs and line ends becomes a space.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_break) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    let mut after_break = false;
    for c in text.chars() {
        if !is_break(c) {
            line.push(c);
        } else if !after_break {
            line.push(' ');
        }
        after_break = is_break(c);
    }
    Cow::Owned(line)
}

fn is_break(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r')
}

/// Characters that show nothing, or make text show otherwise than it reads: controls, marks of the writing direction,
/// separators of lines, and tags. Joiners are not among them: emoji and several scripts need them.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// A name as a word of a command that people paste into a shell: others choose names, and a command in one must not run.
pub fn shell_word(name: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !name.is_empty() && name.chars().all(is_plain) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("'{}'", name.replace('\'', r"'\''")))
}

/// A text whose lines end with a line feed alone, as those of Windows do not.
pub fn line_feeds(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// What a parser says of a value, without the names of our types and in the words of JSON.
pub fn plain_reason(reason: &str) -> String {
    const KINDS: [&str; 7] = [
        "internally tagged enum ",
        "adjacently tagged enum ",
        "tuple struct ",
        "unit struct ",
        "newtype struct ",
        "struct ",
        "enum ",
    ];
    let mut plain = reason
        .replace("expected a sequence", "expected a list")
        .replace("expected a map", "expected an object");
    plain = plain
        .replace("invalid type: map", "invalid type: an object")
        .replace("invalid type: sequence", "invalid type: a list");
    for kind in KINDS {
        let kind = format!("expected {kind}");
        while let Some(at) = plain.find(&kind) {
            let name = plain[at + kind.len()..].find(|c: char| !c.is_alphanumeric() && c != '_');
            let end = name.map_or(plain.len(), |length| at + kind.len() + length);
            plain.replace_range(at..end, "expected an object");
        }
    }
    // The parser tried several forms, and says only that none fitted.
    match plain.find(UNTAGGED) {
        Some(at) => format!("{}does not have one of the forms that are allowed here", &plain[..at]),
        None => plain,
    }
}

const UNTAGGED: &str = "data did not match any variant of untagged enum";

#[cfg(test)]
mod tests {
    use super::{line_feeds, one_line, shell_word};

    #[test]
    fn a_name_is_one_word_of_a_command_whatever_is_in_it() {
        assert_eq!(shell_word("files_2.a/b"), "files_2.a/b");
        for (name, word) in [
            ("My Server", "'My Server'"),
            ("it's", r"'it'\''s'"),
            ("$(touch x)", "'$(touch x)'"),
            ("", "''"),
            ("a;b", "'a;b'"),
        ] {
            assert_eq!(shell_word(name), word);
        }
    }

    #[test]
    fn line_ends_and_tabs_become_one_space_and_nothing_else_changes() {
        assert_eq!(one_line("a\r\nb\t\tc"), "a b c");
        assert_eq!(one_line("a  b"), "a  b");
        assert_eq!(line_feeds("a\r\nb\n\tc\rd"), "a\nb\n\tc\rd");
    }

    #[test]
    fn reasons_name_no_type_of_ours() {
        for (reason, plain) in [
            (
                "invalid type: integer `5`, expected struct WrittenOAuth",
                "invalid type: integer `5`, expected an object",
            ),
            ("invalid type: map, expected a sequence", "invalid type: an object, expected a list"),
            (
                "invalid type: string \"x\", expected struct Written with 3 elements",
                "invalid type: string \"x\", expected an object with 3 elements",
            ),
            ("invalid digit found in string", "invalid digit found in string"),
            (
                "data did not match any variant of untagged enum Input",
                "does not have one of the forms that are allowed here",
            ),
        ] {
            assert_eq!(super::plain_reason(reason), plain);
        }
    }
}
