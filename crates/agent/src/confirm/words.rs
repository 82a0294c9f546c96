//! Whether a whole message is a yes or a no.

use crate::word_list::WordList;

/// What a person said to a question that takes a yes or a no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Utterance {
    /// Yes, and nothing else.
    Yes,
    /// No, and nothing else.
    No,
    /// Anything else.
    Other,
}

/// Reads a message. Only the whole message counts, case and punctuation aside.
pub fn read(message: &str) -> Utterance {
    // Long messages are never a yes, whatever they begin with.
    if message.len() > 64 {
        return Utterance::Other;
    }
    toolroom_work::step(message.len() + YES.0.len() + NO.0.len());
    let words = plain(message);
    if YES.contains(&words) || is_yes_to_it(&words) {
        return Utterance::Yes;
    }
    if NO.contains(&words) {
        return Utterance::No;
    }
    match message.trim() {
        "👍" | "✅" => Utterance::Yes,
        "👎" | "❌" => Utterance::No,
        _ => Utterance::Other,
    }
}

/// "Yes, delete it": a yes that says once more what it is to, and nothing else.
fn is_yes_to_it(words: &str) -> bool {
    let Some(rest) = words.strip_prefix("yes ") else { return false };
    let rest = rest.strip_prefix("please ").unwrap_or(rest);
    let (verb, what) = rest.split_once(' ').unwrap_or((rest, "it"));
    ["delete", "remove", "add", "create", "update", "change", "complete", "do", "save"].contains(&verb)
        && ["it", "them", "that", "this", "all", "both", "them all", "it please", "them please"]
            .contains(&what)
}

/// Lower case, without punctuation, single spaces. A question mark stays: "yes?" is not a yes.
fn plain(message: &str) -> String {
    let kept: String = message
        .chars()
        .filter_map(|letter| match letter {
            '\'' | '’' | '‘' => None,
            '?' => Some('?'),
            letter if letter.is_alphanumeric() => Some(letter.to_ascii_lowercase()),
            letter if letter.is_whitespace() || letter.is_ascii_punctuation() || "…–—¡".contains(letter) => {
                Some(' ')
            }
            letter => Some(letter),
        })
        .collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

const YES: WordList = WordList(
    "yes|y|confirm|confirmed|ok|okay|k|sure|do it|yep|yeah|yup|ya|aye|yes please|yes do it|yes go ahead|\
    yes confirm|yes sure|yes thanks|yes thank you|yes ok|yes okay|yes yes|go ahead|go for it|please do|\
    please do it|please do so|sure thing|sure go ahead|sure do it|ok do it|okay do it|ok go ahead|\
    okay go ahead|of course|absolutely|definitely|certainly|affirmative|correct|proceed|please proceed|\
    yes please do|i confirm|approve|approved|yes i confirm|ok yes|alright|all right|yes i am sure|\
    yes im sure|i am sure",
);

const NO: WordList = WordList(
    "no|n|cancel|nevermind|never mind|dont|do not|stop|nope|nah|no thanks|no thank you|no dont|no cancel|\
    no stop|dont do it|do not do it|cancel it|cancel that|please dont|no way|forget it|leave it|keep it|\
    abort|deny|denied|decline|not now|no please dont|negative|no keep it|no leave it|no nevermind|\
    no forget it",
);
