//! Line ends in texts that people write: what stays of them.

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

/// A text whose lines end with a line feed alone, as those of Windows do not.
pub fn line_feeds(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::{line_feeds, one_line};

    #[test]
    fn line_ends_and_tabs_become_one_space_and_nothing_else_changes() {
        assert_eq!(one_line("a\r\nb\t\tc"), "a b c");
        assert_eq!(one_line("a  b"), "a  b");
        assert_eq!(line_feeds("a\r\nb\n\tc\rd"), "a\nb\n\tc\rd");
    }
}
