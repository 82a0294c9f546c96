//! Commands in so many words: "delete the oven", "rename the team dinner", "create a task". The trained reader may take
//! one of them for a title; whether it is one is seen by the tasks that are there.

use super::courtesy::stripped;
use super::target::trimmed;
use super::{Here, Utterance, fields, target};
use crate::text::{Kind, Word, begins, begins_any, ends, find_any, raw};
use crate::wish::{Change, Draft, Target, Wish};
use crate::words::patterns;

/// A longer message is a sentence.
const MOST_WORDS: usize = 12;

/// The wish that a verb makes of the task behind it.
type Made = fn(Target) -> Wish;

/// A command, and whether its verb is seldom the first word of a title.
pub(crate) struct Command {
    pub wish: Wish,
    pub is_plain: bool,
}

pub(crate) fn command(said: &Utterance<'_>, here: &Here<'_>) -> Option<Command> {
    let bare = stripped(&said.words);
    let bare = bare.get(begins(bare, "and|then|also|actually|no|ok|wait|oh|please*").unwrap_or(0)..)?;
    let bare = bare.get(begins(bare, "i|id want|need|like|would* to").unwrap_or(0)..)?;
    let parts = |word: &Word| {
        matches!(word.kind, Kind::Sign(',' | '.' | ';' | ':' | '\n')) || word.is_any("and|because|but|if")
    };
    let bare = target::trimmed_of_signs(bare);
    if bare.len() > MOST_WORDS || bare.iter().any(parts) {
        return None;
    }
    if begins_any(bare, patterns("makes a task without a name")) == Some(trimmed(bare).len()) {
        return Some(Command { wish: Wish::Create(vec![Draft::default()]), is_plain: true });
    }
    let verbs: [(&str, bool, Made); 9] = [
        ("deletes", true, Wish::Delete),
        ("may delete", false, Wish::Delete),
        ("completes", true, |target| Wish::Complete(target, true)),
        ("may complete", false, |target| Wish::Complete(target, true)),
        ("opens again", true, |target| Wish::Complete(target, false)),
        ("restores", true, Wish::Restore),
        ("renames", true, |target| {
            Wish::Update(target, Change { title: Some(String::new()), ..Change::default() })
        }),
        ("changes", false, |target| Wish::Update(target, Change::default())),
        ("shows one task", false, Wish::Show),
    ];
    verbs.into_iter().find_map(|(verb, is_plain, wish)| {
        let length = begins_any(bare, patterns(verb))?;
        let rest = trimmed(bare.get(length..)?);
        // "remove the due date from the tickets" changes a field.
        let field = "due|date|deadline|note|notes|priority|description of|from|on|for|off";
        if find_any(rest, &[field, "tag|tags|label|labels"]).is_some() {
            return None;
        }
        let is_field = |word: &Word| word.is_any("the|its|due|date|deadline|title|priority|note");
        if verb == "changes" && rest.iter().all(is_field) {
            return Some(Command { wish: wish(Target::It), is_plain: true });
        }
        let joint = rest.iter().position(|word| word.is_any("to|into|as"));
        if let (Wish::Update(..), Some(joint)) = (wish(Target::Missing), joint) {
            let title = raw(said.text, rest.get(joint + 1..)?).trim_matches(super::spans::QUOTES);
            let change = Change { title: Some(fields::capital(title)), ..Change::default() };
            let found = target::read(said.text, rest.get(..joint)?, here);
            return Some(Command { wish: Wish::Update(found, change), is_plain });
        }
        let end = patterns("behind what is completed").iter().find_map(|tail| ends(rest, tail));
        let found = target::read(said.text, rest.get(..end.unwrap_or(rest.len()))?, here);
        let is_known = matches!(found, Target::All(_) | Target::Ids(_)) || target::speaks_of_tasks(rest);
        let is_plain = is_plain || is_known && wish(Target::Missing).is_change();
        // "mark the exam papers" is no "mark the exam as done".
        let is_plain =
            is_plain && (verb != "completes" || end.is_some() || bare.iter().any(|word| word.is("off")));
        Some(Command { wish: wish(found), is_plain })
    })
}
