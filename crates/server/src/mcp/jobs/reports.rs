//! What a deferred call says on its way.
use std::sync::Arc;

use toolroom_contract::report::{Level, Progress, Report};

use super::Job;
use crate::mcp::peer::Reports;

/// A running tool's reports: to the client while it waits, and into how the call stands.
pub(crate) struct JobReports {
    pub(crate) job: Arc<Job>,
    pub(crate) reports: Option<Reports>,
}

impl Report for JobReports {
    fn progress(&self, progress: &Progress) {
        let said = progress.message.clone();
        let counted = || match progress.total {
            Some(total) => format!("{} of {total}", progress.progress),
            None => progress.progress.to_string(),
        };
        self.job.note(said.unwrap_or_else(counted));
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
