//! What the network sees of a word: hashed letter runs and its shape. `training/reader/features.py` does the same; keep
//! them alike.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Letter runs of a word that count.
const MOST_GRAMS: usize = 26;
/// Letters of a word that are read.
const LONGEST_WORD: usize = 20;
pub const SHAPES: usize = 16;

/// The buckets of a word: the word itself first, then its runs of three and four letters. Numbers count by
/// their size.
pub fn grams(word: &str, buckets: usize) -> Vec<usize> {
    toolroom_work::step(word.len());
    let normal = normal(word);
    let edged: Vec<char> =
        std::iter::once('<').chain(normal.chars().take(LONGEST_WORD)).chain(['>']).collect();
    let mut found = vec![bucket("w ", normal.chars(), buckets)];
    for length in [3, 4] {
        found.extend(edged.windows(length).map(|run| bucket("c ", run.iter().copied(), buckets)));
    }
    found.truncate(MOST_GRAMS);
    found
}

/// Lower case, without marks; a number as its size.
fn normal(word: &str) -> String {
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        let size = match word.parse::<u32>() {
            _ if word.len() > 2 => "",
            Ok(0..=12) => "a",
            Ok(13..=31) => "b",
            _ => "c",
        };
        return "#".repeat(word.len().min(4)) + size;
    }
    let lower = word.chars().flat_map(char::to_lowercase);
    lower.map(|c| if c == '\u{2019}' { '\'' } else { c }).nfd().filter(|c| !is_combining_mark(*c)).collect()
}

/// FNV-1a, folded.
fn bucket(kind: &str, run: impl Iterator<Item = char>, buckets: usize) -> usize {
    let mut value: u32 = 0x811C_9DC5;
    let mut add = |byte: u8| value = (value ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    kind.bytes().for_each(&mut add);
    for c in run {
        c.encode_utf8(&mut [0; 4]).bytes().for_each(&mut add);
    }
    1 + (value ^ (value >> 15)) as usize % (buckets - 1)
}

/// How a word looks and what stands around it. `end` is where the text ends, spaces aside.
pub fn shape(text: &str, place: &Range<usize>, end: usize) -> [f32; SHAPES] {
    let word = text.get(place.clone()).unwrap_or_default();
    let first = word.chars().next().unwrap_or(' ');
    let mut before = text.get(..place.start).unwrap_or_default().chars().rev();
    let (last, last_but_one) = (before.next(), before.next());
    let after = text.get(place.end..).unwrap_or_default().chars().next();
    let length = word.chars().count();
    let is_end = |c: char| matches!(c, '.' | '!' | '?');
    let two: String = last_but_one.into_iter().chain(last).collect();
    let mut around = two.trim().chars();
    let ends_sentence = around.next().is_some_and(is_end) && around.next().is_none();
    let is_upper = length > 1 && word == word.to_uppercase() && word != word.to_lowercase();
    let bits = [
        first.is_ascii_digit(),
        first.is_uppercase(),
        is_upper,
        !first.is_alphanumeric() && first != '\n',
        first == '\n',
        last.is_some_and(|c| !c.is_whitespace()),
        after.is_some_and(|c| !c.is_whitespace()),
        length <= 2,
        length >= 8,
        place.start == 0 || last == Some('\n') || ends_sentence,
        matches!(word, "\"" | "\u{201c}" | "\u{201d}" | "'" | "\u{2018}" | "\u{2019}" | "\u{ab}" | "\u{bb}"),
        matches!(word, "," | ";"),
        matches!(word, "." | "!" | "?"),
        word == ":",
        place.end >= end,
        true,
    ];
    bits.map(|bit| f32::from(u8::from(bit)))
}
