//! Cuts a message into words. `training/reader/scheme.py` does the same; keep them alike.

use std::ops::Range;

/// Where a word stands.
#[derive(Clone, Debug)]
pub struct Place {
    pub bytes: Range<usize>,
}

/// Runs of digits, runs of letters (an apostrophe between letters belongs to them), signs, and line ends.
pub fn cut(text: &str) -> Vec<Place> {
    let mut found = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, c)) = rest.next() {
        toolroom_work::step(1);
        let mut end = start + c.len_utf8();
        if c.is_ascii_digit() {
            while let Some((at, next)) = rest.next_if(|(_, next)| next.is_ascii_digit()) {
                toolroom_work::step(1);
                end = at + next.len_utf8();
            }
        } else if is_letter(c) {
            while let Some((at, next)) = rest.next_if(|(at, next)| goes_on(text, *at, *next)) {
                toolroom_work::step(1);
                end = at + next.len_utf8();
            }
        } else if c.is_whitespace() && c != '\n' {
            continue;
        }
        found.push(Place { bytes: start..end });
    }
    found
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && !c.is_ascii_digit()
}

fn goes_on(text: &str, at: usize, c: char) -> bool {
    let behind = || text.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
    is_letter(c) || matches!(c, '\'' | '\u{2019}') && behind().is_some_and(is_letter)
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn words_are_cut_at_spaces_signs_and_digits() {
        let text = "don't add 3pm, caf\u{e9}\u{2019}s\n#12 'x'";
        let words: Vec<&str> = cut(text).into_iter().map(|place| &text[place.bytes]).collect();
        assert_eq!(
            words,
            ["don't", "add", "3", "pm", ",", "caf\u{e9}\u{2019}s", "\n", "#", "12", "'", "x", "'"]
        );
    }
}
