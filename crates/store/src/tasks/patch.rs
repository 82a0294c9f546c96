//! What a patch makes of a task.

use jiff::Timestamp;

use super::model::{Due, Field, Patch, Task};

impl Patch {
    /// The task after the patch, and the fields that differ. Without a difference it is not to be written.
    pub(super) fn apply(&self, current: &Task, now: Timestamp) -> (Task, Vec<Field>) {
        let mut next = current.clone();
        let mut fields = Vec::new();
        let mut set = |field, differs| {
            if differs {
                fields.push(field);
            }
        };
        set(Field::Title, assign(&mut next.title, self.title.as_ref()));
        set(Field::Description, assign(&mut next.description, self.description.as_ref()));
        set(Field::Priority, assign(&mut next.priority, self.priority.as_ref()));
        set(Field::Due, assign(&mut next.due, self.due.map(stored).as_ref()));
        set(Field::Tags, assign(&mut next.tags, self.tags.as_ref()));
        let completed = assign(&mut next.completed, self.completed.as_ref());
        set(Field::Completed, completed);
        if completed {
            next.completed_at = next.completed.then_some(now);
        }
        next.version += 1;
        next.updated_at = now;
        (next, fields)
    }
}

/// Puts the new value in place and returns whether it differs.
fn assign<T: PartialEq + Clone>(slot: &mut T, new: Option<&T>) -> bool {
    match new {
        Some(new) if new != slot => {
            *slot = new.clone();
            true
        }
        _ => false,
    }
}

/// Instants are stored in microseconds; without this, the same instant could look changed.
pub(super) fn stored(due: Option<Due>) -> Option<Due> {
    due.map(|due| match due {
        Due::Instant(at) => Due::Instant(Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)),
        date => date,
    })
}
