//! Rate limits per tool and user, counting calls, whatever socket or key they come by.
//!
//! A sliding window of two counters. The usual token bucket would let a caller have twice `maxCalls` within one window
//! (a full bucket, then its refill); here a caller who calls all the time has at most `maxCalls` and one more in any
//! stretch of `windowMs`, because the window before is smoothed. It is taken to be even: who makes the calls of one window
//! at its end, and those of the next at its end, has nearly twice `maxCalls` within such a stretch.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use toolroom_contract::definition::RateLimit;
use toolroom_contract::ids::UserId;
use toolroom_store::counters;

/// The windows of all tools and users.
pub struct Limits {
    shards: Box<[Mutex<Shard>]>,
}

/// A tool, by the hash of its name.
type Tool = u64;

type Shard = HashMap<(Tool, UserId), Window>;

#[derive(Clone, Copy)]
struct Window {
    start: u64,
    length: u64,
    now: u32,
    before: u32,
}

const SHARDS: usize = 16;
/// Less than one millisecond of the longest window makes.
const ROUNDING: f64 = 1e-9;
/// More windows than this per shard are not kept: those at rest go first.
const MOST_PER_SHARD: usize = 8192;

impl Limits {
    /// No calls counted yet.
    pub fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    /// Counts a call at a time in milliseconds, or says how many milliseconds to wait.
    pub fn count(&self, tool: Tool, user: UserId, limit: RateLimit, now_ms: u64) -> Result<(), u64> {
        self.with_window(tool, user, limit, now_ms, |window| window.count(limit, now_ms))
    }

    /// Counts a call that was let through elsewhere.
    pub fn note(&self, tool: Tool, user: UserId, limit: RateLimit, now_ms: u64) {
        self.with_window(tool, user, limit, now_ms, |window| {
            window.slide(limit.window_ms.max(1), now_ms);
            window.now = window.now.saturating_add(1);
        });
    }

    fn with_window<T>(
        &self,
        tool: Tool,
        user: UserId,
        limit: RateLimit,
        now_ms: u64,
        change: impl FnOnce(&mut Window) -> T,
    ) -> T {
        let shard = &self.shards[(tool ^ user.0 as u64) as usize % SHARDS];
        let mut windows = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MOST_PER_SHARD && !windows.contains_key(&(tool, user)) {
            make_room(&mut windows, now_ms);
        }
        let new = Window { start: now_ms, length: limit.window_ms, now: 0, before: 0 };
        change(windows.entry((tool, user)).or_insert(new))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// How many milliseconds a caller must wait whom a window that all processes share has no room for.
pub(crate) fn wait(counted: counters::Window, limit: RateLimit) -> u64 {
    let counters::Window { start, length, now, before, at } = counted;
    Window { start, length: length.max(1), now, before }.count(limit, at).err().unwrap_or(1)
}

/// Drops windows at rest, else an eighth of the rest by age: one at a time would be a search for every call.
fn make_room(windows: &mut Shard, now_ms: u64) {
    windows.retain(|_, window| now_ms < window.start + 2 * window.length);
    if windows.len() < MOST_PER_SHARD {
        return;
    }
    let mut by_age: Vec<(u64, (Tool, UserId))> =
        windows.iter().map(|(key, window)| (window.start, *key)).collect();
    let surplus = by_age.len() / 8;
    by_age.select_nth_unstable(surplus);
    for (_, key) in &by_age[..=surplus] {
        windows.remove(key);
    }
}

impl Window {
    fn count(&mut self, limit: RateLimit, now_ms: u64) -> Result<(), u64> {
        self.slide(limit.window_ms.max(1), now_ms);
        let passed = (now_ms - self.start) as f64 / self.length as f64;
        let weight = f64::from(self.before) * (1.0 - passed) + f64::from(self.now);
        let most = f64::from(limit.max_calls);
        // Whole calls count: a part of one that has not faded yet keeps nobody waiting for the next window.
        if weight < most - ROUNDING {
            self.now += 1;
            return Ok(());
        }
        Err(self.wait(most, passed))
    }

    fn slide(&mut self, length: u64, now_ms: u64) {
        if self.length != length || now_ms >= self.start + 2 * length {
            *self = Window { start: now_ms, length, now: 0, before: 0 };
        } else if now_ms >= self.start + length {
            *self = Window { start: self.start + length, length, now: 0, before: self.now };
        }
        // A clock that went back does not reopen the window.
        self.start = self.start.min(now_ms);
    }

    fn wait(&self, most: f64, passed: f64) -> u64 {
        let (before, now) = (f64::from(self.before), f64::from(self.now));
        let windows = if now < most {
            // Until the window before has faded enough for one more call.
            1.0 - (most - now) / before.max(1.0) - passed
        } else {
            // Until the next window, and there until this one has faded enough.
            1.0 - passed + (1.0 - most / now).max(0.0)
        };
        // One more, so that a caller who waited exactly as told is not refused by rounding.
        (windows.max(0.0) * self.length as f64).ceil() as u64 + 1
    }
}
