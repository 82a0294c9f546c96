//! The limits on texts. Strings are trimmed, then counted in Unicode scalar values, and stored trimmed.

use toolroom_contract::ToolError;
use toolroom_contract::text::{line_feeds, one_line};

const LONGEST_TITLE: usize = 255;
const LONGEST_DESCRIPTION: usize = 2000;
const LONGEST_TAG: usize = 50;
/// Tags that one task may carry.
pub(super) const MOST_TAGS: usize = 20;

/// A title: one line, not empty.
pub(crate) fn title(text: &str) -> Result<String, ToolError> {
    let line = one_line(text);
    let text = line.trim();
    limit("/title", text, 1, LONGEST_TITLE)?;
    no_controls("/title", text)?;
    Ok(text.to_owned())
}

/// A description; an empty one is none.
pub(crate) fn description(text: &str) -> Result<Option<String>, ToolError> {
    let lines = line_feeds(text);
    let text = lines.trim();
    limit("/description", text, 0, LONGEST_DESCRIPTION)?;
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        let message = "must not contain control characters other than line feeds and tabs";
        return Err(ToolError::invalid("/description", message));
    }
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

/// Tags, each once whatever its case; the first spelling stays.
pub(crate) fn tags(field: &str, given: &[String]) -> Result<Vec<String>, ToolError> {
    let mut tags = Vec::with_capacity(given.len());
    for (at, tag) in given.iter().enumerate() {
        let tag = tag.trim();
        let pointer = format!("/{field}/{at}");
        limit(&pointer, tag, 1, LONGEST_TAG)?;
        no_controls(&pointer, tag)?;
        add_tag(&mut tags, tag);
    }
    at_most_tags(field, &tags)?;
    Ok(tags)
}

/// Whether a task may carry all of these.
pub(crate) fn at_most_tags(field: &str, tags: &[String]) -> Result<(), ToolError> {
    if tags.len() <= MOST_TAGS {
        return Ok(());
    }
    let message = format!("must leave the task with at most {MOST_TAGS} tags");
    Err(ToolError::invalid(format!("/{field}"), message))
}

/// Adds a tag unless it is there, ignoring case.
pub(crate) fn add_tag(tags: &mut Vec<String>, tag: &str) {
    if !tags.iter().any(|one| is_same_tag(one, tag)) {
        tags.push(tag.to_owned());
    }
}

pub(crate) fn is_same_tag(one: &str, other: &str) -> bool {
    one == other || one.to_lowercase() == other.to_lowercase()
}

/// Refuses what no stored text can hold, in a text that is looked for.
pub(crate) fn no_controls(pointer: &str, text: &str) -> Result<(), ToolError> {
    if text.chars().any(char::is_control) {
        return Err(ToolError::invalid(pointer, "must not contain control characters"));
    }
    Ok(())
}

/// In the words of the schema's own refusals, which the profiles translate.
pub(crate) fn limit(pointer: &str, text: &str, least: usize, most: usize) -> Result<(), ToolError> {
    if least > 0 && text.is_empty() {
        return Err(ToolError::invalid(pointer, "must not be empty"));
    }
    // A text has at least a quarter as many characters as bytes: long ones need not be counted.
    if text.len() > most * 4 || text.chars().count() > most {
        return Err(ToolError::invalid(pointer, format!("must have at most {most} characters")));
    }
    Ok(())
}
