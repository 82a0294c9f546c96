//! A deadline that can move often without touching the timer each time.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::{Instant, Sleep, sleep_until};

/// Holds one timer and sets it again only when it would ring too late, or rang too early.
#[derive(Default)]
pub(super) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Ready once `deadline` has passed; until then the task is woken at that time or before.
    pub(super) fn poll_until(&mut self, cx: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        if Instant::now() >= deadline {
            return Poll::Ready(());
        }
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if sleep.is_elapsed() || sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        while sleep.as_mut().poll(cx).is_ready() {
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}
