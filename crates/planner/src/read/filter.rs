//! Which tasks are meant by their kind: done or open, priority, dates, labels.

use jiff::ToSpan;
use jiff::civil::Date;
use toolroom_when::mentions;

use super::target::{TASK_NOUNS, trimmed};
use super::{Here, fields, priority};
use crate::text::{Kind, Word, begins, find, find_any, raw};
use crate::wish::{DueRange, Filter, Sort, Target};
use crate::words::patterns;

const DONE: &str = "completed|done|finished|complete|closed|ticked|checked";
const OPEN: &str = "pending|open|incomplete|unfinished|active|outstanding|remaining|uncompleted|undone|left|current|unchecked|upcoming|still";

/// What the words say of status, priority, dates, labels and order.
pub(crate) fn read(text: &str, words: &[Word], here: &Here<'_>) -> Filter {
    let mut filter = Filter { done: status(words), priority: priority::of_list(words), ..Filter::default() };
    filter.tag = fields::tag_of_list(text, words);
    filter.due = due(text, words, here);
    filter.sort = sort(words);
    if filter.due == Some(DueRange::Overdue) {
        filter.done = Some(false);
    }
    filter.about = about(text, words);
    filter.counts = find_any(words, &["how many", "count", "number of"]).is_some();
    filter
}

/// A filter from a question; what is asked about doing is open.
pub(super) fn asked(text: &str, words: &[Word], here: &Here<'_>) -> Filter {
    let mut found = read(text, words, here);
    let to_do = find_any(
        words,
        &["to do|finish|complete|get", "should i do", "next", "due", "left", "do today|tomorrow|next"],
    )
    .is_some();
    let has_done = find_any(
        words,
        &["have|ive|did i? done|completed|finished|complete|finish|accomplish|accomplished|do"],
    )
    .is_some()
        && find_any(words, &["have to", "do i have", "still"]).is_none();
    if has_done {
        found.done = Some(true);
        // When something was done is not kept in its due date.
        found.due = None;
    } else if to_do && found.done.is_none() && found.sort.is_none() && found.due != Some(DueRange::Never) {
        found.done = Some(false);
    }
    // "show me my bills", "which bills are open?"
    if found.about.is_none() && found.due.is_none() {
        let rest = begins(words, "show|list|see|view|display|give|get|what|which|are|me|us|all|my|the|of*");
        let rest = words.get(rest.unwrap_or(words.len())..).unwrap_or_default();
        let end =
            rest.iter().position(|word| word.is_sign() || word.is_any("are|is|do|have|that|which|left"));
        let rest = trimmed(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default());
        let is_name = |word: &Word| word.kind == Kind::Plain && !is_kind(word);
        let names = (1..=3).contains(&rest.len()) && rest.iter().all(is_name);
        found.about = names.then(|| raw(text, rest).to_owned());
    }
    found
}

/// "the dentist tasks", "my car stuff": words before the noun that are no kind of task.
fn about(text: &str, words: &[Word]) -> Option<String> {
    let noun = words.iter().position(|word| {
        word.is_any("tasks|todos|stuff|things|items|ones|reminders|chores|entries|task|todo|thing")
    })?;
    let before = words.get(..noun)?;
    let is_name = |word: &&Word| {
        word.kind == Kind::Plain
            && !is_kind(word)
            && !word.is_any(super::courtesy::VERBS)
            && !word.is_any("any|all|what|which|me|us|our|a|an|many|much|how|some|every|each|other|for|about|please|can|you|could|do|these|those|only|just|left|remaining|next|last|first|new|more|most|few|top|anything|to-do")
    };
    let count = before.iter().rev().take_while(is_name).count();
    let named = before.get(before.len() - count..)?;
    (!named.is_empty() && named.len() <= 3).then(|| raw(text, named).to_owned())
}

fn sort(words: &[Word]) -> Option<Sort> {
    let place = find_any(
        words,
        &["sorted|sort|ordered|order|arranged|arrange|ranked by the|their?", "alphabetically", "in order of"],
    )?;
    let said = words.get(place.start..(place.end + 2).min(words.len()))?;
    let names = |names: &str| said.iter().any(|word| word.is_any(names));
    match () {
        () if names("priority|importance|urgency") => Some(Sort::Priority),
        () if names("title|name|alphabetically|alphabet") => Some(Sort::Title),
        () if names("due|date|deadline") => Some(Sort::Due),
        () => None,
    }
}

fn status(words: &[Word]) -> Option<bool> {
    let not_done = find_any(words, patterns("not done"));
    if not_done.is_some() {
        return Some(false);
    }
    let done = words.iter().any(|word| word.is_any(DONE));
    let open = words.iter().any(|word| word.is_any(OPEN))
        || find_any(words, &["to do", "need|have|has|supposed to", "not done", "to be done"]).is_some();
    match (done, open) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

fn due(text: &str, words: &[Word], here: &Here<'_>) -> Option<DueRange> {
    if find_any(
        words,
        &["overdue", "past due", "late tasks|todos|items|ones", "missed|past deadline|deadlines"],
    )
    .is_some()
    {
        return Some(DueRange::Overdue);
    }
    if find_any(words, &["no|without a|any? due|deadline|deadlines|date", "not|isnt|arent due"]).is_some() {
        return Some(DueRange::Never);
    }
    let today = here.today();
    let monday = days(today, -i64::from(today.weekday().to_monday_zero_offset()))?;
    if find(words, "this|the week").is_some() {
        return Some(DueRange::Between(monday, days(monday, 6)?, "this week".into()));
    }
    if find(words, "next week").is_some() {
        return Some(DueRange::Between(days(monday, 7)?, days(monday, 13)?, "next week".into()));
    }
    if find(words, "this|the weekend").is_some() {
        return Some(DueRange::Between(days(monday, 5)?, days(monday, 6)?, "this weekend".into()));
    }
    if find(words, "this|the month").is_some() {
        return Some(DueRange::Between(today.first_of_month(), today.last_of_month(), "this month".into()));
    }
    if let Some(range) = month(words, here) {
        return Some(range);
    }
    let said = raw(text, words);
    let mention =
        mentions(said, here.now, here.zone).into_iter().find_map(|one| Some((one.place, one.meaning.ok()?)));
    let (place, meaning) = mention?;
    let date = meaning.due.date_in(here.zone);
    let before = said.get(..place.start)?.trim_end().to_lowercase();
    let phrase = said.get(place.clone())?.to_lowercase();
    let until = before.ends_with("before") || before.ends_with("until") || phrase.starts_with("by ");
    let first = if until { Date::constant(1970, 1, 1) } else { date };
    let last = if before.ends_with("before") { days(date, -1)? } else { date };
    let named = if until { format!("until {last}") } else { meaning.echo };
    Some(DueRange::Between(first, last, named))
}

/// "in december", "next month".
fn month(words: &[Word], here: &Here<'_>) -> Option<DueRange> {
    let place = find_any(words, &["in|for|during|until|by|next|this"])?;
    let name = words.get(place.end)?;
    let is_next = words.get(place.start)?.is("next") && name.is("month");
    let phrase = if is_next { "end of next month".to_owned() } else { format!("end of {}", name.low) };
    let is_month =
        is_next || name.low.len() > 2 && !name.is_any("month|week|year|day|today|tomorrow|quarter");
    let last = toolroom_when::parse(&phrase, here.now, here.zone).ok().filter(|_| is_month)?;
    let last = last.due.date_in(here.zone);
    (last == last.last_of_month())
        .then(|| DueRange::Between(last.first_of_month(), last, format!("in {}", last.strftime("%B %Y"))))
}

fn days(date: Date, count: i64) -> Option<Date> {
    date.checked_add(count.days()).ok()
}

const EXCEPT: &[&str] = &["except|excluding|besides|minus for?", "apart|other|aside from|than", "but not?"];

/// The words of the tasks that are not meant: "everything except the milk".
pub(super) fn except(text: &str, words: &[Word], here: &Here<'_>) -> Option<String> {
    let place = find_any(words, EXCEPT).filter(|place| place.start > 0)?;
    let rest = words.get(place.end..)?;
    let end = rest.iter().position(|word| word.is_any("as|to|done") || word.is_sign()).unwrap_or(rest.len());
    match super::target::read(text, rest.get(..end)?, here) {
        Target::Words(spared) => Some(spared),
        _ => None,
    }
}

/// "everything", "all my completed tasks", "every task", "completed tasks", "the whole list".
pub(super) fn all(text: &str, words: &[Word], here: &Here<'_>) -> Option<Filter> {
    let words = trimmed(words);
    if let Some(place) = find_any(words, EXCEPT).filter(|place| place.start > 0) {
        let filter = all(text, words.get(..place.start)?, here)?;
        return Some(Filter { except: Some(except(text, words, here)?), ..filter });
    }
    if words.iter().any(|word| word.kind == Kind::Quoted || word.is_hash_number()) {
        return None;
    }
    let lead = begins(words, "all|every|each|everything|any|the|my|of|whole|entire|full|those|these|our*")
        .unwrap_or(0);
    let said_all =
        words.get(..lead)?.iter().any(|word| word.is_any("all|every|each|everything|whole|entire|any"));
    let rest = words.get(lead..)?;
    let mut filter = read(text, words, here);
    if let Some(place) = find_any(rest, patterns("before what tasks are about, in a filter")) {
        let behind = trimmed(rest.get(place.end..)?);
        let is_label = behind.iter().any(|word| word.is_any("priority|tag|label|tags|due|deadline|date"));
        if !behind.is_empty() && !is_label && filter.tag.is_none() {
            filter =
                Filter { text: Some(unquoted(text, behind)), ..read(text, rest.get(..place.start)?, here) };
        }
    }
    let plural = rest.iter().any(|word| {
        word.is_any("tasks|todos|items|reminders|ones|entries|chores|list|things|stuff|lists|everything")
    });
    let only_kinds = rest.iter().all(|word| word.is_sign() || is_kind(word));
    let kind = filter.done.is_some()
        || filter.priority.is_some()
        || filter.due.is_some()
        || filter.tag.is_some()
        || filter.text.is_some();
    let meant = match (said_all, plural) {
        (true, true) => true,
        (true, false) => rest.is_empty() || only_kinds,
        (false, true) => {
            kind && (only_kinds || filter.text.is_some() || filter.due.is_some() || filter.tag.is_some())
                || begins(words, "my|the whole|entire|full|todo|task? list|tasks|todos") == Some(words.len())
        }
        (false, false) => false,
    };
    meant.then_some(filter)
}

fn unquoted(text: &str, words: &[Word]) -> String {
    match words {
        [one] if one.kind == Kind::Quoted => text.get(one.inner.clone()).unwrap_or_default().to_owned(),
        words => raw(text, words).to_owned(),
    }
}

/// Words that describe tasks without naming one.
fn is_kind(word: &Word) -> bool {
    word.is_any(TASK_NOUNS)
        || word.is_any(DONE)
        || word.is_any(OPEN)
        || word.is_any("high|low|medium|urgent|important|priority|overdue|due|today|tomorrow|this|next|week|month|ones|already|been|have|are|is|that|thats|which|were|marked|as|i|ive|my|the|with|and|list|things|stuff|of|them|it|in|on|not|yet|by|old|to|do|at|once|lists|everything|all")
}
