//! Whether an engine that is silent is well: one that works on a long call answers when it is asked for a sign of life.

use std::pin::Pin;
use std::time::Duration;

use anyhow::{Error, Result};
use tokio::time::Instant;

use crate::client::answers;
use crate::home::Home;

/// How long an engine may be silent before it is asked.
const SILENCE: Duration = Duration::from_secs(2);
/// How often it may fail to answer: a busy machine is not a hung engine.
pub(super) const MOST_FAILURES: u32 = 2;

pub(super) struct Watch<'a> {
    home: &'a Home,
    heard: Instant,
    failures: u32,
    asking: Option<Pin<Box<dyn Future<Output = Result<bool>> + Send + 'a>>>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(home: &'a Home) -> Self {
        Self { home, heard: Instant::now(), failures: 0, asking: None }
    }

    /// It said something.
    pub(super) fn heard(&mut self) {
        (self.heard, self.failures, self.asking) = (Instant::now(), 0, None);
    }

    /// Asks it, if somebody waits and it has been silent for a while.
    pub(super) fn look(&mut self, is_waited_for: bool) {
        if !is_waited_for {
            self.heard();
        } else if self.asking.is_none() && self.heard.elapsed() >= SILENCE {
            self.asking = Some(Box::pin(answers(self.home)));
        }
    }

    /// Returns when it hangs, with what to say of it; never, if it is well. May be dropped while it waits.
    pub(super) async fn hung(&mut self) -> Error {
        loop {
            let Some(asking) = &mut self.asking else { return std::future::pending().await };
            let answer = asking.await;
            self.asking = None;
            match answer {
                Err(error) => {
                    self.failures += 1;
                    if self.failures >= MOST_FAILURES {
                        return error;
                    }
                }
                // One that is gone ends the connection, too.
                Ok(_) => self.heard(),
            }
        }
    }
}
