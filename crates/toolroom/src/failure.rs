//! Failures as people see them: what went wrong, what to do, and the exit code.

use std::fmt;
use std::io;
use std::process::ExitCode;

use crate::terminal::{self, Tint};

/// A failure, and what to do about it.
#[derive(Debug)]
pub struct Failure {
    message: String,
    hint: String,
    /// For programs: what kind of failure it is.
    code: String,
    exit: Exit,
}

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// A call failed, or a request was refused.
    Failed,
    /// The command line was wrong.
    Usage,
}

impl Exit {
    /// The number that the shell sees.
    pub fn code(self) -> ExitCode {
        match self {
            Self::Failed => ExitCode::from(1),
            Self::Usage => ExitCode::from(2),
        }
    }
}

impl Failure {
    /// Something failed; `hint` says what to do.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), code: "failed".to_owned(), exit: Exit::Failed }
    }

    /// The command line was wrong; `hint` shows a right one.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new(message, hint).coded("usage") }
    }

    /// With a code of the API.
    pub fn coded(self, code: &str) -> Self {
        Self { code: code.to_owned(), ..self }
    }

    /// The same failure with something else to do about it.
    pub fn hinting(&self, hint: String) -> Self {
        Self { message: self.message.clone(), hint, code: self.code.clone(), exit: self.exit }
    }

    /// Whether what was named does not exist.
    pub fn is_not_found(&self) -> bool {
        self.code == "not_found" || self.code == "tool_not_found"
    }

    /// What to do about it.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Whether our output was closed.
pub fn is_closed(error: &anyhow::Error) -> bool {
    let closed = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(closed)
}

/// Reports the failure on stderr, as JSON if that is wanted, and returns its exit code.
pub fn report(error: &anyhow::Error, json: bool) -> ExitCode {
    // The reader has seen enough, as with `| head`.
    if is_closed(error) {
        return ExitCode::SUCCESS;
    }
    let failure = error.chain().find_map(|cause| cause.downcast_ref::<Failure>());
    let (code, hint, exit) = match failure {
        Some(failure) => (failure.code.as_str(), failure.hint.as_str(), failure.exit),
        None => ("failed", "Run 'toolroom doctor' to find problems with the home.", Exit::Failed),
    };
    show(code, &format!("{error:#}"), hint, json);
    exit.code()
}

/// Says what went wrong, and what to do.
pub fn show(code: &str, message: &str, hint: &str, json: bool) {
    if json {
        let error = serde_json::json!({ "code": code, "message": message, "hint": hint });
        return terminal::error_json(&serde_json::json!({ "error": error }));
    }
    terminal::complain(Tint::Bad, "error", message);
    terminal::complain(Tint::Quiet, "hint", hint);
}
