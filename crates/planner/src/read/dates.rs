//! The dates of a clause, out of its spans.

use std::ops::Range;

use toolroom_tagger::{Clause, SpanKind};

use super::spans::{QUOTES, Title};
use super::tagged::{Tagged, inside};
use super::{Here, Utterance, fields};
use crate::text::has_word;
use crate::wish::When;

/// A date and where it stands.
pub(super) struct Date {
    pub(super) place: Range<usize>,
    pub(super) when: When,
}

impl Tagged<'_> {
    /// The dates of a clause, each with its zone. What is no date at the beginning of one belongs to the title before.
    pub(super) fn dates(&self, clause: &Clause, titles: &mut [Title], here: &Here<'_>) -> Vec<Date> {
        let mut found: Vec<Date> = Vec::new();
        for place in self.date_places(clause) {
            let said = self.text.get(place.clone()).unwrap_or_default().trim();
            if is_vague(said) {
                continue;
            }
            // "for 3 december: visa appointment 8:45"
            if let ([_], [day]) = (&*titles, found.as_mut_slice())
                && let joined = fields::date(&format!("{} {said}", day.when.said), here)
                && joined.meaning.is_ok()
            {
                day.when = joined;
                continue;
            }
            let when = fields::date(said, here);
            if when.meaning.is_ok() {
                found.push(Date { place, when });
                continue;
            }
            let alone = fields::date_alone(said, &Utterance::new(said).words, here);
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
                title.said = fields::tidy(whole.trim_matches(QUOTES));
                title.place.end = cut;
                let date = said.get(mention.place).unwrap_or_default();
                found.push(Date { place: cut..place.end, when: fields::date(date, here) });
            } else {
                found.push(Date { place, when });
            }
        }
        found
    }

    /// Where dates stand: a date and its zone, or a day and its time, are one if no other part comes between them.
    pub(super) fn date_places(&self, clause: &Clause) -> Vec<Range<usize>> {
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
}

/// "whenever", "someday": no date, and no hurry.
pub(super) fn is_vague(said: &str) -> bool {
    const VAGUE: &str = "whenever|someday|some day|sometime|some time|eventually|later|soon|at some point|whenever i can|one day";
    has_word(VAGUE, &said.to_lowercase())
}
