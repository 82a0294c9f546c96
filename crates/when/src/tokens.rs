//! Cuts a text into words, numbers and signs, each with its place.

use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters, in lower case, apostrophes left out.
    Word(String),
    /// Digits: their value and how many there were.
    Number(u32, usize),
    Sign(char),
}

#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) place: Range<usize>,
}

impl Token {
    pub(crate) fn word(&self) -> Option<&str> {
        if let Kind::Word(word) = &self.kind { Some(word) } else { None }
    }
}

/// White space and commas only part tokens.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    toolroom_work::step(text.len());
    let mut found: Vec<Token> = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if c.is_whitespace() || c == ',' {
            continue;
        }
        let mut end = start + c.len_utf8();
        let same: fn(char) -> bool = if c.is_ascii_digit() {
            |c| c.is_ascii_digit()
        } else if c.is_alphabetic() {
            |c| c.is_alphabetic() || matches!(c, '\'' | '\u{2019}')
        } else {
            |_| false
        };
        while let Some((at, next)) = chars.next_if(|&(_, next)| same(next)) {
            end = at + next.len_utf8();
        }
        let kind = if c.is_ascii_digit() {
            // More digits than fit are not a number.
            Kind::Number(text[start..end].parse().unwrap_or(u32::MAX), end - start)
        } else if c.is_alphabetic() {
            let letters = text[start..end].chars().filter(|c| c.is_alphabetic());
            Kind::Word(letters.flat_map(char::to_lowercase).collect())
        } else {
            Kind::Sign(c)
        };
        found.push(Token { kind, place: start..end });
    }
    found
}

/// A place among tokens. What does not match is not eaten.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: &'a [Token],
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn peek(&self) -> Option<&'a Kind> {
        toolroom_work::step(1);
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    pub(crate) fn peek_word(&self) -> Option<&'a str> {
        toolroom_work::step(1);
        self.tokens.get(self.at).and_then(Token::word)
    }

    pub(crate) fn eat(&mut self, word: &str) -> bool {
        let found = self.peek_word() == Some(word);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn eat_all(&mut self, words: &[&str]) -> bool {
        let start = self.at;
        let found = words.iter().all(|word| self.eat(word));
        if !found {
            self.at = start;
        }
        found
    }

    pub(crate) fn eat_any(&mut self, words: &[&str]) -> bool {
        words.iter().any(|word| self.eat(word))
    }

    /// Eats a word that a table knows.
    pub(crate) fn eat_known<T>(&mut self, known: impl Fn(&str) -> Option<T>) -> Option<T> {
        let value = known(self.peek_word()?)?;
        self.at += 1;
        Some(value)
    }

    pub(crate) fn eat_sign(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Kind::Sign(sign));
        self.at += usize::from(found);
        found
    }

    /// Eats a number of at most this many digits.
    pub(crate) fn eat_number(&mut self, digits: usize) -> Option<u32> {
        match self.peek() {
            Some(&Kind::Number(value, count)) if count <= digits => {
                self.at += 1;
                Some(value)
            }
            _ => None,
        }
    }

    /// The text between two places, the second excluded.
    pub(crate) fn between(&self, from: usize, to: usize) -> String {
        let start = self.tokens.get(from).map_or(self.text.len(), |token| token.place.start);
        let end =
            to.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(start, |token| token.place.end);
        crate::shortened(self.text.get(start..end).unwrap_or_default())
    }
}
