//! The trained gate's word on a message that asks for nothing the reader of tasks sees: the web, code, a person, talk.

use std::sync::LazyLock;

use toolroom_selection::{Because, Choice, Class, Index, Intent};

use super::{Here, Utterance, filter, stripped};
use crate::text::{Word, has_word};
use crate::wish::{Heard, SmallTalk, Strength, Wish};

/// The gate knows classes and intents without any catalogue.
static GATE: LazyLock<Index> = LazyLock::new(|| Index::build(&[]));

/// A search of the web or code, where the gate is sure that tasks are not meant.
pub(super) fn other_than_tasks(said: &Utterance<'_>, here: &Here<'_>) -> Option<Heard> {
    let selection = GATE.select(said.text);
    let is_other = matches!(selection.class, Some(Class::Web | Class::Code)) && selection.acts();
    let is_sure = selection.chances.class(Class::Tasks) < NEVER;
    (is_other && is_sure).then(|| judged(said, stripped(&said.words), here))
}

/// A chance below which tasks are not meant.
const NEVER: f64 = 0.02;

pub(super) fn judged(said: &Utterance<'_>, bare: &[Word], here: &Here<'_>) -> Heard {
    let selection = GATE.select(said.text);
    let talk = |talk| Heard { wish: Wish::SmallTalk(talk), strength: Strength::Hint };
    let strong = |wish| Heard { wish, strength: Strength::Strong };
    if let Choice::Ask(Because::Unsure) = selection.choice {
        return talk(SmallTalk::Unknown);
    }
    match (selection.class, selection.intent) {
        (Some(Class::None), _) => talk(SmallTalk::Knowledge),
        (Some(Class::Human), _) => talk(SmallTalk::Vague),
        // One word that nobody knows is not a search.
        (Some(Class::Web), _) if bare.len() < 2 => talk(SmallTalk::Unknown),
        (Some(Class::Web), _) => strong(Wish::Search(Some(question(said.text)))),
        (Some(Class::Code), _) if bare.len() < 2 => talk(SmallTalk::Vague),
        (Some(Class::Code), _) => Heard { wish: Wish::Run(None), strength: Strength::Hint },
        (Some(Class::Tasks), Some(Intent::List)) => strong(Wish::List(filter::asked(said.text, bare, here))),
        (Some(Class::Tasks), _) | (None, _) => talk(SmallTalk::Unknown),
    }
}

/// The words to search for: the question without its last sign.
fn question(said: &str) -> String {
    let said = said.trim().trim_end_matches(['?', '.', '!']).trim();
    said.chars().take(400).collect()
}

/// The words of a sentence that may stand in a title: small words and verbs of having done are left out.
pub(crate) fn key_words(said: &str) -> String {
    const SMALL: &str = "i|ive|im|the|a|an|my|is|are|was|has|have|been|already|just|so|that|this|it|got|did|done|finished|finally|now|you|can|please|mark|off|list|task|todo|one|thing|with|up|and|to|of|for|on|we|had|be|its|thats|as|in|from|too|also|no|longer|need|dont|anymore|at|went|took|picked|bought|sent|made|called|paid|tick|check|cross|delete|remove|remind|reminder|me|about|want|should|accidentally|deleted|removed|mistake|by|wrongly";
    let kept: Vec<&str> = said
        .split_whitespace()
        .filter(|word| {
            let low: String =
                word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
            !low.is_empty() && !has_word(SMALL, &low)
        })
        .collect();
    let joined = kept.join(" ");
    let joined = joined.trim_matches(|c: char| !c.is_alphanumeric());
    if joined.is_empty() { said.to_owned() } else { joined.to_owned() }
}
