//! What a script says while it runs: to its caller at once, and to the journal.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::watch;
use toolroom_contract::ToolContext;
use toolroom_contract::handler::Question;
use toolroom_contract::report;
use toolroom_contract::validator::Validator;
use toolroom_worker::{Asked, Level, Progress, Sink};

use crate::Runtime;
use crate::journal::{LineRecord, Secrets, Stream};

/// Reports of progress that the journal takes of one call. The caller gets them all.
const PROGRESS_LINES: usize = 200;

/// How long a question of a script is open.
const QUESTION_SECONDS: f64 = 3600.0;

/// The reports of one call.
pub(super) struct Lines<'a> {
    runtime: &'a Runtime,
    context: &'a ToolContext,
    secrets: &'a Secrets,
    progress_lines: AtomicUsize,
    failed: AtomicBool,
    /// The person's answer, until the script asks.
    answer: Mutex<Option<Value>>,
    asked: AtomicBool,
    question: watch::Sender<Option<Question>>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(runtime: &'a Runtime, context: &'a ToolContext, secrets: &'a Secrets) -> Self {
        Self {
            runtime,
            context,
            secrets,
            progress_lines: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            answer: Mutex::new(context.answer.clone()),
            asked: AtomicBool::new(false),
            question: watch::Sender::new(None),
        }
    }

    /// Runs the script until it is done, or until it asks something that is not answered yet.
    pub(super) async fn until_asked<T>(&self, run: impl Future<Output = T>) -> Result<T, Question> {
        let mut question = self.question.subscribe();
        let asked = async {
            while question.changed().await.is_ok() {
                let asked = question.borrow_and_update().clone();
                if let Some(asked) = asked {
                    return asked;
                }
            }
            std::future::pending().await
        };
        tokio::select! {
            biased;
            ran = run => Ok(ran),
            asked = asked => Err(asked),
        }
    }

    /// Not all lines came through.
    pub(super) fn note_cut(&self) {
        self.write(Stream::Log, "… more lines left out");
    }

    /// Whether answers can be checked against it; if not, the log says why they are not.
    fn is_schema(&self, schema: &Value) -> bool {
        let bad = Validator::compile(schema).err();
        if let Some(bad) = &bad {
            let told = format!("the answer is not checked, because the question's schema is wrong: {bad}");
            self.write(Stream::Log, &self.secrets.hide(&told));
        }
        bad.is_none()
    }

    fn write(&self, stream: Stream, text: &str) {
        let line = LineRecord { id: self.context.execution_id, at: self.runtime.clock.now(), stream, text };
        if let Err(error) = self.runtime.journal.line(&line) {
            self.runtime.metrics.journal_failures.inc();
            // Once is enough: the disk is full, or gone.
            if !self.failed.swap(true, Ordering::Relaxed) {
                tracing::warn!(%error, executionId = %self.context.execution_id, "a line of a script was not logged");
            }
        }
    }
}

impl Sink for Lines<'_> {
    fn progress(&self, progress: Progress) {
        let Progress { progress, total, message } = progress;
        let message = message.map(|message| self.secrets.hide(&message).into_owned());
        let report = report::Progress { progress, total, message };
        self.context.reporter.progress(&report);
        if self.progress_lines.fetch_add(1, Ordering::Relaxed) < PROGRESS_LINES {
            let of = report.total.map_or_else(String::new, |total| format!(" of {total}"));
            let what = report.message.as_deref().map_or_else(String::new, |message| format!(": {message}"));
            self.write(Stream::Log, &format!("progress {progress}{of}{what}"));
        }
    }

    fn log(&self, level: Level, text: &str) {
        let text = self.secrets.hide(text);
        let level = match level {
            Level::Debug => report::Level::Debug,
            Level::Info => report::Level::Info,
            Level::Warning => report::Level::Warning,
            Level::Error => report::Level::Error,
        };
        self.context.reporter.log(level, &text);
        self.write(Stream::Log, &text);
    }

    /// The answer that the call came back with goes to the first question; a second one would not know its own.
    fn ask(&self, asked: Asked) -> Pin<Box<dyn Future<Output = Option<Value>> + Send + '_>> {
        if self.asked.swap(true, Ordering::Relaxed) {
            self.write(Stream::Log, "a second question was not asked: a call can ask one");
            return Box::pin(std::future::ready(None));
        }
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if answer.is_none() {
            let text = self.secrets.hide(&asked.question).into_owned();
            let choices = asked.choices.unwrap_or_default();
            let choices = choices.iter().map(|choice| self.secrets.hide(choice).into_owned()).collect();
            let schema = asked.schema.filter(|schema| self.is_schema(schema));
            self.question.send_replace(Some(Question { text, choices, schema, timeout: QUESTION_SECONDS }));
            return Box::pin(std::future::pending());
        }
        Box::pin(std::future::ready(answer))
    }

    /// Tracebacks and warnings go there, so that only those who may read everybody's executions see it.
    fn stderr(&self, text: &str) {
        self.write(Stream::Stderr, &self.secrets.hide(text));
    }
}
