//! The limits on the texts of decks and cards. Strings are trimmed, then counted in Unicode scalar values.

use toolroom_contract::ToolError;

use crate::text::{limit, no_controls};

const LONGEST_NAME: usize = 100;
const LONGEST_DESCRIPTION: usize = 1000;
const LONGEST_SIDE: usize = 4000;

/// The name of a deck: one line, not empty.
pub(super) fn name(text: &str) -> Result<String, ToolError> {
    let text = text.trim();
    limit("/name", text, 1, LONGEST_NAME)?;
    no_controls("/name", text)?;
    Ok(text.to_owned())
}

/// The description of a deck; an empty one is none.
pub(super) fn description(text: &str) -> Result<Option<String>, ToolError> {
    let text = many_lines("/description", text, 0, LONGEST_DESCRIPTION)?;
    Ok((!text.is_empty()).then_some(text))
}

/// The front or the back of a card: any lines, not empty.
pub(super) fn side(pointer: &str, text: &str) -> Result<String, ToolError> {
    many_lines(pointer, text, 1, LONGEST_SIDE)
}

fn many_lines(pointer: &str, text: &str, least: usize, most: usize) -> Result<String, ToolError> {
    let text = text.replace("\r\n", "\n");
    let text = text.trim();
    limit(pointer, text, least, most)?;
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Err(ToolError::invalid(
            pointer,
            "must not contain control characters other than line feeds and tabs",
        ));
    }
    Ok(text.to_owned())
}
