//! Words for how much a task matters.

use super::target::trimmed;
use crate::text::{Word, begins, find, find_any};
use crate::wish::Priority;

pub(super) const ANYWHERE: &[(&str, Priority)] = &[
    ("not|isnt|non high|urgent|important priority?", Priority::Low),
    ("high|top|highest|urgent|max|maximum priority|prio|importance", Priority::High),
    ("low|lowest|minor|minimal priority|prio|importance", Priority::Low),
    ("medium|normal|standard|regular|average|moderate priority|prio|importance", Priority::Medium),
    ("priority|prio is|to|of|as? high|urgent|top|highest|1", Priority::High),
    ("priority|prio is|to|of|as? low|lowest|3", Priority::Low),
    ("priority|prio is|to|of|as? medium|normal|2", Priority::Medium),
    ("high-priority|high-prio|top-priority|p1", Priority::High),
    ("low-priority|low-prio|p3", Priority::Low),
    ("medium-priority|p2", Priority::Medium),
];

pub(super) const AT_AN_EDGE: &[(&str, Priority)] = &[
    ("no rush|hurry", Priority::Low),
    ("low prio", Priority::Low),
    ("not too? urgent|important", Priority::Low),
    ("whenever i? have? get? time?", Priority::Low),
    ("when i have|get time|the? chance", Priority::Low),
    ("some day|time", Priority::Low),
    ("someday|eventually|later|sometime", Priority::Low),
    ("as soon as possible", Priority::High),
    ("urgent|urgently|asap|a.s.a.p|important|critical|immediately|crucial", Priority::High),
];

/// A priority that stands for itself: "high", "urgent", "top priority", "low".
pub(crate) fn alone(words: &[Word]) -> Option<Priority> {
    let words =
        words.get(begins(words, "a|an|the|as|to|of|at|very|is|be|it|more|be|much*").unwrap_or(0)..)?;
    let alone = [
        (
            "high|urgent|important|top|highest|critical|asap|higher|up|urgently|max|maximum|p1 priority|prio|importance|?",
            Priority::High,
        ),
        ("priority|prio high|urgent|top|highest|higher", Priority::High),
        ("high-priority|top-priority", Priority::High),
        ("low|lowest|lower|unimportant|minor|someday|later|down|p3 priority|prio|importance?", Priority::Low),
        ("priority|prio low|lowest|lower", Priority::Low),
        ("low-priority", Priority::Low),
        ("less|not urgent|important|pressing", Priority::Low),
        (
            "medium|normal|standard|regular|average|moderate|default|p2 priority|prio|importance?",
            Priority::Medium,
        ),
        ("priority|prio medium|normal", Priority::Medium),
        ("medium-priority", Priority::Medium),
    ];
    let words = trimmed(words);
    alone
        .iter()
        .find(|(pattern, _)| begins(words, pattern) == Some(words.len()))
        .map(|(_, priority)| *priority)
}

/// The priority that some words say, whatever stands around it.
pub(super) fn of(words: &[Word]) -> Option<Priority> {
    let anywhere = ANYWHERE.iter().chain(AT_AN_EDGE).find(|(pattern, _)| find(words, pattern).is_some());
    alone(words).or(anywhere.map(|(_, priority)| *priority))
}

/// The priority that is named as one: "high priority", "priority: low".
pub(super) fn named(words: &[Word]) -> Option<Priority> {
    let mut patterns = ANYWHERE.iter().filter(|(pattern, _)| pattern.contains("prio"));
    patterns.find(|(pattern, _)| find(words, pattern).is_some()).map(|(_, priority)| *priority)
}

/// Which priority a list is narrowed to.
pub(super) fn of_list(words: &[Word]) -> Option<Priority> {
    let hit =
        ANYWHERE.iter().find(|(pattern, _)| find(words, pattern).is_some()).map(|(_, priority)| *priority);
    hit.or_else(|| {
        find_any(words, &["urgent|important|critical", "most important|urgent"]).map(|_| Priority::High)
    })
}
