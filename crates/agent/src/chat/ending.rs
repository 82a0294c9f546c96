//! The end of a run: there is always an answer, and it is written down before it is given.

use serde_json::json;
use toolroom_store::conversations::runs::{self, Status};
use toolroom_store::conversations::{self, NewMessage, Role};
use toolroom_store::{StoreError, Unit};

use super::answer::{Answer, CallShown};
use super::driver::Driver;
use crate::confirm::{PendingConfirmation, question};
use crate::log::{EventKind, TextSource};
use crate::prompt;
use crate::run::{Ending, Limit, Phase, Waiting, WaitingCall};
use toolroom_model::{Finish, Message, ToolCall};

impl Driver {
    pub(super) async fn finish(mut self) {
        let mut client_calls = Vec::new();
        let status = match self.run.phase.clone() {
            Phase::Waiting(waiting) => {
                self.ask_person(&waiting).await;
                Status::Waiting
            }
            Phase::Done(ending) => {
                self.last_words(ending, &mut client_calls);
                Status::Done
            }
            _ => Status::Done,
        };
        if let Some(pending_question) = self.seen.question.clone() {
            self.log.push(EventKind::Question { pending_question });
        }
        if let Some(pending_confirmation) = self.seen.confirmation.clone() {
            self.log.push(EventKind::Confirmation { pending_confirmation });
        }
        let mut answer = self.answer(client_calls);
        if let Err(error) = self.store(status, &answer).await {
            tracing::error!(%error, run = %self.place.run, "the answer of a run was not written");
            if status == Status::Waiting {
                // What was not written down cannot be agreed to.
                self.remark("This could not be stored, so I cannot wait for your answer. Please try again.");
                (self.seen.confirmation, self.seen.question) = (None, None);
                answer = self.answer(Vec::new());
            }
        }
        self.log.push(EventKind::Done { answer: Box::new(answer) });
    }

    fn answer(&self, client_calls: Vec<ToolCall>) -> Answer {
        Answer {
            response: self.writer.response.clone(),
            tool_calls: self.seen.calls.clone(),
            receipts: self.seen.receipts.clone(),
            pending_confirmation: self.seen.confirmation.clone(),
            pending_question: self.seen.question.clone(),
            client_calls,
            cut: self.seen.cut == Some(Finish::Length),
            model: self.model.name().to_owned(),
            usage: self.seen.usage,
            ..Answer::new(self.place.run, self.place.conversation, self.inner.runtime.clock.now())
        }
    }

    /// The person is asked, in words that come from the calls alone.
    async fn ask_person<'a>(&mut self, waiting: &'a Waiting) {
        if let Some(pending) = self.seen.question.clone() {
            let mut text = pending.question;
            if !pending.choices.is_empty() {
                text += &format!(" ({})", pending.choices.join(" / "));
            }
            self.conclude();
            return self.writer.say(&text, TextSource::Chat);
        }
        if self.seen.wary {
            self.remark(WARY);
        }
        let each: Vec<String> = waiting.calls.iter().map(|call| self.asked_in_words(&call.planned)).collect();
        let text = question(&each);
        let Some(first) = waiting.calls.first() else { return };
        let id = first.request;
        let read = self.inner.runtime.store.read(move |unit| toolroom_store::pending::get(unit, id)).await;
        let expires_at = match read {
            Ok::<_, StoreError>(Some(request)) => request.expires_at,
            _ => self.inner.runtime.clock.now() + self.inner.settings.confirm_ttl,
        };
        let meant = |call: &'a WaitingCall| Some((call.planned.name.as_str(), self.meant(&call.planned)?));
        let calls: Vec<_> = waiting.calls.iter().filter_map(meant).collect();
        self.seen.confirmation =
            Some(PendingConfirmation::of(id, expires_at, &calls, &self.seen.named, text.clone()));
        self.writer.say(&text, TextSource::Chat);
    }

    fn last_words(&mut self, ending: Ending, client_calls: &mut Vec<ToolCall>) {
        let so_far = self.run.evidence.so_far();
        match ending {
            Ending::Answered => {
                if self.writer.response.trim().is_empty() {
                    self.remark("I have no answer to that.");
                }
                self.conclude();
            }
            Ending::Limit(limit) => {
                let what = match limit {
                    Limit::Turns => format!("after {} turns", self.run.turns),
                    Limit::Tokens => "because the tokens for one message are used up".to_owned(),
                    Limit::Time => "because the time for one message is up".to_owned(),
                };
                self.remark(&format!(
                    "I stopped {what}, before I was finished. {so_far} Say “go on” to continue."
                ));
            }
            Ending::Cancelled(uncertain) if uncertain.is_empty() => {
                self.remark(&format!("Cancelled. {so_far}"))
            }
            Ending::Cancelled(uncertain) => {
                let names: Vec<&str> = uncertain.iter().map(|planned| planned.name.as_str()).collect();
                let names = names.join(", ");
                self.remark(&format!(
                    "Cancelled while {names} was at work: it may have taken effect. Check before you repeat it."
                ));
            }
            Ending::ModelFailed(why) => self.remark(&format!("I cannot answer now: {why}. {so_far}")),
            Ending::Client(calls) => *client_calls = calls,
        }
    }

    /// What has to be said beside the model's words, or of its calls. The planner says such things itself.
    fn conclude(&mut self) {
        let is_silent = !self.writer.spoke && self.run.evidence.calls.is_empty();
        if is_silent || self.is_offline() && !self.seen.spoke_before {
            return;
        }
        match self.seen.cut {
            Some(Finish::Filtered) => self.remark("The model's server cut this answer off."),
            Some(_) if !self.place.limits_length => {
                self.remark("The model's answer ended at its limit of length.")
            }
            _ => {}
        }
        if let Some(line) = self.run.evidence.conclusion() {
            self.remark(&line);
        }
    }

    /// The answer, the end of the run and of the turn in the conversation: all or nothing.
    async fn store(&self, status: Status, answer: &Answer) -> Result<(), StoreError> {
        let record = self.record(status, Some(answer))?;
        let by = self.inner.runtime.journal.run();
        let conversation = self.place.conversation;
        let transcript: Vec<Message> =
            self.run.transcript.iter().filter(|one| prompt::has_calls(one)).cloned().collect();
        let transcript: Vec<Message> = transcript.into_iter().map(prompt::bounded).collect();
        let calls: Vec<CallShown> = answer.tool_calls.iter().cloned().map(CallShown::bounded).collect();
        let new = NewMessage {
            role: Role::Assistant,
            content: answer.response.clone(),
            metadata: json!({
                "transcript": transcript,
                "tool_calls": calls,
                "receipts": answer.receipts,
                "pending_confirmation": answer.pending_confirmation,
                "pending_question": answer.pending_question,
                "model": answer.model,
            }),
            run: Some(self.place.run),
        };
        let write = move |unit: &mut Unit<'_>| {
            if let Some(id) = conversation {
                conversations::say(unit, id, &new)?;
                conversations::end_turn(unit, id, by)?;
            }
            runs::save(unit, &record)
        };
        self.inner.runtime.store.write(write).await
    }
}

/// Why a change is asked about that would be made at once otherwise.
const WARY: &str =
    "I have read something from outside, such as a web page or the output of a program, so I ask first.";
