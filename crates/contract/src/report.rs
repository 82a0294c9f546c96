//! What a running tool reports before it answers: progress and log lines.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The progress of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// How much is done; it only grows.
    pub progress: f64,
    /// Of how much, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is being done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The level of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// For the author.
    Debug,
    /// Normal.
    Info,
    /// A possible problem.
    Warning,
    /// An error.
    Error,
}

/// Takes what a tool reports while it runs. Called on the calling task: be quick, and never wait.
pub trait Report: Send + Sync {
    /// The tool reports progress.
    fn progress(&self, progress: &Progress);

    /// The tool logged a line.
    fn log(&self, level: Level, text: &str);
}

/// Where a call's reports go; nowhere, unless its edge can show them.
#[derive(Clone, Default)]
pub struct Reporter(Option<Arc<dyn Report>>);

impl Reporter {
    /// Reports go here.
    pub fn new(report: Arc<dyn Report>) -> Self {
        Self(Some(report))
    }

    /// Whether reports go anywhere.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// The tool reports progress.
    pub fn progress(&self, progress: &Progress) {
        if let Some(report) = &self.0 {
            report.progress(progress);
        }
    }

    /// The tool logged a line.
    pub fn log(&self, level: Level, text: &str) {
        if let Some(report) = &self.0 {
            report.log(level, text);
        }
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Reporter(on)" } else { "Reporter(off)" })
    }
}
