//! What the trained reader makes of a message: which words are titles, targets, dates and conditions, and the wishes
//! that follow from them. It is a second opinion on what the rules read, and the first where they read nothing.

use std::ops::Range;

use toolroom_tagger::{Clause, Intent, Span, SpanKind, Tagging};

use super::{Here, Utterance, priority, slots, target};
use crate::wish::{Change, Draft, Target, When, Wish};

/// A clause or span of which the reader is less sure says nothing.
const LIKELY: f32 = 0.5;
/// How sure it must be of every clause for its word to count against that of the rules.
const KNOWN: f32 = 0.85;

/// A message as the trained reader sees it.
pub(crate) struct Tagged<'a> {
    pub(crate) text: &'a str,
    tagging: Tagging,
}

impl<'a> Tagged<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, tagging: toolroom_tagger::tag(text) }
    }

    /// Words in the middle of a long message that it did not look at.
    pub(crate) fn unread(&self) -> usize {
        self.tagging.unread
    }

    /// The words of the message with how likely each names a task that is there.
    pub(crate) fn naming(&self) -> Vec<(String, f64)> {
        let words = self.tagging.words.iter();
        let said = |place: &Range<usize>| self.text.get(place.clone()).unwrap_or_default().to_owned();
        words.map(|word| (said(&word.place), f64::from(word.target))).collect()
    }

    /// What holds an act back, in the person's words: a condition, "don't", "actually no".
    pub(crate) fn held(&self) -> Option<&'a str> {
        let holds = |span: &&Span| {
            matches!(span.kind, SpanKind::Condition | SpanKind::Negation | SpanKind::Retraction)
                && span.chance >= LIKELY
        };
        self.tagging.spans.iter().find(holds).map(|span| self.said(span))
    }

    /// How often something is to be done again, in the person's words.
    pub(crate) fn repeats(&self) -> Option<&'a str> {
        let repeats = |span: &&Span| span.kind == SpanKind::Every && span.chance >= LIKELY;
        self.tagging.spans.iter().find(repeats).map(|span| self.said(span))
    }

    /// Whether it cannot tell well what some clause wishes.
    pub(crate) fn is_unsure(&self) -> bool {
        self.tagging.clauses.iter().any(|clause| clause.chance < KNOWN)
    }

    /// How likely some clause wishes one of these.
    pub(crate) fn wants(&self, intents: &[Intent]) -> f32 {
        let fitting = self.tagging.clauses.iter().filter(|clause| intents.contains(&clause.intent));
        fitting.map(|clause| clause.chance).fold(0.0, f32::max)
    }

    /// The new titles in clauses of these intents.
    pub(crate) fn new_titles(&self, intents: &[Intent]) -> Vec<&'a str> {
        let clauses = self.tagging.clauses.iter().filter(|clause| intents.contains(&clause.intent));
        clauses.flat_map(|clause| self.titles(clause)).filter_map(|place| self.text.get(place)).collect()
    }

    /// The words that name tasks in clauses of these intents.
    pub(crate) fn targets(&self, intents: &[Intent]) -> Vec<&'a str> {
        let clauses = self.tagging.clauses.iter().filter(|clause| intents.contains(&clause.intent));
        clauses.flat_map(|clause| self.within(clause, SpanKind::Target)).map(|span| self.said(span)).collect()
    }

    /// The changes that it reads, with how sure the least sure part of each is.
    pub(crate) fn changes(&self, here: &Here<'_>) -> Vec<(Wish, f32)> {
        let clauses = self.tagging.clauses.iter().filter(|clause| clause.chance >= LIKELY);
        clauses.filter_map(|clause| Some((self.change(clause, here)?, self.sureness(clause)))).collect()
    }

    fn change(&self, clause: &Clause, here: &Here<'_>) -> Option<Wish> {
        match clause.intent {
            Intent::Create => self.drafts(clause, here).map(Wish::Create),
            Intent::Complete => Some(Wish::Complete(self.target(clause, here)?, true)),
            Intent::Reopen => Some(Wish::Complete(self.target(clause, here)?, false)),
            Intent::Delete => Some(Wish::Delete(self.target(clause, here)?)),
            Intent::Update => {
                let change = self.fields(clause, here);
                (!change.is_empty()).then_some(Wish::Update(self.target(clause, here)?, change))
            }
            _ => None,
        }
    }

    /// What is asked about one task.
    pub(crate) fn question(&self, here: &Here<'_>) -> Option<Wish> {
        let asks =
            |clause: &&Clause| matches!(clause.intent, Intent::Get | Intent::Find) && clause.chance >= LIKELY;
        let clause = self.tagging.clauses.iter().find(asks)?;
        Some(Wish::Show(self.target(clause, here)?))
    }

    fn drafts(&self, clause: &Clause, here: &Here<'_>) -> Option<Vec<Draft>> {
        let titles: Vec<String> = self
            .titles(clause)
            .into_iter()
            .filter_map(|place| self.text.get(place))
            .map(|title| slots::capital(&slots::tidy(title)))
            .filter(|title| title.chars().any(char::is_alphanumeric))
            .collect();
        let due = self.due(clause, here);
        let draft = |title| Draft {
            title: Some(title),
            due: due.clone(),
            priority: self.priority(clause),
            description: self.note(clause),
            ..Draft::default()
        };
        (!titles.is_empty()).then(|| titles.into_iter().map(draft).collect())
    }

    /// Where titles stand. Two that nothing parts are one.
    fn titles(&self, clause: &Clause) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for span in self.within(clause, SpanKind::Title) {
            let gap = found.last().and_then(|last| self.text.get(last.end..span.place.start));
            match (gap, found.last_mut()) {
                (Some(gap), Some(last)) if !parts(gap) => last.end = span.place.end,
                _ => found.push(span.place.clone()),
            }
        }
        found
    }

    fn fields(&self, clause: &Clause, here: &Here<'_>) -> Change {
        let title = self.within(clause, SpanKind::NewTitle).map(|span| slots::tidy(self.said(span))).next();
        Change {
            title: title.map(|title| slots::capital(&title)),
            description: self.note(clause).map(Some),
            appends: true,
            priority: self.priority(clause),
            due: self.due(clause, here).map(Some),
            ..Change::default()
        }
    }

    fn target(&self, clause: &Clause, here: &Here<'_>) -> Option<Target> {
        let named: Vec<&str> = self.within(clause, SpanKind::Target).map(|span| self.said(span)).collect();
        if !named.is_empty() {
            return Some(Target::Words(named.join(" and ")));
        }
        let pointed: Vec<&str> = self.within(clause, SpanKind::Ref).map(|span| self.said(span)).collect();
        let said = Utterance::new(&pointed.join(" and ")).words;
        match target::read(&pointed.join(" and "), &said, here) {
            Target::Missing | Target::All(_) | Target::Words(_) => None,
            found => Some(found),
        }
    }

    /// All that is said of a date, with its zone.
    fn due(&self, clause: &Clause, here: &Here<'_>) -> Option<When> {
        let parts = self
            .tagging
            .spans
            .iter()
            .filter(|span| inside(clause, span) && matches!(span.kind, SpanKind::When | SpanKind::Zone));
        let said: Vec<&str> = parts.map(|span| self.said(span)).collect();
        let whole = said.join(" ");
        let alone = || slots::date_alone(&whole, &Utterance::new(&whole).words, here);
        let date = slots::date(&whole, here);
        (!whole.is_empty()).then(|| if date.meaning.is_ok() { date } else { alone().unwrap_or(date) })
    }

    fn priority(&self, clause: &Clause) -> Option<crate::wish::Priority> {
        let said = self.within(clause, SpanKind::Priority).map(|span| self.said(span)).next()?;
        priority::alone(&Utterance::new(said).words)
    }

    fn note(&self, clause: &Clause) -> Option<String> {
        self.within(clause, SpanKind::Note).map(|span| self.said(span).to_owned()).next()
    }

    fn within<'s>(&'s self, clause: &'s Clause, kind: SpanKind) -> impl Iterator<Item = &'s Span> {
        self.tagging.spans.iter().filter(move |span| span.kind == kind && inside(clause, span))
    }

    fn sureness(&self, clause: &Clause) -> f32 {
        let spans = self.tagging.spans.iter().filter(|span| inside(clause, span));
        spans.map(|span| span.chance).fold(clause.chance, f32::min)
    }

    fn said(&self, span: &Span) -> &'a str {
        self.text.get(span.place.clone()).unwrap_or_default()
    }
}

fn inside(clause: &Clause, span: &Span) -> bool {
    clause.words.start <= span.words.start && span.words.start < clause.words.end
}

/// Whether what stands between two titles parts them.
fn parts(gap: &str) -> bool {
    gap.contains([',', ';', '&', '\n', '.', '+', '|'])
        || gap.split_whitespace().any(|word| PARTING.contains(&word))
}

const PARTING: [&str; 7] = ["and", "also", "plus", "then", "or", "one", "another"];
