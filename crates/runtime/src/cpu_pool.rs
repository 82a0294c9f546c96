//! Work that may keep a processor busy, on threads that may be busy, a few at a time: the others go on answering
//! requests.

use std::sync::{Arc, LazyLock};

use tokio::sync::Semaphore;
use tokio::task::JoinError;

/// Half of the processors at most.
static THREADS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Arc::new(Semaphore::new((processors / 2).max(1)))
});

/// Does the work aside, once there is a place for it. Work that is given up on runs to its end, and keeps its place
/// until then; so it must have a bound of its own.
pub async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, JoinError> {
    // Nobody closes it.
    let place = Arc::clone(&THREADS).acquire_owned().await.ok();
    let working = tokio::task::spawn_blocking(move || {
        let _place = place;
        work()
    });
    working.await
}
