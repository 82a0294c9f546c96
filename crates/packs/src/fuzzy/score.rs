//! Scores one title against one query.

use super::normal::{MAX_LETTERS, is_unspaced, masks, normalise};
use super::token_sort::{SortedWords, sorted};
use super::words::QueryWord;

/// From this coverage on, the likeness of the whole texts counts too.
const WHOLE_TEXT_COVERAGE: f64 = 0.65;
const STOP_WORD_WEIGHT: f64 = 0.25;
/// Words of a query that are looked for; no title has more.
const MOST_WORDS: usize = 128;
/// From this many words on, a search through all titles takes noticeable time.
const MANY_WORDS: usize = 16;
/// Half of the last decimal of a score: what rounding can add.
const ROUNDING: f64 = 0.005_001;

/// A search text, made ready once and then compared with many titles.
#[derive(Clone, Debug)]
pub struct Query {
    key: Key,
    words: Vec<QueryWord>,
    sorted: SortedWords,
    /// Letters of the words that must be found.
    weight: f64,
    /// Letters of the words that only count if they are found.
    spare: f64,
}

/// A title, made ready to be compared.
#[derive(Clone, Debug)]
pub struct Prepared {
    key: Key,
    letters: u64,
    firsts: u64,
}

/// What makes two texts equal: the normal form, or the text itself if it has no letters and no digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) text: String,
    pub(super) is_raw: bool,
}

impl Key {
    pub(super) fn new(text: &str) -> Self {
        let normal = normalise(text);
        if normal.is_empty() {
            Self { text: text.trim().chars().take(MAX_LETTERS).collect(), is_raw: true }
        } else {
            Self { text: normal, is_raw: false }
        }
    }
}

/// A prepared title, wherever its text is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Title<'a> {
    pub(super) text: &'a str,
    pub(super) is_raw: bool,
    pub(super) letters: u64,
    pub(super) firsts: u64,
}

impl Prepared {
    /// Prepares a title.
    pub fn new(title: &str) -> Self {
        let key = Key::new(title);
        let (letters, firsts) = masks(&key.text);
        Self { key, letters, firsts }
    }

    pub(super) fn view(&self) -> Title<'_> {
        Title { text: &self.key.text, is_raw: self.key.is_raw, letters: self.letters, firsts: self.firsts }
    }
}

/// How well a title answers a query, 0 to 1 in steps of a hundredth.
///
/// A query without letters and digits ("!!!", an emoji) answers only to the very same title.
pub fn score(query: &Query, title: &Prepared) -> f64 {
    query.score(&title.view())
}

impl Query {
    /// Prepares a search text. Only its first 1,024 letters count.
    pub fn new(text: &str) -> Self {
        let key = Key::new(text);
        let normal = if key.is_raw { "" } else { &key.text };
        let words = normal.split(' ').filter(|word| !word.is_empty()).take(MOST_WORDS);
        let mut words: Vec<QueryWord> = words.map(QueryWord::new).collect();
        if words.iter().all(|word| word.is_stop) {
            words.iter_mut().for_each(|word| word.is_stop = false);
        }
        // Stop words choose last, so that none takes a title word from one that matters.
        words.sort_by_key(|word| word.is_stop);
        let letters = |stop| words.iter().filter(|w| w.is_stop == stop).map(|w| w.len() as f64).sum::<f64>();
        let (weight, spare) = (letters(false), letters(true) * STOP_WORD_WEIGHT);
        Self { sorted: SortedWords::new(normal), key, words, weight, spare }
    }

    /// Whether comparing it with many titles takes so long that it is done aside.
    pub fn is_long(&self) -> bool {
        self.words.len() > MANY_WORDS || self.key.text.len() > 16 * MANY_WORDS
    }

    /// Whether a title can reach the threshold at all; only ever wrong by saying yes.
    pub(super) fn may_reach(&self, threshold: f64, title: &Title<'_>) -> bool {
        let needed = (threshold - ROUNDING).min(WHOLE_TEXT_COVERAGE);
        if needed <= 0.0 || title.is_raw || self.key.is_raw {
            return true;
        }
        let bar = (needed - ROUNDING) * (self.weight + self.spare) - self.spare;
        self.letters_where(|word| word.may_match(title.letters, title.firsts)) >= bar
            && self.letters_where(|word| word.is_unspaced || word.is_within(title.text)) >= bar
    }

    /// The letters of the words that must be found and pass a test.
    fn letters_where(&self, test: impl Fn(&QueryWord) -> bool) -> f64 {
        self.words.iter().filter(|word| !word.is_stop && test(word)).map(|word| word.len() as f64).sum()
    }

    pub(super) fn score(&self, title: &Title<'_>) -> f64 {
        if title.is_raw || self.key.is_raw {
            return f64::from(title.is_raw && self.key.is_raw && title.text == self.key.text);
        }
        if title.text == self.key.text {
            return 1.0;
        }
        let words: Vec<&str> = title.text.split(' ').collect();
        let (coverage, left_over) = self.coverage(&words);
        let mut score = coverage * (1.0 - penalty(left_over));
        if coverage >= WHOLE_TEXT_COVERAGE {
            let letters = title.text.chars().count();
            if self.sorted.best_ratio(letters) > score {
                let text = sorted(words.into_iter());
                let ratio = if text == self.sorted.text() { 1.0 } else { self.sorted.ratio(&text) };
                score = score.max(ratio);
            }
        }
        (score.clamp(0.0, 0.99) * 100.0).round() / 100.0
    }

    /// The share of the query that the title answers, and the letters of the title that answered nothing.
    fn coverage(&self, title: &[&str]) -> (f64, usize) {
        let mut free: Vec<usize> = title.iter().map(|word| word.chars().count()).collect();
        let (mut found, mut weight) = (0.0, 0.0);
        for word in &self.words {
            let best = best_match(word, title, &free);
            let letters = word.len() as f64;
            match best {
                Some((place, similarity)) => {
                    let share = if word.is_stop { letters * STOP_WORD_WEIGHT } else { letters };
                    found += share * similarity;
                    weight += share;
                    free[place] = if word.is_unspaced { free[place] - word.len() } else { 0 };
                }
                None if word.is_stop => {}
                None => weight += letters,
            }
        }
        (if weight > 0.0 { found / weight } else { 0.0 }, free.into_iter().sum())
    }
}

/// The first of the best title words that are still free, and how well it matches.
fn best_match(word: &QueryWord, title: &[&str], free: &[usize]) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for (place, (&candidate, &letters)) in title.iter().zip(free).enumerate() {
        let similarity = if letters == 0 {
            0.0
        } else if word.is_unspaced {
            // Such a run of letters holds several words; each may be asked for on its own.
            let whole = letters >= word.len() && candidate.starts_with(is_unspaced);
            f64::from(whole && candidate.contains(word.text()))
        } else if word.is_stop {
            f64::from(word.text() == candidate)
        } else {
            word.similarity(candidate)
        };
        if similarity > best.map_or(0.0, |(_, most)| most) {
            best = Some((place, similarity));
            if similarity == 1.0 {
                break;
            }
        }
    }
    best
}

fn penalty(left_over: usize) -> f64 {
    if left_over == 0 {
        return 0.0;
    }
    let n = left_over as f64;
    (0.032 + 0.0054 * n + 0.0002 * n * n).min(0.25)
}
