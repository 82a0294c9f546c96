//! A message cut into words, each with its place; quotations and code stay whole and are never read as commands.

use std::ops::Range;

use super::typos;

/// Words and signs of a message that are read. A longer message is not acted on: what was left out could change its
/// meaning.
pub(crate) const MOST_WORDS: usize = 600;
/// How often a word of a pattern may come again.
const MOST_REPEATS: usize = 24;
/// Words that are looked at for slips of the pen.
const CHECKED_FOR_SLIPS: usize = 80;

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A run of characters between spaces, without the signs at its edges.
    Plain,
    /// Something in quotation marks.
    Quoted,
    /// Something between back ticks.
    Code,
    /// A sign that stands between words.
    Sign(char),
}

/// A word and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub kind: Kind,
    /// In lower case, without apostrophes; for code the language.
    pub low: String,
    /// The whole of it, marks included, in bytes.
    pub place: Range<usize>,
    /// What stands between the marks.
    pub inner: Range<usize>,
    /// The command word that this one was probably meant to be.
    meant: Option<&'static str>,
}

impl Word {
    /// Whether it is this word, slips of the pen aside.
    pub(crate) fn is(&self, word: &str) -> bool {
        toolroom_work::step(1);
        self.kind == Kind::Plain && (self.low == word || self.meant == Some(word))
    }

    /// Whether it is one of these words, parted by `|`.
    pub(crate) fn is_any(&self, words: &str) -> bool {
        !toolroom_work::is_spent() && words.split('|').any(|word| self.is(word))
    }

    pub(crate) fn is_sign(&self) -> bool {
        matches!(self.kind, Kind::Sign(_))
    }

    /// A whole number, with or without `#` before it.
    pub(crate) fn number(&self) -> Option<i64> {
        let digits = self.low.strip_prefix('#').unwrap_or(&self.low);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| is_number && self.kind == Kind::Plain)
    }

    /// Whether it names a task by its number: `#12`.
    pub(crate) fn is_hash_number(&self) -> bool {
        self.low.starts_with('#') && self.number().is_some()
    }
}

/// Cuts a message into words, and says whether that was all of it.
pub(crate) fn words(text: &str) -> (Vec<Word>, bool) {
    let mut found = Vec::new();
    let mut at = 0;
    let mut whole = true;
    // Where a quotation has no end, a later one of its kind has none either.
    let mut unclosed: Vec<char> = Vec::new();
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        toolroom_work::step(1);
        if found.len() >= MOST_WORDS && !c.is_whitespace() {
            whole = false;
            break;
        }
        if c.is_whitespace() {
            if c == '\n' && found.len() < MOST_WORDS {
                found.push(sign('\n', at));
            }
            at += c.len_utf8();
            continue;
        }
        if let Some(word) = code(text, at).or_else(|| quoted(text, at, c, &mut unclosed)) {
            at = word.place.end;
            found.push(word);
            continue;
        }
        if is_edge(c) && !begins_word(text, at, c) {
            found.push(sign(c, at));
            at += c.len_utf8();
            continue;
        }
        let end = end_of_word(text, at);
        found.push(plain(text, at..end));
        at = end;
    }
    for word in found.iter_mut().filter(|word| word.kind == Kind::Plain).take(CHECKED_FOR_SLIPS) {
        word.meant = typos::meant(&word.low);
    }
    // "would you mind adding milk" asks for it; elsewhere "adding" is not a command.
    for at in 1..found.len() {
        if found.get(at - 1).is_some_and(|word| word.low == "mind")
            && let Some(word) = found.get_mut(at)
        {
            word.meant = typos::base(&word.low).or(word.meant);
        }
    }
    (found, whole)
}

fn sign(c: char, at: usize) -> Word {
    let place = at..at + c.len_utf8();
    Word { kind: Kind::Sign(c), low: c.to_string(), inner: place.clone(), place, meant: None }
}

fn plain(text: &str, place: Range<usize>) -> Word {
    toolroom_work::step(place.len());
    let raw = text.get(place.clone()).unwrap_or_default();
    let letters = raw.chars().filter(|c| !matches!(c, '\'' | '\u{2019}' | '\u{2018}'));
    let low: String = letters.flat_map(char::to_lowercase).collect();
    let low = match low.as_str() {
        "to-do" => "todo".into(),
        "to-dos" | "todos" | "to-do's" => "todos".into(),
        "un-delete" => "undelete".into(),
        "re-open" => "reopen".into(),
        "un-complete" => "uncomplete".into(),
        _ => low,
    };
    Word { kind: Kind::Plain, low, inner: place.clone(), place, meant: None }
}

/// Signs that are not part of a word at its edges.
fn is_edge(c: char) -> bool {
    matches!(
        c,
        ',' | ';'
            | '.'
            | ':'
            | '!'
            | '?'
            | '('
            | ')'
            | '['
            | ']'
            | '"'
            | '\''
            | '\u{2018}'
            | '\u{2019}'
            | '\u{201c}'
            | '\u{201d}'
            | '\u{ab}'
            | '\u{bb}'
            | '-'
            | '\u{2013}'
            | '\u{2014}'
            | '\u{2026}'
            | '*'
            | '\u{2022}'
            | '`'
            | '<'
            | '>'
    )
}

/// A minus before a digit belongs to it, and so does a dot.
fn begins_word(text: &str, at: usize, c: char) -> bool {
    let next = text.get(at + 1..).and_then(|rest| rest.chars().next());
    c == '-' && next.is_some_and(|next| next.is_ascii_digit())
        || c == '.' && next.is_some_and(char::is_alphanumeric)
}

/// A word goes on to the next space, or a comma or semicolon that is not inside a number; signs at its end are not
/// part of it.
fn end_of_word(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let mut end = rest.len();
    let mut before = ' ';
    for (at, c) in rest.char_indices() {
        let after = rest.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
        let inside_number = before.is_ascii_digit() && after.is_ascii_digit();
        let parts = matches!(c, ',' | ';' | '\u{2014}' | '"' | '\u{201c}' | '\u{201d}') && !inside_number;
        let is_colon_before_word = c == ':' && before.is_alphabetic() && after.is_alphabetic();
        if at > 0 && (c.is_whitespace() || parts || is_colon_before_word) {
            end = at;
            break;
        }
        before = c;
    }
    let word = rest.get(..end).unwrap_or_default();
    let kept = word.trim_end_matches(is_edge);
    start + if kept.is_empty() { word.chars().next().map_or(1, char::len_utf8) } else { kept.len() }
}

/// A fence with its language, or something in single back ticks.
fn code(text: &str, at: usize) -> Option<Word> {
    let rest = text.get(at..)?;
    if let Some(body) = rest.strip_prefix("```") {
        // Without its end a fence reaches to the last sign: white space behind a message means nothing.
        let close = body.find("```").unwrap_or(body.trim_end().len());
        toolroom_work::step(body.len().min(close + 3));
        let end = (at + 3 + close + 3).min(text.len());
        let block = body.get(..close)?;
        let first = block.lines().next().unwrap_or_default().trim();
        let is_language =
            block.contains('\n') && first.len() <= 12 && first.chars().all(char::is_alphanumeric);
        let skip = if is_language { block.find('\n').map_or(0, |line| line + 1) } else { 0 };
        let low = if is_language { first.to_lowercase() } else { String::new() };
        let inner = at + 3 + skip..at + 3 + close;
        return Some(Word { kind: Kind::Code, low, place: at..end, inner, meant: None });
    }
    let body = rest.strip_prefix('`')?;
    let close = body.find('`');
    toolroom_work::step(close.unwrap_or(body.len()));
    let close = close.filter(|close| *close > 0)?;
    let inner = at + 1..at + 1 + close;
    Some(Word { kind: Kind::Code, low: String::new(), place: at..at + close + 2, inner, meant: None })
}

/// A quotation: it begins after a space or a sign and ends before one.
fn quoted(text: &str, at: usize, c: char, unclosed: &mut Vec<char>) -> Option<Word> {
    let closers: &[char] = match c {
        '"' => &['"'],
        '\'' => &['\''],
        '\u{2018}' => &['\u{2019}'],
        '\u{201c}' | '\u{201e}' => &['\u{201d}', '\u{201c}'],
        '\u{ab}' => &['\u{bb}'],
        _ => return None,
    };
    if text.get(..at)?.ends_with(char::is_alphanumeric) || unclosed.contains(&c) {
        return None;
    }
    let start = at + c.len_utf8();
    let body = text.get(start..)?;
    let close = body.char_indices().find(|(place, sign)| {
        let after = body.get(place + sign.len_utf8()..).and_then(|rest| rest.chars().next());
        closers.contains(sign) && after.is_none_or(|after| !after.is_alphanumeric())
    });
    let Some((length, sign)) = close else {
        toolroom_work::step(body.len());
        unclosed.push(c);
        return None;
    };
    toolroom_work::step(length);
    let inner = start..start + length;
    if body.get(..length)?.trim().is_empty() {
        return None;
    }
    let low = text.get(inner.clone())?.to_lowercase();
    Some(Word { kind: Kind::Quoted, low, place: at..inner.end + sign.len_utf8(), inner, meant: None })
}

/// Whether a list of words, parted by `|`, has this one.
pub(crate) fn has_word(list: &str, word: &str) -> bool {
    toolroom_work::step(1);
    list.split('|').any(|one| one == word)
}

/// Whether the words begin with a pattern, and how many words that takes. Words of a pattern are parted by spaces,
/// choices by `|`; a word that ends with `?` may be missing, one that ends with `*` may come again and again. Commas
/// between words are passed over.
pub(crate) fn begins(words: &[Word], pattern: &str) -> Option<usize> {
    if toolroom_work::is_spent() {
        return None;
    }
    matched(words, 0, pattern, 0).filter(|taken| *taken > 0)
}

/// Matches a pattern from a place on; gives the place behind it. As much as possible is taken, and given back where
/// the rest would not fit otherwise.
fn matched(words: &[Word], at: usize, pattern: &str, repeats: usize) -> Option<usize> {
    let (element, rest) = match pattern.split_once(' ') {
        Some((element, rest)) => (element, Some(rest)),
        None => (pattern, None),
    };
    let (choices, optional, many) = match (element.strip_suffix('?'), element.strip_suffix('*')) {
        (Some(choices), _) => (choices, true, false),
        (_, Some(choices)) => (choices, true, true),
        _ => (element, false, false),
    };
    let comma = at > 0 && words.get(at).is_some_and(|word| word.kind == Kind::Sign(','));
    let here = at + usize::from(comma);
    let fits = repeats < MOST_REPEATS
        && words.get(here).is_some_and(|word| choices.split('|').any(|choice| word.is(choice)));
    let go_on = |at: usize| rest.map_or(Some(at), |rest| matched(words, at, rest, 0));
    if fits {
        let taken = if many { matched(words, here + 1, pattern, repeats + 1) } else { go_on(here + 1) };
        if taken.is_some() || !optional {
            return taken;
        }
    }
    if optional { go_on(at) } else { None }
}

/// The first of several patterns that the words begin with.
pub(crate) fn begins_any(words: &[Word], patterns: &[&str]) -> Option<usize> {
    patterns.iter().find_map(|pattern| begins(words, pattern))
}

/// Where a pattern stands among the words.
pub(crate) fn find(words: &[Word], pattern: &str) -> Option<Range<usize>> {
    (0..words.len()).find_map(|at| begins(words.get(at..)?, pattern).map(|length| at..at + length))
}

pub(crate) fn find_any(words: &[Word], patterns: &[&str]) -> Option<Range<usize>> {
    patterns.iter().find_map(|pattern| find(words, pattern))
}

/// Whether the words end with a pattern, and where it begins.
pub(crate) fn ends(words: &[Word], pattern: &str) -> Option<usize> {
    // No further back than the pattern can reach, a comma before every word included.
    let reach: usize =
        pattern.split(' ').map(|element| if element.ends_with('*') { 2 * MOST_REPEATS } else { 2 }).sum();
    (words.len().saturating_sub(reach)..words.len())
        .find(|at| words.get(*at..).and_then(|rest| begins(rest, pattern)) == Some(words.len() - at))
}

/// The text that some words stand for, from the first to the last.
pub(crate) fn raw<'a>(text: &'a str, words: &[Word]) -> &'a str {
    match (words.first(), words.last()) {
        (Some(first), Some(last)) => text.get(first.place.start..last.place.end).unwrap_or_default(),
        _ => "",
    }
}
