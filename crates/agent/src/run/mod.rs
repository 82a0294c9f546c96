//! A run, from what a person said to the answer: a state machine without I/O.
//!
//! [`Run::step`] takes what happened and gives what is to be done. The driver does it, and comes back with what came
//! of it. A run can be written down at every step; `version` says how to read it. A call that was handed out is never
//! handed out again.

mod limits;
mod plan;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolroom_contract::ids::PendingId;

use crate::guard::{Attempt, Evidence};
use toolroom_model::{Message, ToolCall, ToolChoice, Turn};

pub use limits::{Limit, Limits};
pub use plan::{Planned, Verdict, told};

/// How runs are written down. A run of another version is not resumed.
pub const VERSION: u32 = 3;

/// A run, as far as it came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// How it is written down.
    pub version: u32,
    /// What it may take.
    pub limits: Limits,
    /// What it does now.
    pub phase: Phase,
    /// Turns of the model.
    pub turns: u32,
    /// Calls handed out.
    pub calls: u32,
    /// Tokens, read and written.
    pub tokens: u64,
    /// What is known of changes, for the guard.
    pub evidence: Evidence,
    /// The turns and results of this run.
    pub transcript: Vec<Message>,
}

/// What a run does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The model's turn.
    Model(ToolChoice),
    /// Tools are to be called.
    Tools(Work),
    /// Pending requests are opened for calls that need a yes.
    Asking(Asking),
    /// A person must say something; the run ends here, and what they say begins another.
    Waiting(Waiting),
    /// There is nothing more to do.
    Done(Ending),
}

/// Calls in progress.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// Not handed out yet, in order.
    pub todo: Vec<Planned>,
    /// Handed out, without an answer yet.
    pub out: Vec<Planned>,
    /// To be asked about once the others have ended.
    pub ask: Vec<Planned>,
    /// What waits for a person, because a tool asked for it.
    pub waiting: Vec<WaitingCall>,
    /// Calls for the client itself.
    pub client: Vec<ToolCall>,
}

/// Pending requests that are being opened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Asking {
    /// Without a request yet.
    pub left: Vec<Planned>,
    /// Those that have one.
    pub waiting: Vec<WaitingCall>,
}

/// What waits for a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    /// The calls, each with its request.
    pub calls: Vec<WaitingCall>,
}

/// A call with the request that it waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaitingCall {
    /// The call, to be made exactly so.
    pub planned: Planned,
    /// The request.
    pub request: PendingId,
    /// Whether a question is to be answered, rather than a yes said.
    pub question: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// The model said its last word.
    Answered,
    /// A limit was reached.
    Limit(Limit),
    /// It was cancelled; these calls may have taken effect.
    Cancelled(Vec<Planned>),
    /// The model gave no turn.
    ModelFailed(String),
    /// The client is to make these calls.
    Client(Vec<ToolCall>),
}

/// What happened.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time, and never kept")]
pub enum Event {
    /// The model answered; each of its calls was checked.
    Turned {
        /// What it said.
        turn: Turn,
        /// For each call, in order.
        verdicts: Vec<Verdict>,
    },
    /// The model gave no turn.
    ModelFailed(String),
    /// The model gave no turn, and another that knows nothing of what it did takes its place.
    ModelReplaced,
    /// A call ended.
    Returned {
        /// Which one.
        id: String,
        /// The result, as the model sees it.
        message: Message,
        /// What became of it, if it was to change something.
        attempt: Attempt,
    },
    /// A call waits for a person; the model is told so.
    Waiting {
        /// Which one, and for what.
        call: WaitingCall,
        /// As the model is told.
        message: Message,
    },
    /// The driver looked something up before it asks.
    LookedUp(Vec<Message>),
    /// The person, or the clock, wants it to end.
    Cancel,
    /// Its time is up.
    OutOfTime,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask the model.
    CallModel(ToolChoice),
    /// Make these calls, side by side.
    CallTools(Vec<Planned>),
    /// Open a request for each.
    Open(Vec<Planned>),
    /// Say this; what was said about it already is not said again.
    Say(String),
    /// End, or wait for a person.
    Stop,
}

impl Run {
    /// A run that begins with what the person said.
    pub fn begin(limits: Limits, evidence: Evidence) -> Self {
        Self {
            version: VERSION,
            limits,
            phase: Phase::Model(ToolChoice::Auto),
            turns: 0,
            calls: 0,
            tokens: 0,
            evidence,
            transcript: Vec::new(),
        }
    }

    /// A run that begins with calls to which the person has agreed, or whose question they answered.
    pub fn resume(limits: Limits, evidence: Evidence, calls: Vec<Planned>) -> Self {
        let mut run = Self::begin(limits, evidence);
        let asked = calls.iter().map(|planned| planned.call.clone()).collect();
        run.transcript.push(Message::Assistant { text: String::new(), calls: asked });
        run.phase = Phase::Tools(Work { todo: calls, ..Work::default() });
        run
    }

    /// What is to be done first.
    pub fn start(&mut self) -> Vec<Effect> {
        match &self.phase {
            Phase::Model(choice) => vec![Effect::CallModel(choice.clone())],
            _ => self.work_on(),
        }
    }

    /// Whether nothing more happens in it.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Done(_) | Phase::Waiting(_))
    }

    /// Takes what happened and says what is to be done. What cannot happen now is ignored.
    pub fn step(&mut self, event: Event) -> Vec<Effect> {
        match (&self.phase, event) {
            (Phase::Done(_) | Phase::Waiting(_), _) => Vec::new(),
            (_, Event::Cancel) => self.cancel(),
            (_, Event::OutOfTime) => self.end(Ending::Limit(Limit::Time)),
            (Phase::Model(_), Event::Turned { turn, verdicts }) => self.turned(turn, verdicts),
            (Phase::Model(_), Event::ModelFailed(why)) => self.end(Ending::ModelFailed(why)),
            (Phase::Model(_), Event::ModelReplaced) => {
                self.transcript.clear();
                self.phase = Phase::Model(ToolChoice::Auto);
                vec![Effect::CallModel(ToolChoice::Auto)]
            }
            (Phase::Tools(_) | Phase::Asking(_), Event::Returned { id, message, attempt }) => {
                self.returned(&id, message, attempt)
            }
            (Phase::Tools(_) | Phase::Asking(_), Event::Waiting { call, message }) => {
                self.waits(call, message)
            }
            (Phase::Asking(_), Event::LookedUp(messages)) => {
                self.transcript.extend(messages);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn turned(&mut self, turn: Turn, verdicts: Vec<Verdict>) -> Vec<Effect> {
        self.turns += 1;
        self.tokens = self.tokens.saturating_add(turn.usage.input).saturating_add(turn.usage.output);
        let forbidden = self.phase == Phase::Model(ToolChoice::None);
        if turn.calls.is_empty() || forbidden {
            return self.spoken(&turn.text, forbidden && !turn.calls.is_empty());
        }
        let said = turn.text;
        let mut work = Work::default();
        let mut refused = Vec::new();
        for (call, verdict) in turn.calls.iter().zip(verdicts) {
            match verdict {
                Verdict::Run(planned) if self.calls + work.todo.len() as u32 >= self.limits.calls => {
                    refused.push(plan::over_budget(&planned.call));
                    self.evidence.calls.extend(planned.changes.then_some(Attempt::Failed));
                }
                Verdict::Run(planned) => work.todo.push(planned),
                Verdict::Ask(planned) => work.ask.push(planned),
                Verdict::Refuse(message, changes) => {
                    refused.push(message);
                    self.evidence.calls.extend(changes.then_some(Attempt::Failed));
                }
                Verdict::Client => work.client.push(call.clone()),
            }
        }
        self.transcript.push(Message::Assistant { text: said.clone(), calls: turn.calls });
        self.transcript.extend(refused);
        self.phase = Phase::Tools(work);
        let mut effects = if said.trim().is_empty() { Vec::new() } else { vec![Effect::Say(said)] };
        effects.extend(self.work_on());
        effects
    }

    /// The model's last word.
    fn spoken(&mut self, text: &str, wanted_more: bool) -> Vec<Effect> {
        let mut effects = Vec::new();
        if !text.trim().is_empty() {
            effects.push(Effect::Say(text.to_owned()));
            self.transcript.push(Message::assistant(text));
        }
        let ending = if wanted_more { Ending::Limit(Limit::Turns) } else { Ending::Answered };
        effects.extend(self.end(ending));
        effects
    }

    fn returned(&mut self, id: &str, message: Message, attempt: Attempt) -> Vec<Effect> {
        let Some(planned) = self.take_out(id) else { return Vec::new() };
        self.transcript.push(message);
        self.evidence.calls.extend(planned.changes.then_some(attempt));
        self.evidence.untrusted |= planned.untrusted;
        self.work_on()
    }

    fn waits(&mut self, call: WaitingCall, message: Message) -> Vec<Effect> {
        if self.take_out(&call.planned.call.id).is_none() {
            return Vec::new();
        }
        self.transcript.push(message);
        match &mut self.phase {
            Phase::Tools(work) => work.waiting.push(call),
            Phase::Asking(asking) => asking.waiting.push(call),
            _ => {}
        }
        self.work_on()
    }

    /// The call of this id, if it was waited for; from now on it is not.
    fn take_out(&mut self, id: &str) -> Option<Planned> {
        let waited = match &mut self.phase {
            Phase::Tools(work) => &mut work.out,
            Phase::Asking(asking) => &mut asking.left,
            _ => return None,
        };
        let at = waited.iter().position(|planned| planned.call.id == id)?;
        Some(waited.remove(at))
    }

    /// The next calls, the questions, or the model again.
    fn work_on(&mut self) -> Vec<Effect> {
        match &mut self.phase {
            Phase::Tools(work) if !work.out.is_empty() => Vec::new(),
            Phase::Tools(work) if !work.todo.is_empty() => {
                let batch = plan::next_batch(&mut work.todo, self.limits.parallel);
                self.calls += batch.len() as u32;
                work.out.clone_from(&batch);
                vec![Effect::CallTools(batch)]
            }
            Phase::Tools(work) if !work.waiting.is_empty() || !work.ask.is_empty() => {
                let mut left = std::mem::take(&mut work.ask);
                let waiting = std::mem::take(&mut work.waiting);
                if !waiting.is_empty() {
                    // One thing at a time: a reply to a question must not be taken for a yes to something else.
                    self.transcript.extend(left.drain(..).map(|planned| plan::postponed(&planned.call)));
                }
                self.phase = Phase::Asking(Asking { left: left.clone(), waiting });
                if left.is_empty() { self.work_on() } else { vec![Effect::Open(left)] }
            }
            Phase::Tools(work) if !work.client.is_empty() => {
                let calls = std::mem::take(&mut work.client);
                self.end(Ending::Client(calls))
            }
            Phase::Tools(_) => self.ask_model(),
            Phase::Asking(asking) if !asking.left.is_empty() => Vec::new(),
            Phase::Asking(asking) if !asking.waiting.is_empty() => {
                let waiting = std::mem::take(&mut asking.waiting);
                self.phase = Phase::Waiting(Waiting { calls: waiting });
                vec![Effect::Stop]
            }
            Phase::Asking(_) => self.ask_model(),
            _ => Vec::new(),
        }
    }

    /// The last turn that it may have is for words only, so that there is an answer.
    fn ask_model(&mut self) -> Vec<Effect> {
        if self.tokens >= self.limits.tokens {
            return self.end(Ending::Limit(Limit::Tokens));
        }
        if self.turns >= self.limits.turns {
            return self.end(Ending::Limit(Limit::Turns));
        }
        let last = self.turns + 1 == self.limits.turns || self.calls >= self.limits.calls;
        let choice = if last { ToolChoice::None } else { ToolChoice::Auto };
        self.phase = Phase::Model(choice.clone());
        vec![Effect::CallModel(choice)]
    }

    fn cancel(&mut self) -> Vec<Effect> {
        let uncertain = match &self.phase {
            Phase::Tools(work) => work.out.iter().filter(|planned| planned.changes).cloned().collect(),
            _ => Vec::new(),
        };
        self.end(Ending::Cancelled(uncertain))
    }

    fn end(&mut self, ending: Ending) -> Vec<Effect> {
        self.close_calls();
        self.phase = Phase::Done(ending);
        vec![Effect::Stop]
    }

    /// Every call has a result in the transcript, because models refuse a conversation that leaves one open.
    fn close_calls(&mut self) {
        let mut open: BTreeMap<String, ToolCall> = BTreeMap::new();
        for message in &self.transcript {
            match message {
                Message::Assistant { calls, .. } => {
                    open.extend(calls.iter().map(|call| (call.id.clone(), call.clone())));
                }
                Message::Tool { call_id, .. } => {
                    open.remove(call_id);
                }
                _ => {}
            }
        }
        self.transcript.extend(open.into_values().map(|call| plan::not_made(&call)));
    }
}
