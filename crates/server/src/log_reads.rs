//! Reading the execution log for requests: off their threads, a few at a time, and not for those who have left.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_runtime::journal::{JournalError, Reader};

/// Searches at the same time: each may go through much of the log.
const AT_ONCE: usize = 4;
/// How long one waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// The turns of those who read.
pub(crate) struct LogReads(Arc<Semaphore>);

/// Why the log was not read.
pub(crate) enum LogFailure {
    /// The cursor is not one of the log.
    Cursor,
    /// The log cannot be read, or too many read it.
    Failed(ToolError),
}

impl Default for LogReads {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl LogReads {
    /// Runs `read` on a thread of its own. It ends early if nobody waits for it any more.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        reader: Reader,
        read: impl FnOnce(&Reader) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, LogFailure> {
        let turn = tokio::time::timeout(PATIENCE, Arc::clone(&self.0).acquire_owned()).await;
        let Ok(Ok(turn)) = turn else {
            let message = "The log is being searched by too many at once. Try again in a moment.";
            return Err(LogFailure::Failed(ToolError::new(ErrorCode::Busy, message).retry_after_ms(1000)));
        };
        let waits = CancelOnDrop::default();
        let reader = reader.cancelled_by(Arc::clone(&waits.0));
        let read = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            read(&reader)
        });
        match read.await {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(JournalError::Cursor(_))) => Err(LogFailure::Cursor),
            Ok(Err(error)) => Err(LogFailure::Failed(ToolError::internal(error))),
            Err(error) => Err(LogFailure::Failed(ToolError::internal(error))),
        }
    }
}

#[derive(Default)]
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn promise_a_few_read_the_log_at_once_and_the_others_wait_for_their_turn() {
        let folder = tempfile::tempdir().unwrap();
        let (reads, reader) = (LogReads::default(), Reader::new(folder.path(), None));
        let (begun, told) = mpsc::channel();
        let mut going = Vec::new();
        for _ in 0..AT_ONCE {
            let (go, wait) = mpsc::channel::<()>();
            let begun = begun.clone();
            let read = reads.run(reader.clone(), move |_| {
                begun.send(()).unwrap();
                let _ = wait.recv();
                Ok(())
            });
            going.push((go, Box::pin(read)));
        }
        for (_, read) in &mut going {
            assert!(tokio::time::timeout(Duration::from_millis(1), read).await.is_err(), "it waits");
        }
        (0..AT_ONCE).for_each(|_| told.recv().unwrap());
        let mut next = Box::pin(reads.run(reader, |_| Ok(())));
        assert!(tokio::time::timeout(Duration::from_millis(50), &mut next).await.is_err(), "it has no turn");
        // One who leaves frees the turn when the search has ended.
        drop(going.pop());
        assert!(next.await.is_ok());
    }
}
