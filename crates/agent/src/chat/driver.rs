//! Does what a run asks for: speaks with the model, makes calls through the pipeline, opens requests, writes down how
//! far it came.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;
use toolroom_contract::Principal;
use toolroom_contract::effect::Named;
use toolroom_contract::ids::{ChatRunId, ConversationId, ExecutionId, RunId, UserId};
use toolroom_profiles::Confirm;
use toolroom_store::StoreError;
use toolroom_store::conversations::runs::{self, Status};

use super::answer::{Answer, CallShown};
use super::kept::Kept;
use super::response_writer::ResponseWriter;
use super::saying::Prepared;
use super::{Inner, turns};
use crate::confirm::{PendingConfirmation, PendingQuestion};
use crate::log::{Log, TextSource};
use crate::prompt;
use crate::receipt::Receipt;
use crate::run::{Effect, Event, Planned, Run};
use crate::toolset::Toolset;
use toolroom_model::{Arguments, Finish, Message, Model, ModelError, Moment, Prompt, ToolChoice, Usage};

/// A run with everything that it needs.
pub(super) struct Driver {
    pub(super) inner: Arc<Inner>,
    pub(super) who: Arc<Principal>,
    pub(super) place: Place,
    pub(super) run: Run,
    pub(super) model: Arc<dyn Model>,
    pub(super) tools: Toolset,
    pub(super) profile: String,
    pub(super) moment: Moment,
    /// The conversation up to what the person said now.
    pub(super) base: Vec<Message>,
    pub(super) writer: ResponseWriter,
    pub(super) log: Arc<Log>,
    pub(super) cancelled: watch::Receiver<bool>,
    pub(super) seen: Seen,
    /// Whether it began with calls that a person agreed to, or whose question they answered.
    is_resumed: bool,
}

/// Where a run takes place.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) run: ChatRunId,
    /// The process, where there may be others.
    pub(super) by: Option<RunId>,
    pub(super) conversation: Option<ConversationId>,
    /// The history that a client without conversations sent.
    pub(super) history: Option<Vec<Message>>,
    /// What is needed to go on from its answer.
    pub(super) kept: Option<Kept>,
    pub(super) request_key: Option<String>,
    /// To what its pending requests belong.
    pub(super) scope: String,
    /// Whether the client wants an answer of at most some length.
    pub(super) limits_length: bool,
}

impl Place {
    /// A run as the store keeps it.
    pub(super) fn record(
        &self,
        user: UserId,
        run: &Run,
        profile: &str,
        model: &str,
        status: Status,
        answer: Option<&Answer>,
    ) -> Result<runs::Run, StoreError> {
        let stored = Stored {
            run: run.clone(),
            profile: profile.to_owned(),
            model: model.to_owned(),
            answer: answer.cloned(),
            kept: self.kept.clone(),
            by: self.by,
        };
        let state = serde_json::to_string(&stored)
            .map_err(|error| StoreError::Engine { cause: error.to_string() })?;
        let history_key = match (&self.history, answer) {
            (Some(history), Some(answer)) if status == Status::Waiting || self.kept.is_some() => {
                Some(super::stateless::key(history, Some(&answer.response)))
            }
            _ => None,
        };
        Ok(runs::Run {
            id: self.run,
            user,
            conversation: self.conversation,
            history_key,
            request_key: self.request_key.clone(),
            status,
            state,
            updated_at: Timestamp::UNIX_EPOCH,
        })
    }
}

/// The result of a run so far, for its answer.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) calls: Vec<CallShown>,
    /// The rows of the journal, by the ids of the calls.
    pub(super) executions: HashMap<String, ExecutionId>,
    pub(super) receipts: Vec<Receipt>,
    pub(super) usage: Usage,
    /// The changes that were made, by name and parameters.
    pub(super) made: Vec<(String, Value)>,
    /// What this run changed or is to change.
    pub(super) touched: Vec<Named>,
    pub(super) named: Vec<Named>,
    pub(super) confirmation: Option<PendingConfirmation>,
    pub(super) question: Option<PendingQuestion>,
    /// Whether a change is asked about because the model had read what anybody may have written.
    pub(super) wary: bool,
    /// Whether a language model has spoken before the planner took its place.
    pub(super) spoke_before: bool,
    /// Why the model's last words are not all that it had to say.
    pub(super) cut: Option<Finish>,
}

/// A run as the store keeps it.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) run: Run,
    pub(super) profile: String,
    pub(super) model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<Answer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<Kept>,
    /// The process that is at work on it, where there may be others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<RunId>,
}

impl Driver {
    /// A run that is noted as going on, with nothing said yet.
    pub(super) fn new(
        inner: &Arc<Inner>,
        who: &Arc<Principal>,
        place: Place,
        run: Run,
        prepared: Prepared,
        log: &Arc<Log>,
    ) -> Self {
        let Prepared { profile, model, tools, moment } = prepared;
        Self {
            inner: Arc::clone(inner),
            who: Arc::clone(who),
            cancelled: inner.enter(who.user.id, place.conversation, &profile, log),
            place,
            is_resumed: !run.transcript.is_empty(),
            run,
            model,
            tools,
            profile,
            moment,
            base: Vec::new(),
            writer: ResponseWriter::new(log),
            log: Arc::clone(log),
            seen: Seen::default(),
        }
    }

    /// Runs to the end, and answers. The turn in the conversation is given back after that.
    pub(super) async fn drive(mut self, turn: Option<turns::Turn>) {
        let deadline = Instant::now() + Duration::from_secs(self.run.limits.seconds);
        let mut effects = VecDeque::from(self.run.start());
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::Say(text) => self.writer.say_turn(&text),
                Effect::CallModel(choice) => {
                    let event = self.turn(choice, deadline).await;
                    effects.extend(self.run.step(event));
                }
                Effect::CallTools(batch) => effects.extend(self.call_tools(batch, deadline).await),
                Effect::Open(calls) => effects.extend(self.open(calls).await),
                Effect::Stop => break,
            }
        }
        let run = self.place.run;
        let inner = Arc::clone(&self.inner);
        self.finish().await;
        inner.leave(run);
        drop(turn);
    }

    async fn turn(&mut self, choice: ToolChoice, deadline: Instant) -> Event {
        let words = self.words();
        let rules = self.tools.rules();
        let mut messages = vec![prompt::system(rules.notes, &self.moment)];
        messages.extend(self.base.iter().chain(&self.run.transcript).cloned());
        let prompt = Prompt {
            messages: prompt::marked(prompt::in_order(messages)),
            tools: self.tools.shown(&self.who, &words, self.inner.settings.tools, &choice),
            tool_choice: choice,
            moment: self.moment.clone(),
            profile: self.profile.clone(),
            confirms_changes: rules.confirm == Confirm::Changes,
            confirms_deletes: rules.confirm != Confirm::Never,
        };
        let mut cancelled = self.cancelled.clone();
        let asked = {
            let mut listener = self.writer.listen();
            tokio::select! {
                biased;
                _ = cancelled.wait_for(|cancelled| *cancelled) => return Event::Cancel,
                () = tokio::time::sleep_until(deadline) => return Event::OutOfTime,
                turn = self.model.turn(&prompt, &mut listener) => turn,
            }
        };
        match asked {
            Ok(mut turn) => {
                self.seen.usage.input += turn.usage.input;
                self.seen.usage.output += turn.usage.output;
                self.seen.cut =
                    Some(turn.finish).filter(|why| matches!(why, Finish::Length | Finish::Filtered));
                let verdicts = self.verdicts(&mut turn);
                Event::Turned { turn, verdicts }
            }
            Err(error) => {
                self.writer.withdraw_turn();
                self.without_model(told(&error))
            }
        }
    }

    /// Where a language model gives no turn, the planner answers, and says so. Only from the beginning: it would not
    /// know which part of the wish was done.
    fn without_model(&mut self, why: String) -> Event {
        let begun = self.is_resumed || !self.run.evidence.calls.is_empty();
        match self.inner.models.stand_in() {
            Some(planner) if !begun && !self.is_offline() && !self.tools.names().is_empty() => {
                self.remark(&format!(
                    "I cannot use the language model now: {why}. This is answered by the offline planner instead."
                ));
                self.seen.spoke_before = self.writer.spoke;
                self.model = planner;
                Event::ModelReplaced
            }
            _ => Event::ModelFailed(why),
        }
    }

    /// Whether the planner answers, whose words are the product's own.
    pub(super) fn is_offline(&self) -> bool {
        self.model.name() == toolroom_planner::NAME
    }

    /// Whether the model is shown what anybody may have written: results of earlier calls that came from outside.
    pub(super) fn has_read_untrusted(&self) -> bool {
        let failed = |id: &str| {
            self.base
                .iter()
                .any(|one| matches!(one, Message::Tool { call_id, failed, .. } if call_id == id && *failed))
        };
        let calls = self.base.iter().flat_map(|message| match message {
            Message::Assistant { calls, .. } => calls.as_slice(),
            _ => &[],
        });
        calls.into_iter().any(|call| match (self.tools.name_meant(&call.name), &call.arguments) {
            (Some(name), Arguments::Json(params)) => {
                self.tools.resolve(name, params).is_some_and(|meant| meant.tool.policy.untrusted_output)
            }
            (Some(_), Arguments::Broken(_)) => false,
            // A tool of the client's, or one that is not there any more.
            (None, _) => !failed(&call.id),
        })
    }

    async fn call_tools(&mut self, batch: Vec<Planned>, deadline: Instant) -> Vec<Effect> {
        if batch.iter().any(|planned| planned.changes)
            && let Err(error) = self.save(Status::Running).await
        {
            // What cannot be stored is not started: after a crash nobody would know about it.
            tracing::error!(%error, run = %self.place.run, "the state of a run was not written");
            let refused =
                batch.iter().map(|planned| self.refused(planned, error.clone())).collect::<Vec<_>>();
            return refused.into_iter().flat_map(|event| self.run.step(event)).collect();
        }
        let executions: Vec<_> = batch.iter().map(|planned| self.starts(planned)).collect();
        let mut cancelled = self.cancelled.clone();
        let caller = self.caller();
        let mut flying: FuturesUnordered<_> = batch
            .into_iter()
            .zip(executions)
            .map(|(planned, execution)| {
                let caller = &caller;
                async move {
                    let reply = caller.call(&planned, None, execution).await;
                    (planned, reply)
                }
            })
            .collect();
        let mut effects = Vec::new();
        loop {
            let ended = tokio::select! {
                biased;
                _ = cancelled.wait_for(|cancelled| *cancelled) => Err(Event::Cancel),
                () = tokio::time::sleep_until(deadline) => Err(Event::OutOfTime),
                ended = flying.next() => Ok(ended),
            };
            match ended {
                Ok(Some((planned, reply))) => {
                    let event = self.ended(planned, reply);
                    effects.extend(self.run.step(event));
                }
                Ok(None) => return effects,
                Err(event) => {
                    effects.extend(self.run.step(event));
                    return effects;
                }
            }
        }
    }

    /// Writes down how far the run came.
    pub(super) async fn save(&self, status: Status) -> Result<(), StoreError> {
        let record = self.record(status, None)?;
        self.inner.runtime.store.write(move |unit| runs::save(unit, &record)).await
    }

    /// The run as the store keeps it.
    pub(super) fn record(&self, status: Status, answer: Option<&Answer>) -> Result<runs::Run, StoreError> {
        let model = self.model.name();
        self.place.record(self.who.user.id, &self.run, &self.profile, model, status, answer)
    }

    /// What the person said last.
    pub(super) fn words(&self) -> String {
        let last = self.base.iter().rev().find_map(|message| match message {
            Message::User { text } => Some(text.clone()),
            _ => None,
        });
        last.unwrap_or_default()
    }

    /// A line of the chat's own.
    pub(super) fn remark(&mut self, text: &str) {
        self.writer.say(text, TextSource::Chat);
    }
}

/// What a person may know of a model's failure.
fn told(error: &ModelError) -> String {
    tracing::warn!(%error, "a model gave no turn");
    error.to_string()
}
