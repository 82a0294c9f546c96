//! Figures: every call is counted once, where it began, and every record is read once.

use jiff::{SignedDuration, ToSpan};
use serde_json::json;

use super::*;
use crate::journal::figures::{Counted, Figures, Wanted};

fn wanted(now: Timestamp, hours: i64, step: i64) -> Wanted {
    let since = now - SignedDuration::from_hours(hours);
    Wanted { since, until: now + 1.second(), step, user: None, profiles: None }
}

fn by_tool(figures: &Figures, wanted: &Wanted) -> Counted {
    figures.count(wanted, |group| group.tool.to_owned()).unwrap()
}

/// A call that began at a time and took this long.
fn called(journal: &Journal, at: Timestamp, tool: &str, ms: f64) {
    let (value, mask, id) = (json!({ "n": 1 }), Mask::default(), ExecutionId::new());
    journal.start(&StartRecord { at, tool, ..start(id, &value, &mask) }).unwrap();
    let ended = at + SignedDuration::from_micros((ms * 1000.0) as i64);
    journal.end(&EndRecord { at: ended, ms, ..end(id, &value, &mask) }).unwrap();
}

#[test]
fn each_call_is_counted_once_in_its_step_and_each_record_is_read_once() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let now = Timestamp::now();
    for at in 0..100 {
        called(&journal, now, if at < 90 { "fast" } else { "slow" }, if at < 90 { 2.0 } else { 500.0 });
    }
    let figures = Figures::new(dir.path());
    let counted = by_tool(&figures, &wanted(now, 1, 60));
    assert_eq!(counted.steps.iter().map(|step| step.calls).sum::<u64>(), 100);
    let steps_of_now = counted.steps.iter().filter(|step| step.calls == 100).count();
    assert_eq!(steps_of_now, 1, "all in one step");
    let (fast, slow) = (&counted.groups["fast"], &counted.groups["slow"]);
    assert_eq!((fast.calls, slow.calls, fast.errors), (90, 10, 0));
    assert_eq!((fast.bytes, fast.tokens()), (90 * 7, (90 * 7_u64).div_ceil(4)));
    assert!((slow.ms - 5000.0).abs() < 0.01 && (fast.quantile(0.5) / 2.0 - 1.0).abs() < 0.1);
    let read = figures.bytes_read();
    assert_eq!(by_tool(&figures, &wanted(now, 24, 900)).groups["fast"].calls, 90);
    assert_eq!(figures.bytes_read(), read, "nothing is read twice");
    called(&journal, now, "fast", 1.0);
    assert_eq!(by_tool(&figures, &wanted(now, 1, 60)).groups["fast"].calls, 91);
    assert!(figures.bytes_read() - read < 2000, "only what is new is read");
}

#[test]
fn a_call_over_midnight_and_a_day_long_over_are_counted_where_they_began() {
    let dir = tempfile::tempdir().unwrap();
    let now = Timestamp::now();
    let today = crate::day_of(now).at(0, 0, 0, 0).to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp();
    let past = today - SignedDuration::from_hours(72);
    {
        let journal = open(dir.path());
        called(&journal, past + SignedDuration::from_mins(95), "old", 1.0);
        called(&journal, past + SignedDuration::from_mins(96), "old", 1.0);
        called(&journal, today - SignedDuration::from_secs(1), "over", 3000.0);
        called(&journal, today + SignedDuration::from_secs(2), "new", 1.0);
    }
    let figures = Figures::new(dir.path());
    let whole = Wanted { since: past, until: today + 1.minute(), step: 3600, user: None, profiles: None };
    for _ in 0..2 {
        let counted = by_tool(&figures, &whole);
        assert_eq!((counted.steps[1].calls, counted.steps[71].calls, counted.steps[72].calls), (2, 1, 1));
        assert_eq!(counted.groups["over"].calls, 1);
        assert!(!counted.incomplete);
    }
    let only = |user: &str| Wanted { user: Some(user.to_owned()), ..whole.clone() };
    assert_eq!(by_tool(&figures, &only("local")).groups.len(), 3);
    assert!(by_tool(&figures, &only("eve")).groups.is_empty());
    let elsewhere = Wanted { profiles: Some(vec!["assistant".to_owned()]), ..whole };
    assert!(by_tool(&figures, &elsewhere).groups.is_empty());
}

#[test]
fn notes_of_the_server_itself_are_listed_and_not_counted() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let (value, mask, now) = (json!({ "n": 1 }), Mask::default(), Timestamp::now());
    called(&journal, now, "greet-user", 1.0);
    let id = ExecutionId::new();
    let noted = StartRecord { at: now, edge: Edge::System, ..start(id, &value, &mask) };
    journal.call(&noted, &end(id, &value, &mask)).unwrap();
    let counted = by_tool(&Figures::new(dir.path()), &wanted(now, 1, 60));
    assert_eq!(counted.groups["greet-user"].calls, 1);
    let reader = Reader::new(dir.path(), None);
    let listed = |counted| all(&reader, Query { counted, ..Query::default() }).len();
    assert_eq!((listed(None), listed(Some(true)), listed(Some(false))), (2, 1, 1));
}
