//! What a running script reports before it answers.

use std::future::Future;
use std::pin::Pin;

use serde::Deserialize;
use serde_json::Value;

/// Takes what a script reports while it runs. Called on the calling task: be quick.
pub trait Sink: Send + Sync {
    /// The script reports progress.
    fn progress(&self, _progress: Progress) {}

    /// The script logged or printed a line.
    fn log(&self, _level: Level, _text: &str) {}

    /// A line came through stderr, where tracebacks go.
    fn stderr(&self, _text: &str) {}

    /// The script asks the person, and waits; nothing if nobody answers.
    fn ask(&self, _asked: Asked) -> Pin<Box<dyn Future<Output = Option<Value>> + Send + '_>> {
        Box::pin(std::future::ready(None))
    }
}

/// Ignores everything.
impl Sink for () {}

/// A question of a script to the person that it works for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Asked {
    /// What the person is shown.
    pub question: String,
    /// What they may choose from.
    #[serde(default)]
    pub choices: Option<Vec<String>>,
    /// The schema of the answer.
    #[serde(default)]
    pub schema: Option<Value>,
}

/// The progress of a script.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Progress {
    /// How much is done.
    pub progress: f64,
    /// Of how much, if that is known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

/// The level of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
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

impl From<String> for Level {
    fn from(name: String) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "debug" | "trace" => Self::Debug,
            "warning" | "warn" => Self::Warning,
            "error" | "critical" | "fatal" => Self::Error,
            _ => Self::Info,
        }
    }
}
