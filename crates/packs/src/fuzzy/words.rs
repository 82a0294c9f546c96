//! How alike two words are: equal, begun, plural or mistyped.

use super::normal::{bit, is_stop_word, is_unspaced};

/// Longer words than this match only whole, as a beginning or as a plural.
const MAX_TYPO_LETTERS: usize = 64;

/// A word of a query, with what is worth computing once.
#[derive(Clone, Debug)]
pub(super) struct QueryWord {
    text: String,
    letters: Vec<char>,
    mask: u64,
    firsts: u64,
    /// The bytes that a matching word may begin with: those of the first letter and of the second.
    first_bytes: [u8; 2],
    /// How many letters a title may lack and still hold a match.
    slack: u32,
    pub(super) is_stop: bool,
    pub(super) is_unspaced: bool,
}

impl QueryWord {
    pub(super) fn new(text: &str) -> Self {
        let letters: Vec<char> = text.chars().collect();
        let typos = match letters.len() {
            0..=3 => 0,
            4..=8 => 1,
            _ => 2,
        };
        let swapped = if typos > 0 { letters.get(1).map_or(0, |&c| bit(c)) } else { 0 };
        let plural = singulars(text).map(|(stem, _)| letters.len() - stem.chars().count()).max().unwrap_or(0);
        let first_byte =
            |c: &char| c.encode_utf8(&mut [0; 4]).as_bytes().first().copied().unwrap_or_default();
        let first = letters.first().map(first_byte).unwrap_or_default();
        Self {
            text: text.to_owned(),
            first_bytes: [first, letters.get(1).map_or(first, first_byte)],
            mask: letters.iter().fold(0, |mask, &c| mask | bit(c)),
            firsts: letters.first().map_or(0, |&c| bit(c)) | swapped,
            slack: typos.max(plural as u32),
            is_stop: is_stop_word(text),
            is_unspaced: letters.first().is_some_and(|&c| is_unspaced(c)),
            letters,
        }
    }

    /// Letters in the word: its weight.
    pub(super) fn len(&self) -> usize {
        self.letters.len()
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// A cheap test that is never wrong when it says no: `letters` and `firsts` are the masks of a title.
    pub(super) fn may_match(&self, letters: u64, firsts: u64) -> bool {
        let lacking = self.mask & !letters;
        if self.is_unspaced {
            lacking == 0
        } else {
            self.firsts & firsts != 0 && lacking.count_ones() <= self.slack
        }
    }

    /// Whether any word of a normal form is like this one.
    pub(super) fn is_within(&self, normal: &str) -> bool {
        toolroom_work::step(normal.len());
        let mut at_start = true;
        normal.bytes().enumerate().any(|(place, byte)| {
            let starts = std::mem::replace(&mut at_start, byte == b' ');
            // Most words fall at their first byte, before they are looked at as text.
            starts && self.first_bytes.contains(&byte) && {
                let rest = normal.get(place..).unwrap_or_default();
                self.similarity(rest.split_once(' ').map_or(rest, |(word, _)| word)) > 0.0
            }
        })
    }

    /// How well a title's word answers this one, 0 to 1.
    pub(super) fn similarity(&self, word: &str) -> f64 {
        toolroom_work::step(1);
        if self.text == word {
            return 1.0;
        }
        let mut start = word.chars();
        let (first, second) = (start.next(), start.next());
        let kept = first == self.letters.first().copied();
        let swapped = second == self.letters.first().copied() && first == self.letters.get(1).copied();
        if !kept && !swapped {
            return 0.0;
        }
        if self.letters.len() >= 3 && word.starts_with(&self.text) {
            let extra = word[self.text.len()..].chars().count().min(8);
            return 0.96 - 0.02 * extra as f64;
        }
        if singulars(&self.text).any(|(stem, ending)| word.strip_prefix(stem) == Some(ending)) {
            return 0.92;
        }
        self.typo(word)
    }

    fn typo(&self, word: &str) -> f64 {
        let mut buffer = ['\0'; MAX_TYPO_LETTERS];
        let mut count = 0;
        for c in word.chars() {
            let Some(slot) = buffer.get_mut(count) else { return 0.0 };
            *slot = c;
            count += 1;
        }
        let (query, title) = (self.letters.as_slice(), &buffer[..count]);
        // The shorter of the two decides: "team" is not a misspelling of "tea".
        let limit = match query.len().min(title.len()) {
            0..=3 => return 0.0,
            4..=8 => 1,
            _ => 2,
        };
        // Nor is "form" one of "from": small words are seldom what a query means.
        if query.len() > MAX_TYPO_LETTERS || query.len().abs_diff(title.len()) > limit || is_stop_word(word) {
            return 0.0;
        }
        let (a, b) = without_shared_ends(query, title);
        let distance = bounded_distance(a, b, limit);
        if distance > limit {
            return 0.0;
        }
        let longest = query.len().max(title.len());
        let plain = 1.0 - distance as f64 / longest as f64;
        match (distance, a.len(), b.len()) {
            (1, 2, 2) => plain.max(0.8),
            (1, 1, 1) if longest <= 4 => 0.6,
            _ => plain,
        }
    }
}

/// What the singular of a plural may be, as a stem and an ending.
fn singulars(word: &str) -> impl Iterator<Item = (&str, &'static str)> {
    let forms = [("ies", "y", 2), ("es", "", 3), ("s", "", 2)];
    forms.into_iter().filter_map(move |(plural, singular, least)| {
        let stem = word.strip_suffix(plural)?;
        (stem.chars().count() >= least).then_some((stem, singular))
    })
}

fn without_shared_ends<'a>(mut a: &'a [char], mut b: &'a [char]) -> (&'a [char], &'a [char]) {
    while let ([x, rest_a @ ..], [y, rest_b @ ..]) = (a, b)
        && x == y
    {
        (a, b) = (rest_a, rest_b);
    }
    while let ([rest_a @ .., x], [rest_b @ .., y]) = (a, b)
        && x == y
    {
        (a, b) = (rest_a, rest_b);
    }
    (a, b)
}

/// The distance of two words without shared ends, or anything above `limit` if it is above.
fn bounded_distance(a: &[char], b: &[char], limit: usize) -> usize {
    match (a, b) {
        ([], rest) | (rest, []) => rest.len(),
        ([_], [_]) => 1,
        (&[x, y], &[z, w]) if x == w && y == z => 1,
        _ if limit < 2 => 2,
        _ => alignment_distance(a, b),
    }
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other.
/// Words have at most `MAX_TYPO_LETTERS` letters.
fn alignment_distance(a: &[char], b: &[char]) -> usize {
    toolroom_work::step(a.len() * b.len());
    let mut before = [0_u8; MAX_TYPO_LETTERS + 1];
    let mut above: [u8; MAX_TYPO_LETTERS + 1] = std::array::from_fn(|column| column as u8);
    for (i, &x) in a.iter().enumerate() {
        let mut row = [0; MAX_TYPO_LETTERS + 1];
        row[0] = i as u8 + 1;
        for (j, &y) in b.iter().enumerate() {
            let mut least = (above[j] + u8::from(x != y)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                least = least.min(before[j - 1] + 1);
            }
            row[j + 1] = least;
        }
        before = above;
        above = row;
    }
    usize::from(above[b.len()])
}
