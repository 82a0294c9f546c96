//! What the trained reader makes of a message: which words are titles, targets, dates and conditions, and the wishes
//! that follow from them. `spans` turns the words of one clause into the parts of a wish.

use std::ops::Range;

use toolroom_tagger::{Clause, Intent, Span, SpanKind, Tagging};

use super::{Here, mend, spans};
use crate::wish::{Change, Draft, Target, Wish};

/// A clause or span of which the reader is less sure says nothing.
pub(crate) const LIKELY: f32 = 0.3;

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
    /// The zone, if only that was said.
    pub zone: Option<String>,
    /// What is replaced.
    pub old: Option<String>,
}

impl<'a> Tagged<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, tagging: mend::mended(text, toolroom_tagger::tag(text)) }
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

    /// How often something is to be done again, in the person's words.
    pub(crate) fn repeats(&self) -> Option<&'a str> {
        self.held(SpanKind::Every)
    }

    /// How likely some clause wishes one of these.
    pub(crate) fn wants(&self, intents: &[Intent]) -> f32 {
        let fitting = self.tagging.clauses.iter().filter(|clause| intents.contains(&clause.intent));
        fitting.map(|clause| clause.chance).fold(0.0, f32::max)
    }

    /// The intent of the whole message, if it has one.
    pub(crate) fn intent(&self) -> Option<(Intent, f32)> {
        match self.tagging.clauses.as_slice() {
            [only] => Some((only.intent, only.chance)),
            _ => None,
        }
    }

    /// The changes that it reads, in their order.
    pub(crate) fn changes(&self, here: &Here<'_>) -> Vec<Seen> {
        let mut found: Vec<Seen> = Vec::new();
        for clause in self.tagging.clauses.iter().filter(|clause| clause.chance >= LIKELY) {
            let sure = self.sureness(clause);
            if self.adds(clause, found.last_mut(), here) {
                continue;
            }
            let Some(wish) = self.change(clause, here) else { continue };
            found.push(Seen { wish, sure, place: clause.place.clone() });
        }
        found
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
                let change = self.fields(clause, here);
                drafts.iter_mut().for_each(|draft| spans::amend(draft, &change));
            }
            (Wish::Update(_, old), Intent::Update | Intent::Amend) if is_open => {
                spans::join(old, self.fields(clause, here));
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
                if drafts.is_empty() {
                    // "snooze the parcel till saturday"
                    let (target, change) = (target()?, self.fields(clause, here));
                    let is_change = !change.is_empty() && target != Target::Missing;
                    return is_change.then_some(Wish::Update(target, change));
                }
                Some(Wish::Create(drafts))
            }
            Intent::Complete => Some(Wish::Complete(target()?, true)),
            Intent::Reopen => Some(Wish::Complete(target()?, false)),
            Intent::Delete => Some(Wish::Delete(target()?)),
            Intent::Restore => Some(Wish::Restore(target()?)),
            Intent::Update => {
                let change = self.fields(clause, here);
                let old = self.within(clause, SpanKind::Old).map(|span| self.said(span)).next();
                let target = match (target()?, old) {
                    // "call it 'Visit Ann' instead of 'Call Ann'"
                    (Target::Missing | Target::It, Some(old)) if change.title.is_some() => {
                        Target::Words(old.to_owned())
                    }
                    (target, _) => target,
                };
                (!change.is_empty() || target != Target::Missing).then_some(Wish::Update(target, change))
            }
            _ => None,
        }
    }

    /// What a message goes on with, if it is one clause that does.
    pub(crate) fn follow_up(&self, here: &Here<'_>) -> Option<FollowUp> {
        let mut clauses = self.tagging.clauses.iter().filter(|clause| clause.chance >= LIKELY);
        let clause = clauses.next().filter(|_| clauses.next().is_none())?;
        let mut change = self.fields(clause, here);
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
            target: self.target(clause, here),
            drafts,
            zone: zone.filter(|_| !says_when),
            old: self.within(clause, SpanKind::Old).map(|span| self.said(span).to_owned()).next(),
        })
    }

    /// The words that name the tasks of which a list is asked for.
    pub(crate) fn listed(&self) -> Option<&'a str> {
        let mut clauses = self.tagging.clauses.iter();
        let clause = clauses.next().filter(|one| one.intent == Intent::List && clauses.next().is_none())?;
        let mut spans = self.tagging.spans.iter().filter(|span| inside(clause, span));
        let span = spans.next().filter(|_| spans.next().is_none())?;
        let names = matches!(span.kind, SpanKind::Target | SpanKind::Label) && span.chance >= 0.5;
        names.then(|| self.said(span))
    }

    /// What is asked about one task.
    pub(crate) fn question(&self, here: &Here<'_>) -> Option<Wish> {
        let asks =
            |clause: &&Clause| matches!(clause.intent, Intent::Get | Intent::Find) && clause.chance >= 0.5;
        let clause = self.tagging.clauses.iter().find(asks)?;
        match self.target(clause, here) {
            Target::Missing => None,
            target => Some(Wish::Show(target)),
        }
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
