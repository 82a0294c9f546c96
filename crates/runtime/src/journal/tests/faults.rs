use std::{fs, io::Write, os::unix::fs::symlink};

use jiff::ToSpan;
use jiff::civil::{Date, date};
use serde_json::json;

use super::*;

#[test]
fn a_call_over_midnight_is_one_row_from_two_files() {
    let dir = tempfile::tempdir().unwrap();
    let (input, mask) = (json!({}), Mask::default());
    let before = at("2026-11-15T23:59:59.999999Z");
    let after = at("2026-11-16T00:00:00Z");
    let journal = Journal::open_at(dir.path(), RunId::new(), one_file(), before).unwrap();
    let (id, late) = (ExecutionId::new(), ExecutionId::new());
    journal.start(&StartRecord { at: before, ..start(id, &input, &mask) }).unwrap();
    journal.end(&EndRecord { at: after, ..end(id, &input, &mask) }).unwrap();
    journal.start(&StartRecord { at: before, ..start(late, &input, &mask) }).unwrap();
    let lines = |date| fs::read_to_string(files::path(dir.path(), date, 0)).unwrap().lines().count();
    assert_eq!((lines(date(2026, 11, 15)), lines(date(2026, 11, 16))), (2, 2));
    for newest_first in [true, false] {
        let rows = all(&Reader::new(dir.path(), None), Query { limit: 1, newest_first, ..Query::default() });
        let ended = rows.iter().find(|row| row.execution_id == id).unwrap();
        assert_eq!((rows.len(), ended.status, ended.ended_at), (2, Status::Ok, Some(after)));
    }
}

#[test]
fn retention_keeps_thirty_days_back_and_removes_older_and_leaves_foreign_files() {
    let dir = tempfile::tempdir().unwrap();
    let kept =
        ["executions-2026-11-15.jsonl", "executions-2026-10-16.jsonl", "executions-2026-10-16.3.jsonl"];
    let gone =
        ["executions-2026-10-15.jsonl", "executions-2026-10-15.1.jsonl", "executions-2020-01-01.jsonl"];
    let foreign =
        ["notes.txt", "executions-2020-01-01.jsonl.gz", "executions-20200101.jsonl", "executions-x.jsonl"];
    for name in kept.iter().chain(&gone).chain(&foreign) {
        fs::write(dir.path().join(name), "").unwrap();
    }
    assert_eq!(retention::sweep(dir.path(), date(2026, 11, 15), 30).unwrap(), 3);
    for name in kept.iter().chain(&foreign) {
        assert!(dir.path().join(name).exists(), "{name}");
    }
    assert!(!gone.iter().any(|name| dir.path().join(name).exists()));
}

/// A file of the journal that was last written at noon of the day in its name.
fn written(dir: &Path, day: Date) {
    let path = files::path(dir, day, 0);
    let file = fs::File::create(path).unwrap();
    let noon = day.at(12, 0, 0, 0).to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp();
    file.set_modified(noon.into()).unwrap();
}

#[test]
fn a_clock_that_steps_ahead_removes_nothing_that_its_last_day_would_keep() {
    let dir = tempfile::tempdir().unwrap();
    let today = date(2026, 11, 15);
    (0..31).for_each(|back| written(dir.path(), today.saturating_sub(back.days())));
    let stepped = today.saturating_add(40.days());
    let days = || files::list(dir.path()).unwrap().len();
    retention::sweep(dir.path(), stepped, 30).unwrap();
    assert!(days() >= 29, "{}", days());
    // It stays wrong, and the journal is written meanwhile.
    written(dir.path(), stepped);
    retention::sweep(dir.path(), stepped, 30).unwrap();
    assert!(days() >= 30, "{}", days());
    // Put right again, everything is as before.
    retention::sweep(dir.path(), today, 30).unwrap();
    assert!(days() >= 30, "{}", days());
}

#[test]
fn after_a_long_rest_old_files_go_on_the_second_day_of_use() {
    let dir = tempfile::tempdir().unwrap();
    let last = date(2026, 11, 15);
    (0..5).for_each(|back| written(dir.path(), last.saturating_sub(back.days())));
    let back = last.saturating_add(60.days());
    assert_eq!(retention::sweep(dir.path(), back, 30).unwrap(), 0);
    written(dir.path(), back);
    assert_eq!(retention::sweep(dir.path(), back.saturating_add(1.day()), 30).unwrap(), 5);
}

#[test]
fn a_running_journal_believes_no_clock_that_runs_ahead_of_the_time_that_passed() {
    let dir = tempfile::tempdir().unwrap();
    let (input, mask) = (json!({}), Mask::default());
    let now = at("2026-11-15T12:00:00Z");
    (0..31).for_each(|back| written(dir.path(), files::date_of(now).saturating_sub(back.days())));
    let journal = Journal::open_at(dir.path(), RunId::new(), one_file(), now).unwrap();
    for days in [40, 41, 42] {
        let stepped = now + jiff::SignedDuration::from_hours(24 * days);
        journal.start(&StartRecord { at: stepped, ..start(ExecutionId::new(), &input, &mask) }).unwrap();
    }
    drop(journal);
    assert!(files::list(dir.path()).unwrap().len() >= 30);
}

#[test]
fn old_days_go_at_open_and_when_the_day_changes() {
    let dir = tempfile::tempdir().unwrap();
    let (input, mask) = (json!({}), Mask::default());
    let file = |day: &str| dir.path().join(format!("executions-{day}.jsonl"));
    fs::write(file("2026-10-15"), "").unwrap();
    fs::write(file("2026-10-16"), "").unwrap();
    let journal = Journal::open_at(dir.path(), RunId::new(), one_file(), at("2026-11-15T23:00:00Z")).unwrap();
    drop(journal);
    assert!(!file("2026-10-15").exists() && file("2026-10-16").exists());
    let journal = Journal::open_at(dir.path(), RunId::new(), one_file(), at("2026-11-15T23:00:00Z")).unwrap();
    let next_day = at("2026-11-16T00:00:01Z");
    journal.start(&StartRecord { at: next_day, ..start(ExecutionId::new(), &input, &mask) }).unwrap();
    drop(journal);
    assert!(!file("2026-10-16").exists() && file("2026-11-15").exists());
}

#[test]
fn a_full_disk_refuses_starts_and_recovers_without_restart() {
    let dir = tempfile::tempdir().unwrap();
    let (input, mask) = (json!({"n": 1}), Mask::default());
    let now = Timestamp::now();
    let path = files::path(dir.path(), files::date_of(now), 0);
    let journal = Journal::open_at(dir.path(), RunId::new(), one_file(), now).unwrap();
    let (ended, refused) = (ExecutionId::new(), ExecutionId::new());
    journal.start(&StartRecord { at: now, ..start(ended, &input, &mask) }).unwrap();

    let aside = dir.path().join("aside");
    fs::rename(&path, &aside).unwrap();
    symlink("/dev/full", &path).unwrap();
    let later = now + jiff::SignedDuration::from_secs(1);
    let end = EndRecord { at: later, code: Some("kept"), ..end(ended, &input, &mask) };
    assert!(matches!(journal.end(&end), Err(JournalError::Write(_))));
    assert!(journal.start(&StartRecord { at: later, ..start(refused, &input, &mask) }).is_err());
    let reason = journal.healthy().unwrap_err();
    assert!(reason.contains("No space left") && reason.contains("since 20"), "{reason}");

    fs::rename(&aside, &path).unwrap();
    assert_eq!(journal.healthy(), Ok(()));
    journal.start(&StartRecord { at: later, ..start(ExecutionId::new(), &input, &mask) }).unwrap();
    let page = Reader::new(dir.path(), Some(journal.run())).page(&Query::default()).unwrap();
    assert_eq!((page.rows.len(), page.skipped), (2, 0));
    let row = page.rows.iter().find(|row| row.execution_id == ended).unwrap();
    assert_eq!((row.status, row.code.as_deref(), row.truncated), (Status::Ok, Some("kept"), true));
}

#[test]
fn a_record_after_a_torn_one_begins_on_a_fresh_line() {
    let dir = tempfile::tempdir().unwrap();
    let (input, mask) = (json!({}), Mask::default());
    let now = Timestamp::now();
    let path = files::path(dir.path(), files::date_of(now), 0);
    drop(Journal::open_at(dir.path(), RunId::new(), one_file(), now).unwrap());
    let torn = r#"{ "t":"start","id":"019a8670-0000-7000-8000-000000000001","at":"2026-11-15T0"#;
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(torn.as_bytes()).unwrap();
    let journal = Journal::open_at(dir.path(), RunId::new(), one_file(), now).unwrap();
    journal.start(&start(ExecutionId::new(), &input, &mask)).unwrap();
    let page = Reader::new(dir.path(), None).page(&Query::default()).unwrap();
    assert_eq!((page.rows.len(), page.skipped), (1, 1));
}

#[test]
fn a_whole_record_behind_a_torn_one_on_the_same_line_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let (input, mask) = (json!({"a": {"t": "end"}, "text": "{ \"t\":\"end\""}), Mask::default());
    let now = Timestamp::now();
    let path = files::path(dir.path(), files::date_of(now), 0);
    let journal = Journal::open_at(dir.path(), RunId::new(), one_file(), now).unwrap();
    let torn = r#"{ "t":"end","id":"019a8670-0000-7000-8000-000000000001","at":"2026-11-15T00:00:00.000000Z","status"#;
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(torn.as_bytes()).unwrap();
    let id = ExecutionId::new();
    journal.start(&start(id, &input, &mask)).unwrap();
    journal.end(&end(id, &input, &mask)).unwrap();
    for newest_first in [true, false] {
        let page = Reader::new(dir.path(), None).page(&Query { newest_first, ..Query::default() }).unwrap();
        assert_eq!((page.rows.len(), page.skipped, page.rows[0].status), (1, 1, Status::Ok));
    }
}

#[test]
fn foreign_lines_are_skipped_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let (input, mask) = (json!({}), Mask::default());
    let now = Timestamp::now();
    let journal = Journal::open_at(dir.path(), RunId::new(), one_file(), now).unwrap();
    let path = files::path(dir.path(), files::date_of(now), 0);
    let id = ExecutionId::new();
    journal.start(&start(id, &input, &mask)).unwrap();
    let foreign = b"hello\n\n{}\n{ \"t\":\"start\",\"id\":\"x\"}\n\xff\xfe\n{ \"t\":\"later\"}\n";
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(foreign).unwrap();
    journal.end(&end(id, &input, &mask)).unwrap();
    let page = Reader::new(dir.path(), None).page(&Query::default()).unwrap();
    assert_eq!((page.rows.len(), page.skipped, page.rows[0].status), (1, 5, Status::Ok));
}

#[test]
fn files_that_were_removed_are_made_again() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("logs");
    let (input, mask) = (json!({}), Mask::default());
    let now = Timestamp::now();
    let journal = Journal::open_at(&dir, RunId::new(), JournalSettings::default(), now).unwrap();
    fs::remove_dir_all(&dir).unwrap();
    let id = ExecutionId::new();
    let later = now + jiff::SignedDuration::from_secs(1);
    journal.start(&StartRecord { at: later, ..start(id, &input, &mask) }).unwrap();
    assert!(Reader::new(&dir, None).get(id).unwrap().is_some());
}

#[test]
fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("logs");
    drop(open(&dir));
    for (_, path) in files::list(&dir).unwrap().into_values().flatten() {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o077, 0);
    }
    assert_eq!(fs::metadata(dir).unwrap().permissions().mode() & 0o077, 0);
}

#[test]
fn no_folder_reads_as_an_empty_journal() {
    let reader = Reader::new(Path::new("/nonexistent/logs"), None);
    assert!(reader.page(&Query::default()).unwrap().rows.is_empty());
    assert!(reader.tail().is_ok());
}
