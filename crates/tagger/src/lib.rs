//! A small trained reader: one pass over a message says of each word what it is (part of a title, of a date, of a
//! condition, …) and where a new wish begins. It knows English sentences that people write to a list of tasks.
//!
//! `training/reader` makes the table and says how; `words` and `features` here do what `scheme.py` and `features.py`
//! do there, `network` computes what `network.py` does.

mod features;
mod network;
mod sequence;
mod table;
mod words;

use std::ops::Range;

pub use sequence::{Clause, Intent, Span, SpanKind};

/// Words at the beginning of a message that are read.
pub const FIRST_WORDS: usize = 80;
/// Words at its end that are read too.
pub const LAST_WORDS: usize = 16;

/// What the words of a message are.
#[derive(Clone, Debug, Default)]
pub struct Tagging {
    pub words: Vec<TaggedWord>,
    /// In their order.
    pub spans: Vec<Span>,
    /// In their order; every word that was read is in one of them.
    pub clauses: Vec<Clause>,
    /// Words in the middle of a long message that were not read.
    pub unread: usize,
}

/// A word of a message.
#[derive(Clone, Debug)]
pub struct TaggedWord {
    /// Where it stands, in bytes.
    pub place: Range<usize>,
    /// How likely it names a task that is there.
    pub target: f32,
}

/// Reads a message. The cost is that of at most 96 words, and of finding them.
pub fn tag(text: &str) -> Tagging {
    let cut = words::cut(text);
    let unread = cut.len().saturating_sub(FIRST_WORDS + LAST_WORDS);
    let head = cut.get(..cut.len().min(FIRST_WORDS)).unwrap_or_default();
    let tail = cut.get(head.len() + unread..).unwrap_or_default();
    let mut tagging = Tagging { unread, ..Tagging::default() };
    if unread == 0 {
        read(text, &cut, &mut tagging);
    } else {
        read(text, head, &mut tagging);
        read(text, tail, &mut tagging);
    }
    tagging
}

/// Reads words that stand together.
fn read(text: &str, cut: &[words::Place], tagging: &mut Tagging) {
    if cut.is_empty() {
        return;
    }
    let scores = network::scores(text, cut);
    let first = tagging.words.len();
    for (place, tags) in cut.iter().zip(&scores.tags) {
        let target = sequence::chance_of(tags, SpanKind::Target);
        tagging.words.push(TaggedWord { place: place.bytes.clone(), target });
    }
    let places = |words: Range<usize>| {
        let bytes = cut.get(words).unwrap_or_default();
        let start = bytes.first().map_or(0, |place| place.bytes.start);
        start..bytes.last().map_or(start, |place| place.bytes.end)
    };
    for (words, kind, chance) in sequence::spans(&scores.tags) {
        let place = places(words.clone());
        tagging.spans.push(Span { kind, place, words: words.start + first..words.end + first, chance });
    }
    for (words, intent, chance) in sequence::clauses(&scores.clauses) {
        let place = places(words.clone());
        tagging.clauses.push(Clause { intent, place, words: words.start + first..words.end + first, chance });
    }
}
