//! What a sentence says about a task that is to be made: title, date, priority, labels, description.

use toolroom_when::{Mention, WhenError, mentions};

use super::Here;
use super::priority::{ANYWHERE, AT_AN_EDGE};
use crate::text::{Kind, Word, begins, begins_any, find, find_any, raw};
use crate::wish::{Draft, Priority, When};
use crate::words::patterns;

/// Reads the words behind the head of a command: everything that is nothing else is the title.
pub(crate) fn draft(text: &str, words: &[Word], here: &Here<'_>) -> Draft {
    let mut cutter = Cutter { text, words, cut: vec![false; words.len()] };
    let description = cutter.description();
    let tags = cutter.tags();
    let done = cutter.take(patterns("done already"));
    let with_date = cutter.cut.clone();
    let due = cutter.date(here);
    let priority = cutter.priority();
    let title = cutter.title();
    // Once more, with the date left in.
    cutter.cut = with_date;
    cutter.priority();
    let undated = due.as_ref().and_then(|_| cutter.title());
    Draft { title, description, priority, due, tags, done, undated }
}

/// A sentence with the words that are used up struck out.
struct Cutter<'a> {
    text: &'a str,
    words: &'a [Word],
    cut: Vec<bool>,
}

impl Cutter<'_> {
    fn strike(&mut self, range: std::ops::Range<usize>) {
        self.cut.iter_mut().take(range.end).skip(range.start).for_each(|cut| *cut = true);
    }

    fn take(&mut self, patterns: &[&str]) -> bool {
        let found = patterns
            .iter()
            .find_map(|pattern| find(self.words, pattern))
            .filter(|place| self.is_tail(place.end));
        if let Some(place) = found.clone() {
            self.strike(place);
        }
        found.is_some()
    }

    /// Whether nothing that counts comes behind a place.
    fn is_tail(&self, from: usize) -> bool {
        self.words
            .iter()
            .zip(&self.cut)
            .skip(from)
            .all(|(word, cut)| *cut || word.is_sign() || word.is_any("please|pls|thanks|ok"))
    }

    /// Whether nothing that counts comes before a place.
    fn is_front(&self, until: usize) -> bool {
        self.words.iter().zip(&self.cut).take(until).all(|(word, cut)| *cut || word.is_sign())
    }

    fn description(&mut self) -> Option<String> {
        let patterns = patterns("before a description");
        let place = patterns.iter().enumerate().find_map(|(at, pattern)| {
            let place = find(self.words, pattern).filter(|place| place.start > 0)?;
            let colon = self.words.get(place.end).is_some_and(|word| word.kind == Kind::Sign(':'));
            (at == 0 || colon).then_some(place)
        })?;
        let rest = self.words.get(place.end..)?;
        let skip = rest.iter().take_while(|word| word.is_sign()).count();
        let said = rest.get(skip..).filter(|said| !said.is_empty())?;
        let (value, length) = match said.first() {
            Some(word) if word.kind == Kind::Quoted => {
                (self.text.get(word.inner.clone())?.to_owned(), skip + 1)
            }
            _ => (raw(self.text, said).trim().trim_end_matches('.').to_owned(), rest.len()),
        };
        let start = place.start
            - usize::from(place.start > 0 && self.words.get(place.start - 1).is_some_and(Word::is_sign));
        self.strike(start..place.end + length);
        Some(value)
    }

    fn tags(&mut self) -> Vec<String> {
        let mut tags = Vec::new();
        let lead = patterns("before a label");
        let found = lead.iter().enumerate().find_map(|(at, pattern)| {
            let place = find(self.words, pattern).filter(|place| place.start > 0)?;
            let colon = self.words.get(place.end).is_some_and(|word| word.kind == Kind::Sign(':'));
            (at < 3 || colon).then_some(place)
        });
        if let Some(place) = found {
            let (names, length) = names(self.text, self.words.get(place.end..).unwrap_or_default());
            if !names.is_empty() {
                self.strike(place.start..place.end + length);
                tags = names;
            }
        }
        for (at, word) in self.words.iter().enumerate() {
            let name = word.low.strip_prefix('#').filter(|name| !name.is_empty() && word.number().is_none());
            if let (Some(_), Kind::Plain, false) = (name, word.kind, self.cut[at]) {
                let said = self.text.get(word.inner.clone()).unwrap_or_default();
                tags.push(said.trim_start_matches('#').to_owned());
                self.cut[at] = true;
            }
        }
        tags
    }

    fn date(&mut self, here: &Here<'_>) -> Option<When> {
        let (first, last) = (self.words.first()?, self.words.last()?);
        let base = first.place.start;
        let said = self.text.get(base..last.place.end)?;
        let candidates: Vec<(std::ops::Range<usize>, Mention)> = mentions(said, here.now, here.zone)
            .into_iter()
            .filter_map(|mention| {
                let place = mention.place.start + base..mention.place.end + base;
                let range = self.words_of(&place)?;
                Some((range, mention))
            })
            .filter(|(range, mention)| self.is_due(range, mention))
            .collect();
        let strongest = |(range, _): &&(std::ops::Range<usize>, Mention)| {
            self.words.get(range.clone()).is_some_and(|words| words.iter().any(|word| word.is_any("due|by")))
                || self.word_before(range.start).is_some_and(|word| word.is_any("due|by"))
        };
        // Without its zone a time would be another one: it is asked about, with all that is said of the date.
        let is_doubtful = |(_, mention): &&(std::ops::Range<usize>, Mention)| {
            matches!(mention.meaning, Err(WhenError::UnknownZone(_)))
        };
        let doubtful = candidates.iter().find(is_doubtful);
        let chosen = doubtful.or_else(|| candidates.iter().find(strongest));
        let (mut range, mention) = chosen.or_else(|| candidates.first()).cloned()?;
        if doubtful.is_some() {
            candidates.iter().for_each(|(range, _)| self.strike(range.clone()));
        }
        let mut phrase = said.get(mention.place.clone())?.to_owned();
        let is_last = self.word_before(range.start).is_some_and(|word| word.is("last"));
        if is_last {
            phrase = format!("last {phrase}");
        }
        while let Some(before) = self.word_before(range.start)
            && before.is_any(
                "for|before|until|till|due|by|on|at|last|its|is|and|date|deadline|from|starting|a|with",
            )
            && (range.start > 1 || before.is_any("for|before|until|till|due|by|on|at"))
        {
            // "and" and "is" belong to the date only before "due".
            let joins = before.is_any("and|its|is|date|deadline|a|with");
            let due_follows = self
                .words
                .get(range.clone())
                .is_some_and(|words| words.iter().any(|word| word.is_any("due|date|deadline")));
            if joins && !due_follows {
                break;
            }
            range.start -= 1;
        }
        self.strike(range);
        let meaning = match mention.meaning {
            Ok(_) if is_last => Err(format!("\"{phrase}\" is in the past")),
            Ok(resolved) => Ok(resolved),
            Err(error) => Err(fault(&error)),
        };
        Some(When { said: phrase, meaning })
    }

    fn word_before(&self, at: usize) -> Option<&Word> {
        self.words.get(at.checked_sub(1)?)
    }

    /// The words of a place in the text, if none of them is used up or quoted.
    fn words_of(&self, place: &std::ops::Range<usize>) -> Option<std::ops::Range<usize>> {
        let inside = |word: &Word| word.place.start < place.end && place.start < word.place.end;
        // Words stand in their order.
        let start = self.words.partition_point(|word| word.place.end <= place.start);
        self.words.get(start).filter(|word| inside(word))?;
        let count = self.words.iter().skip(start).take_while(|word| inside(word)).count();
        let range = start..start + count;
        let free =
            self.words.get(range.clone())?.iter().all(|word| !matches!(word.kind, Kind::Quoted | Kind::Code));
        (free && !self.cut.get(range.clone())?.contains(&true)).then_some(range)
    }

    /// Whether a date is when the task is due, rather than a part of its title ("the friday report").
    fn is_due(&self, range: &std::ops::Range<usize>, mention: &Mention) -> bool {
        let Some(said) = self.words.get(range.clone()) else { return false };
        let before = self.word_before(range.start);
        let after = self.words.get(range.end);
        if before.is_some_and(|word| {
            word.is_any("the|every|each|a|my|from|between|since|of|about|our|your|his|her|their")
        }) {
            return false;
        }
        if after.is_some_and(|word| word.is_any("to|until|through"))
            && before.is_some_and(|word| word.is("from"))
        {
            return false;
        }
        let leads = said
            .first()
            .is_some_and(|word| word.is_any("by|due|on|in|at|today|tomorrow|tonight|end|eod|eow"))
            || before.is_some_and(|word| word.is_any("for|before|until|till|due|by"));
        let has_time = said
            .iter()
            .any(|word| word.low.ends_with("am") || word.low.ends_with("pm") || word.low.contains(':'));
        let at_end = self.is_tail(range.end);
        let is_mended = said.iter().any(|word| word.low.starts_with("tom") || word.low.starts_with("tm"));
        match &mention.meaning {
            Ok(_) => {
                leads
                    || has_time
                    || at_end
                    || is_mended
                    || self.is_front(range.start) && after.is_some_and(|word| word.is_sign() || word.is("to"))
            }
            Err(WhenError::UnknownZone(_)) => true,
            Err(_) => at_end || after.is_some_and(Word::is_sign),
        }
    }

    fn priority(&mut self) -> Option<Priority> {
        for (pattern, priority) in ANYWHERE {
            if let Some(place) = find(self.words, pattern) {
                let mut place = place;
                while self
                    .word_before(place.start)
                    .is_some_and(|word| word.is_any("with|at|as|its|is|set|a|and|make|it|to|of"))
                    && place.start > 1
                {
                    place.start -= 1;
                }
                self.strike(place);
                return Some(*priority);
            }
        }
        // "…, due friday, high"
        if let [.., sign, word] = self.words
            && sign.is_sign()
            && let Some(priority) = super::priority::alone(std::slice::from_ref(word))
            && word.is_any("high|medium|low")
        {
            let end = self.words.len();
            self.strike(end - 2..end);
            return Some(priority);
        }
        for (pattern, priority) in AT_AN_EDGE {
            let places: Vec<_> = (0..self.words.len())
                .filter_map(|at| begins(self.words.get(at..)?, pattern).map(|length| at..at + length))
                .collect();
            for place in places {
                let after = self.words.get(place.end);
                let leads = self.is_front(place.start)
                    && after.is_some_and(|word| {
                        matches!(word.kind, Kind::Sign(':' | ',' | '-' | '!' | '\u{2014}' | '\u{2013}'))
                    });
                if leads || (self.is_tail(place.end) && place.start > 0) {
                    let mut place = place;
                    while self.word_before(place.start).is_some_and(|word| {
                        word.is_any(
                            "its|is|this|very|really|quite|super|pretty|it|as|and|thats|marked|mark|make",
                        ) || word.kind == Kind::Sign(',')
                    }) {
                        place.start -= 1;
                    }
                    self.strike(place);
                    return Some(*priority);
                }
            }
        }
        None
    }

    fn title(&self) -> Option<String> {
        let kept: Vec<&Word> =
            self.words.iter().zip(&self.cut).filter(|(_, cut)| !**cut).map(|(word, _)| word).collect();
        let said: Vec<&&Word> = kept.iter().filter(|word| !word.is_sign()).collect();
        if let [only] = said.as_slice()
            && only.kind == Kind::Quoted
        {
            return Some(self.text.get(only.inner.clone())?.trim().to_owned());
        }
        let mut title = String::new();
        let mut before: Option<&Word> = None;
        for (at, word) in self.words.iter().enumerate() {
            if self.cut[at] || word.kind == Kind::Sign('\n') {
                continue;
            }
            // "tomorrow at 8 to take the pills"
            let joins = before.is_none() && at > 0 && self.cut.get(at - 1) == Some(&true);
            if joins && word.is_any("to|about|that|of|and") {
                continue;
            }
            // What stood apart in the text stands apart in the title.
            let gap = before.is_some_and(|before| {
                before.place.end < word.place.start || at > 0 && self.cut[at - 1] && !word.is_sign()
            });
            if gap {
                title.push(' ');
            }
            title.push_str(self.text.get(word.place.clone())?);
            before = Some(word);
        }
        let title = tidy(&title);
        (!title.is_empty()).then(|| capital(&title))
    }
}

/// Names behind "tagged": one, or several with commas and "and".
fn names(text: &str, words: &[Word]) -> (Vec<String>, usize) {
    let mut found = Vec::new();
    let mut end = 0;
    let mut wants = true;
    for (at, word) in words.iter().enumerate() {
        match word.kind {
            Kind::Sign(':') if at == 0 => {}
            Kind::Sign(',') => wants = true,
            Kind::Plain if word.is_any("and|&") => wants = true,
            Kind::Plain | Kind::Quoted if wants => {
                let name = text.get(word.inner.clone()).unwrap_or_default().trim_start_matches('#');
                found.push(name.to_owned());
                wants = false;
                end = at + 1;
            }
            _ => break,
        }
    }
    (found, end)
}

pub(super) fn tag_of_list(text: &str, words: &[Word]) -> Option<String> {
    let place = find_any(words, patterns("before a label in a filter"));
    if let Some(place) = place {
        return names(text, words.get(place.end..)?).0.into_iter().next();
    }
    let hash = words.iter().find(|word| {
        word.kind == Kind::Plain && word.low.len() > 1 && word.low.starts_with('#') && word.number().is_none()
    })?;
    Some(text.get(hash.inner.clone())?.trim_start_matches('#').to_owned())
}

/// The date that some words are, wholly.
pub(crate) fn date_alone(text: &str, words: &[Word], here: &Here<'_>) -> Option<When> {
    let words = super::target::trimmed(words);
    let words = words.get(
        begins_any(words, &["it|its|be|due|for|to|until|till|on|by|is|at|before|no|the? date|make|set*"])
            .unwrap_or(0)..,
    )?;
    let said = raw(text, words);
    let word = words.first()?;
    let is_last = word.is("last");
    match toolroom_when::parse(said, here.now, here.zone) {
        Ok(resolved) => Some(When { said: said.to_owned(), meaning: Ok(resolved) }),
        Err(WhenError::NotUnderstood(_)) if is_last => {
            let rest = raw(text, words.get(1..)?);
            toolroom_when::parse(rest, here.now, here.zone).ok()?;
            Some(When { said: said.to_owned(), meaning: Err(format!("\"{said}\" is in the past")) })
        }
        Err(WhenError::NotUnderstood(_)) => None,
        Err(error) => Some(When { said: said.to_owned(), meaning: Err(fault(&error)) }),
    }
}

/// A date phrase and what it means, or what is wrong with it.
pub(crate) fn date(said: &str, here: &Here<'_>) -> When {
    let meaning = toolroom_when::parse(said, here.now, here.zone).map_err(|error| fault(&error));
    When { said: said.to_owned(), meaning }
}

/// What is wrong with a date, for the person.
fn fault(error: &WhenError) -> String {
    match error {
        WhenError::NotUnderstood(said) => format!("I do not understand \"{said}\" as a date"),
        WhenError::Ambiguous { text, readings } => format!("\"{text}\" could mean {readings}"),
        WhenError::NoSuchDate(said) => format!("\"{said}\" does not exist"),
        WhenError::Contradiction(said) => format!("\"{said}\" says two things at once"),
        WhenError::UnknownZone(said) => {
            format!("\"{said}\" is not one time zone beyond doubt; name a place, such as \"3pm London time\"")
        }
        WhenError::OutOfRange(said) => format!("\"{said}\" is more than ten years ahead, or out of range"),
    }
}

/// A title without the signs and small words that were left at its edges.
pub(crate) fn tidy(title: &str) -> String {
    let mut title = title.trim();
    loop {
        let before = title;
        title = title.trim_matches(|c: char| {
            c.is_whitespace() || matches!(c, ',' | ';' | ':' | '-' | '\u{2013}' | '\u{2014}')
        });
        title = title.trim_end_matches(['.', '!']).trim_end();
        for word in [
            "and", "by", "on", "at", "for", "due", "to", "with", "it's", "is", "are", "then", "please", "pls",
        ] {
            let cut = title.len().saturating_sub(word.len());
            if title.is_char_boundary(cut)
                && title.get(cut..).is_some_and(|end| end.eq_ignore_ascii_case(word))
                && title.get(..cut).is_some_and(|rest| rest.ends_with(' '))
            {
                title = title.get(..cut).unwrap_or_default();
            }
        }
        if title == before {
            return title.split_whitespace().collect::<Vec<_>>().join(" ");
        }
    }
}

/// The first letter large, if the first word is in small letters.
pub(crate) fn capital(title: &str) -> String {
    let first = title.split_whitespace().next().unwrap_or_default();
    let mut chars = title.chars();
    match chars.next() {
        Some(c)
            if first.chars().all(|c| c.is_lowercase() || !c.is_alphabetic())
                && !first.contains(['.', '@', '/', '_']) =>
        {
            c.to_uppercase().chain(chars).collect()
        }
        _ => title.to_owned(),
    }
}
