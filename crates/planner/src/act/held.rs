//! Reads a message, and holds back what it does not mean to be done as it stands: what it takes back, what depends on
//! something that nobody here can watch, what it says in another language.

use toolroom_tagger::SpanKind;

use super::decide::SURE;
use super::statements::cannot_repeat;
use super::{Needs, Play};
use crate::read::tagged::{Seen, Tagged};
use crate::read::{self, Utterance, clauses, holds};
use crate::say;
use crate::text::Word;
use crate::wish::{Heard, SmallTalk, Strength, Target, Wish};

impl Play<'_> {
    /// A message that answers and corrects nothing.
    pub(super) fn read(&mut self, said: &Utterance<'_>, tagged: &Tagged<'_>) -> Result<(), Needs> {
        let is_command =
            said.words.iter().find(|word| !word.is_sign()).is_some_and(|word| word.is_any(clauses::VERBS));
        if let Some(sorry) = read::other_language(said.text, &said.words).filter(|_| !is_command) {
            self.says.push(say::english_only(sorry));
            return Ok(());
        }
        let heard = Self::about(tagged, read::wishes(said, &self.here));
        self.naming = tagged.naming();
        let seen = if self.bindings.keeps_tasks() { self.seen(tagged) } else { Vec::new() };
        let is_sure = !seen.is_empty() && seen.iter().all(|seen| seen.sure >= SURE);
        let is_forbidden = heard.iter().any(|one| {
            matches!(one.wish, Wish::SmallTalk(SmallTalk::Leave | SmallTalk::Hypothetical | SmallTalk::HowTo))
        }) && !heard.iter().any(is_change);
        if is_forbidden && !is_sure {
            return self.all(heard, tagged);
        }
        // What others said is never done for that.
        if is_reported(&said.words) && heard.iter().any(is_change) {
            if !is_sure {
                return self.talk(SmallTalk::Remark);
            }
            return self.propose(seen.into_iter().map(|seen| seen.wish).collect());
        }
        if let Some(taken_back) = holds::retraction(said) {
            return self.taken_back(&taken_back);
        }
        if seen.is_empty()
            && self.is_taken_back(tagged)
            && heard.iter().any(is_change)
            && !heard.iter().any(spares)
        {
            return self.talk(SmallTalk::Leave);
        }
        if let Some(condition) = holds::condition(said)
            && self.depends(&condition, &heard)?
        {
            return Ok(());
        }
        if let Some(condition) = tagged.held(SpanKind::Condition).filter(|_| !seen.is_empty()) {
            return self.waits(condition, seen);
        }
        if let Some(list) =
            read::pasted(said, &self.here).filter(|_| self.bindings.tool("create-task").is_some())
        {
            return self.offer_tasks(list);
        }
        if self.decided(tagged, &heard, seen)?
            || self.looked(tagged, said, &heard)?
            || self.stated(said, &heard)?
        {
            return Ok(());
        }
        let heard = self.unrepeated(said, heard);
        self.all(heard, tagged)
    }

    /// Whether the trained reader sees that what was said is not to be done.
    fn is_taken_back(&self, tagged: &Tagged<'_>) -> bool {
        tagged.held(SpanKind::Negation).or(tagged.held(SpanKind::Retraction)).is_some()
    }

    /// What waits for something is offered without that.
    fn waits(&mut self, condition: &str, seen: Vec<Seen>) -> Result<(), Needs> {
        self.says.push(cannot_wait(condition));
        self.propose(seen.into_iter().map(|seen| seen.wish).collect())
    }

    /// What came before is not done; what comes behind is read by itself.
    fn taken_back(&mut self, taken_back: &holds::Apart) -> Result<(), Needs> {
        let rest = Utterance::new(&taken_back.rest);
        let heard =
            if rest.words.iter().all(Word::is_sign) { Vec::new() } else { read::wishes(&rest, &self.here) };
        if heard.iter().any(is_change) {
            return self.all(heard, &Tagged::new(rest.text));
        }
        self.says.push("All right, I leave everything as it is.".into());
        Ok(())
    }

    /// A change under a condition is offered without it; `false` if no change was asked for.
    fn depends(&mut self, condition: &holds::Apart, whole: &[Heard]) -> Result<bool, Needs> {
        let rest = Utterance::new(&condition.rest);
        let alone = read::wishes(&rest, &self.here);
        let creates = whole.iter().find(|one| matches!(one.wish, Wish::Create(_)));
        let changes: Vec<Heard> = match creates {
            // The condition stands in the title, or before it.
            Some(one) => vec![one.clone()],
            None => alone.into_iter().filter(is_change).collect(),
        };
        let cannot = cannot_wait(&condition.said);
        match changes.as_slice() {
            [] if whole.iter().any(is_change) => self.says.push(format!("{cannot} Tell me when it is so.")),
            [] => return Ok(false),
            [one] => {
                self.says.push(cannot);
                self.offered(one.wish.clone())?;
            }
            _ => self.says.push(format!("{cannot} Tell me when it is so.")),
        }
        Ok(true)
    }

    /// What is to repeat is done once, and that is said.
    fn unrepeated(&mut self, said: &Utterance<'_>, heard: Vec<Heard>) -> Vec<Heard> {
        let makes = |one: &Heard| matches!(one.wish, Wish::Create(_) | Wish::Update(..));
        let Some(repeats) = holds::recurrence(said).filter(|_| heard.iter().any(makes)) else { return heard };
        self.says.push(cannot_repeat(&repeats.said));
        let once = |one: Heard| match one.wish {
            Wish::Create(drafts) => {
                let drafts = drafts.into_iter().map(|draft| self.once(draft, &repeats.said)).collect();
                Heard { wish: Wish::Create(drafts), ..one }
            }
            wish => Heard { wish, ..one },
        };
        heard.into_iter().map(once).collect()
    }
}

fn cannot_wait(condition: &str) -> String {
    format!("I cannot wait for {}, so I did nothing.", say::quoted(condition))
}

/// Whether it tells what was said to others, or by them: "I told him: …", "my neighbour told me to …".
fn is_reported(words: &[Word]) -> bool {
    let head = words.get(..words.len().min(5)).unwrap_or_default();
    let told = head.iter().position(|word| {
        word.is_any("told|asked|wrote|texted|emailed|replied|answered|said|says|wants|wanted|advised")
    });
    told.is_some_and(|at| {
        at > 0
            && !head
                .iter()
                .take(at)
                .any(|word| word.is_any(clauses::VERBS) || word.is_any("you|was|were|am|task"))
    })
}

/// Whether a wish would change something.
pub(super) fn is_change(heard: &Heard) -> bool {
    let changes = matches!(
        heard.wish,
        Wish::Create(_)
            | Wish::Complete(..)
            | Wish::Update(..)
            | Wish::Delete(_)
            | Wish::Restore(_)
            | Wish::Undo
    );
    changes && (heard.strength > Strength::Hint || !matches!(heard.wish, Wish::Create(_)))
}

/// Whether a wish is about all tasks but some: "everything except the milk".
fn spares(heard: &Heard) -> bool {
    match &heard.wish {
        Wish::Complete(Target::All(filter), _)
        | Wish::Delete(Target::All(filter))
        | Wish::Update(Target::All(filter), _) => filter.except.is_some(),
        _ => false,
    }
}
