//! The language of receipts and questions: text with places, and parts in brackets that are left out when a place in
//! them is empty.
//!
//! `{/data/task/due}` is what the pointer leads to; `{/data/echo|/data/due}` the first of the two that is there;
//! `{/data/priority?high|low}` only one of these values; `{/data/note:with a note}` these words instead of the value.

/// A part of a template.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Text(&'a str),
    Place(Place<'a>),
    /// Left out unless every place in it is filled.
    Group(Vec<Part<'a>>),
}

/// Where a value goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    /// Pointers, or names of what the writer knows; the first that is there counts.
    pub sources: Vec<&'a str>,
    /// The only values that count, if there are any.
    pub accepts: Option<Vec<&'a str>>,
    /// What is written instead of the value.
    pub words: Option<&'a str>,
}

/// The longest template, in bytes.
pub(super) const LONGEST: usize = 400;

/// Reads a template.
pub(super) fn parse(template: &str) -> Result<Vec<Part<'_>>, String> {
    if template.is_empty() || template.len() > LONGEST {
        return Err(format!("a template has 1 to {LONGEST} bytes"));
    }
    if template.chars().any(crate::text::is_hidden) {
        return Err("a template has no control characters, line ends or marks of direction".to_owned());
    }
    let (parts, rest) = parts(template, false)?;
    if rest.is_empty() { Ok(parts) } else { Err(format!("'{template}' closes a bracket that is not open")) }
}

/// The parts up to the end, or to the bracket that closes a group.
fn parts(mut text: &str, in_group: bool) -> Result<(Vec<Part<'_>>, &str), String> {
    let mut parts = Vec::new();
    loop {
        toolroom_work::step(1);
        let at = text.find(['{', '}', '[', ']']).unwrap_or(text.len());
        let (plain, rest) = text.split_at(at);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        let mut letters = rest.chars();
        match letters.next() {
            None if in_group => return Err("a bracket '[' is not closed".to_owned()),
            None => return Ok((parts, "")),
            Some('{') => {
                let (place, rest) =
                    letters.as_str().split_once('}').ok_or("a brace '{' is not closed".to_owned())?;
                parts.push(Part::Place(self::place(place)?));
                text = rest;
            }
            Some('[') if !in_group => {
                let (group, rest) = self::parts(letters.as_str(), true)?;
                parts.push(Part::Group(group));
                text = rest;
            }
            Some(']') if in_group => return Ok((parts, letters.as_str())),
            Some(']') => return Ok((parts, rest)),
            Some(other) => return Err(format!("'{other}' stands alone")),
        }
    }
}

fn place(text: &str) -> Result<Place<'_>, String> {
    let (text, words) = text.split_once(':').map_or((text, None), |(text, words)| (text, Some(words)));
    let (sources, accepts) = text.split_once('?').map_or((text, None), |(text, values)| (text, Some(values)));
    let sources: Vec<&str> = sources.split('|').collect();
    let known = |source: &&str| source.starts_with('/') || NAMES.contains(source);
    if let Some(unknown) = sources.iter().find(|source| !known(source)) {
        let names = NAMES.join(", ");
        return Err(format!("'{unknown}' is no JSON pointer and none of: {names}"));
    }
    Ok(Place { sources, accepts: accepts.map(|values| values.split('|').collect()), words })
}

/// What a template can name beside pointers: its targets in words, what one is called, the title that the parameters
/// give, and the other parameters as properties or as changes.
pub(super) const NAMES: [&str; 5] = ["target", "noun", "title", "fields", "changes"];

/// Every source of a template.
pub(super) fn sources<'a>(parts: &[Part<'a>]) -> Vec<&'a str> {
    let of = |part: &Part<'a>| match part {
        Part::Text(_) => Vec::new(),
        Part::Place(place) => place.sources.clone(),
        Part::Group(group) => sources(group),
    };
    parts.iter().flat_map(of).collect()
}
