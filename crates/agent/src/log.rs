//! The event log of a run: the one thing that edges show. It can be read again from any place.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;
use toolroom_contract::ids::{ChatRunId, ExecutionId};

use crate::chat::Answer;
use crate::confirm::{PendingConfirmation, PendingQuestion};
use crate::receipt::Receipt;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Counts up from 1 within the run: `Last-Event-ID`.
    pub id: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// More words of the response. All of them, joined, are the response, less what was withdrawn.
    Text {
        /// The words.
        text: String,
        /// Whose.
        source: TextSource,
    },
    /// The last words of the response count no more: the model's answer was cut off.
    Withdrawn {
        /// The words.
        text: String,
    },
    /// A tool is called.
    ToolStarted {
        /// The call.
        tool_call_id: String,
        /// The published name.
        name: String,
        /// The parameters.
        input: Value,
        /// The call's row in the journal, if it reaches one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        execution_id: Option<ExecutionId>,
    },
    /// A call ended.
    ToolFinished {
        /// The call.
        tool_call_id: String,
        /// The published name.
        name: String,
        /// The published answer.
        output: Value,
        /// Whether it failed, or waits for a person.
        failed: bool,
        /// The call's row in the journal, if it reached one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        execution_id: Option<ExecutionId>,
        /// What it changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        receipt: Option<Receipt>,
    },
    /// The person is asked for a yes or a no.
    Confirmation {
        /// What waits.
        pending_confirmation: PendingConfirmation,
    },
    /// The person is asked a question.
    Question {
        /// What waits.
        pending_question: PendingQuestion,
    },
    /// The run has ended. The last event.
    Done {
        /// The whole answer.
        answer: Box<Answer>,
    },
}

/// Whose words they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextSource {
    /// The model's, as it said them.
    Model,
    /// Rendered from a tool's result.
    Receipt,
    /// The chat's own: questions, limits, that nothing was changed.
    Chat,
}

/// The log of one run, written by its driver and read by any number of edges.
pub struct Log {
    /// Whose it is.
    pub run: ChatRunId,
    events: Mutex<Vec<Event>>,
    length: watch::Sender<usize>,
}

impl Log {
    /// An empty log.
    pub fn new(run: ChatRunId) -> Arc<Self> {
        Arc::new(Self { run, events: Mutex::default(), length: watch::channel(0).0 })
    }

    /// The log of a run that has ended.
    pub fn ended(run: ChatRunId, answer: Answer) -> Arc<Self> {
        let log = Self::new(run);
        log.end(answer);
        log
    }

    /// Writes the whole answer at once, for those who saw nothing before it.
    pub fn end(&self, answer: Answer) {
        if !answer.response.is_empty() {
            self.push(EventKind::Text { text: answer.response.clone(), source: TextSource::Chat });
        }
        self.push(EventKind::Done { answer: Box::new(answer) });
    }

    /// Writes what happened. Nothing follows the end.
    pub fn push(&self, kind: EventKind) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if ended(&events) {
            return;
        }
        let id = events.len() as u64 + 1;
        events.push(Event { id, kind });
        self.length.send_replace(events.len());
    }

    /// The event after this one, once it is there; `None` after the end.
    pub async fn next(&self, after: u64) -> Option<Event> {
        let mut length = self.length.subscribe();
        loop {
            {
                let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
                let at = usize::try_from(after).unwrap_or(usize::MAX);
                if let Some(event) = events.get(at) {
                    return Some(event.clone());
                }
                if ended(&events) {
                    return None;
                }
            }
            length.changed().await.ok()?;
        }
    }

    /// Whether the end is there.
    pub fn is_over(&self) -> bool {
        ended(&self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The answer, once it is there.
    pub async fn answer(&self) -> Option<Answer> {
        let mut after = 0;
        while let Some(event) = self.next(after).await {
            after = event.id;
            if let EventKind::Done { answer } = event.kind {
                return Some(*answer);
            }
        }
        None
    }
}

fn ended(events: &[Event]) -> bool {
    matches!(events.last(), Some(Event { kind: EventKind::Done { .. }, .. }))
}
