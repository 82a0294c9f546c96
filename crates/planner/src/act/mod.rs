//! Does what was wished: looks up what is needed, asks what is unclear, and hands out the calls.
//!
//! A round is played from its beginning every time, with the results that are there already; where a result is
//! missing, the play stops and the call is made. So nothing is kept between turns, and earlier rounds can be played
//! again to know what was shown and asked.

mod amend;
mod answers;
mod change;
mod choice;
mod choose;
mod continued;
mod decide;
mod details;
mod lists;
mod offers;
mod others;
mod tasks;

use serde_json::Value;
use toolroom_model::Asking;

use super::history::{Made, Round};
use super::memory::{Last, Memory, Question};
use super::read::tagged::Tagged;
use super::read::{Here, Utterance};
use super::say;
use super::seen::{self, Task};
use super::tool_bindings::{Call, ToolBindings};
use super::wish::{Target, Wish, with_target};

/// Why a play stops before its end: these calls must be made first, and whether the person is asked about them.
pub(crate) struct Needs(pub Vec<Call>, pub Asking);

/// What a round comes to.
pub(crate) enum Move {
    /// Say this; nothing more is to be done.
    Say(String),
    /// Make these calls, and ask about them before that if it says so.
    Call(Vec<Call>, Asking),
}

/// A round in play.
pub(crate) struct Play<'a> {
    bindings: ToolBindings<'a>,
    here: Here<'a>,
    calls: &'a [Made<'a>],
    /// The next recorded call.
    at: usize,
    memory: &'a mut Memory,
    says: Vec<String>,
    queue: Vec<Queued>,
    dropped: bool,
    /// Every task, once it was asked for in this round.
    titles: Option<Vec<Task>>,
    /// The words of the message, each with how likely it names a task.
    naming: Vec<(String, f64)>,
    /// Whether the message points to what was just spoken of.
    says_it: bool,
    /// Whether the person is asked about the changes that are gathered.
    asking: Asking,
}

/// A change that is to be made with the others of the round.
struct Queued {
    call: Call,
    wish: Wish,
    tasks: Vec<Task>,
}

impl Queued {
    /// The wish about just these tasks.
    fn wish(&self) -> Wish {
        match self.tasks.is_empty() {
            true => self.wish.clone(),
            false => with_target(&self.wish, Target::Ids(self.tasks.iter().map(|task| task.id).collect())),
        }
    }
}

/// The result of a call.
pub(crate) struct Outcome<'a> {
    result: &'a Value,
    failure: Option<String>,
    waiting: bool,
}

/// Steps that one message may take, some 30 ms of a processor. A message of ordinary sentences takes a fiftieth.
pub(crate) const BUDGET: u64 = 6_000_000;

/// What is said of a message that took more steps than that. Half a reading is none: it is not acted on.
const TANGLED: &str = "I could not read your message: it is too long or too tangled for me. I did nothing. Please say \
                       it again in short sentences.";

/// Plays a round, and leaves in the memory what later rounds may refer to.
pub(crate) fn play(
    round: &Round<'_>,
    bindings: ToolBindings<'_>,
    here: Here<'_>,
    memory: &mut Memory,
) -> Move {
    let before = memory.clone();
    let played = toolroom_work::within(BUDGET, || {
        let mut play = Play {
            bindings,
            here,
            calls: &round.calls,
            at: 0,
            memory,
            says: Vec::new(),
            queue: Vec::new(),
            dropped: round.dropped,
            titles: None,
            naming: Vec::new(),
            says_it: false,
            asking: Asking::AsRuled,
        };
        match play.round(round.said) {
            Ok(()) => Move::Say(play.says.join("\n")),
            Err(Needs(calls, asking)) => Move::Call(calls, asking),
        }
    });
    played.unwrap_or_else(|toolroom_work::Spent| {
        *memory = before;
        Move::Say(TANGLED.into())
    })
}

impl<'a> Play<'a> {
    fn round(&mut self, text: &str) -> Result<(), Needs> {
        let said = Utterance::new(text);
        if !said.is_whole {
            // The question that waits, if there is one, goes on waiting.
            self.says.push(say::too_long());
            return Ok(());
        }
        self.says_it = said.words.iter().any(|word| word.is_any("it|its|that|thats"));
        let keeps_tasks = self.bindings.keeps_tasks();
        let tagged = if keeps_tasks { Tagged::new(text) } else { Tagged::unread_by_it(text) };
        let just_done = std::mem::take(&mut self.memory.just_done);
        let waiting = continued::joined(std::mem::take(&mut self.memory.waiting));
        let question = self.memory.question.take().or_else(|| self.unanswered(waiting));
        if let Some(question) = question.clone()
            && self.answered(question, &said, &tagged)?
        {
            return self.flush();
        }
        if self.continued(&said, &tagged, question.clone(), just_done)? {
            return self.flush();
        }
        self.read(&said, &tagged)?;
        if let Some(Question::Offer(wishes, asked)) = question {
            self.ask_again(wishes, asked);
        }
        self.flush()
    }

    /// An offer that was not answered is not lost: it is made once more. New tasks are offered beside others that were
    /// offered since; of anything else it is said that it is not done.
    fn ask_again(&mut self, mut wishes: Vec<Wish>, asked: String) {
        let makes = |wishes: &[Wish]| wishes.iter().all(|wish| matches!(wish, Wish::Create(_)));
        match self.memory.question.take() {
            _ if wishes.contains(&Wish::Undo) => {}
            // A greeting left it open.
            Some(Question::Offer(more, also)) if more == wishes => {
                self.memory.question = Some(Question::Offer(more, also));
            }
            Some(Question::Offer(more, also)) if makes(&wishes) && makes(&more) => {
                self.says.retain(|said| *said != also);
                wishes.extend(more);
                let asked = format!("{asked} {also}");
                self.says.push(asked.clone());
                self.memory.question = Some(Question::Offer(wishes, asked));
            }
            None if self.queue.is_empty() && !self.memory.asked_again => {
                self.memory.asked_again = true;
                self.says.push(asked.clone());
                self.memory.question = Some(Question::Offer(wishes, asked));
            }
            other => {
                self.memory.asked_again = false;
                self.says.insert(0, "What I asked about before is not done.".into());
                self.memory.question = other;
            }
        }
    }

    fn wish(&mut self, wish: Wish) -> Result<(), Needs> {
        match wish {
            Wish::Create(drafts) => self.create(drafts),
            Wish::List(filter) => self.list(&filter),
            Wish::Show(target) => self.show(target),
            Wish::Find(words) => self.find(&words),
            Wish::Complete(..) | Wish::Delete(_) | Wish::Update(..) | Wish::Restore(_) => self.change(wish),
            Wish::Undo => self.undo(),
            Wish::Search(query) => self.search(query),
            Wish::Run(code) => self.run(code),
            Wish::Ask(question) => self.ask(question),
            Wish::Call(name, words) => self.call_named(&name, &words),
            Wish::SmallTalk(talk) => self.talk(talk),
        }
    }

    /// The results of calls, if all of them are there.
    fn results(&mut self, calls: Vec<Call>, asking: Asking) -> Result<Vec<Outcome<'a>>, Needs> {
        let mut at = self.at;
        let mut found = Vec::new();
        for call in &calls {
            // Dates in earlier rounds may read otherwise today: the name must do.
            let next = (at..self.calls.len())
                .find(|at| self.calls.get(*at).is_some_and(|made| made.name == call.name));
            let made = next.and_then(|next| self.calls.get(next));
            let (Some(next), Some(made)) = (next, made) else { return Err(Needs(calls, asking)) };
            let Some(result) = made.result else { return Err(Needs(calls, asking)) };
            at = next + 1;
            found.push(Outcome {
                result,
                failure: seen::failure(result, made.failed),
                waiting: made.is_waiting(),
            });
        }
        self.at = at;
        Ok(found)
    }

    fn result(&mut self, call: Call) -> Result<Outcome<'a>, Needs> {
        let mut found = self.results(vec![call.clone()], Asking::AsRuled)?;
        found.pop().ok_or(Needs(vec![call], Asking::AsRuled))
    }

    /// Makes the changes that were gathered, all at once, and remembers what they were done to.
    fn flush(&mut self) -> Result<(), Needs> {
        let queue = std::mem::take(&mut self.queue);
        if queue.is_empty() {
            return Ok(());
        }
        // What is remembered if the person says no, or something else.
        let first = queue.first().map(|queued| queued.wish.clone());
        let chosen: Vec<Task> = queue.iter().flat_map(|queued| queued.tasks.iter().cloned()).collect();
        let candidates = self.memory.last.as_ref().map(|last| last.candidates.clone()).unwrap_or_default();
        let before = chosen.clone();
        let went_on = matches!(&self.memory.last, Some(Last { wish: Wish::Create(_), done: true, .. }));
        let mut made = if went_on { std::mem::take(&mut self.memory.made) } else { Vec::new() };
        self.memory.last =
            first.map(|wish| Last { wish, chosen: chosen.clone(), before, candidates, done: false });
        if !chosen.is_empty() {
            self.memory.focus = chosen;
        }
        self.memory.waiting = queue.iter().map(Queued::wish).collect();
        let calls = queue.iter().map(|queued| queued.call.clone()).collect();
        let outcomes = self.results(calls, self.asking)?;
        let mut touched = Vec::new();
        let mut done = false;
        for (queued, outcome) in queue.iter().zip(outcomes) {
            if outcome.waiting {
                continue;
            }
            if let Some(why) = &outcome.failure {
                self.says.push(self.failed(queued, outcome.result, why));
                continue;
            }
            done = true;
            let mut tasks = seen::tasks(outcome.result);
            for task in &mut tasks {
                if task.title.is_empty() {
                    task.title = queued
                        .tasks
                        .iter()
                        .find(|known| known.id == task.id)
                        .map(|known| known.title.clone())
                        .unwrap_or_default();
                }
                if let (true, Wish::Create(drafts)) = (task.title.is_empty(), &queued.wish) {
                    task.title = drafts.first().and_then(|draft| draft.title.clone()).unwrap_or_default();
                }
            }
            if matches!(queued.wish, Wish::Delete(_)) {
                let gone: Vec<Task> =
                    if queued.tasks.is_empty() { tasks.clone() } else { queued.tasks.clone() };
                self.memory.deleted.extend(gone);
            }
            if matches!(queued.wish, Wish::Create(_)) {
                made.extend(tasks.iter().cloned());
            }
            touched.extend(if tasks.is_empty() { queued.tasks.clone() } else { tasks });
        }
        // "the second one", "both": of those that were just made.
        if made.len() > 1 {
            self.memory.shown.clone_from(&made);
        }
        self.memory.made = made;
        if let Some(last) = &mut self.memory.last {
            last.done = done && !self.dropped;
            self.memory.just_done = last.done;
            if last.done {
                self.memory.waiting.clear();
                last.chosen.clone_from(&touched);
            }
        }
        if !touched.is_empty() {
            self.memory.focus = touched;
        }
        Ok(())
    }

    fn failed(&self, queued: &Queued, result: &Value, why: &str) -> String {
        match (seen::is_not_found(result), queued.tasks.first()) {
            (true, Some(task)) => format!("There is no task {}.", task.id),
            (_, Some(task)) => format!("That did not work for {}: {why}", say::named(task)),
            _ => format!("That did not work: {why}"),
        }
    }
}
