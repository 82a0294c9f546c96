//! The parts of a wish out of the spans of a clause: new tasks with their dates, the task that is meant, what is to be
//! changed.

use std::ops::Range;

use toolroom_tagger::{Clause, Span, SpanKind};

use super::tagged::{Tagged, inside};
use super::{Here, Utterance, filter, priority, slots, target};
use crate::text::{find_any, has_word};
use crate::wish::{Change, Draft, Filter, Priority, Target, When};
use crate::words::patterns;

/// A new title and where it stands.
struct Title {
    place: Range<usize>,
    said: String,
}

/// A date and where it stands.
struct Date {
    place: Range<usize>,
    when: When,
}

impl Tagged<'_> {
    /// The tasks that a clause wants made; each date, priority and note with the title that it stands at.
    pub(super) fn drafts(&self, clause: &Clause, here: &Here<'_>) -> Vec<Draft> {
        let mut titles = self.titles(clause);
        let dates = self.dates(clause, &mut titles, here);
        let places: Vec<Range<usize>> = titles.iter().map(|title| title.place.clone()).collect();
        let label = self.within(clause, SpanKind::Label).map(|span| self.label(span));
        let tags: Vec<String> = label.collect();
        let each = titles.into_iter().enumerate().map(|(at, title)| {
            let mine = |all: Vec<&Range<usize>>| belonging(&all, &places, at);
            let date = mine(dates.iter().map(|date| &date.place).collect()).and_then(|one| dates.get(one));
            let spans = |kind| -> Vec<&Span> { self.within(clause, kind).collect() };
            let (ranks, notes) = (spans(SpanKind::Priority), spans(SpanKind::Note));
            let rank = mine(ranks.iter().map(|span| &span.place).collect()).and_then(|one| ranks.get(one));
            let note = mine(notes.iter().map(|span| &span.place).collect()).and_then(|one| notes.get(one));
            let undated = date.map(|date| slots::capital(&format!("{} {}", title.said, date.when.said)));
            Draft {
                undated,
                title: Some(slots::capital(&title.said)),
                due: date.map(|date| date.when.clone()),
                priority: rank.and_then(|span| self.rank(span)),
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
        let is_more = clause.intent == toolroom_tagger::Intent::More;
        let is_title =
            |span: &&Span| span.kind == SpanKind::Title || is_more && span.kind == SpanKind::Target;
        for span in self.tagging.spans.iter().filter(|span| inside(clause, span)).filter(is_title) {
            let gap = places.last().and_then(|last| self.text.get(last.end..span.place.start));
            match (gap, places.last_mut()) {
                (Some(gap), Some(last)) if !parts(gap) => last.end = span.place.end,
                _ => places.push(span.place.clone()),
            }
        }
        let title = |place: Range<usize>| {
            let said = self.unquoted(&place);
            let said = slots::tidy(said.trim_matches(QUOTES)).trim_matches(QUOTES).to_owned();
            let said = said.strip_prefix("that ").map(str::to_owned).unwrap_or(said);
            Title { place, said }
        };
        let is_title =
            |title: &Title| title.said.chars().any(char::is_alphanumeric) && !is_reference(&title.said);
        places.into_iter().map(title).filter(is_title).collect()
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

    /// The dates of a clause, each with its zone. What is no date at the beginning of one belongs to the title before.
    fn dates(&self, clause: &Clause, titles: &mut [Title], here: &Here<'_>) -> Vec<Date> {
        let mut found: Vec<Date> = Vec::new();
        for place in self.date_places(clause) {
            let said = self.text.get(place.clone()).unwrap_or_default().trim();
            let when = slots::date(said, here);
            if when.meaning.is_ok() {
                found.push(Date { place, when });
                continue;
            }
            let alone = slots::date_alone(said, &Utterance::new(said).words, here);
            if let Some(when) = alone {
                found.push(Date { place, when });
                continue;
            }
            // "a new [toaster tomorrow]"
            let mention = toolroom_when::mentions(said, here.now, here.zone)
                .into_iter()
                .find(|mention| mention.place.end == said.len() && mention.meaning.is_ok());
            let title = titles.iter_mut().rfind(|title| title.place.end < place.start);
            if let (Some(mention), Some(title)) = (mention, title) {
                let cut = place.start + mention.place.start;
                let whole = self.text.get(title.place.start..cut).unwrap_or_default();
                title.said = slots::tidy(whole.trim_matches(QUOTES));
                title.place.end = cut;
                let date = said.get(mention.place).unwrap_or_default();
                found.push(Date { place: cut..place.end, when: slots::date(date, here) });
            } else {
                found.push(Date { place, when });
            }
        }
        found
    }

    /// Where dates stand: a date and its zone, or a day and its time, are one if no other part comes between them.
    fn date_places(&self, clause: &Clause) -> Vec<Range<usize>> {
        let mut found: Vec<(Range<usize>, bool)> = Vec::new();
        for span in self.tagging.spans.iter().filter(|span| inside(clause, span)) {
            let is_date = matches!(span.kind, SpanKind::When | SpanKind::Zone);
            match found.last_mut() {
                Some((last, true)) if is_date && self.are_near(last.end, span.place.start) => {
                    last.end = span.place.end;
                }
                _ => found.push((span.place.clone(), is_date)),
            }
        }
        found.into_iter().filter(|(_, is_date)| *is_date).map(|(place, _)| place).collect()
    }

    fn are_near(&self, end: usize, start: usize) -> bool {
        let gap = self.text.get(end..start).unwrap_or_default();
        let is_word = gap.split_whitespace().count() == 1 && !gap.contains([',', '.', ';', ':', '&']);
        gap.chars().all(|c| c.is_whitespace() || matches!(c, ',' | '(')) || is_word && gap.trim() != "and"
    }

    pub(super) fn fields(&self, clause: &Clause, here: &Here<'_>) -> Change {
        let title = self.within(clause, SpanKind::NewTitle).map(|span| self.said(span)).next();
        let rank = self.within(clause, SpanKind::Priority).last();
        let note = self.within(clause, SpanKind::Note).next();
        let mut change = Change {
            title: title.map(|title| slots::capital(&slots::tidy(title.trim_matches(QUOTES)))),
            description: note.map(|span| Some(self.note(clause, span))),
            appends: note.is_some(),
            priority: rank.and_then(|span| self.rank(span)),
            add_tags: self.within(clause, SpanKind::Label).map(|span| self.label(span)).collect(),
            ..Change::default()
        };
        let places = self.date_places(clause);
        let said: Vec<&str> = places.iter().filter_map(|place| self.text.get(place.clone())).collect();
        let said = said.join(" ");
        if let Some((days, minutes)) = toolroom_when::length(&said) {
            let sign = if self.says(clause, patterns("moves to an earlier date")) { -1 } else { 1 };
            (change.days, change.minutes) = match minutes {
                0 => (Some(sign * days), None),
                minutes => (None, Some(sign * minutes)),
            };
        } else if !said.is_empty() {
            let alone = slots::date_alone(&said, &Utterance::new(&said).words, here);
            change.due = Some(Some(match slots::date(&said, here) {
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
        let said = |kind| -> Vec<&str> { self.within(clause, kind).map(|span| self.said(span)).collect() };
        let (named, mut pointed) = (said(SpanKind::Target), said(SpanKind::Ref));
        // "both tonight at 10"
        pointed.extend(said(SpanKind::Title).into_iter().filter(|title| is_reference(title)));
        let read = |said: &str| {
            let said = said.trim_end_matches("'s").trim_end_matches("\u{2019}s");
            target::read(said, &Utterance::new(said).words, here)
        };
        let is_all = pointed
            .iter()
            .any(|said| ["all", "every", "everything", "each"].contains(&said.to_lowercase().as_str()));
        let is_both = |word: &str| ["both", "all"].contains(&word.to_lowercase().as_str());
        let says_all =
            is_all || pointed.iter().any(|said| is_both(said)) || text.split_whitespace().any(is_both);
        if !named.is_empty() {
            let name = named.join(" and ");
            let name = name.trim_matches(QUOTES).to_owned();
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
        if is_all {
            return match filter::all(text, &Utterance::new(text).words, here) {
                Some(filter) => Target::All(filter),
                None => Target::All(filter::read(text, &Utterance::new(text).words, here)),
            };
        }
        let found = pointed.iter().map(|said| read(said)).find(|found| !matches!(found, Target::Words(_)));
        found.unwrap_or_else(|| match read(text.split(':').next().unwrap_or_default()) {
            // "tasks 9 and 10: both due friday"
            found @ Target::Ids(_) if text.contains(':') => found,
            _ => Target::Missing,
        })
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
        let said = self.text.get(span.place.start..end).unwrap_or_default();
        said.trim().trim_matches(QUOTES).trim_end_matches(['.', '!']).trim().to_owned()
    }
}

/// Whether words point to tasks, and name none.
pub(crate) fn is_reference(words: &str) -> bool {
    let mut words = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.clone().next().is_some() && words.all(|word| has_word(REFERENCES, &word.to_lowercase()))
}

const REFERENCES: &str = "it|that|this|them|those|these|both|all|everything|one|two|three|four|five|some|few|several|couple|a|the|of|new|more|another|other|others|thing|things|stuff|task|tasks|todo|todos|item|items|something";

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
const QUOTES: [char; 8] = ['"', '\'', '\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}', ' ', '`'];

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
