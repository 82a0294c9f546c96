//! What the trained reader makes of a message: which words are titles, targets, dates and conditions, and the wishes
//! that follow from them. `spans` turns the words of one clause into the parts of a wish.

use std::ops::Range;

use toolroom_tagger::{Clause, Intent, Span, SpanKind, Tagging};

use super::{Here, SURE, Utterance, filter, mend, spans, stripped};
use crate::similar;
use crate::text::has_word;
use crate::typos;
use crate::wish::{Change, Draft, Target, Wish, with_target};
use crate::words::patterns;

/// A clause or span of which the reader is less sure says nothing.
pub(crate) const LIKELY: f32 = 0.3;
/// Of a list that is asked for it must be surer: there is no task in it that would tell.
const LIST: f32 = 0.45;

/// A message as the trained reader sees it.
pub(crate) struct Tagged<'a> {
    pub(crate) text: &'a str,
    pub(super) tagging: Tagging,
}

/// A change that the trained reader sees.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub wish: Wish,
    /// How sure the least sure part of it is.
    pub sure: f32,
    /// The words that it was read out of.
    pub place: Range<usize>,
}

/// What goes on with what was said or done before.
#[derive(Clone, Debug)]
pub(crate) struct FollowUp {
    pub intent: Intent,
    pub sure: f32,
    pub change: Change,
    pub target: Target,
    /// Titles, where the same is wished once more.
    pub drafts: Vec<Draft>,
    /// Words that may name a task.
    pub named: Option<String>,
    /// The zone, if only that was said.
    pub zone: Option<String>,
    /// What is replaced.
    pub old: Option<String>,
}

impl<'a> Tagged<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let text = text.trim();
        Self { text, tagging: mend::mended(text, toolroom_tagger::tag(text)) }
    }

    /// A message in which no wish about tasks is looked for.
    pub(crate) fn unread_by_it(text: &'a str) -> Self {
        Self { text, tagging: toolroom_tagger::tag("") }
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
    pub(crate) fn held(&self, kind: SpanKind) -> Option<&'a str> {
        let holds = |span: &&Span| span.kind == kind && span.chance >= 0.5;
        self.tagging.spans.iter().find(holds).map(|span| self.said(span))
    }

    /// Whether a part of this kind stands within a place.
    pub(crate) fn is_in(&self, kind: SpanKind, place: &Range<usize>) -> bool {
        let inside = |span: &&Span| place.start <= span.place.start && span.place.start < place.end;
        let mut spans = self.tagging.spans.iter().filter(inside);
        // "never mind, delete …" takes back what was said before it, and not what follows.
        let leads = spans.clone().next().is_some_and(|span| span.kind == SpanKind::Retraction);
        let counts = !(leads && kind == SpanKind::Retraction);
        spans.any(|span| span.kind == kind && span.chance >= 0.5) && counts
    }

    /// Whether it says of a change that it is not to be made.
    pub(crate) fn forbids(&self) -> bool {
        let changes =
            |clause: &&Clause| !matches!(clause.intent, Intent::Other | Intent::List | Intent::Help);
        let held = [SpanKind::Negation, SpanKind::Retraction];
        let mut clauses = self.tagging.clauses.iter().filter(changes);
        clauses
            .any(|clause| held.iter().any(|kind| self.within(clause, *kind).any(|span| span.chance >= 0.5)))
    }

    /// The wishes that it reads, in their order. What is not to be done is left out.
    pub(crate) fn wishes(&self, here: &Here<'_>) -> Vec<Seen> {
        let mut found: Vec<Seen> = Vec::new();
        for clause in self.tagging.clauses.iter().filter(|clause| clause.chance >= LIKELY) {
            let sure = self.sureness(clause);
            if self.adds(clause, found.last_mut(), here) {
                continue;
            }
            let Some(wish) = self.change(clause, here).or_else(|| self.look(clause, here)) else { continue };
            // "delete task 2 and the gym task"
            let numbered =
                self.numbered(clause, here).filter(|_| matches!(wish.target(), Some(Target::Words(_))));
            found.extend(numbered.map(|target| Seen {
                wish: with_target(&wish, target),
                sure,
                place: clause.place.clone(),
            }));
            found.push(Seen { wish, sure, place: clause.place.clone() });
        }
        // A change of nothing, of which it is not sure, is none.
        found.retain(|seen| seen.sure >= SURE || seen.wish.target() != Some(&Target::Missing));
        let held = [SpanKind::Negation, SpanKind::Retraction];
        // "don't let me forget" forbids nothing.
        let asks_for_it = self.text.to_lowercase().contains("forget");
        found.retain(|seen| asks_for_it || !held.iter().any(|kind| self.is_in(*kind, &seen.place)));
        found
    }

    /// Whether every word of a place belongs to a part, or only stands around one.
    pub(crate) fn is_whole(&self, place: &Range<usize>) -> bool {
        let around = patterns("words around a wish").first().copied().unwrap_or_default();
        let inside = |word: &Range<usize>| place.start <= word.start && word.end <= place.end;
        let is_read = |word: &Range<usize>| {
            let said = self.text.get(word.clone()).unwrap_or_default();
            let low: String =
                said.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
            let in_part = |span: &Span| span.place.start <= word.start && word.end <= span.place.end;
            low.is_empty()
                || has_word(around, &low)
                || typos::meant(&low).is_some()
                || similar::is_past(&low)
                || self.tagging.spans.iter().any(in_part)
        };
        self.tagging.words.iter().map(|word| &word.place).filter(|word| inside(word)).all(is_read)
    }

    /// Whether a place has parts that a wish without values has no room for: "done on friday".
    pub(crate) fn has_values(&self, place: &Range<usize>) -> bool {
        let kinds =
            [SpanKind::When, SpanKind::Every, SpanKind::Condition, SpanKind::Note, SpanKind::NewTitle];
        let inside = |span: &Span| place.start <= span.place.start && span.place.end <= place.end;
        self.tagging.spans.iter().any(|span| kinds.contains(&span.kind) && inside(span))
    }

    /// Whether it is the only wish of the message.
    pub(crate) fn is_only(&self, place: &Range<usize>) -> bool {
        let parts = |clause: &&Clause| self.tagging.spans.iter().any(|span| inside(clause, span));
        let others =
            self.tagging.clauses.iter().filter(parts).filter(|clause| clause.place.start != place.start);
        others.count() == 0
    }

    /// What a clause asks to see.
    fn look(&self, clause: &Clause, here: &Here<'_>) -> Option<Wish> {
        let text = self.text.get(clause.place.clone()).unwrap_or_default();
        let named = self.within(clause, SpanKind::Target).filter(|span| span.chance >= 0.5);
        let named: Vec<&str> = named
            .map(|span| self.said(span).trim_start_matches("find ").trim_start_matches("the "))
            .collect();
        match clause.intent {
            Intent::List if clause.chance >= LIST => {
                let words = Utterance::new(text).words;
                let filter = filter::asked(text, stripped(&words), here);
                Some(match named.as_slice() {
                    [only] if filter.is_open_to_all() => Wish::Find((*only).to_owned()),
                    _ => Wish::List(filter),
                })
            }
            Intent::Find if !named.is_empty() => Some(Wish::Find(named.join(" "))),
            Intent::Get | Intent::Find => match self.target(clause, here) {
                Target::Missing => None,
                target => Some(Wish::Show(target)),
            },
            _ => None,
        }
    }

    /// Whether a clause only says more about the one before it: "…, and make it urgent", "… and eggs".
    fn adds(&self, clause: &Clause, before: Option<&mut Seen>, here: &Here<'_>) -> bool {
        let Some(before) = before else { return false };
        let is_open = matches!(self.target(clause, here), Target::Missing | Target::It);
        match (&mut before.wish, clause.intent) {
            (Wish::Create(drafts), Intent::More) => {
                let more = self.drafts(clause, here);
                drafts.extend(more);
            }
            (Wish::Create(drafts), Intent::Update | Intent::Amend) if is_open => {
                let change = self.changes_of(clause, here);
                drafts.iter_mut().for_each(|draft| spans::amend(draft, &change));
            }
            (Wish::Update(_, old), Intent::Update | Intent::Amend) if is_open => {
                spans::join(old, self.changes_of(clause, here));
            }
            _ => return false,
        }
        before.place.end = clause.place.end;
        before.sure = before.sure.min(self.sureness(clause));
        true
    }

    fn change(&self, clause: &Clause, here: &Here<'_>) -> Option<Wish> {
        let target = || Some(self.target(clause, here));
        match clause.intent {
            Intent::Create => {
                let drafts = self.drafts(clause, here);
                if !drafts.is_empty() {
                    return Some(Wish::Create(drafts));
                }
                let (target, change) = (target()?, self.changes_of(clause, here));
                match target {
                    // "remind me tomorrow at 8": of what is asked.
                    Target::Missing | Target::It if clause.chance >= SURE => {
                        let mut draft = Draft::default();
                        spans::amend(&mut draft, &change);
                        Some(Wish::Create(vec![draft]))
                    }
                    // "snooze the parcel till saturday"
                    Target::Missing => None,
                    target => (!change.is_empty()).then_some(Wish::Update(target, change)),
                }
            }
            Intent::Complete => Some(Wish::Complete(target()?, true)),
            Intent::Reopen => Some(Wish::Complete(target()?, false)),
            Intent::Delete => Some(Wish::Delete(target()?)),
            Intent::Restore => Some(Wish::Restore(target()?)),
            Intent::Update | Intent::Amend => {
                let change = self.changes_of(clause, here);
                if clause.intent == Intent::Amend && change.is_empty() {
                    return None;
                }
                let old = self.within(clause, SpanKind::Old).map(|span| self.said(span)).next();
                let target = match (target()?, old) {
                    // "call it 'Visit Ann' instead of 'Call Ann'"
                    (Target::Missing | Target::It, Some(old)) if change.title.is_some() => {
                        Target::Words(old.to_owned())
                    }
                    (Target::Missing, _) if clause.intent == Intent::Amend => Target::It,
                    (target, _) => target,
                };
                (!change.is_empty() || target != Target::Missing).then_some(Wish::Update(target, change))
            }
            _ => None,
        }
    }

    /// What a message goes on with, if it is one clause that does.
    pub(crate) fn follow_up(&self, here: &Here<'_>) -> Option<FollowUp> {
        let mut clauses: Vec<&Clause> =
            self.tagging.clauses.iter().filter(|clause| clause.chance >= LIKELY / 2.0).collect();
        // "I said sandals, not candles. change it to buy sandals": the last one says it all.
        let adds = |clause: &&Clause| {
            matches!(clause.intent, Intent::Amend | Intent::No | Intent::Other | Intent::Yes)
                || clause.intent == Intent::Update && self.target(clause, here) == Target::It
        };
        // "…, mixed them up": words without a part say nothing.
        let has_parts = |clause: &&Clause| self.tagging.spans.iter().any(|span| inside(clause, span));
        if clauses.len() > 1 && clauses.iter().any(has_parts) {
            clauses.retain(has_parts);
        }
        if clauses.len() > 1 && clauses.iter().all(adds) {
            clauses = clauses.into_iter().rev().filter(|one| one.intent != Intent::Other).take(1).collect();
        }
        let [clause] = clauses.as_slice() else { return None };
        let mut change = self.changes_of(clause, here);
        let new = self.within(clause, SpanKind::Title).map(|span| self.said(span)).next();
        if clause.intent == Intent::Amend && change.title.is_none() {
            change.title = new.map(str::to_owned);
        }
        let zone = self.within(clause, SpanKind::Zone).map(|span| self.said(span).to_owned()).next();
        let says_when = self.within(clause, SpanKind::When).next().is_some();
        let drafts = if clause.intent == Intent::More { self.drafts(clause, here) } else { Vec::new() };
        Some(FollowUp {
            intent: clause.intent,
            sure: self.sureness(clause),
            change,
            target: match self.target(clause, here) {
                Target::Missing if self.said_in(clause).contains("the other") => Target::Other,
                target => target,
            },
            drafts,
            named: new
                .or_else(|| self.within(clause, SpanKind::Target).map(|span| self.said(span)).next())
                .filter(|_| !has_any(&self.said_in(clause), &["not", "without", "except", "never"]))
                .map(str::to_owned),
            zone: zone.filter(|_| !says_when),
            old: self.within(clause, SpanKind::Old).map(|span| self.said(span).to_owned()).next(),
        })
    }

    /// The words of a clause in small letters.
    fn said_in(&self, clause: &Clause) -> String {
        self.text.get(clause.place.clone()).unwrap_or_default().to_lowercase()
    }

    pub(super) fn within<'s>(&'s self, clause: &'s Clause, kind: SpanKind) -> impl Iterator<Item = &'s Span> {
        self.tagging.spans.iter().filter(move |span| span.kind == kind && inside(clause, span))
    }

    fn sureness(&self, clause: &Clause) -> f32 {
        let spans = self.tagging.spans.iter().filter(|span| inside(clause, span));
        spans.map(|span| span.chance).fold(clause.chance, f32::min)
    }

    pub(super) fn said(&self, span: &Span) -> &'a str {
        self.text.get(span.place.clone()).unwrap_or_default()
    }
}

pub(super) fn inside(clause: &Clause, span: &Span) -> bool {
    clause.words.start <= span.words.start && span.words.start < clause.words.end
}

fn has_any(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word))
}
