//! The last changes, by number.

use std::collections::VecDeque;

use toolroom_contract::ids::PendingId;

/// What has changed. Only its name: who is told reads the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Approval(PendingId),
    Server(String),
    Catalogue(u64),
}

/// More than these are no longer told one by one.
const LENGTH: usize = 1024;

#[derive(Default)]
pub(super) struct Ring {
    changes: VecDeque<Change>,
    /// The number of the next change.
    next: u64,
}

impl Ring {
    /// Forgets everything, because nobody looked for a while, and says the next number. No number from before is good
    /// to go on from.
    pub(super) fn restart(&mut self) -> u64 {
        self.changes.clear();
        self.next += 1;
        self.next
    }

    /// Adds changes, and says the next number.
    pub(super) fn add(&mut self, changes: Vec<Change>) -> u64 {
        self.next += changes.len() as u64;
        self.changes.extend(changes);
        let surplus = self.changes.len().saturating_sub(LENGTH);
        self.changes.drain(..surplus);
        self.next
    }

    /// The changes from this number on, each once, and the next number; `None` if some were forgotten, or the number is
    /// none of ours.
    pub(super) fn since(&self, number: u64) -> Option<(Vec<Change>, u64)> {
        let first = self.next - self.changes.len() as u64;
        let skip = usize::try_from(number.checked_sub(first)?).ok()?;
        if number > self.next {
            return None;
        }
        let mut found: Vec<Change> = Vec::new();
        for change in self.changes.iter().skip(skip) {
            if !found.contains(change) {
                found.push(change.clone());
            }
        }
        Some((found, self.next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_good_until_its_changes_are_forgotten() {
        let mut ring = Ring::default();
        let start = ring.restart();
        assert_eq!(ring.since(start), Some((vec![], start)));
        assert_eq!(ring.since(start - 1), None, "from before the restart");
        let next = ring.add(vec![Change::Catalogue(1), Change::Server("a".into()), Change::Catalogue(1)]);
        let both = vec![Change::Catalogue(1), Change::Server("a".into())];
        assert_eq!(ring.since(start), Some((both, next)), "each once");
        assert_eq!(ring.since(next), Some((vec![], next)));
        assert_eq!(ring.since(next + 1), None);
        for version in 0..LENGTH as u64 {
            ring.add(vec![Change::Catalogue(version)]);
        }
        assert_eq!(ring.since(start), None);
        assert_eq!(ring.changes.len(), LENGTH);
    }
}
