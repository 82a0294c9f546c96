//! Failures as people see them: what went wrong, what to do about it, and the exit code.

use std::fmt;
use std::io;
use std::process::ExitCode;

use crate::terminal::{self, Tint};

/// A failure with a way out.
#[derive(Debug)]
pub struct Failure {
    message: String,
    hint: String,
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
        Self { message: message.into(), hint: hint.into(), exit: Exit::Failed }
    }

    /// The command line was wrong; `hint` shows a right one.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new(message, hint) }
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

/// Whether nobody reads our output any more.
pub fn is_closed(error: &anyhow::Error) -> bool {
    let closed = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(closed)
}

/// Tells of the failure on stderr and gives its exit code.
pub fn report(error: &anyhow::Error) -> ExitCode {
    // Whoever reads our output has seen enough, as with `| head`.
    if is_closed(error) {
        return ExitCode::SUCCESS;
    }
    terminal::complain(Tint::Bad, "error", &format!("{error:#}"));
    let failure = error.chain().find_map(|cause| cause.downcast_ref::<Failure>());
    match failure {
        Some(failure) => {
            terminal::complain(Tint::Quiet, "hint", &failure.hint);
            failure.exit.code()
        }
        None => {
            terminal::complain(Tint::Quiet, "hint", "Run 'toolroom doctor' to find problems with the home.");
            Exit::Failed.code()
        }
    }
}
