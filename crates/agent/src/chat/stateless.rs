//! A chat whose history the client keeps and sends each time. What is pending is bound to that history.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};
use toolroom_contract::Principal;
use toolroom_contract::canonical::digest;
use toolroom_contract::effect::kind_of_receipt;
use toolroom_contract::ids::ChatRunId;
use toolroom_store::conversations::runs::{self, Status};
use toolroom_store::pending::Asker;
use toolroom_store::{StoreError, Unit};

use super::driver::{Place, Stored};
use super::replies::{self, Settled};
use super::saying::waiting;
use super::{Chat, Follows, RunHandle};
use crate::error::ChatError;
use crate::guard::{self, Evidence};
use crate::prompt::has_calls;
use crate::run::Phase;
use toolroom_model::{Message, Sampling, ToolChoice, ToolSpec};

/// A history that a client sends.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Oldest first; the last is what the person said, or a result of the client's own tool.
    pub messages: Vec<Message>,
    /// Tools that the client runs itself.
    pub tools: Vec<ToolSpec>,
    /// The profile.
    pub profile: Option<String>,
    /// The model; `None` is the default.
    pub model: Option<String>,
    /// "Now" for dates in words.
    pub timestamp: Option<Timestamp>,
    /// The zone of dates in words.
    pub timezone: Option<String>,
    /// Keeps the answer, so that a later request can build on it; `None` keeps what is pending alone.
    pub keep: Option<Follows>,
    /// What is shown of the request with a kept answer, in the form of whoever asks.
    pub shown: Value,
    /// Whether a tool must, may or must not be called first. If none may be, nothing that is pending is touched.
    pub tool_choice: ToolChoice,
    /// How the model is to choose its words.
    pub sampling: Sampling,
    /// A program wrote the last message, about the conversation: it wishes for nothing, and no tool may be called.
    pub is_programs: bool,
}

impl Chat {
    /// Answers the end of a history. Nothing of it is kept but what is pending, unless it says so.
    pub async fn complete(&self, who: &Arc<Principal>, history: History) -> Result<RunHandle, ChatError> {
        let inner = &self.inner;
        let profile = history.profile.unwrap_or_else(|| toolroom_profiles::DEFAULT.to_owned());
        let zone = history.timezone.as_deref();
        let mut prepared =
            inner.prepare(who, profile, history.model.as_deref(), history.timestamp, zone, history.tools)?;
        let words_only = history.is_programs || history.tool_choice == ToolChoice::None;
        if let ToolChoice::Named(name) = &history.tool_choice
            && !prepared.tools.has(name)
        {
            return Err(ChatError::NoTool(name.clone()));
        }
        if words_only {
            prepared.tools = prepared.tools.emptied();
        }
        let limits_length = history.sampling.limits_length();
        if let Some(sampled) =
            prepared.model.sampled(&history.sampling).filter(|_| !history.sampling.is_empty())
        {
            prepared.model = sampled;
        }
        let messages = history.messages;
        let said = match messages.last() {
            Some(Message::User { text }) => Some(inner.fitting(text)?),
            Some(Message::Tool { .. }) => None,
            _ => return Err(ChatError::BadHistory),
        };
        let run_id = ChatRunId::new();
        let place = Place {
            run: run_id,
            by: inner.process(),
            conversation: None,
            history: Some(messages.clone()),
            kept: history.keep.map(|follows| follows.kept(&messages, history.shown)),
            request_key: None,
            scope: format!("run:{run_id}"),
            limits_length,
        };
        let by = Asker { user: who.user.id, key: who.key };
        let (limits, at) = (inner.settings.limits, place.clone());
        let (profile, model) = (prepared.profile.clone(), prepared.model.name().to_owned());
        let wished = !history.is_programs && !has_client_results(&messages) && wishes(&messages);
        let evidence = Evidence { earlier: has_receipts(&messages), ..Evidence::default() };
        let (choice, is_programs) = (history.tool_choice, history.is_programs);
        let write = move |unit: &mut Unit<'_>| {
            let (settled, before) = match &said {
                Some(said) if !words_only => settle_history(unit, by, &messages, said)?,
                _ => (Settled::Fresh(None), Before::default()),
            };
            let evidence = Evidence { wished: before.wished.unwrap_or(wished), ..evidence.clone() };
            let mut opening = settled.run(limits, evidence);
            if matches!(opening.run.phase, Phase::Model(_)) && !is_programs {
                opening.run.phase = Phase::Model(choice.clone());
            }
            runs::save(unit, &at.record(by.user, &opening.run, &profile, &model, Status::Running, None)?)?;
            Ok::<_, StoreError>((opening, before.calls))
        };
        let (opening, asked) = inner.runtime.store.write(write).await?;
        let base = with_calls(place.history.clone().unwrap_or_default(), asked);
        Ok(inner.launch(who, place, prepared, base, opening, None))
    }
}

/// The history with the calls that led to its last question, which the client never saw.
fn with_calls(mut history: Vec<Message>, asked: Vec<Message>) -> Vec<Message> {
    let before = history.len().saturating_sub(1);
    let asking = history[..before].iter().rposition(|message| matches!(message, Message::User { .. }));
    let at = asking.map_or(before, |at| at + 1);
    history.splice(at..at, asked);
    history
}

/// Settles what was pending after the history without its last message, and gives what led to it.
fn settle_history(
    unit: &mut Unit<'_>,
    by: Asker,
    messages: &[Message],
    said: &str,
) -> Result<(Settled, Before), StoreError> {
    let before = key(&messages[..messages.len() - 1], None);
    let taken = runs::take_waiting(unit, by.user, &before)?;
    let taken = taken.and_then(|record| waiting(runs::Run { status: Status::Waiting, ..record }));
    let Some((record, found)) = taken else { return Ok((Settled::Fresh(None), Before::default())) };
    let stored: Option<Stored> = serde_json::from_str(&record.state).ok();
    let kept = stored.as_ref().is_some_and(|stored| stored.kept.is_some());
    let asked = stored.map(|stored| stored.run.transcript).unwrap_or_default();
    let settled = replies::settle(unit, &found.waiting, said, by)?;
    let after = match &settled {
        // The question is bound to the history that the client will send next.
        Settled::Stay(text, _) => {
            let history_key = Some(key(messages, Some(text)));
            runs::Run { status: Status::Waiting, history_key, ..record }
        }
        _ => {
            let history_key = kept.then_some(before);
            runs::Run { status: Status::Done, history_key, ..record }
        }
    };
    runs::save(unit, &after)?;
    // The message answers a question: what is wished was said before.
    let wished = matches!(settled, Settled::Go(_)).then_some(found.wished);
    Ok((settled, Before { calls: asked.into_iter().filter(has_calls).collect(), wished }))
}

/// What led to the question that a message answers.
#[derive(Default)]
struct Before {
    /// The calls, which the client never saw.
    calls: Vec<Message>,
    /// Whether a change may have been asked for, where the question is answered.
    wished: Option<bool>,
}

/// Whether what the person said last may ask for a change.
fn wishes(messages: &[Message]) -> bool {
    let last = messages.iter().rev().find_map(|message| match message {
        Message::User { text } => Some(text),
        _ => None,
    });
    last.is_some_and(|text| guard::wishes(text))
}

/// Whether tools of the client's were called since the person spoke: what they changed is the client's to say.
fn has_client_results(messages: &[Message]) -> bool {
    matches!(messages.last(), Some(Message::Tool { .. }))
}

/// Whether answers in a history have receipts. A client can forge one, and only changes how it is told that nothing
/// was done.
fn has_receipts(messages: &[Message]) -> bool {
    let is_receipt = |line: &str| {
        let verb = line.split(' ').next().unwrap_or_default();
        verb == "Called" || kind_of_receipt(verb).is_some()
    };
    messages.iter().any(|message| match message {
        Message::Assistant { text, .. } => text.lines().any(is_receipt),
        _ => false,
    })
}

/// What names a history: who said what. White space does not count, because clients change it.
pub(super) fn key(messages: &[Message], answer: Option<&str>) -> String {
    let plain = |role: &str, text: &str| json!([role, text.split_whitespace().collect::<Vec<_>>().join(" ")]);
    let mut said: Vec<Value> = messages
        .iter()
        .filter_map(|message| match message {
            Message::User { text } => Some(plain("user", text)),
            Message::Assistant { text, .. } if !text.is_empty() => Some(plain("assistant", text)),
            _ => None,
        })
        .collect();
    said.extend(answer.map(|text| plain("assistant", text)));
    digest("history", &Value::Array(said)).to_hex()
}
