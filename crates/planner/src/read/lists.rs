//! Lists that were pasted, a line for each task, and titles that stand alone: answers to "what shall it be called?".

use super::courtesy::{stripped, unsigned};
use super::tagged::Tagged;
use super::{Here, Utterance, fields, spans};
use crate::text::{Kind, Word, begins_any, raw};
use crate::wish::{Draft, Wish};
use crate::words::patterns;

/// More lines than this are no list of tasks.
const MOST_ITEMS: usize = 50;

/// A list that was pasted: a line for each task, every one with a mark or a number before it. What heads it ends with a
/// colon.
pub(crate) fn pasted(said: &Utterance<'_>, here: &Here<'_>) -> Option<Vec<Draft>> {
    let lines: Vec<&[Word]> = numbered(&said.words).unwrap_or_else(|| {
        said.words.split(|word| word.kind == Kind::Sign('\n')).filter(|line| !line.is_empty()).collect()
    });
    let is_item = |line: &&[Word]| {
        let marked = matches!(
            line.first().map(|word| word.kind),
            Some(Kind::Sign('-' | '*' | '\u{2022}' | '\u{2013}' | '['))
        );
        line.len() > 1 && (marked || unnumbered(line).len() < line.len())
    };
    let head = lines.iter().take_while(|line| !is_item(line)).count();
    let items = lines.get(head..)?;
    let is_headed = match lines.get(..head)? {
        [] => true,
        [only] => only.last().is_some_and(|word| word.kind == Kind::Sign(':')),
        _ => false,
    };
    if !is_headed || !(2..=MOST_ITEMS).contains(&items.len()) || !items.iter().all(is_item) {
        return None;
    }
    let draft = |line: &&[Word]| one(raw(said.text, unsigned(unnumbered(unsigned(line)))), here);
    let drafts: Vec<Draft> = items.iter().filter_map(draft).collect();
    (drafts.len() == items.len()).then_some(drafts)
}

/// "add three tasks: a, b and c", or a line for each behind such words.
pub(super) fn several(said: &Utterance<'_>, here: &Here<'_>) -> Option<Vec<Draft>> {
    let words = stripped(&said.words);
    let head = begins_any(words, patterns("heads a list of tasks"))?;
    let rest = words.get(head..)?;
    rest.first().filter(|word| matches!(word.kind, Kind::Sign(':' | '-' | '\n')))?;
    let parted = |is_joint: fn(&Word) -> bool| -> Vec<&[Word]> {
        let parts = rest.split(is_joint).map(|part| unsigned(unnumbered(unsigned(part))));
        parts.filter(|part| !part.is_empty()).collect()
    };
    let lines = parted(|word| word.kind == Kind::Sign('\n'));
    let commas = parted(|word| matches!(word.kind, Kind::Sign(',' | ';')) || word.is_any("and|&"));
    let items = if lines.len() > 1 { lines } else { commas };
    let drafts: Vec<Draft> = items.iter().filter_map(|item| one(raw(said.text, item), here)).collect();
    (2..=MOST_ITEMS).contains(&drafts.len()).then_some(drafts)
}

/// The tasks that an answer to "what shall it be called?" names; none if it names nothing.
pub(crate) fn named(text: &str, here: &Here<'_>) -> Vec<Draft> {
    let text = text.trim().trim_end_matches(['.', '!']);
    let asked = format!("add: {text}");
    let seen = Tagged::new(&asked).wishes(here);
    let drafts: Vec<Draft> = seen
        .into_iter()
        .flat_map(|seen| match seen.wish {
            Wish::Create(drafts) => drafts,
            _ => Vec::new(),
        })
        .collect();
    if !drafts.is_empty() {
        return drafts;
    }
    let title = fields::capital(&fields::tidy(text.trim_matches(spans::QUOTES)));
    let names = title.chars().any(char::is_alphanumeric) && !spans::is_reference(&title);
    if names { vec![Draft { title: Some(title), ..Draft::default() }] } else { Vec::new() }
}

/// One line of a list: one task, whatever its words.
fn one(line: &str, here: &Here<'_>) -> Option<Draft> {
    let mut drafts = named(line, here);
    if drafts.len() == 1 {
        return drafts.pop();
    }
    let title = fields::capital(&fields::tidy(line));
    (!title.is_empty()).then(|| Draft { title: Some(title), ..Draft::default() })
}

/// "1. feed the cat 2. lock the shed" in one line.
fn numbered(words: &[Word]) -> Option<Vec<&[Word]>> {
    let is_mark = |at: &usize, number: i64| {
        let sign = words.get(at + 1).map(|word| word.kind);
        words.get(*at).and_then(Word::number) == Some(number) && matches!(sign, Some(Kind::Sign('.' | ')')))
    };
    let mut starts = Vec::new();
    for at in 0..words.len() {
        if is_mark(&at, starts.len() as i64 + 1) {
            starts.push(at);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([words.len()]);
    let is_list = starts.len() > 1 && starts.first() == Some(&0);
    is_list.then(|| starts.iter().zip(ends).filter_map(|(start, end)| words.get(*start..end)).collect())
}

/// "1) buy milk" without its number.
fn unnumbered(words: &[Word]) -> &[Word] {
    match words {
        [number, sign, rest @ ..]
            if number.number().is_some() && matches!(sign.kind, Kind::Sign(')' | '.' | ':')) =>
        {
            unsigned(rest)
        }
        _ => words,
    }
}
