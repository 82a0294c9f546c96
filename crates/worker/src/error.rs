//! Why a script gave no answer.

use std::io;
use std::path::PathBuf;

use crate::frames::{BadValue, Refusal};

/// Why a script gave no answer. A timeout is the caller's: dropping the call's future ends the script.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The script file is not there.
    #[error("the script file is missing")]
    Missing,
    /// Another user owns the script file, its folder or a module beside it, or can write it.
    #[error("other users can write to {}", path.display())]
    Foreign {
        /// What they can write, only for the owner.
        path: PathBuf,
    },
    /// The file of an executable tool may not be executed, or is in no format that the system can run.
    #[error("the script file is not executable")]
    NotExecutable,
    /// The program that runs the script (`python3`, `sh`, what the first line names) cannot be started.
    #[error("the interpreter {program} cannot be started")]
    Interpreter {
        /// What was looked for.
        program: String,
    },
    /// The script raised an exception.
    #[error("the script raised {kind}")]
    Raised {
        /// The type of the exception, which is all that the caller may know.
        kind: String,
        /// What it said, only for the owner.
        message: String,
        /// Where it came from, only for the owner.
        traceback: String,
    },
    /// The script refuses the call, in words that are meant for the caller.
    #[error("the script refused the call")]
    Refused(Refusal),
    /// The script cannot use values that fit its schema.
    #[error("the script cannot use these parameters")]
    Invalid(Vec<BadValue>),
    /// The process ended with another exit code than 0, or died in the middle of the call.
    #[error("{how}")]
    Ended {
        /// How it ended, in our words.
        how: String,
        /// The end of its stderr, only for the owner.
        stderr: String,
    },
    /// What the script wrote is not JSON.
    #[error("the script's output is not valid JSON")]
    BadOutput {
        /// What is wrong with it, in words of ours.
        reason: Option<String>,
        /// What the script itself said, only for the owner.
        detail: String,
    },
    /// The output passed its limit, and the script was stopped.
    #[error("the script's output is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
        /// The beginning of the output.
        head: String,
    },
    /// The packages that the script asks for are not installed, or could not be.
    #[error("the script's packages: {reason}")]
    Dependencies {
        /// What is wrong, and what the installer said.
        reason: String,
    },
    /// No index could be asked for the packages.
    #[error(
        "{installer} could not reach the package index ({reason}), so it is not known whether the packages exist"
    )]
    NoIndex {
        /// What asked.
        installer: String,
        /// What it said.
        reason: String,
    },
    /// The script asks for another version of Python than there is.
    #[error(
        "it needs Python {wanted}, and only {found} was found: install one that fits, or change requires-python"
    )]
    PythonVersion {
        /// The versions that it takes.
        wanted: String,
        /// The version that there is.
        found: String,
    },
    /// A file name for code leads outside its folder.
    #[error("{name:?} is not a file name in the working folder")]
    BadFileName {
        /// The name.
        name: String,
    },
    /// [`crate::Scripts::shutdown`] was called.
    #[error("script processes are being shut down")]
    Stopped,
    /// A step of the sandbox was refused, and nothing was run.
    #[error("the sandbox could not be set up ({0})")]
    Sandbox(crate::confine::Failed),
    /// This system cannot confine code, and running it unconfined was not allowed.
    #[error("this system cannot confine code: {reason}")]
    Unconfined {
        /// What was refused.
        reason: String,
    },
    /// The system refused something that every script needs, such as a process, a pipe or a folder.
    #[error("a process could not be set up")]
    System(#[source] io::Error),
}

impl From<io::Error> for ScriptError {
    fn from(error: io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<crate::confine::Failed>()) {
            Some(failed) => Self::Sandbox(failed.clone()),
            None => Self::System(error),
        }
    }
}
