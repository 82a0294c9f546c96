//! Users for confined programs where the server is root: numbers that belong to nobody.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The first of the users.
const FIRST: u32 = 2_000_000_000;
/// How many there are for each server.
const EACH: u32 = 4096;
/// Where such numbers do not exist, as in most containers.
const NOBODY: u32 = 65_534;

static USED: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// A user that no other confined program of this server has. Given back when dropped.
#[derive(Debug)]
pub(crate) struct Slot(u32);

impl Slot {
    /// The lowest that is free; `None` if thousands of programs run.
    pub(crate) fn take() -> Option<Self> {
        let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
        let free = (0..EACH).find(|slot| !used.contains(slot))?;
        used.insert(free);
        Some(Self(free))
    }

    pub(crate) fn user(&self) -> u32 {
        let server = std::process::id() % 500_000;
        let own = FIRST + server * EACH + self.0;
        if is_mapped(own) { own } else { NOBODY }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        USED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

fn is_mapped(user: u32) -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.lines().any(|line| {
        let mut fields = line.split_whitespace().filter_map(|text| text.parse::<u64>().ok());
        let (Some(first), Some(_), Some(count)) = (fields.next(), fields.next(), fields.next()) else {
            return false;
        };
        (first..first + count).contains(&u64::from(user))
    })
}
