//! The trained gate's word on what the rules cannot tell by themselves.

use std::sync::LazyLock;

use toolroom_selection::{Because, Choice, Class, Index, Intent, Selection};

use super::target::{self, speaks_of_tasks};
use super::{Here, filter, slots};
use crate::text::{Kind, Word, find_any, has_word, raw};
use crate::wish::{Change, Heard, SmallTalk, Strength, Target, Wish};

/// The gate knows classes and intents without any catalogue.
static GATE: LazyLock<Index> = LazyLock::new(|| Index::build(&[]));

/// What the gate makes of a text.
fn select(text: &str) -> Selection {
    GATE.select(text)
}

/// How likely a reading must be for a weak command to be taken at its word.
const ENOUGH: f64 = 0.35;

/// Weighs a weak reading of the rules, or none, against the gate.
pub(super) fn judged(
    text: &str,
    words: &[Word],
    bare: &[Word],
    rules: Option<Heard>,
    here: &Here<'_>,
) -> Heard {
    let said = raw(text, words);
    let selection = select(said);
    match rules {
        Some(heard) if heard.strength == Strength::Weak => weighed(heard, &selection),
        Some(heard) => hinted(heard, &selection, text, bare, here),
        None => guessed(&selection, text, said, bare, here),
    }
}

/// A command that may be meant for something else: the gate may say so.
fn weighed(heard: Heard, selection: &Selection) -> Heard {
    let chances = &selection.chances;
    let tasks = chances.class(Class::Tasks);
    let human = chances.class(Class::Human);
    let looks = matches!(heard.wish, Wish::Create(_) | Wish::List(_) | Wish::Find(_) | Wish::Show(_));
    if human > tasks && human >= 0.5 && !looks {
        return Heard { strength: Strength::Hint, ..heard };
    }
    let other = [Class::Web, Class::Code, Class::None]
        .into_iter()
        .max_by(|a, b| chances.class(*a).total_cmp(&chances.class(*b)));
    let other = other.unwrap_or(Class::None);
    if tasks >= ENOUGH || tasks >= chances.class(other) {
        return Heard { strength: Strength::Strong, ..heard };
    }
    if matches!(heard.wish, Wish::Create(_)) {
        let strength = if chances.class(other) >= 0.8 { Strength::Hint } else { Strength::Strong };
        return match other {
            Class::Code if chances.class(other) >= 0.6 => {
                Heard { wish: Wish::Run(None), strength: Strength::Hint }
            }
            _ => Heard { strength, ..heard },
        };
    }
    let sure = chances.class(other) >= 0.6;
    match (other, sure) {
        (Class::Code, true) => Heard { wish: Wish::Run(None), strength: Strength::Hint },
        (Class::None, true) => {
            Heard { wish: Wish::SmallTalk(SmallTalk::Knowledge), strength: Strength::Hint }
        }
        (_, false)
            if matches!(heard.wish, Wish::List(_) | Wish::Find(_) | Wish::Show(_)) && tasks >= 0.15 =>
        {
            Heard { strength: Strength::Strong, ..heard }
        }
        (Class::Web, true) if matches!(heard.wish, Wish::Find(_)) => match heard.wish {
            Wish::Find(words) => Heard { wish: Wish::Search(Some(words)), strength: Strength::Hint },
            wish => Heard { wish, strength: Strength::Hint },
        },
        _ => Heard { strength: Strength::Hint, ..heard },
    }
}

/// Something from which a wish may follow; the gate says whether it is worth an offer.
fn hinted(heard: Heard, selection: &Selection, text: &str, bare: &[Word], here: &Here<'_>) -> Heard {
    let chances = &selection.chances;
    let fits = match &heard.wish {
        Wish::Create(_) => chances.intent(Intent::Create),
        Wish::Complete(..) => chances.intent(Intent::Complete),
        Wish::Delete(_) => chances.intent(Intent::Delete),
        Wish::Update(..) => chances.intent(Intent::Update),
        Wish::Restore(_) => chances.intent(Intent::Restore),
        Wish::Find(_) => chances.intent(Intent::Find) + chances.intent(Intent::Get),
        Wish::Run(_) => chances.class(Class::Code),
        Wish::Ask(_) => chances.class(Class::Human),
        _ => 0.5,
    };
    let likely_create = matches!(heard.wish, Wish::Create(_)) && fits >= 0.6;
    if likely_create || matches!(heard.wish, Wish::Find(_) | Wish::Ask(_)) && fits >= 0.5 {
        return Heard { strength: Strength::Strong, ..heard };
    }
    if fits >= 0.25 || matches!(heard.wish, Wish::Run(Some(_)) | Wish::Ask(Some(_))) && fits >= 0.1 {
        return heard;
    }
    guessed(selection, text, text, bare, here)
}

/// No rule knew it.
fn guessed(selection: &Selection, text: &str, said: &str, bare: &[Word], here: &Here<'_>) -> Heard {
    let talk = |talk| Heard { wish: Wish::SmallTalk(talk), strength: Strength::Hint };
    if let Choice::Ask(Because::Unsure) = selection.choice {
        return talk(SmallTalk::Unknown);
    }
    // What is only quoted is somebody else's wish.
    if selection.class == Some(Class::Tasks) && bare.iter().any(|word| word.kind == Kind::Quoted) {
        let own: Vec<&str> = bare
            .iter()
            .filter(|word| word.kind != Kind::Quoted)
            .filter_map(|word| text.get(word.place.clone()))
            .collect();
        if select(&own.join(" ")).class != Some(Class::Tasks) {
            return talk(SmallTalk::Unknown);
        }
    }
    match selection.class {
        Some(Class::None) => talk(SmallTalk::Knowledge),
        Some(Class::Human) => talk(SmallTalk::Vague),
        // One word that nobody knows is not a search.
        Some(Class::Web) if bare.len() < 2 => talk(SmallTalk::Unknown),
        Some(Class::Web) => Heard { wish: Wish::Search(Some(question(said))), strength: Strength::Strong },
        Some(Class::Code) if bare.len() < 2 => talk(SmallTalk::Vague),
        Some(Class::Code) => Heard { wish: Wish::Run(None), strength: Strength::Hint },
        Some(Class::Tasks) => tasks(selection, text, bare, here),
        None => talk(SmallTalk::Unknown),
    }
}

/// The words to search for: the question without its last sign.
fn question(said: &str) -> String {
    let said = said.trim().trim_end_matches(['?', '.', '!']).trim();
    said.chars().take(400).collect()
}

/// The gate is sure that it is about tasks; what changes something is only offered.
fn tasks(selection: &Selection, text: &str, bare: &[Word], here: &Here<'_>) -> Heard {
    let hint = |wish| Heard { wish, strength: Strength::Hint };
    let strong = |wish| Heard { wish, strength: Strength::Strong };
    let found = || match target::read(text, bare, here) {
        Target::Words(words) => Target::Words(key_words(&words)),
        other => other,
    };
    match selection.intent {
        Some(Intent::List) => strong(Wish::List(filter::read(text, bare, here))),
        Some(Intent::Get) => match bare.iter().find_map(Word::number) {
            Some(id) => strong(Wish::Show(Target::Ids(vec![id]))),
            None => strong(Wish::Show(found())),
        },
        Some(Intent::Find) => match found() {
            Target::Words(words) => strong(Wish::Find(words)),
            _ => hint(Wish::SmallTalk(SmallTalk::Unknown)),
        },
        Some(Intent::Create) => {
            let draft = slots::draft(text, bare, here);
            hint(Wish::Create(vec![draft]))
        }
        Some(Intent::Complete) => {
            hint(Wish::Complete(id_or(bare, found()), find_any(bare, &["not|undone|reopen|isnt"]).is_none()))
        }
        Some(Intent::Delete) => hint(Wish::Delete(id_or(bare, found()))),
        Some(Intent::Restore) => hint(Wish::Restore(id_or(bare, found()))),
        Some(Intent::Update) => {
            let draft = slots::draft(text, bare, here);
            let change = Change { priority: draft.priority, due: draft.due.map(Some), ..Change::default() };
            let what = match draft.title {
                Some(title) if speaks_of_tasks(bare) || !change.is_empty() => {
                    Target::Words(key_words(&title))
                }
                _ => Target::Missing,
            };
            hint(Wish::Update(id_or(bare, what), change))
        }
        None => hint(Wish::SmallTalk(SmallTalk::Unknown)),
    }
}

fn id_or(bare: &[Word], found: Target) -> Target {
    let ids: Vec<i64> = bare
        .windows(2)
        .filter(|pair| pair[0].is_any("task|todo|number|#"))
        .filter_map(|pair| pair[1].number())
        .collect();
    if ids.is_empty() { found } else { Target::Ids(ids) }
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
