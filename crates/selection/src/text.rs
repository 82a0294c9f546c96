//! Cuts text into words and the pieces of the table. `training/words.py` does the same; keep them alike.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::table::{DIMENSIONS, Table};

/// Characters of a text that are read; the rest is left out.
pub const LONGEST_TEXT: usize = 2000;
/// Characters of a word that is cut into pieces; a longer one says nothing.
const LONGEST_WORD: usize = 40;
/// Pieces of a text that its vector is made of.
const PIECES_READ: usize = 64;

/// A text as a unit vector; zero if no piece of it is known.
pub type Vector = [f32; DIMENSIONS];

/// Runs of letters and digits in lower case and without marks; every other visible character stands alone.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let lower = text.chars().take(LONGEST_TEXT).flat_map(char::to_lowercase);
    for c in lower.nfd().filter(|c| !is_combining_mark(*c)) {
        toolroom_work::step(1);
        if c.is_alphanumeric() {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if !c.is_whitespace() {
            words.push(c.to_string());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The vector of a text that is cut into words already.
pub fn vector<S: AsRef<str>>(table: &Table, words: &[S]) -> Vector {
    let mut sum = [0.0; DIMENSIONS];
    let mut left = PIECES_READ;
    'words: for word in words {
        for piece in pieces(table, word.as_ref()) {
            if left == 0 {
                break 'words;
            }
            left -= 1;
            toolroom_work::step(DIMENSIONS);
            table.add(piece, &mut sum);
        }
    }
    let norm = sum.iter().map(|one| one * one).sum::<f32>().sqrt();
    if norm > 1e-9 {
        sum.iter_mut().for_each(|one| *one /= norm);
    }
    sum
}

/// How many words there are, and how many of them the table knows whole, as those of the language that it was made for.
pub fn known_words<S: AsRef<str>>(table: &Table, words: &[S]) -> (usize, usize) {
    let letters = words.iter().map(AsRef::as_ref).filter(|word| word.chars().any(char::is_alphabetic));
    let (mut count, mut whole) = (0, 0);
    for word in letters.take(PIECES_READ) {
        toolroom_work::step(16);
        count += 1;
        whole += usize::from(table.position(word.as_bytes()).is_some());
    }
    (count, whole)
}

/// The pieces of a word, the longest first; none if a part of it is unknown.
fn pieces(table: &Table, word: &str) -> Vec<usize> {
    let mut found = Vec::with_capacity(2);
    if word.chars().count() > LONGEST_WORD {
        return found;
    }
    // Pieces that go on inside a word are written with two marks before them.
    let mut name = Vec::with_capacity(word.len() + 2);
    let mut start = 0;
    while start < word.len() {
        let rest = word.get(start..).unwrap_or_default();
        name.clear();
        if start > 0 {
            name.extend_from_slice(b"##");
        }
        name.extend_from_slice(rest.as_bytes());
        let mark = name.len() - rest.len();
        let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
        // A look into the table is a search among its names.
        let ends = ends.inspect(|_| toolroom_work::step(16));
        let hit = ends.map(|end| (end, table.position(name.get(..mark + end).unwrap_or_default())));
        let Some((length, piece)) = hit.into_iter().find_map(|(end, at)| Some((end, at?))) else {
            return Vec::new();
        };
        found.push(piece);
        start += length;
    }
    found
}
