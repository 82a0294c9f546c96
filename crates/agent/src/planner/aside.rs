//! Reads messages on threads that may be busy, a few at a time, so that no reading holds up other requests.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::model::ModelError;

/// How long a reading may take, its wait for a thread included. The readings themselves have budgets of steps and end
/// long before that.
const PATIENCE: Duration = Duration::from_secs(10);

/// Half of the processors at most: the others go on answering.
static THREADS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Arc::new(Semaphore::new((processors / 2).max(1)))
});

/// Does a reading aside. One that is given up on runs to its end, and keeps its place until then.
pub(super) async fn read<T: Send + 'static>(
    reading: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ModelError> {
    let done = async {
        let place = Arc::clone(&THREADS).acquire_owned().await.map_err(|_| ModelError::Busy)?;
        let reading = tokio::task::spawn_blocking(move || {
            let _place = place;
            reading()
        });
        reading.await.map_err(|error| {
            tracing::error!(%error, "the offline planner stopped while it read a message");
            ModelError::Failed("the offline planner stopped".to_owned())
        })
    };
    tokio::time::timeout(PATIENCE, done).await.unwrap_or(Err(ModelError::Timeout))
}
