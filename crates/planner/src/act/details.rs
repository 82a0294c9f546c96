//! What a follow-up says of the task that was just spoken of: a note, a date, a zone, another title or a part of it.

use toolroom_tagger::Intent;

use super::Play;
use crate::memory::Last;
use crate::read::tagged::FollowUp;
use crate::read::{Utterance, fields, priority, stripped, target};
use crate::text::{Kind, Word, begins, find_any, raw};
use crate::wish::{Change, Target, When, Wish};
use crate::words::patterns;

impl Play<'_> {
    /// "note: bring the ID", "put that as a note there: the card" right after a task was made or shown.
    pub(super) fn noted(&self, said: &Utterance<'_>) -> Option<Change> {
        let colon = said.words.iter().position(|word| word.kind == Kind::Sign(':'))?;
        let head = said.words.get(..colon).filter(|head| head.len() <= 12)?;
        let note = find_any(head, patterns("is a note on what was just done"))?;
        let others =
            head.get(note.end..)?.iter().all(|word| word.is_any("there|please|pls|to|it|that|on|for|with"));
        let makes = find_any(head, &["task|todo|new|remind"]).is_some();
        let text = raw(said.text, said.words.get(colon + 1..)?).trim();
        let is_known = self.memory.focus.len() == 1 && !text.is_empty() && others && !makes;
        is_known.then(|| Change {
            description: Some(Some(text.to_owned())),
            appends: true,
            ..Change::default()
        })
    }

    /// "that's denver time by the way".
    pub(super) fn zoned(&self, said: &Utterance<'_>) -> Option<Change> {
        let due = due_of(&self.memory.last.as_ref()?.wish)?;
        let time = said.words.iter().position(|word| word.is("time")).filter(|_| said.words.len() <= 10)?;
        (1..=time.min(2)).rev().find_map(|count| {
            let zone = raw(said.text, said.words.get(time - count..=time)?);
            let named = fields::date(&format!("{} {zone}", due.said), &self.here);
            named.meaning.is_ok().then(|| Change { due: Some(Some(named)), ..Change::default() })
        })
    }

    /// "one more day please" after a date was changed.
    pub(super) fn lengthened(&self, said: &Utterance<'_>) -> Option<Change> {
        let last = self.memory.last.as_ref()?;
        let moves =
            matches!(&last.wish, Wish::Update(_, change) if change.days.is_some() || change.due.is_some());
        let adds = find_any(&said.words, &["more|another"]).is_some();
        let (days, minutes) = toolroom_when::length(said.text).filter(|_| moves && adds)?;
        let some = |value: i64| (value != 0).then_some(value);
        Some(Change { days: some(days), minutes: some(minutes), ..Change::default() })
    }

    /// "remove the date again", "no date after all".
    pub(super) fn cleared(&self, said: &Utterance<'_>) -> Option<Change> {
        let takes = find_any(&said.words, patterns("takes a field away"))?;
        let field =
            find_any(&said.words, &["due? date", "deadline"]).filter(|field| field.start > takes.start)?;
        let beside = |word: &&crate::text::Word| {
            !word.is_sign()
                && !word
                    .is_any("the|its|a|again|please|after|all|actually|oh|and|now|then|it|from|needed|off")
        };
        let others = said.words.iter().filter(beside).count();
        let is_alone = others <= field.len() + 1 && self.memory.focus.len() == 1;
        is_alone.then(|| Change { due: Some(None), ..Change::default() })
    }

    /// What a follow-up says without a word that the reader has marked.
    pub(super) fn complete_change(&self, next: &mut FollowUp, said: &Utterance<'_>, last: Option<&Last>) {
        if !matches!(next.intent, Intent::Amend | Intent::Pick | Intent::No) {
            return;
        }
        let due = last.and_then(|last| due_of(&last.wish));
        // "sorry, 13" after a change of task 3 is a task, not a day.
        let number = match &next.change.due {
            Some(Some(when)) => when.said.trim().parse::<i64>().ok(),
            _ => None,
        };
        let acts = last
            .is_some_and(|last| matches!(last.wish, Wish::Complete(..) | Wish::Delete(_) | Wish::Show(_)));
        if let Some(id) = number.filter(|_| acts) {
            next.target = Target::Ids(vec![id]);
            next.change.due = None;
        }
        // "no wait, 11" after "tomorrow at 10" is an hour of the same half of the day.
        if let (Some(hour @ 1..=12), false, Some(Ok(old))) = (number, acts, due.map(|due| &due.meaning))
            && let toolroom_when::Due::Instant(_) = old.due
        {
            let at = old.due.instant_in(self.here.zone).at();
            let late = self.here.zone.to_datetime(at).hour() >= 12;
            let hour = if late && hour < 12 { hour + 12 } else { hour };
            next.change.due = Some(Some(fields::date(&format!("{hour}:00"), &self.here)));
        }
        if next.change.is_empty() && next.target == Target::Missing {
            let (days, minutes) = toolroom_when::length(said.text).unwrap_or_default();
            next.change.days = (days != 0).then_some(days);
            next.change.minutes = (minutes != 0).then_some(minutes);
        }
        // "make it two hours" after "in an hour".
        let is_ahead = due.is_some_and(|when| when.said.to_lowercase().starts_with("in "));
        let adds = find_any(&said.words, &["more|later|earlier|another|extra|back|forward|sooner"]).is_some();
        if let (true, false, Some(minutes)) = (is_ahead, adds, next.change.minutes) {
            next.change.minutes = None;
            next.change.due = Some(Some(fields::date(&format!("in {minutes} minutes"), &self.here)));
        }
        if let (Some(zone), Some(when)) = (&next.zone, due) {
            next.change.due = Some(Some(self.in_zone(when, zone)));
        }
        let title = last.and_then(|last| match &last.wish {
            Wish::Create(drafts) => drafts.last()?.title.clone(),
            _ => None,
        });
        let is_empty = next.change.is_empty() && title.is_some();
        if let (Target::Words(new), true) = (&next.target, is_empty) {
            next.change.title = Some(new.clone());
            next.target = Target::Missing;
        }
        if let (Some(old), Some(new)) = (&title, &next.change.title)
            && !is_whole_name(said)
        {
            next.change.title = Some(replaced(old, new, next.old.as_deref()));
        }
    }

    /// The same date on the clocks of another zone.
    fn in_zone(&self, when: &When, zone: &str) -> When {
        let zone = zone.trim();
        let named = fields::date(&format!("{} {zone}", when.said), &self.here);
        if named.meaning.is_ok() {
            named
        } else {
            fields::date(&format!("{} {zone} time", when.said), &self.here)
        }
    }

    /// A date or a priority and nothing else: "for friday", "high priority please", "change the time to 11:30".
    pub(super) fn value_alone(&self, said: &Utterance<'_>, words: &[Word]) -> Option<Change> {
        let lead = begins(
            words,
            "change|set|make|move|push|put|switch|and|also|no|wait|sorry|actually|hmm|it|that|the|its|time|date|day|due|deadline|priority|to|at|for|on|by|be|with|please|say|lets|i|meant|mean|rather*",
        );
        let value = stripped(target::trimmed_of_signs(words.get(lead.unwrap_or(0)..)?));
        if value.is_empty() || value.iter().any(|word| word.kind == Kind::Quoted) {
            return None;
        }
        if let Some(priority) = priority::alone(value) {
            return Some(Change { priority: Some(priority), ..Change::default() });
        }
        // A bare number is a task, not a day.
        let is_number = value.iter().all(|word| word.is_sign() || word.number().is_some());
        let due = fields::date_alone(said.text, value, &self.here).filter(|_| !is_number)?;
        Some(Change { due: Some(Some(due)), ..Change::default() })
    }
}

/// "make that Paula": which part of the title is meant is a guess.
pub(super) fn renames_a_part(next: &FollowUp, said: &Utterance<'_>) -> bool {
    next.change.title.is_some() && !is_whole_name(said)
}

/// "rename it to …", "make that 'file expenses'": the whole title is said.
pub(super) fn is_whole_name(said: &Utterance<'_>) -> bool {
    find_any(&said.words, patterns("gives a new name")).is_some()
        || said.words.iter().any(|word| word.kind == Kind::Quoted)
}

pub(super) fn due_of(wish: &Wish) -> Option<&When> {
    match wish {
        Wish::Create(drafts) => drafts.last()?.due.as_ref(),
        Wish::Update(_, change) => change.due.as_ref()?.as_ref(),
        _ => None,
    }
}

/// A title with one part of it replaced: what was named, else words that the new ones share, else a name by a name,
/// else what is done to something.
fn replaced(title: &str, new: &str, old: Option<&str>) -> String {
    if let Some(old) = old.filter(|old| title.contains(old)) {
        return title.replacen(old, new, 1);
    }
    let words: Vec<&str> = title.split_whitespace().collect();
    let news: Vec<&str> = new.split_whitespace().collect();
    let is_same = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
    let with = |at: usize, count: usize| -> String {
        let front = words.get(..at).unwrap_or_default();
        let back = words.get(at + count..).unwrap_or_default();
        [front, news.as_slice(), back].concat().join(" ")
    };
    // A new title begins with what is to be done, as the old one does.
    if news.first().zip(words.first()).is_some_and(|(a, b)| is_same(a, b)) || news.len() > 3 {
        return fields::capital(new);
    }
    if let Some(at) = words.iter().rposition(|word| news.last().is_some_and(|last| is_same(word, last))) {
        return with(at, 1);
    }
    let is_name = |word: &&str| word.starts_with(char::is_uppercase);
    let names: Vec<usize> = (1..words.len()).filter(|at| words.get(*at).is_some_and(is_name)).collect();
    if let ([at], true) = (names.as_slice(), news.iter().all(is_name)) {
        return with(*at, 1);
    }
    if words.len() == 2 { with(1, 1) } else { fields::capital(new) }
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn a_part_of_a_title_is_replaced_by_what_fits_its_place() {
        for (title, new, old, expected) in [
            ("Lunch with Paul", "Paula", None, "Lunch with Paula"),
            ("Buy milk", "oat milk", None, "Buy oat milk"),
            ("Buy bread", "rolls", None, "Buy rolls"),
            ("Call Tom about the car", "Tim", Some("Tom"), "Call Tim about the car"),
            ("Buy a new toaster", "buy a new kettle", None, "Buy a new kettle"),
            ("Clean the house", "wash the car on monday", None, "Wash the car on monday"),
        ] {
            assert_eq!(replaced(title, new, old), expected, "{title} with {new}");
        }
    }
}
