use std::collections::HashSet;

use serde_json::json;

use super::*;

const SECOND: jiff::SignedDuration = jiff::SignedDuration::from_secs(1);

/// Five days of calls that overlap each other, some over midnight, each eighth without an end.
fn five_days(dir: &Path) -> Vec<ExecutionId> {
    let (input, mask) = (json!({}), Mask::default());
    let mut now = at("2026-03-01T20:00:00Z");
    let settings = JournalSettings { keep_days: 9999, ..JournalSettings::default() };
    let journal = Journal::open_at(dir, RunId::new(), settings, now).unwrap();
    let (mut ids, mut open) = (Vec::new(), Vec::new());
    for number in 0..400 {
        now += SECOND * 900;
        let id = ExecutionId::new();
        let (tool, user) = (["add", "list"][number % 2], ["ann", "bob", "cy"][number % 3]);
        journal.start(&StartRecord { at: now, tool, user, ..start(id, &input, &mask) }).unwrap();
        ids.push(id);
        open.push((number, id));
        if open.len() > 5 {
            let (number, id) = open.remove(0);
            let status = if number % 5 == 0 { EndStatus::Error } else { EndStatus::Ok };
            if number % 8 != 0 {
                journal.end(&EndRecord { at: now, status, ..end(id, &input, &mask) }).unwrap();
            }
        }
    }
    ids
}

#[test]
fn pages_visit_every_row_once_in_order_in_both_directions() {
    let dir = tempfile::tempdir().unwrap();
    let mut ids = five_days(dir.path());
    let reader = Reader::new(dir.path(), None);
    for limit in [1, 7, 50, 1000] {
        for newest_first in [false, true] {
            let rows = all(&reader, Query { limit, newest_first, ..Query::default() });
            let found: Vec<_> = rows.iter().map(|row| row.execution_id).collect();
            assert_eq!(found, ids, "limit {limit}");
            let open = rows.iter().filter(|row| row.status == Status::Interrupted).count();
            assert_eq!(open, 50 + 5, "each eighth, and the last five");
            ids.reverse();
        }
    }
}

#[test]
fn a_search_that_nobody_waits_for_ends() {
    let dir = tempfile::tempdir().unwrap();
    five_days(dir.path());
    let gone = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let reader = Reader::new(dir.path(), None).cancelled_by(std::sync::Arc::clone(&gone));
    let query = Query { tool: Some("none".to_owned()), ..Query::default() };
    assert!(reader.page(&query).unwrap().rows.is_empty());
    gone.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(matches!(reader.page(&query), Err(JournalError::Cancelled)));
}

#[test]
fn filters_pick_the_same_rows_whatever_the_page_size() {
    let dir = tempfile::tempdir().unwrap();
    five_days(dir.path());
    let reader = Reader::new(dir.path(), None);
    let rows = all(&reader, Query { limit: 1000, ..Query::default() });
    let (since, until) = (at("2026-03-02T22:00:00Z"), at("2026-03-04T03:30:00Z"));
    let wanted: Vec<_> = rows
        .iter()
        .filter(|row| row.tool == "list" && row.user == "bob" && row.status == Status::Ok)
        .filter(|row| row.started_at >= since && row.started_at < until)
        .map(|row| row.execution_id)
        .collect();
    assert!(wanted.len() > 10);
    for limit in [1, 4, 100] {
        let query = Query {
            tool: Some("list".into()),
            user: Some("bob".into()),
            status: Some(Status::Ok),
            since: Some(since),
            until: Some(until),
            limit,
            ..Query::default()
        };
        let found: Vec<_> = all(&reader, query).iter().map(|row| row.execution_id).collect();
        assert_eq!(found, wanted);
    }
}

#[test]
fn the_newest_page_does_not_open_older_days() {
    let dir = tempfile::tempdir().unwrap();
    five_days(dir.path());
    let oldest = files::list(dir.path()).unwrap().into_values().next().unwrap();
    for (_, path) in oldest {
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
    }
    let reader = Reader::new(dir.path(), None);
    assert_eq!(reader.page(&Query::default()).unwrap().rows.len(), 50);
    assert!(reader.page(&Query { limit: 1000, ..Query::default() }).is_err(), "a folder cannot be read");
}

#[test]
fn a_cursor_that_is_none_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let reader = Reader::new(dir.path(), None);
    for cursor in ["", "x", "2026-11-15_a", "2026-11-15_-1", "2026-13-01_0"] {
        let query = Query { cursor: Some(cursor.into()), ..Query::default() };
        assert!(matches!(reader.page(&query), Err(JournalError::Cursor(_))), "{cursor:?}");
    }
    let far = Query { cursor: Some("2026-11-15_999999999".into()), ..Query::default() };
    assert!(reader.page(&far).unwrap().rows.is_empty());
}

#[test]
fn following_shows_what_started_or_ended_since() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let reader = Reader::new(dir.path(), Some(journal.run()));
    let (input, mask) = (json!({}), Mask::default());
    let (early, late) = (ExecutionId::new(), ExecutionId::new());
    journal.start(&start(early, &input, &mask)).unwrap();
    journal.call(&start(ExecutionId::new(), &input, &mask), &end(early, &input, &mask)).unwrap();
    let query = Query { after: Some(reader.tail().unwrap()), ..Query::default() };
    let none = reader.page(&query).unwrap();
    assert!(none.rows.is_empty() && none.cursor == query.after);

    journal.start(&start(late, &input, &mask)).unwrap();
    journal.end(&end(early, &input, &mask)).unwrap();
    let page = reader.page(&query).unwrap();
    let seen: HashSet<_> = page.rows.iter().map(|row| (row.execution_id, row.status)).collect();
    assert_eq!(seen, HashSet::from([(early, Status::Ok), (late, Status::Running)]));
    journal.end(&end(late, &input, &mask)).unwrap();
    let rows = reader.page(&Query { after: page.cursor, ..query }).unwrap().rows;
    assert_eq!((rows.len(), rows[0].execution_id, rows[0].status), (1, late, Status::Ok));
}

#[test]
fn following_goes_over_midnight_and_shows_every_end_once() {
    let dir = tempfile::tempdir().unwrap();
    let ids = five_days(dir.path());
    let reader = Reader::new(dir.path(), None);
    let mut query = Query { after: Some("2026-03-01".into()), limit: 10, ..Query::default() };
    let mut ended = Vec::new();
    let mut met = HashSet::new();
    loop {
        let page = reader.page(&query).unwrap();
        if page.cursor == query.after {
            break;
        }
        met.extend(page.rows.iter().map(|row| row.execution_id));
        ended.extend(page.rows.iter().filter(|row| row.ended_at.is_some()).map(|row| row.execution_id));
        query.after = page.cursor;
    }
    let unique: HashSet<_> = ended.iter().copied().collect();
    assert_eq!((ended.len(), unique.len()), (345, 345));
    assert_eq!(met, ids.into_iter().collect());
}

#[test]
fn what_is_rare_is_searched_for_in_parts_and_found_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    five_days(dir.path());
    let reader = Reader::new(dir.path(), None);
    for newest_first in [false, true] {
        for (tool, user) in [("list", None), ("nowhere", None), ("add", Some("cy"))] {
            let query = Query {
                tool: Some(tool.into()),
                user: user.map(str::to_owned),
                limit: 7,
                newest_first,
                ..Query::default()
            };
            let wanted: Vec<_> = all(&reader, query.clone()).iter().map(|row| row.execution_id).collect();
            let (mut found, mut cursor, mut parts) = (Vec::new(), None, 0);
            loop {
                let page = reader.page(&Query { most_bytes: 4000, cursor, ..query.clone() }).unwrap();
                found.extend(page.rows.iter().map(|row| row.execution_id));
                parts += usize::from(page.searched_to.is_some());
                cursor = page.cursor;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(found, wanted, "{tool} {user:?}");
            assert!(parts > 10, "{tool}: {parts}");
        }
    }
}
