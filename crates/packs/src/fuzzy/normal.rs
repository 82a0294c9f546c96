//! Brings text of any script to lower-case words without marks, parted by single spaces.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

/// Letters kept of a text. Titles are far shorter; the bound keeps a huge query from costing a huge search.
pub(super) const MAX_LETTERS: usize = 1024;

const STOP_WORDS: [&str; 26] = [
    "a", "an", "the", "to", "for", "of", "on", "in", "at", "from", "with", "and", "about", "my", "by", "up",
    "task", "tasks", "todo", "todos", "item", "reminder", "one", "please", "this", "that",
];

/// The normal form: words of letters and digits, parted by single spaces. Empty if the text has neither.
pub(super) fn normalise(text: &str) -> String {
    let mut words = Words { out: String::with_capacity(text.len()), letters: 0, last: None };
    for c in text.nfkd() {
        toolroom_work::step(1);
        if words.letters >= MAX_LETTERS {
            break;
        }
        if c.is_ascii_alphanumeric() {
            words.push(c.to_ascii_lowercase());
        } else if is_letter(c) {
            // Up, then down: folds what lower case alone keeps apart (ß and ss, final and inner sigma).
            c.to_uppercase()
                .flat_map(char::to_lowercase)
                .filter(|&c| is_letter(c))
                .for_each(|c| words.push(c));
        } else if !is_silent(c) {
            words.last = None;
        }
    }
    words.out
}

struct Words {
    out: String,
    letters: usize,
    last: Option<char>,
}

impl Words {
    fn push(&mut self, c: char) {
        let joins = self.last.is_some_and(|last| is_unspaced(last) == is_unspaced(c));
        if !joins && !self.out.is_empty() {
            self.out.push(' ');
        }
        self.out.push(c);
        self.letters += 1;
        self.last = Some(c);
    }
}

fn is_letter(c: char) -> bool {
    // The voicing marks of kana make other letters, as vowel signs (class 0) do in Indic scripts; both stay.
    matches!(c, '\u{3099}' | '\u{309A}')
        || (c.is_alphanumeric() && canonical_combining_class(c) == 0 && c != '\u{0640}' && !is_apostrophe(c))
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2018}' | '\u{2019}' | '\u{02BB}' | '\u{02BC}')
}

/// Characters that leave no gap: marks, apostrophes, the Arabic stretcher, and those of no width.
fn is_silent(c: char) -> bool {
    is_apostrophe(c)
        || is_combining_mark(c)
        || matches!(c, '\u{0640}' | '\u{00AD}' | '\u{200C}'..='\u{200F}' | '\u{202A}'..='\u{202E}')
        || matches!(c, '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

/// Whether the script of a letter is written without spaces between words.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}' // Thai, Lao
        | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' // Burmese, Khmer
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' // kana
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' // Han
        | '\u{20000}'..='\u{3FFFF}')
}

pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// The bit of a letter in a mask: Latin letters and digits have their own, all others share 28.
pub(super) fn bit(c: char) -> u64 {
    let place = match c {
        'a'..='z' => c as u32 - 'a' as u32,
        '0'..='9' => 26 + c as u32 - '0' as u32,
        _ => 36 + c as u32 % 28,
    };
    1 << place
}

/// The letters of a normal form, and the first letters of its words, as masks.
pub(super) fn masks(normal: &str) -> (u64, u64) {
    let mut letters = 0;
    let mut firsts = 0;
    let mut at_start = true;
    for c in normal.chars() {
        if c == ' ' {
            at_start = true;
            continue;
        }
        letters |= bit(c);
        if at_start {
            firsts |= bit(c);
        }
        at_start = false;
    }
    (letters, firsts)
}
