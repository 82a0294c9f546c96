//! What is going on, while somebody waits: one line on the terminal, which goes away with the work.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use crate::terminal::{is_watched, visible};

/// Shorter work needs no words.
const PATIENCE: Duration = Duration::from_millis(600);
const PAUSE: Duration = Duration::from_millis(120);
const FRAMES: [&str; 8] = ["⠋", "⠙", "⠸", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Work that is shown until this is dropped. Without a terminal nothing is.
pub struct Progress(Option<(JoinHandle<()>, Arc<AtomicBool>)>);

impl Progress {
    /// Says what is being done.
    pub fn start(what: &str) -> Self {
        if !is_watched() {
            return Self(None);
        }
        let what = visible(what).into_owned();
        let shown = Arc::new(AtomicBool::new(false));
        let is_shown = Arc::clone(&shown);
        let task = tokio::spawn(async move {
            let began = Instant::now();
            tokio::time::sleep(PATIENCE).await;
            is_shown.store(true, Ordering::Release);
            for frame in FRAMES.iter().cycle() {
                let line = format!("\r\x1b[K{frame} {what} ({} s)", began.elapsed().as_secs());
                // A closed stderr must not fail the command.
                let _ = io::stderr().lock().write_all(line.as_bytes());
                tokio::time::sleep(PAUSE).await;
            }
        });
        Self(Some((task, shown)))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Some((task, shown)) = &self.0 else { return };
        task.abort();
        if shown.load(Ordering::Acquire) {
            let _ = io::stderr().lock().write_all(b"\r\x1b[K");
        }
    }
}
