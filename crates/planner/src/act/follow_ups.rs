//! What goes on with the last wish: "and the bread too", "same for the report", "for friday", "change the time to 11".

use super::Play;
use super::tasks::with_target;
use crate::memory::{Last, Question};
use crate::read::{self, Utterance, priority, slots, stripped, target};
use crate::text::{Kind, Word, begins, begins_any, ends, find_any, raw};
use crate::wish::{Change, Draft, Heard, SmallTalk, Strength, Target, Wish};
use crate::words::patterns;

/// A longer message is a wish of its own.
const MOST_WORDS: usize = 12;

impl Play<'_> {
    /// The wishes that a message adds to the one before it.
    pub(super) fn followed(&mut self, said: &Utterance<'_>, just_done: bool) -> Option<Vec<Wish>> {
        let last = self.memory.last.clone()?;
        let words = said.words.get(said.words.iter().take_while(|word| word.is_sign()).count()..)?;
        if words.len() > MOST_WORDS || words.iter().any(|word| word.kind == Kind::Sign('?')) {
            return None;
        }
        if let Some(change) = self.value_alone(said, words)
            && self.memory.focus.len() == 1
            && matches!(last.wish, Wish::Create(_) | Wish::Update(..) | Wish::Show(_))
        {
            return Some(vec![Wish::Update(Target::It, change)]);
        }
        let heard = read::wishes(said, &self.here);
        if just_done && regrets(words) {
            return Some(vec![Wish::Undo]);
        }
        // "never mind" may mean what was just done, or nothing.
        let cancels = matches!(heard.as_slice(), [Heard { wish: Wish::SmallTalk(SmallTalk::Cancel), .. }]);
        if just_done && cancels && find_any(words, &["never mind", "nevermind|nvm|forget"]).is_some() {
            let asked = "That is done already. Shall I take it back?";
            self.ask_for(asked, Question::Offer(vec![Wish::Undo], asked.to_owned()));
            return Some(Vec::new());
        }
        let leads = begins(words, "and|also|plus|oh|then*");
        let same = begins_any(
            words,
            &["and|also* same|ditto thing? for|with|goes|to for?", "and|also* do the same for|with|to"],
        );
        let end = ends(target::trimmed_of_signs(words), "too|also|aswell|likewise")
            .or_else(|| ends(target::trimmed_of_signs(words), "as well"));
        if leads.is_none() && same.is_none() && end.is_none() || is_command(&heard) {
            return None;
        }
        let start = same.or(leads).unwrap_or(0);
        let object = stripped(words.get(start..end.unwrap_or(words.len()).max(start))?);
        if object.is_empty()
            || object.first().is_some_and(|word| {
                word.is_any("i|you|what|when|how|why|who|thanks|ok|no|yes|then|so|that|its|it")
            })
        {
            return None;
        }
        match &last.wish {
            Wish::Create(drafts) if last.done => {
                Some(vec![self.another(drafts.last()?, said, object, same.is_some())])
            }
            Wish::Complete(..) | Wish::Delete(_) | Wish::Restore(_) => {
                Some(self.other_target(&last, said, object)?)
            }
            Wish::Update(_, change) if change.title.is_none() => {
                Some(self.other_target(&last, said, object)?)
            }
            _ => None,
        }
    }

    fn other_target(&self, last: &Last, said: &Utterance<'_>, object: &[Word]) -> Option<Vec<Wish>> {
        match target::read(said.text, object, &self.here) {
            Target::Missing | Target::All(_) => None,
            found => Some(vec![with_target(&last.wish, found)]),
        }
    }

    /// One more task; "same for bread" takes over the date, the priority and the verb of the last one.
    fn another(&self, last: &Draft, said: &Utterance<'_>, object: &[Word], same: bool) -> Wish {
        let mut draft = slots::draft(said.text, object, &self.here);
        if same {
            draft.due = draft.due.or_else(|| last.due.clone());
            draft.priority = draft.priority.or(last.priority);
            let verb = last.title.as_deref().and_then(|title| title.split_once(' ')).map(|(verb, _)| verb);
            let is_noun = object.iter().filter(|word| !word.is_sign()).count() <= 2;
            if let (true, Some(verb), Some(title)) = (is_noun, verb, draft.title.as_deref()) {
                draft.title = Some(format!("{verb} {}", title.to_lowercase()));
            }
        }
        Wish::Create(vec![draft])
    }

    /// A date or a priority and nothing else: "for friday", "high priority please", "change the time to 11:30".
    pub(super) fn value_alone(&self, said: &Utterance<'_>, words: &[Word]) -> Option<Change> {
        let lead = begins(
            words,
            "change|set|make|move|push|put|switch|and|also|no|wait|sorry|actually|hmm|it|that|the|its|time|date|day|due|deadline|priority|to|at|for|on|by|be|with|please|say|lets|i|meant|mean|rather*",
        );
        let value = stripped(target::trimmed_of_signs(words.get(lead.unwrap_or(0)..)?));
        if value.is_empty() || value.iter().any(|word| word.kind == Kind::Quoted) {
            return None;
        }
        if let Some(priority) = priority::alone(value) {
            return Some(Change { priority: Some(priority), ..Change::default() });
        }
        // A bare number is a task, not a day.
        let is_number = value.iter().all(|word| word.is_sign() || word.number().is_some());
        let due = slots::date_alone(said.text, value, &self.here).filter(|_| !is_number)?;
        Some(Change { due: Some(Some(due)), ..Change::default() })
    }
}

/// "scratch that", "that's not done yet" right after a change.
fn regrets(words: &[Word]) -> bool {
    let words = target::trimmed_of_signs(words);
    begins_any(words, patterns("regrets right after a change")) == Some(words.len())
}

/// Whether a message has a command of its own.
fn is_command(heard: &[Heard]) -> bool {
    heard.iter().any(|one| {
        let is_plain = one.strength == Strength::Strong;
        let looks = matches!(one.wish, Wish::Show(Target::Ids(_)));
        is_plain
            && !looks
            && !matches!(one.wish, Wish::SmallTalk(_) | Wish::Search(_) | Wish::Run(_) | Wish::Ask(_))
    })
}

/// The words of an answer that is a title, as they were written.
pub(super) fn as_title(text: &str, words: &[Word]) -> String {
    slots::capital(&slots::tidy(raw(text, stripped(words)).trim_matches(['"', '\'', '\u{201c}', '\u{201d}'])))
}
