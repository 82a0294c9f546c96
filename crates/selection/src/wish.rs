//! Whether a person's message may ask for a change. In doubt it does: who is told that nothing was changed, where it was
//! not, is told the truth.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::gate::{Chances, Class, Intent};
use crate::table::Table;
use crate::text;

/// Words that tell, by language.
static FILE: &str = include_str!("../data/wish_words.txt");
static WORDS: OnceLock<Words> = OnceLock::new();

/// The longest form of several words.
const LONGEST: usize = 4;
/// Letters of a quote.
const LONGEST_QUOTE: usize = 200;

/// What a word tells of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// It orders a change.
    Do,
    /// It asks for words, or greets.
    Say,
    /// It names what tools keep.
    Thing,
    /// It names what is written for somebody.
    Text,
}

/// The forms of the file, in the spelling that messages are read in.
#[derive(Default)]
struct Words {
    english: HashMap<String, Mark>,
    others: HashMap<String, Mark>,
    /// Of languages that write no spaces, or change a word at its end: found inside of words.
    within: Vec<(String, Mark)>,
}

/// Whether a message may ask for a change. Of a long one, the beginning and the end are read.
pub fn may_ask_for_change(message: &str) -> bool {
    let end = message.char_indices().rev().nth(text::LONGEST_TEXT - 1).map_or(0, |(at, _)| at);
    let end = message.get(end..).filter(|end| end.len() < message.len());
    asks(message) || end.is_some_and(asks)
}

fn asks(message: &str) -> bool {
    let words = text::words(&unquoted(message));
    let table = Table::get();
    let known = WORDS.get_or_init(Words::read);
    let foreign = |letter: char| letter.is_alphabetic() && !letter.is_ascii() || "¿¡«»".contains(letter);
    let plain = !message.chars().take(text::LONGEST_TEXT).any(foreign);
    let is_english = plain && known.is_english(&words);
    let found: Vec<Mark> = clauses(&words).filter_map(|clause| known.verdict(clause, is_english)).collect();
    if found.contains(&Mark::Do) {
        return true;
    }
    let is_calm = found.contains(&Mark::Say);
    if !is_english {
        // Of a message in a language that is in no list, nothing is known.
        return !is_calm && found.first() != Some(&Mark::Text);
    }
    let chances = Chances::of(table, &words, &text::vector(table, &words));
    let (count, whole) = text::known_words(table, &words);
    let least = match is_calm {
        true => CALM,
        // Another language, of which the gate knows nothing.
        false if count > 2 && (whole * 2 < count || whole < count && !has_common(&words)) => return true,
        false if whole * 4 < count * 3 => UNREAD,
        false => UNMARKED,
    };
    changing(&chances) >= least
}

/// How likely the gate must think a change: where words speak against one, where none do, and where the gate knows few
/// of the words.
const CALM: f64 = 0.8;
const UNMARKED: f64 = 0.3;
const UNREAD: f64 = 0.05;

/// Whether there is one of the words that few English sentences do without.
fn has_common(words: &[String]) -> bool {
    const COMMON: &str = "|a|an|the|to|my|is|are|of|for|in|on|at|and|or|me|i|you|it|this|that|with|from|by|be|do|can|\
        please|not|all|what|how|up|off|as|have|has|was|will|if|up|about|its|your|we|them|task|tasks|";
    words.iter().any(|word| COMMON.contains(&format!("|{word}|")))
}

/// How likely it is that the message wants something done, or that it lacks what would tell.
fn changing(chances: &Chances) -> f64 {
    let intents = Intent::ALL.into_iter().filter(|intent| intent.changes());
    intents.map(|intent| chances.intent(intent)).sum::<f64>() + chances.class(Class::Human)
}

impl Words {
    fn read() -> Self {
        let mut read = Self::default();
        for line in FILE.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.splitn(3, ' ');
            let mark = match fields.next() {
                Some("do") => Mark::Do,
                Some("say") => Mark::Say,
                Some("thing") => Mark::Thing,
                Some("text") => Mark::Text,
                _ => continue,
            };
            let (language, forms) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
            let forms = forms.split('|').map(|form| text::words(form).join(" "));
            match language {
                "en" => read.english.extend(forms.map(|form| (form, mark))),
                "ja" | "zh" | "ko" => read.within.extend(forms.map(|form| (form, mark))),
                _ => read.others.extend(forms.map(|form| (form, mark))),
            }
        }
        read
    }

    /// Whether there is no word by which something is asked for in another language.
    fn is_english(&self, words: &[String]) -> bool {
        let foreign = |word: &String| {
            self.others.get(word).is_some_and(|mark| matches!(mark, Mark::Do | Mark::Say))
                && !self.english.contains_key(word)
                && !ENGLISH_TOO.contains(&word.as_str())
        };
        !words.iter().any(foreign)
    }

    /// What the first word of a clause says that tells something; nouns count where no verb does.
    fn verdict(&self, clause: &[String], is_english: bool) -> Option<Mark> {
        // In Arabic "and" is a letter of the next word, so that a second wish may stand in the clause.
        let also = |word: &String| {
            word.strip_prefix('و').is_some_and(|bare| self.others.get(bare) == Some(&Mark::Do))
        };
        if clause.iter().any(also) {
            return Some(Mark::Do);
        }
        let mut noun = None;
        for mark in (0..clause.len()).filter_map(|at| self.mark(clause, at, is_english)) {
            match mark {
                Mark::Do | Mark::Say => return Some(mark),
                Mark::Thing | Mark::Text => noun = noun.or(Some(mark)),
            }
        }
        noun
    }

    /// What the longest form that begins at a word tells.
    fn mark(&self, clause: &[String], at: usize, is_english: bool) -> Option<Mark> {
        let rest = clause.get(at..)?;
        let lists = if is_english { [&self.english, &self.english] } else { [&self.others, &self.english] };
        let exact = (1..=LONGEST.min(rest.len())).rev().find_map(|length| {
            toolroom_work::step(1);
            let form = rest.get(..length)?.join(" ");
            lists.iter().find_map(|list| list.get(&form)).copied()
        });
        exact.or_else(|| self.inside(rest.first()?))
    }

    /// The first form inside a word of a language without spaces.
    fn inside(&self, word: &str) -> Option<Mark> {
        if word.is_ascii() {
            return None;
        }
        toolroom_work::step(self.within.len() * word.len() / 16 + 1);
        let places = self.within.iter().filter_map(|(form, mark)| Some((word.find(form.as_str())?, *mark)));
        let (verbs, nouns): (Vec<_>, Vec<_>) =
            places.partition(|(_, mark)| matches!(mark, Mark::Do | Mark::Say));
        let first = |found: Vec<(usize, Mark)>| found.into_iter().min_by_key(|(at, _)| *at);
        first(verbs).or_else(|| first(nouns)).map(|(_, mark)| mark)
    }
}

/// The message without what it quotes: a title, or a text that something is to be done with.
fn unquoted(message: &str) -> String {
    const PAIRS: [(char, char); 6] =
        [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」'), ('『', '』')];
    let mut plain = String::with_capacity(message.len());
    let mut rest = message;
    // More than this is not read anyway.
    while let Some(letter) = rest.chars().next().filter(|_| plain.len() < 4 * text::LONGEST_TEXT) {
        toolroom_work::step(1);
        let behind = rest.get(letter.len_utf8()..).unwrap_or_default();
        let close = PAIRS.iter().find(|(open, _)| *open == letter).map(|(_, close)| *close);
        // Looked for within a bound, so that many marks without an end cost no more than one.
        let end = close.and_then(|close| {
            let near = behind.char_indices().take(LONGEST_QUOTE);
            near.inspect(|_| toolroom_work::step(1)).find(|(_, one)| *one == close)
        });
        match end {
            Some((at, close)) => {
                plain.push(' ');
                rest = behind.get(at + close.len_utf8()..).unwrap_or_default();
            }
            None => {
                plain.push(letter);
                rest = behind;
            }
        }
    }
    plain
}

/// Such words of other languages that are English words, too.
const ENGLISH_TOO: [&str; 33] = [
    "note", "change", "changes", "range", "marque", "complete", "remove", "reserve", "leg", "vide", "manda",
    "set", "wis", "lege", "retire", "sil", "was", "come", "propose", "resume", "plane", "sage", "salve",
    "oi", "wo", "mude", "conte", "jak", "boek", "hake", "merk", "trag", "notes",
];

/// The parts of a message that each may wish for something.
fn clauses(words: &[String]) -> impl Iterator<Item = &[String]> {
    const JOINTS: [&str; 22] = [
        ".", ",", ";", ":", "!", "?", "。", "、", "，", "！", "？", "؟", "،", "and", "then", "und", "dann",
        "et", "puis", "y", "e", "и",
    ];
    words.split(|word| JOINTS.contains(&word.as_str())).filter(|clause| !clause.is_empty())
}
