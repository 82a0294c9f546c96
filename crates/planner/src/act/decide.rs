//! Decides what becomes of a message that answers and continues nothing: what was read beyond doubt is done, other
//! changes are offered as they would be made, and what the message does not mean to be done as it stands is held back:
//! what it takes back, what depends on something that nobody here can watch, what it says in another language.

use toolroom_tagger::SpanKind;

use super::offers::cannot_repeat;
use super::{Needs, Play, others};
use crate::read::tagged::Tagged;
use crate::read::{self, Utterance, courtesy, holds};
use crate::say;
use crate::similar;
use crate::text::{Word, begins_any, find_any, raw};
use crate::wish::{Change, Draft, Heard, SmallTalk, Strength, Target, Wish};
use crate::words::patterns;

impl Play<'_> {
    pub(super) fn read(&mut self, said: &Utterance<'_>, tagged: &Tagged<'_>) -> Result<(), Needs> {
        let is_command =
            said.words.iter().find(|word| !word.is_sign()).is_some_and(|word| word.is_any(courtesy::VERBS));
        if let Some(sorry) = read::other_language(said.text, &said.words).filter(|_| !is_command) {
            self.says.push(say::english_only(sorry));
            return Ok(());
        }
        let mut heard = read::wishes(said, tagged, &self.here);
        // Of several wishes nobody knows which one the words of the message are about.
        self.naming = if heard.len() == 1 { tagged.naming() } else { Vec::new() };
        let many = said.words.iter().any(|word| word.is_any("both|all|them|those|these|each"));
        heard.iter_mut().for_each(|one| self.about_what_is_known(&mut one.wish, many));
        let taken_back = holds::retraction(said);
        if taken_back.is_none() && !is_reported(&said.words) {
            for one in &mut heard {
                self.take_for_change(said, one)?;
            }
            self.take_for_command(said, &mut heard)?;
        }
        if let Some(wish) = heard.iter().find_map(|one| others::named_tool(self.bindings, said.text, one)) {
            return self.wish(wish);
        }
        let pasted = read::pasted(said, &self.here);
        if let Some(list) = pasted.filter(|_| self.bindings.tool("create-task").is_some()) {
            return self.offer_tasks(list);
        }
        if heard.iter().all(|one| !one.wish.is_change()) {
            if tagged.forbids() {
                return self.talk(SmallTalk::Leave);
            }
            return heard.into_iter().try_for_each(|one| self.wish(one.wish));
        }
        // What others said is never done for that.
        if is_reported(&said.words) {
            return match heard.iter().any(|one| one.strength == Strength::Strong) {
                true => self.propose(changes(heard)),
                false => self.talk(SmallTalk::Remark),
            };
        }
        if let Some(taken_back) = taken_back {
            return self.taken_back(&taken_back);
        }
        let condition = holds::condition(said).map(|apart| apart.said);
        if let Some(condition) = tagged.held(SpanKind::Condition).map(str::to_owned).or(condition) {
            self.says.push(format!("I cannot wait for {}, so I did nothing.", say::quoted(&condition)));
            let mut wanted = changes(heard);
            return match (wanted.pop(), wanted.is_empty()) {
                (Some(one), true) => self.offered(one),
                (one, _) => self.propose(wanted.into_iter().chain(one).collect()),
            };
        }
        self.done_or_offered(said, tagged, heard)
    }

    /// A change that names no task is about what was just spoken of.
    fn about_what_is_known(&self, wish: &mut Wish, many: bool) {
        let known = !self.memory.focus.is_empty() || !self.memory.shown.is_empty();
        let known = known || matches!(wish, Wish::Restore(_)) && !self.memory.deleted.is_empty();
        if let Some(target) = wish.target_mut().filter(|target| **target == Target::Missing && known) {
            *target = if many { Target::Them } else { Target::It };
        }
    }

    /// "move the parcel" with a date, or "swimming course by 9pm", is no new task if there is one of that name.
    fn take_for_change(&mut self, said: &Utterance<'_>, one: &mut Heard) -> Result<(), Needs> {
        let Wish::Create(drafts) = &one.wish else { return Ok(()) };
        let [Draft { title: Some(title), due, priority, .. }] = drafts.as_slice() else { return Ok(()) };
        let change = Change { due: due.clone().map(Some), priority: *priority, ..Change::default() };
        let named = Utterance::new(title);
        // "patched the mail server"
        let did = named.words.first().is_some_and(|word| similar::is_past(&word.low));
        if did && change.is_empty() {
            if let [task] = similar::likeliest(title, &self.titles()?).as_slice() {
                *one = Heard {
                    wish: Wish::Complete(Target::Ids(vec![task.id]), true),
                    strength: Strength::Hint,
                };
            }
            return Ok(());
        }
        let moves = begins_any(&named.words, patterns("moves a task"));
        let makes = find_any(&said.words, patterns("makes something new")).is_some();
        let Some(words) = named.words.get(moves.unwrap_or(0)..) else { return Ok(()) };
        if change.is_empty() || moves.is_none() && makes {
            return Ok(());
        }
        let words = raw(title, words).to_owned();
        let titles = self.titles()?;
        if let [task] = similar::best(&words, titles).as_slice() {
            one.wish = Wish::Update(Target::Ids(vec![task.id]), change);
            one.strength = Strength::Hint;
        }
        Ok(())
    }

    /// "complete the drill" is a new task only if there is no drill.
    fn take_for_command(&mut self, said: &Utterance<'_>, heard: &mut Vec<Heard>) -> Result<(), Needs> {
        let is_open = |one: &Heard| match one.wish {
            Wish::SmallTalk(_) => one.strength == Strength::Hint,
            ref wish => matches!(wish, Wish::Create(_)),
        };
        if heard.len() != 1 || !heard.iter().all(is_open) {
            return Ok(());
        }
        // "too many. drop the novel"
        let parts = said.text.split(['.', '!', '?', ',', ';']).map(|part| Utterance::new(part.trim()));
        let here = self.here;
        let command = read::plain::command(said, &here)
            .or_else(|| parts.filter_map(|part| read::plain::command(&part, &here)).next_back());
        let Some(command) = command else { return Ok(()) };
        let is_one = match command.wish.target() {
            Some(Target::Words(words)) => !self.matching(&words.clone())?.is_empty(),
            Some(target) => *target != Target::Missing,
            None => false,
        };
        if is_one {
            let doubts = find_any(&said.words, patterns("puts in doubt")).is_some();
            let strength = if doubts { Strength::Hint } else { Strength::Strong };
            *heard = vec![Heard { wish: command.wish, strength }];
        }
        Ok(())
    }

    fn done_or_offered(
        &mut self,
        said: &Utterance<'_>,
        tagged: &Tagged<'_>,
        heard: Vec<Heard>,
    ) -> Result<(), Needs> {
        let repeats = tagged.held(SpanKind::Every).map(str::to_owned);
        let repeats = repeats.or_else(|| holds::recurrence(said).map(|apart| apart.said));
        if repeats.is_none() && heard.iter().all(|one| one.strength == Strength::Strong) {
            return self.in_turn(heard);
        }
        if tagged.unread() > 0 {
            self.says.push("I read only the beginning and the end of your message closely.".into());
        }
        let (wanted, others): (Vec<Heard>, Vec<Heard>) =
            heard.into_iter().partition(|one| one.wish.is_change());
        let mut wanted = changes(wanted);
        if let Some(repeats) = repeats {
            self.says.push(cannot_repeat(&repeats));
            for wish in &mut wanted {
                if let Wish::Create(drafts) = wish {
                    *drafts = drafts.drain(..).map(|draft| self.once(draft, &repeats)).collect();
                }
            }
        }
        self.propose(wanted)?;
        // A question beside them is answered, too.
        others.into_iter().try_for_each(|one| self.wish(one.wish))
    }

    /// Does one after the other. What is looked at, or meant by "it", may be what was just changed.
    fn in_turn(&mut self, heard: Vec<Heard>) -> Result<(), Needs> {
        for one in heard {
            let refers_back = match one.wish.target() {
                Some(target) => matches!(target, Target::It | Target::Them),
                None => !one.wish.is_change(),
            };
            if refers_back {
                self.flush()?;
            }
            self.wish(one.wish)?;
        }
        Ok(())
    }

    /// What came before is not done; what comes behind is read by itself.
    fn taken_back(&mut self, taken_back: &holds::Apart) -> Result<(), Needs> {
        let rest = Utterance::new(&taken_back.rest);
        if rest.words.iter().any(|word| !word.is_sign()) {
            let heard = read::wishes(&rest, &Tagged::new(rest.text), &self.here);
            if heard.iter().any(|one| one.wish.is_change()) {
                return match heard.iter().all(|one| one.strength == Strength::Strong) {
                    true => self.in_turn(heard),
                    false => self.propose(changes(heard)),
                };
            }
        }
        self.says.push("All right, I leave everything as it is.".into());
        Ok(())
    }
}

fn changes(heard: Vec<Heard>) -> Vec<Wish> {
    heard.into_iter().map(|one| one.wish).filter(Wish::is_change).collect()
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
                .any(|word| word.is_any(courtesy::VERBS) || word.is_any("you|was|were|am|task"))
    })
}
