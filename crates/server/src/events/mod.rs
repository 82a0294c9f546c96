//! What happens, for those who watch: approvals, servers, the catalogue and the log, as one stream of events for each.
//!
//! Nobody on the way of a call tells anything here. While somebody watches, one task looks a few times a second at
//! what there is and notes what is different (`look`); what is kept of that are names, in a ring of bounded length
//! (`ring`). Each watcher reads the rest when its client is ready for more (`watcher`), and so keeps no queue.

mod look;
mod ring;
mod rows;
mod watcher;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use toolroom_contract::ToolError;

use crate::app::App;
use look::Seen;
use ring::Ring;

pub(crate) use watcher::{Topics, Watcher};

/// Between two looks.
const TICK: Duration = Duration::from_millis(200);
/// How many looks go on when nobody watches: a page that is loaded again comes back within that time.
const LINGER: u32 = 150;

/// What the watchers share.
pub(crate) struct Events {
    ring: Mutex<Ring>,
    beat: watch::Sender<Beat>,
    watchers: AtomicUsize,
    /// Whether the task runs that looks.
    looking: tokio::sync::Mutex<bool>,
}

/// How far things have come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Beat {
    /// The number of the next change.
    next: u64,
    /// The end of the log.
    tail: Arc<str>,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            ring: Mutex::default(),
            beat: watch::Sender::default(),
            watchers: AtomicUsize::new(0),
            looking: tokio::sync::Mutex::new(false),
        }
    }
}

impl Events {
    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who watches, until it is dropped.
struct Watching(Arc<App>);

impl Watching {
    /// From here on nothing is missed: what there is was looked at before this returns.
    async fn begin(app: &Arc<App>) -> Result<Self, ToolError> {
        let mut looking = app.events.looking.lock().await;
        if !*looking {
            let mut seen = Seen::default();
            let (_, tail) = seen.look(app).await?;
            let next = app.events.ring().restart();
            app.events.beat.send_replace(Beat { next, tail });
            *looking = true;
            tokio::spawn(keep_looking(Arc::downgrade(app), seen));
        }
        app.events.watchers.fetch_add(1, Ordering::Relaxed);
        Ok(Self(Arc::clone(app)))
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.events.watchers.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn keep_looking(app: Weak<App>, mut seen: Seen) {
    let (mut unwatched, mut failing) = (0, false);
    loop {
        tokio::time::sleep(TICK).await;
        let Some(app) = app.upgrade() else { return };
        if app.stopping.is_cancelled() {
            return;
        }
        unwatched = if app.events.watchers.load(Ordering::Relaxed) == 0 { unwatched + 1 } else { 0 };
        if unwatched > LINGER {
            let mut looking = app.events.looking.lock().await;
            if app.events.watchers.load(Ordering::Relaxed) == 0 {
                *looking = false;
                return;
            }
        }
        match seen.look(&app).await {
            Ok((changes, tail)) => {
                failing = false;
                let next = app.events.ring().add(changes);
                app.events.beat.send_if_modified(|beat| {
                    let now = Beat { next, tail };
                    let is_new = *beat != now;
                    *beat = now;
                    is_new
                });
            }
            // What is missed now is seen by the next look that succeeds.
            Err(error) if !failing => {
                failing = true;
                tracing::warn!(%error, "what happens cannot be seen for the console");
            }
            Err(_) => {}
        }
    }
}
