//! Rate limits per tool and user, counting calls, whatever socket or key they come by.
//!
//! Any stretch of `windowMs` holds at most `maxCalls`, wherever it begins: calls are kept with their times until they are
//! over. Those in one piece of the window are kept as one, with the time of the last of them. So a window has a bounded
//! size, and a caller who uses up a limit at once may wait longer than needed by a piece at most.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use toolroom_contract::definition::RateLimit;
use toolroom_contract::ids::UserId;
use toolroom_store::counters::{Counted, piece};

/// The windows of all tools and users.
pub struct Limits {
    shards: Box<[Mutex<Shard>]>,
}

/// A tool, by the hash of its name.
type Tool = u64;

type Shard = HashMap<(Tool, UserId), Window>;

/// The calls that are not over yet, oldest first.
struct Window {
    length: u64,
    pieces: Vec<Piece>,
}

struct Piece {
    /// When the last of its calls was made, in milliseconds.
    last: u64,
    calls: u32,
}

const SHARDS: usize = 16;
/// More windows than this per shard are not kept: those at rest go first.
const MOST_PER_SHARD: usize = 8192;

impl Limits {
    /// No calls counted yet.
    pub fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    /// Counts a call at a time in milliseconds, if there is room for it.
    pub fn count(&self, tool: Tool, user: UserId, limit: RateLimit, now_ms: impl FnOnce() -> u64) -> Counted {
        self.with_window(tool, user, limit, now_ms, |window, now| window.count(limit, now))
    }

    /// Counts a call that was let through elsewhere.
    pub fn note(&self, tool: Tool, user: UserId, limit: RateLimit, now_ms: impl FnOnce() -> u64) {
        self.with_window(tool, user, limit, now_ms, |window, now| window.add(limit, now));
    }

    /// The time is read when the window is locked: so times in a window only go back if the clock does.
    fn with_window<T>(
        &self,
        tool: Tool,
        user: UserId,
        limit: RateLimit,
        now_ms: impl FnOnce() -> u64,
        change: impl FnOnce(&mut Window, u64) -> T,
    ) -> T {
        let shard = &self.shards[(tool ^ user.0 as u64) as usize % SHARDS];
        let mut windows = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let now = now_ms();
        if windows.len() >= MOST_PER_SHARD && !windows.contains_key(&(tool, user)) {
            make_room(&mut windows, now);
        }
        let window = windows.entry((tool, user)).or_insert(Window { length: 0, pieces: Vec::new() });
        window.forget_what_is_over(limit.window_ms.max(1), now);
        change(window, now)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// Drops windows at rest, else an eighth of the rest by age: one at a time would be a search for every call.
fn make_room(windows: &mut Shard, now: u64) {
    windows.retain(|_, window| now < window.newest() + window.length);
    if windows.len() < MOST_PER_SHARD {
        return;
    }
    let mut by_age: Vec<(u64, (Tool, UserId))> =
        windows.iter().map(|(key, window)| (window.newest(), *key)).collect();
    let surplus = by_age.len() / 8;
    by_age.select_nth_unstable(surplus);
    for (_, key) in &by_age[..=surplus] {
        windows.remove(key);
    }
}

impl Window {
    fn newest(&self) -> u64 {
        self.pieces.last().map_or(0, |piece| piece.last)
    }

    fn forget_what_is_over(&mut self, length: u64, now: u64) {
        self.length = length;
        self.pieces.retain_mut(|piece| {
            // A clock that went back makes nobody wait for it.
            piece.last = piece.last.min(now);
            now < piece.last + length
        });
    }

    fn count(&mut self, limit: RateLimit, now: u64) -> Counted {
        // There is room when a piece is over and the calls after it are fewer than the most.
        let (mut counted, mut wait) = (0, 0);
        for piece in self.pieces.iter().rev() {
            if counted >= u64::from(limit.max_calls) {
                break;
            }
            counted += u64::from(piece.calls);
            wait = piece.last + self.length - now;
        }
        if counted >= u64::from(limit.max_calls) {
            return Counted::No { wait };
        }
        self.add(limit, now);
        Counted::Yes
    }

    fn add(&mut self, limit: RateLimit, now: u64) {
        match self.pieces.last_mut() {
            Some(newest) if newest.last / piece(limit) == now / piece(limit) => {
                newest.last = now;
                newest.calls = newest.calls.saturating_add(1);
            }
            _ => self.pieces.push(Piece { last: now, calls: 1 }),
        }
    }
}
