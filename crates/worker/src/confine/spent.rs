//! CPU time of a tree, added up from look to look, so that what a process used stays counted when it goes.

use std::collections::HashMap;

/// A process for as long as it lives: its number can be given again, but not at the same start.
pub(super) type Identity = (i32, u64);

/// What a process had used when it was looked at, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    pub(super) own: u64,
    /// Of its children that it waited for.
    pub(super) children: u64,
}

/// The time that a tree has spent.
///
/// A process that goes either turns up in the sum of the one that waited for it, or nowhere, if its parent
/// ignores its children. So what has gone is set off against what turned up, and the total never falls for it.
#[derive(Debug, Default)]
pub(super) struct Spent {
    seen: HashMap<Identity, Used>,
    waited: u64,
    total: u64,
    /// Turned up at the last look without anything gone: what it belongs to may go only at this one, because
    /// processes are not looked at all at once.
    turned_up: u64,
    /// Gone at the last look without having turned up yet, for the same reason.
    gone: u64,
}

impl Spent {
    /// Takes in a look: the processes, and what those used that the root of the tree waited for.
    pub(super) fn look(&mut self, now: HashMap<Identity, Used>, waited: u64) {
        let mut turned_up = waited.saturating_sub(self.waited);
        for (identity, used) in &now {
            let before = self.seen.get(identity).copied().unwrap_or_default();
            self.total += used.own.saturating_sub(before.own);
            turned_up += used.children.saturating_sub(before.children);
        }
        let left = self.seen.iter().filter(|(identity, _)| !now.contains_key(identity));
        let mut gone: u64 = left.map(|(_, used)| used.own + used.children).sum();
        turned_up -= turned_up.min(self.gone);
        let twice = gone.min(self.turned_up);
        gone -= twice;
        self.total = self.total.saturating_sub(twice);
        let same = turned_up.min(gone);
        self.turned_up = turned_up - same;
        self.gone = gone - same;
        self.total += self.turned_up;
        self.waited = waited;
        self.seen = now;
    }

    /// What is certain: what turned up at the last look may have been counted with its process too.
    pub(super) fn total(&self) -> u64 {
        self.total.saturating_sub(self.turned_up)
    }

    pub(super) fn knows(&self, pid: i32) -> bool {
        self.seen.keys().any(|identity| identity.0 == pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (i32, u64, u64, u64);

    fn look(spent: &mut Spent, processes: &[Row], waited: u64) {
        let now = processes
            .iter()
            .map(|(pid, start, own, children)| ((*pid, *start), Used { own: *own, children: *children }));
        spent.look(now.collect(), waited);
    }

    #[test]
    fn what_nobody_waited_for_stays_counted() {
        let mut spent = Spent::default();
        look(&mut spent, &[(2, 1, 10, 0), (3, 5, 200, 0)], 0);
        look(&mut spent, &[(2, 1, 10, 0)], 0);
        look(&mut spent, &[(2, 1, 10, 0), (3, 9, 200, 0)], 0);
        assert_eq!(spent.total(), 410, "the second process with the number 3 is another one");
    }

    #[test]
    fn what_was_waited_for_counts_once_in_whatever_order_it_is_seen() {
        let looks: [&[&[Row]]; 3] = [
            &[&[(2, 1, 0, 0), (3, 5, 200, 0)], &[(2, 1, 0, 210)]],
            &[&[(2, 1, 0, 0), (3, 5, 200, 0)], &[(2, 1, 0, 210), (3, 5, 200, 0)], &[(2, 1, 0, 210)]],
            &[&[(2, 1, 0, 0), (3, 5, 200, 0)], &[(2, 1, 0, 0)], &[(2, 1, 0, 210)]],
        ];
        for each in looks {
            let mut spent = Spent::default();
            for processes in each {
                look(&mut spent, processes, 0);
                assert!(spent.total() <= 210, "{each:?}");
            }
            look(&mut spent, &[(2, 1, 0, 210)], 0);
            assert_eq!(spent.total(), 210, "{each:?}");
            look(&mut spent, &[], 210);
            look(&mut spent, &[], 210);
            assert_eq!(spent.total(), 210, "{each:?}");
        }
    }
}
