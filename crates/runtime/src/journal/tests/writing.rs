use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn every_start_is_merged_with_its_end_and_its_lines() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let (input, output, mask) = (json!({"title": "Buy milk"}), json!({"taskId": 7}), Mask::default());
    for _ in 0..40 {
        let id = ExecutionId::new();
        journal.start(&start(id, &input, &mask)).unwrap();
        for text in ["first", "second"] {
            journal.line(&LineRecord { id, at: Timestamp::now(), stream: Stream::Stderr, text }).unwrap();
        }
        journal.end(&EndRecord { dry_run: true, ..end(id, &output, &mask) }).unwrap();
    }
    for newest_first in [true, false] {
        let reader = Reader::new(dir.path(), None);
        let rows = all(&reader, Query { limit: 7, newest_first, ..Query::default() });
        assert_eq!(rows.len(), 40);
        for row in rows {
            assert_eq!(
                (row.status, row.tool.as_str(), row.duration_ms),
                (Status::Ok, "greet-user", Some(1.25))
            );
            assert_eq!(row.input.get(), r#"{"title":"Buy milk"}"#);
            assert_eq!(row.output.unwrap().get(), r#"{"taskId":7}"#);
            assert!(row.dry_run && !row.cached && row.ended_at.unwrap() >= row.started_at);
            let lines: Vec<_> = row.lines.iter().map(|line| line.text.as_str()).collect();
            assert_eq!(lines, ["first", "second"]);
        }
    }
}

#[test]
fn the_ids_of_one_thread_are_distinct_in_order_and_of_one_file() {
    for shards in [1, 3, 4, 64] {
        let dir = tempfile::tempdir().unwrap();
        let settings = JournalSettings { shards, ..JournalSettings::default() };
        let journal = Journal::open(dir.path(), RunId::new(), settings).unwrap();
        let ids: Vec<ExecutionId> = (0..2000).map(|_| journal.new_id()).collect();
        assert!(ids.is_sorted_by(|one, next| one < next));
        let files: HashSet<usize> = ids.iter().map(|id| usize::from(id.0.as_bytes()[15]) % shards).collect();
        assert_eq!(files.len(), 1, "{shards} files");
    }
}

#[test]
fn a_refusal_is_one_record_and_one_row() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let (input, mask) = (json!({}), Mask::default());
    let id = ExecutionId::new();
    let refusal = EndRecord {
        status: EndStatus::Error,
        code: Some("permission_denied"),
        message: Some("no"),
        output: None,
        ..end(id, &input, &mask)
    };
    journal.call(&start(id, &input, &mask), &refusal).unwrap();
    let row = Reader::new(dir.path(), None).get(id).unwrap().unwrap();
    assert_eq!((row.status, row.code.as_deref()), (Status::Error, Some("permission_denied")));
    assert_eq!(row.ended_at.map(Timestamp::as_microsecond), Some(refusal.at.as_microsecond()));
    assert_eq!(serde_json::to_value(&row).unwrap()["executionId"], json!(id));
}

#[test]
fn a_start_without_end_is_running_in_the_live_run_and_interrupted_in_a_dead_one() {
    let dir = tempfile::tempdir().unwrap();
    let (input, mask) = (json!({}), Mask::default());
    let dead = open(dir.path());
    let lost = ExecutionId::new();
    dead.start(&start(lost, &input, &mask)).unwrap();
    drop(dead);
    let live = open(dir.path());
    let going = ExecutionId::new();
    live.start(&start(going, &input, &mask)).unwrap();

    let reader = Reader::new(dir.path(), Some(live.run()));
    assert_eq!(reader.get(lost).unwrap().unwrap().status, Status::Interrupted);
    assert_eq!(reader.get(going).unwrap().unwrap().status, Status::Running);
    assert_eq!(Reader::new(dir.path(), None).get(going).unwrap().unwrap().status, Status::Interrupted);
    live.end(&end(going, &input, &mask)).unwrap();
    assert_eq!(reader.get(going).unwrap().unwrap().status, Status::Ok);
}

#[test]
fn concurrent_writers_leave_whole_lines_and_every_id_once() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let (input, mask) = (json!({"text": "x".repeat(300)}), Mask::default());
    let written: HashSet<ExecutionId> = std::thread::scope(|scope| {
        let write = || {
            let ids: Vec<_> = (0..1000).map(|_| ExecutionId::new()).collect();
            for id in &ids {
                journal.start(&start(*id, &input, &mask)).unwrap();
                journal.end(&end(*id, &input, &mask)).unwrap();
            }
            ids
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(write)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    for line in bytes(dir.path()).split_inclusive(|byte| *byte == b'\n') {
        assert!(line.ends_with(b"}\n"));
        serde_json::from_slice::<Value>(line).unwrap();
    }
    let rows = all(&Reader::new(dir.path(), None), Query { limit: 777, ..Query::default() });
    assert_eq!((rows.len(), written.len()), (8000, 8000));
    assert!(rows.iter().all(|row| row.status == Status::Ok));
    assert_eq!(rows.iter().map(|row| row.execution_id).collect::<HashSet<_>>(), written);
}

#[test]
fn hostile_text_stays_on_one_line_and_comes_back_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path(), RunId::new(), one_file()).unwrap();
    let fake = "\n{ \"t\":\"start\",\"id\":\"00000000-0000-7000-8000-000000000000\"}\n";
    let hostile = format!("{fake}\r\u{1b}[2J\u{7f}\u{85}\u{9b}31m\u{2028}\u{2029}\u{202e}é→漢\"\\");
    let input = json!({"t": "call", "text": hostile, hostile.clone(): [hostile]});
    let mask = Mask::default();
    let id = ExecutionId::new();
    let mut record = start(id, &input, &mask);
    (record.tool, record.user, record.agent_id) = (&hostile, &hostile, &hostile);
    journal.start(&record).unwrap();
    journal.end(&EndRecord { message: Some(&hostile), ..end(id, &input, &mask) }).unwrap();

    let text = String::from_utf8(bytes(dir.path())).unwrap();
    assert_eq!(text.lines().count(), 3, "run, start, end");
    let raw = |c: char| (c.is_control() && c != '\n') || ['\u{2028}', '\u{2029}', '\u{202e}'].contains(&c);
    assert!(!text.contains(raw));
    let page = Reader::new(dir.path(), None).page(&Query::default()).unwrap();
    assert_eq!((page.rows.len(), page.skipped), (1, 0));
    let row = &page.rows[0];
    assert_eq!((row.tool.as_str(), row.message.as_deref()), (hostile.as_str(), Some(hostile.as_str())));
    assert_eq!(serde_json::from_str::<Value>(row.input.get()).unwrap(), input);
}

#[test]
fn values_and_errors_stand_whole_and_of_a_long_detail_the_end_does() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let (large, mask) = (json!("é".repeat(400 * 1024)), Mask::default());
    let id = ExecutionId::new();
    let message = "m".repeat(100_000);
    let detail = format!("{}é{}", "a".repeat(300 * 1024), "z".repeat(200 * 1024));
    journal.start(&start(id, &large, &mask)).unwrap();
    let record = end(id, &large, &mask);
    journal.end(&EndRecord { message: Some(&message), detail: Some(&detail), ..record }).unwrap();
    let row = Reader::new(dir.path(), None).get(id).unwrap().unwrap();
    assert!(!row.truncated);
    for value in [row.input.get(), row.output.as_ref().unwrap().get()] {
        assert_eq!(serde_json::from_str::<Value>(value).unwrap(), large);
    }
    assert_eq!(row.message.unwrap(), message);
    let kept = row.detail.unwrap();
    assert!(kept.starts_with('…') && detail.ends_with(&kept[3..]) && kept.len() > 200 * 1024);
}

#[test]
fn a_value_beyond_the_cap_is_replaced_by_its_size_and_its_beginning() {
    let mut out = Vec::new();
    let large = "é".repeat(5000);
    assert!(!json::value_capped(&mut out, &large, 8000).unwrap());
    let value: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!((&value["truncated"], &value["bytes"]), (&json!(true), &json!(10_002)));
    let preview = value["preview"].as_str().unwrap();
    assert!(preview.starts_with("\"éé") && preview.ends_with('é') && preview.len() <= 2048);
    out.clear();
    assert!(json::value_capped(&mut out, &large, 10_002).unwrap());
}

#[test]
fn instants_are_written_as_jiff_writes_them() {
    let mut clock = json::Clockface::new();
    for micros in [
        0,
        1,
        -1,
        951_782_399_999_999,
        1_794_733_200_000_000,
        253_402_207_199_999_999,
        -62_167_219_200_000_000,
    ] {
        let instant = Timestamp::from_microsecond(micros).unwrap();
        let mut written = Vec::new();
        clock.write(&mut written, instant);
        assert_eq!(String::from_utf8(written).unwrap(), format!("{instant:.6}"));
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 8, |inner| {
        let name = any::<String>().prop_filter("a secret", |name| !mask::is_secret_name(name));
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..6).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn any_json_comes_back_as_it_was_written(value in any_json(), text in any::<String>()) {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(dir.path(), RunId::new(), one_file()).unwrap();
        let (id, mask) = (ExecutionId::new(), Mask::default());
        journal.start(&StartRecord { user: &text, ..start(id, &value, &mask) }).unwrap();
        journal.end(&end(id, &value, &mask)).unwrap();
        let page = Reader::new(dir.path(), None).page(&Query::default()).unwrap();
        prop_assert_eq!((page.rows.len(), page.skipped), (1, 0));
        let row = &page.rows[0];
        prop_assert_eq!(&row.user, &text);
        // Both through text: a float may change by its last digit when it is read.
        let expected: Value = serde_json::from_str(&value.to_string()).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Value>(row.input.get()).unwrap(), &expected);
        let output = row.output.as_ref().map_or("null", |output| output.get());
        prop_assert_eq!(&serde_json::from_str::<Value>(output).unwrap(), &expected);
    }
}
