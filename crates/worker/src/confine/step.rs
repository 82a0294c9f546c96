//! The steps of the set-up: each has a name, and a refusal names it.

use std::io;

use super::plan::Failed;

/// Runs steps; a test can make one fail to prove that the others do not run without it.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    pub(super) fail_at: Option<String>,
}

impl Steps {
    pub(super) fn run<T, E: Into<io::Error>>(
        &self,
        name: &str,
        step: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, Failed> {
        if self.fail_at.as_deref() == Some(name) {
            return Err(Failed { step: name.to_owned(), errno: libc::EPERM });
        }
        step().map_err(|error| Failed::new(name, error))
    }
}
