//! What a script says while it runs: to its caller at once, and to the journal.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use toolroom_contract::ToolContext;
use toolroom_contract::report;
use toolroom_worker::{Level, Progress, Sink};

use crate::Runtime;
use crate::journal::{LineRecord, Secrets, Stream};

/// Reports of progress that the journal takes of one call. The caller gets them all.
const PROGRESS_LINES: usize = 200;

/// The reports of one call.
pub(super) struct Lines<'a> {
    runtime: &'a Runtime,
    context: &'a ToolContext,
    secrets: &'a Secrets,
    progress_lines: AtomicUsize,
    failed: AtomicBool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(runtime: &'a Runtime, context: &'a ToolContext, secrets: &'a Secrets) -> Self {
        Self {
            runtime,
            context,
            secrets,
            progress_lines: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
        }
    }

    /// Not all lines came through.
    pub(super) fn note_cut(&self) {
        self.write(Stream::Log, "… more lines left out");
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

    /// Tracebacks and warnings go there, so that only those who may read everybody's executions see it.
    fn stderr(&self, text: &str) {
        self.write(Stream::Stderr, &self.secrets.hide(text));
    }
}
