//! Texts of the document, as agents read them: on one line, and no longer than they are worth.

use serde_json::{Map, Value};
use toolroom_work::step;

/// The longest description of a tool and of a field, in characters: agents pay for them in every conversation.
const TOOL: usize = 600;
const FIELD: usize = 240;

/// What the tool of an operation says of itself.
pub(crate) fn description(
    operation: &Map<String, Value>,
    id: Option<&str>,
    place: &str,
    title: &str,
    returns: Option<&str>,
) -> String {
    let said = |field: &str| operation.get(field).and_then(Value::as_str).map(|text| shortened(text, TOOL));
    let (summary, long) = (said("summary").unwrap_or_default(), said("description").unwrap_or_default());
    let mut text = match (summary.is_empty(), long.is_empty()) {
        (true, true) => {
            sentence(&id.map_or_else(|| place.to_owned(), |id| crate::names::kebab(id).replace('-', " ")))
        }
        (true, false) => sentence(&long),
        (false, true) => sentence(&summary),
        (false, false) if long.starts_with(summary.trim_end_matches('.')) => sentence(&long),
        (false, false) => format!("{} {}", sentence(&summary), sentence(&long)),
    };
    text.push_str(&format!(" Use it for {place} of {}.", shortened(title, 60)));
    let returns = returns.map(|returns| shortened(returns, 120)).filter(|returns| !returns.is_empty());
    match returns {
        Some(returns) => text.push_str(&format!(" Returns: {}", sentence(&returns))),
        None => text.push_str(" Returns what the service answers."),
    }
    text
}

/// The description of a field.
pub(crate) fn field(text: &str) -> String {
    shortened(text, FIELD)
}

/// One line of at most so many characters, cut behind a sentence or else a word.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        step(1 + word.len() / 8);
        let length = word.chars().count();
        if count + length + 1 > most {
            // Half a text that ends well is worth more than a whole one that breaks off.
            let end = line.rfind(". ").filter(|end| *end * 2 >= line.len());
            return match end {
                Some(end) => line[..=end].to_owned(),
                None if line.is_empty() => word.chars().take(most).collect(),
                None => format!("{line}…"),
            };
        }
        if !line.is_empty() {
            line.push(' ');
            count += 1;
        }
        line.extend(word.chars().filter(|letter| !letter.is_control()));
        count += length;
    }
    line
}

fn sentence(text: &str) -> String {
    let text = text.trim_end();
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?', '…', ':']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_end_behind_a_sentence_or_a_word() {
        assert_eq!(shortened("One  two.\nThree four five", 18), "One two.");
        assert_eq!(shortened("onetwothree four five", 16), "onetwothree four…");
        assert_eq!(shortened("abcdefgh", 4), "abcd");
    }
}
