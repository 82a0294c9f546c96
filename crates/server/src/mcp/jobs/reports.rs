//! What a deferred call says on its way.
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolroom_contract::report::{Level, Progress, Report};
use toolroom_store::{Store, deferred};

use super::Job;
use super::job::plain;
use crate::mcp::peer::Reports;

/// A running tool's reports: to the client while it waits, and into how the call stands.
pub(crate) struct JobReports {
    job: Arc<Job>,
    reports: Option<Reports>,
    /// Where other servers read it, and when it was written there last.
    row: Option<(Store, Mutex<Option<Instant>>)>,
}

/// The least time between two writings of how far a call is.
const REST: Duration = Duration::from_millis(200);

impl JobReports {
    pub(crate) fn new(job: Arc<Job>, reports: Option<Reports>, store: &Store) -> Self {
        let row = store.lease().map(|_| (store.clone(), Mutex::default()));
        Self { job, reports, row }
    }

    fn note_in_row(&self, message: &str) {
        let Some((store, written)) = self.row.as_ref().filter(|_| self.job.is_deferred()) else { return };
        let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.is_none_or(|at| at.elapsed() >= REST) {
            *written = Some(Instant::now());
            let (id, message) = (Arc::clone(&self.job.id), plain(message));
            store.once_unheard(move |unit| deferred::note(unit, &id, &message));
        }
    }
}

impl Report for JobReports {
    fn progress(&self, progress: &Progress) {
        let said = progress.message.clone();
        let counted = || match progress.total {
            Some(total) => format!("{} of {total}", progress.progress),
            None => progress.progress.to_string(),
        };
        let message = said.unwrap_or_else(counted);
        self.note_in_row(&message);
        self.job.note(message);
        if let Some(reports) = &self.reports {
            reports.progress(progress);
        }
    }

    fn log(&self, level: Level, text: &str) {
        if let Some(reports) = &self.reports {
            reports.log(level, text);
        }
    }
}
