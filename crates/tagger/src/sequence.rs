//! From chances for each word to spans and clauses: the likeliest sequence in which nothing goes on that has not begun.

use std::ops::Range;

/// What a span of words is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Words of a new task.
    Title,
    /// Words that name a task that is there.
    Target,
    /// A number, pronoun or place in a list.
    Ref,
    When,
    Every,
    Zone,
    Priority,
    NewTitle,
    Note,
    State,
    Label,
    /// What the act waits for.
    Condition,
    /// "don't".
    Negation,
    /// "actually no".
    Retraction,
    /// A field that is asked for or cleared.
    Field,
    /// A value that is replaced.
    Old,
}

/// What a clause wishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    Create,
    List,
    Get,
    Find,
    Complete,
    Reopen,
    Update,
    Delete,
    Restore,
    /// Changes what was said last.
    Amend,
    /// Chooses among what was shown.
    Pick,
    /// The same once more, for something else.
    More,
    Yes,
    No,
    Help,
    /// Nothing: talk, stories, quotations, questions.
    Other,
}

/// Words that belong together.
#[derive(Clone, Debug)]
pub struct Span {
    pub kind: SpanKind,
    /// In bytes of the message.
    pub place: Range<usize>,
    pub words: Range<usize>,
    /// How sure its least sure word is.
    pub chance: f32,
}

/// Words of one wish.
#[derive(Clone, Debug)]
pub struct Clause {
    pub intent: Intent,
    pub place: Range<usize>,
    pub words: Range<usize>,
    /// How sure the intent is, in the mean over its words.
    pub chance: f32,
}

const LABELS: [SpanKind; 16] = [
    SpanKind::Title,
    SpanKind::Target,
    SpanKind::Ref,
    SpanKind::When,
    SpanKind::Every,
    SpanKind::Zone,
    SpanKind::Priority,
    SpanKind::NewTitle,
    SpanKind::Note,
    SpanKind::State,
    SpanKind::Label,
    SpanKind::Condition,
    SpanKind::Negation,
    SpanKind::Retraction,
    SpanKind::Field,
    SpanKind::Old,
];
const INTENTS: [Intent; 16] = [
    Intent::Create,
    Intent::List,
    Intent::Get,
    Intent::Find,
    Intent::Complete,
    Intent::Reopen,
    Intent::Update,
    Intent::Delete,
    Intent::Restore,
    Intent::Amend,
    Intent::Pick,
    Intent::More,
    Intent::Yes,
    Intent::No,
    Intent::Help,
    Intent::Other,
];
/// Outside of any span, then a beginning and a going on for each label.
pub const TAGS: usize = 1 + 2 * LABELS.len();
pub const CLAUSES: usize = 2 * INTENTS.len();

/// How likely a word is part of a span of this label.
pub fn chance_of(tags: &[f32], label: SpanKind) -> f32 {
    let at = LABELS.iter().position(|one| *one == label).unwrap_or_default();
    let both = tags.get(1 + 2 * at..3 + 2 * at).unwrap_or_default();
    both.iter().map(|log| log.exp()).sum()
}

pub fn spans(scores: &[Vec<f32>]) -> Vec<(Range<usize>, SpanKind, f32)> {
    let path = best(scores, |tag| tag.checked_sub(1).map(|tag| (tag / 2, tag % 2 == 1)));
    let named = |place: usize| LABELS.get(place).copied();
    let parts = parts(&path, |tag| tag.checked_sub(1).map(|tag| (tag / 2, tag % 2 == 0)));
    let least = |words: &Range<usize>, label| {
        let each = scores.get(words.clone()).unwrap_or_default();
        each.iter().map(|tags| chance_of(tags, label)).fold(1.0, f32::min)
    };
    let found = parts.into_iter().filter_map(|(words, label)| Some((words, named(label)?)));
    found.map(|(words, label)| (words.clone(), label, least(&words, label))).collect()
}

pub fn clauses(scores: &[Vec<f32>]) -> Vec<(Range<usize>, Intent, f32)> {
    let path = best(scores, |tag| Some((tag / 2, tag % 2 == 1)));
    let parts = parts(&path, |tag| Some((tag / 2, tag % 2 == 0)));
    let mean = |words: &Range<usize>, intent: usize| {
        let each = scores.get(words.clone()).unwrap_or_default();
        let chance = |tags: &Vec<f32>| -> f32 {
            tags.get(2 * intent..2 * intent + 2).unwrap_or_default().iter().map(|log| log.exp()).sum()
        };
        each.iter().map(chance).sum::<f32>() / each.len().max(1) as f32
    };
    let found = parts.into_iter().map(|(words, intent)| (mean(&words, intent), words, intent));
    found.filter_map(|(chance, words, intent)| Some((words, *INTENTS.get(intent)?, chance))).collect()
}

/// The tags of the likeliest sequence. `kind` says what a tag belongs to and whether it goes on with it.
fn best(scores: &[Vec<f32>], kind: impl Fn(usize) -> Option<(usize, bool)>) -> Vec<usize> {
    let follows = |before: Option<usize>, tag: usize| match kind(tag) {
        Some((what, true)) => before.and_then(&kind).is_some_and(|(other, _)| other == what),
        _ => true,
    };
    let mut totals: Vec<f32> = Vec::new();
    let mut back: Vec<Vec<usize>> = Vec::new();
    for (at, row) in scores.iter().enumerate() {
        toolroom_work::step(row.len());
        let step = |(tag, score): (usize, &f32)| -> (f32, usize) {
            if at == 0 {
                return if follows(None, tag) { (*score, 0) } else { (f32::NEG_INFINITY, 0) };
            }
            let able = totals.iter().enumerate().filter(|(before, _)| follows(Some(*before), tag));
            let (before, total) =
                able.fold(
                    (0, f32::NEG_INFINITY),
                    |most, (before, total)| {
                        if *total > most.1 { (before, *total) } else { most }
                    },
                );
            (total + score, before)
        };
        let (next, pointers) = row.iter().enumerate().map(step).unzip();
        totals = next;
        back.push(pointers);
    }
    let last = totals.iter().enumerate().fold((0, f32::NEG_INFINITY), |most, (tag, total)| {
        if *total > most.1 { (tag, *total) } else { most }
    });
    let mut tag = last.0;
    let mut path = Vec::with_capacity(back.len());
    for pointers in back.iter().rev() {
        path.push(tag);
        tag = pointers.get(tag).copied().unwrap_or_default();
    }
    path.reverse();
    path
}

/// Runs of tags that belong together. `kind` says what a tag belongs to and whether it begins it.
fn parts(path: &[usize], kind: impl Fn(usize) -> Option<(usize, bool)>) -> Vec<(Range<usize>, usize)> {
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    for (at, tag) in path.iter().enumerate() {
        match (kind(*tag), found.last_mut()) {
            (Some((what, false)), Some((words, label))) if *label == what && words.end == at => {
                words.end = at + 1;
            }
            (Some((what, _)), _) => found.push((at..at + 1, what)),
            (None, _) => {}
        }
    }
    found
}
