//! The parts of a wish out of the spans of a clause: new tasks with their dates, the task that is meant, what is to be
//! changed.

use std::ops::Range;

use toolroom_tagger::{Clause, Intent, Span, SpanKind};

use super::dates::is_vague;
use super::tagged::{Tagged, inside};
use super::{Here, Utterance, fields, filter, priority, target};
use crate::text::{find_any, has_word};
use crate::wish::{Change, Draft, Filter, Priority, Target};
use crate::words::patterns;

/// A new title and where it stands.
pub(super) struct Title {
    pub(super) place: Range<usize>,
    pub(super) said: String,
    is_quoted: bool,
}

impl Tagged<'_> {
    /// The tasks that a clause wants made; each date, priority and note with the title that it stands at.
    pub(super) fn drafts(&self, clause: &Clause, here: &Here<'_>) -> Vec<Draft> {
        let mut titles = self.titles(clause);
        let dates = self.dates(clause, &mut titles, here);
        let places: Vec<Range<usize>> = titles.iter().map(|title| title.place.clone()).collect();
        let label = self.within(clause, SpanKind::Label).map(|span| self.label(span));
        let tags: Vec<String> = label.collect();
        let mut said = self.within(clause, SpanKind::When).map(|span| self.said(span));
        let unhurried = said.any(is_vague).then_some(Priority::Low);
        // A priority that is said in so many words counts, read or not.
        let outside = places.first().map(|place| {
            let (before, behind) = (self.text.get(..place.start), self.text.get(place.end..));
            format!("{} , {}", before.unwrap_or_default(), behind.unwrap_or_default())
        });
        let plain = outside.and_then(|text| priority::named(&Utterance::new(&text).words));
        let unhurried = unhurried.or(plain.filter(|_| places.len() == 1));
        let each = titles.into_iter().enumerate().map(|(at, title)| {
            let mine = |all: Vec<&Range<usize>>| belonging(&all, &places, at);
            let date = mine(dates.iter().map(|date| &date.place).collect()).and_then(|one| dates.get(one));
            let spans = |kind| -> Vec<&Span> { self.within(clause, kind).collect() };
            let (ranks, notes) = (spans(SpanKind::Priority), spans(SpanKind::Note));
            let rank = mine(ranks.iter().map(|span| &span.place).collect()).and_then(|one| ranks.get(one));
            let note = mine(notes.iter().map(|span| &span.place).collect()).and_then(|one| notes.get(one));
            let undated = date.map(|date| fields::capital(&format!("{} {}", title.said, date.when.said)));
            Draft {
                undated,
                title: Some(if title.is_quoted { title.said } else { fields::capital(&title.said) }),
                due: date.map(|date| date.when.clone()),
                priority: rank.and_then(|span| self.rank(span)).or(unhurried),
                description: note.map(|span| self.note(clause, span)),
                tags: tags.clone(),
                ..Draft::default()
            }
        });
        each.collect()
    }

    /// New titles. Two that nothing parts are one.
    fn titles(&self, clause: &Clause) -> Vec<Title> {
        let mut places: Vec<Range<usize>> = Vec::new();
        let is_more = clause.intent == Intent::More;
        let is_title =
            |span: &&Span| span.kind == SpanKind::Title || is_more && span.kind == SpanKind::Target;
        for span in self.tagging.spans.iter().filter(|span| inside(clause, span)).filter(is_title) {
            let gap = places.last().and_then(|last| self.text.get(last.end..span.place.start));
            match (gap, places.last_mut()) {
                (Some(gap), Some(last)) if !parts(gap) => last.end = span.place.end,
                _ => places.push(span.place.clone()),
            }
        }
        for at in 0..places.len() {
            let next = self.tagging.spans.iter().map(|span| span.place.start);
            let Some(place) = places.get_mut(at) else { continue };
            let end = next
                .filter(|start| *start >= place.end)
                .min()
                .unwrap_or(clause.place.end)
                .min(clause.place.end);
            place.end = self.end_of_title(place.end, end.max(place.end));
        }
        let title = |place: Range<usize>| {
            let said = self.unquoted(&place);
            let said = fields::tidy(said.trim_matches(QUOTES)).trim_matches(QUOTES).to_owned();
            let said = said.strip_prefix("that ").map(str::to_owned).unwrap_or(said);
            let before = self.text.get(..place.start).and_then(|text| text.chars().next_back());
            let first = self.text.get(place.clone()).and_then(|text| text.chars().next());
            let is_quoted = [before, first].into_iter().flatten().any(|c| MARKS.contains(&c));
            Title { place, said, is_quoted }
        };
        let is_title = |title: &Title| {
            title.said.chars().any(char::is_alphanumeric) && (title.is_quoted || !is_reference(&title.said))
        };
        places.into_iter().map(title).filter(is_title).collect()
    }

    /// Where a title ends that the reader may have cut: words that follow it without a sign belong to it, unless they only
    /// stand around a wish, or say why.
    fn end_of_title(&self, cut: usize, end: usize) -> usize {
        const PARTS: &str = "because|cause|coz|cuz|since|so|but|if|when|which|who|while|though|tho|as|unless|once|or|please|asap|and|it|its|that's|thats|not|no|i|we|they|he|she|this|there|before|after|until";
        let gap = self.text.get(cut..end).unwrap_or_default();
        let around = patterns("words around a wish").first().copied().unwrap_or_default();
        let sign = gap.find([',', '.', ';', ':', '!', '?', '(', '"', '\n', '-', '\u{2013}', '\u{2014}']);
        let gap = gap.get(..sign.unwrap_or(gap.len())).unwrap_or_default();
        let low = |word: &str| word.to_lowercase();
        let begins = gap.split_whitespace().next().is_some_and(|word| !has_word(PARTS, &low(word)));
        let last = gap.split_whitespace().rfind(|word| !has_word(around, &low(word)));
        let behind = last.and_then(|word| gap.rfind(word).map(|at| at + word.len()));
        behind.filter(|_| begins && gap.starts_with(' ')).map_or(cut, |behind| cut + behind)
    }

    /// The words of a place; of those that begin in quotation marks what the marks hold.
    fn unquoted(&self, place: &Range<usize>) -> &str {
        let said = self.text.get(place.clone()).unwrap_or_default();
        let before = self.text.get(..place.start).and_then(|text| text.chars().next_back());
        let open = said.chars().next().filter(|c| MARKS.contains(c)).or(before.filter(|c| MARKS.contains(c)));
        let close = open.map(|open| if open == '\u{201c}' { '\u{201d}' } else { open });
        let inner = said.trim_start_matches(QUOTES);
        let end = close.and_then(|close| inner.find(&format!("{close} ")));
        end.and_then(|end| inner.get(..end)).unwrap_or(said)
    }

    pub(super) fn changes_of(&self, clause: &Clause, here: &Here<'_>) -> Change {
        let title = self.within(clause, SpanKind::NewTitle).map(|span| self.said(span)).next();
        let rank = self.within(clause, SpanKind::Priority).last();
        let note = self.within(clause, SpanKind::Note).next();
        let mut change = Change {
            title: title.map(|title| fields::capital(&fields::tidy(title.trim_matches(QUOTES)))),
            description: note.map(|span| Some(self.note(clause, span))),
            // A new description takes the place of the old one, a note is put behind it.
            appends: note.is_some() && !self.says(clause, &["description|details"]),
            priority: rank.and_then(|span| self.rank(span)),
            ..Change::default()
        };
        let tags = self.within(clause, SpanKind::Label).map(|span| self.label(span)).collect();
        match self.says(clause, &["remove|untag|take|drop|delete|strip|off"]) {
            true => change.remove_tags = tags,
            false => change.add_tags = tags,
        }
        let ranks = [("raises the priority", Priority::High), ("lowers the priority", Priority::Low)];
        let ranked = ranks.iter().find(|(words, _)| self.says(clause, patterns(words)));
        change.priority = change.priority.or(ranked.map(|(_, priority)| *priority));
        let places = self.date_places(clause);
        let said: Vec<&str> = places.iter().filter_map(|place| self.text.get(place.clone())).collect();
        // A date without a time keeps that of the old one in any case.
        let said = said.join(" ");
        let said =
            said.trim_end_matches(['?', '!']).trim_end_matches("same time").trim_end_matches([',', ' ']);
        if let Some((days, minutes)) = toolroom_when::length(said) {
            let sign = if self.says(clause, patterns("moves to an earlier date")) { -1 } else { 1 };
            (change.days, change.minutes) = match minutes {
                0 => (Some(sign * days), None),
                minutes => (None, Some(sign * minutes)),
            };
        } else if !said.is_empty() {
            let alone = fields::date_alone(said, &Utterance::new(said).words, here);
            change.due = Some(Some(match fields::date(said, here) {
                date if date.meaning.is_ok() => date,
                date => alone.unwrap_or(date),
            }));
        }
        if change.is_empty() && self.says(clause, patterns("takes a field away")) {
            self.clear(clause, &mut change);
        } else if change.is_empty() && self.says(clause, patterns("names a note")) {
            // "add a note to the drill task": what it shall say is asked.
            (change.description, change.appends) = (Some(Some(String::new())), true);
        }
        change
    }

    /// "no deadline", "take the date off".
    fn clear(&self, clause: &Clause, change: &mut Change) {
        for span in self.within(clause, SpanKind::Field) {
            let field = self.said(span).to_lowercase();
            if field.contains("date")
                || field.contains("due")
                || field.contains("deadline")
                || field.contains("time")
            {
                change.due = Some(None);
            } else if field.contains("note") || field.contains("desc") || field.contains("detail") {
                change.description = Some(None);
            } else if field.contains("tag") || field.contains("label") {
                change.clears_tags = true;
            }
        }
    }

    /// Whether some words of a clause are of a section.
    fn says(&self, clause: &Clause, patterns: &[&str]) -> bool {
        let text = self.text.get(clause.place.clone()).unwrap_or_default();
        find_any(&Utterance::new(text).words, patterns).is_some()
    }

    /// Which task a clause means; `Missing` if it says nothing of that.
    pub(super) fn target(&self, clause: &Clause, here: &Here<'_>) -> Target {
        let text = self.text.get(clause.place.clone()).unwrap_or_default();
        // "not the oven, the light", "but leave task 3 alone"
        let is_meant = |span: &&Span| {
            let before =
                self.tagging.spans.iter().map(|one| one.place.end).filter(|end| *end <= span.place.start);
            let start = before.max().unwrap_or(0).max(clause.place.start);
            let gap = self.text.get(start..span.place.start).unwrap_or_default().to_lowercase();
            let mut words =
                gap.split(|c: char| !c.is_alphanumeric()).rev().filter(|word| !word.is_empty()).take(2);
            !words.any(|word| ["not", "leave", "keep", "except"].contains(&word))
        };
        let said = |kind| -> Vec<&str> {
            self.within(clause, kind).filter(is_meant).map(|span| self.said(span)).collect()
        };
        let (mut named, mut pointed) = (said(SpanKind::Target), said(SpanKind::Ref));
        // "dentist -> low prio": what is changed is there.
        let is_there =
            !matches!(clause.intent, Intent::Create | Intent::More | Intent::Amend | Intent::Other);
        if is_there && named.is_empty() && pointed.is_empty() {
            named = said(SpanKind::Title).into_iter().filter(|title| !is_reference(title)).collect();
        }
        // "both tonight at 10"
        pointed.extend(said(SpanKind::Title).into_iter().filter(|title| is_reference(title)));
        let read = |said: &str| {
            let said = said.trim_end_matches("'s").trim_end_matches("\u{2019}s");
            target::read(said, &Utterance::new(said).words, here)
        };
        let is_all = pointed
            .iter()
            .any(|said| ["all", "every", "everything", "each"].contains(&said.to_lowercase().as_str()));
        let is_both = |word: &str| ["both", "all", "everything"].contains(&word.to_lowercase().as_str());
        // "all" says something of the name that it stands before.
        let name_at = self.within(clause, SpanKind::Target).map(|span| span.place.start).next();
        let until = name_at.unwrap_or(clause.place.end);
        let mut before =
            self.text.get(clause.place.start..until).unwrap_or_default().split_whitespace().rev();
        let near = if name_at.is_some() { 4 } else { usize::MAX };
        let is_near = before.by_ref().take(near).any(is_both);
        let says_all = is_all && name_at.is_none() || is_near;
        // "move both to friday, the room is free then"
        let is_them =
            |said: &&str| ["both", "them", "those", "these"].contains(&said.to_lowercase().as_str());
        if !is_near && pointed.iter().any(is_them) {
            return Target::Them;
        }
        let is_spared = filter::except(text, &Utterance::new(text).words, here).is_some();
        named.dedup_by(|one, other| one.eq_ignore_ascii_case(other));
        let is_named = !named.is_empty();
        if is_named && !(says_all && is_spared) {
            let name = named.join(" and ");
            let name = name.trim_matches(QUOTES).to_owned();
            let first = name.split_once(' ').filter(|_| named.len() == 1);
            // "the two forms", "the other call"
            if let Some((count, rest)) = first.filter(|(_, rest)| rest.ends_with('s'))
                && has_word("two|three|four|both|all", &count.to_lowercase())
            {
                return Target::All(Filter { text: Some(rest.to_owned()), ..Filter::default() });
            }
            if name.to_lowercase().starts_with("other ") {
                return Target::Other;
            }
            if is_reference(&name) && pointed.is_empty() {
                return if says_all { Target::Them } else { Target::It };
            }
            return match (says_all && named.len() == 1, read(&name)) {
                // "both dentist things are done"
                (true, _) => Target::All(Filter { text: Some(name), ..Filter::default() }),
                (false, found @ Target::Ids(_)) => found,
                _ => Target::Words(name),
            };
        }
        let ids: Vec<i64> = pointed
            .iter()
            .filter_map(|said| match read(said) {
                Target::Ids(ids) => Some(ids),
                _ => None,
            })
            .flatten()
            .collect();
        if !ids.is_empty() {
            return read(&pointed.join(" and ")).or_ids(ids);
        }
        // "delete the completed ones"
        let of_a_kind = pointed.is_empty()
            && self.within(clause, SpanKind::State).next().is_some()
            && text.split_whitespace().any(|word| has_word("ones|tasks|todos|stuff|things|items", word));
        if is_all || says_all && is_spared || of_a_kind {
            let words = Utterance::new(text).words;
            let mut filter =
                filter::all(text, &words, here).unwrap_or_else(|| filter::read(text, &words, here));
            // "as done" is what they shall be.
            if clause.intent == Intent::Complete && filter.done == Some(true) {
                filter.done = None;
            }
            filter.except = filter::except(text, &words, here);
            return Target::All(filter);
        }
        let found = pointed.iter().map(|said| read(said)).find(|found| *found != Target::Missing);
        found.unwrap_or_else(|| match read(text.split(':').next().unwrap_or_default()) {
            // "tasks 9 and 10: both due friday"
            found @ Target::Ids(_) if text.contains(':') => found,
            _ if is_near => Target::Them,
            _ => Target::Missing,
        })
    }

    /// The tasks that a clause names by their numbers.
    pub(super) fn numbered(&self, clause: &Clause, here: &Here<'_>) -> Option<Target> {
        let said = self.within(clause, SpanKind::Ref).map(|span| self.said(span));
        let mut read = said.map(|said| target::read(said, &Utterance::new(said).words, here));
        read.find(|target| matches!(target, Target::Ids(_)))
    }

    fn rank(&self, span: &Span) -> Option<Priority> {
        priority::of(&Utterance::new(self.said(span)).words)
    }

    fn label(&self, span: &Span) -> String {
        self.said(span).trim_start_matches('#').to_owned()
    }

    /// A note goes on to the end of its clause if nothing else does.
    fn note(&self, clause: &Clause, span: &Span) -> String {
        let is_last = !self
            .tagging
            .spans
            .iter()
            .any(|other| inside(clause, other) && other.place.start > span.place.start);
        let end = if is_last { clause.place.end } else { span.place.end };
        // It begins right behind a colon: "note on the invoice: include travel costs".
        let before = self.text.get(clause.place.start..span.place.start).unwrap_or_default();
        let colon = before.rfind(':').map(|at| clause.place.start + at + 1);
        let is_near = |at: &usize| {
            let gap = self.text.get(*at..span.place.start).unwrap_or_default();
            gap.split_whitespace().count() <= 2 && !gap.contains(char::is_numeric)
        };
        let start = colon.filter(is_near).unwrap_or(span.place.start);
        let said = self.text.get(start..end).unwrap_or_default();
        said.trim().trim_matches(QUOTES).trim_end_matches(['.', '!']).trim().to_owned()
    }
}

/// Whether words point to tasks, and name none.
pub(crate) fn is_reference(words: &str) -> bool {
    let mut words = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.clone().next().is_some() && words.all(|word| has_word(REFERENCES, &word.to_lowercase()))
}

const REFERENCES: &str = "it|its|thats|that|this|them|those|these|both|all|everything|one|two|three|four|five|some|few|several|couple|a|the|of|new|more|another|other|others|thing|things|stuff|task|tasks|todo|todos|item|items|something";

impl Target {
    /// Numbers that were read together, or else one by one.
    fn or_ids(self, ids: Vec<i64>) -> Self {
        match self {
            found @ Self::Ids(_) => found,
            _ => Self::Ids(ids),
        }
    }
}

const MARKS: [char; 3] = ['"', '\'', '\u{201c}'];
pub(super) const QUOTES: [char; 8] = ['"', '\'', '\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}', ' ', '`'];

/// Which of several dates, priorities or notes belongs to a title: the one behind it, before the next title; one alone
/// before or behind all titles is for all of them.
fn belonging(all: &[&Range<usize>], titles: &[Range<usize>], at: usize) -> Option<usize> {
    let (first, last) = (titles.first()?, titles.last()?);
    // "monday: hand in the report, tuesday: clean the bath"
    let leads = all.len() == titles.len() && all.first().is_some_and(|one| one.start < first.start);
    if leads {
        return Some(at);
    }
    let title = titles.get(at)?;
    let next = titles.get(at + 1).map_or(usize::MAX, |next| next.start);
    let behind = all.iter().position(|one| one.start > title.start && one.start < next);
    behind.or_else(|| match all {
        [one] => (one.start < first.start || one.start > last.start).then_some(0),
        _ => all.iter().position(|one| one.start < first.start).filter(|_| titles.len() == 1),
    })
}

/// Whether what stands between two titles parts them.
fn parts(gap: &str) -> bool {
    let is_sign =
        gap.trim().len() == 1 && gap.trim().starts_with(['.', '&', '\'', '\u{2019}', '-', '/', '+']);
    !is_sign && gap.contains([',', ';', '&', '\n', '.', '+', '|', ')', ':'])
        || gap.split_whitespace().any(|word| PARTING.contains(&word.to_lowercase().as_str()))
}

const PARTING: [&str; 7] = ["and", "also", "plus", "then", "or", "one", "another"];

/// A task that is to be made, with what was said of it afterwards.
pub(crate) fn amend(draft: &mut Draft, change: &Change) {
    draft.title = change.title.clone().or(draft.title.take());
    draft.priority = change.priority.or(draft.priority);
    if let Some(due) = &change.due {
        draft.due.clone_from(due);
    }
    if let Some(description) = &change.description {
        draft.description.clone_from(description);
    }
    draft.tags.extend(change.add_tags.iter().cloned());
}

/// One change with what another says beside it.
pub(crate) fn join(old: &mut Change, new: Change) {
    old.title = new.title.or(old.title.take());
    old.priority = new.priority.or(old.priority);
    if new.due.is_some() || new.days.is_some() || new.minutes.is_some() {
        (old.due, old.days, old.minutes) = (new.due, new.days, new.minutes);
    }
    if new.description.is_some() {
        (old.description, old.appends) = (new.description, new.appends);
    }
    old.add_tags.extend(new.add_tags);
}
