//! Reads messages on threads that may be busy, so that no reading holds up other requests.

use std::time::Duration;

use toolroom_runtime::cpu_pool;

use toolroom_model::ModelError;

/// How long a reading may take, its wait for a thread included. The readings themselves have budgets of steps and end
/// long before that.
const PATIENCE: Duration = Duration::from_secs(10);

/// Does a reading aside.
pub(super) async fn read<T: Send + 'static>(
    reading: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ModelError> {
    match tokio::time::timeout(PATIENCE, cpu_pool::run(reading)).await {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(error)) => {
            tracing::error!(%error, "the offline planner stopped while it read a message");
            Err(ModelError::Failed("the offline planner stopped".to_owned()))
        }
        Err(_) => Err(ModelError::Timeout),
    }
}
