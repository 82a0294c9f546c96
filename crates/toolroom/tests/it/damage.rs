//! A database that is damaged while the server runs: it says so in the published words, and is not ready.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

use rusqlite::Connection;
use serde_json::json;

use crate::federation::test_servers::key;
use crate::test_home::TestHome;

#[test]
fn a_database_damaged_while_serving_is_told_by_every_answer_and_by_readyz() {
    let home = TestHome::new();
    let server = home.serve();
    let create = json!({ "params": { "title": "Milk", "description": "d".repeat(1000) } });
    for _ in 0..20 {
        assert_eq!(server.post("/api/v1/tools/create-task/call", "", &create).status, 200);
    }
    assert_eq!(server.get("/readyz", "").status, 200);

    let path = home.home().join("toolroom.db");
    // A write of somebody else makes the server forget the pages that it has in memory.
    let other = Connection::open(&path).unwrap();
    other.execute_batch("INSERT INTO settings (key, value) VALUES ('damage', 'soon')").unwrap();
    let emptied: i64 = other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    assert_eq!(emptied, 0, "the log was busy");
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    let length = file.metadata().unwrap().len();
    file.write_all_at(&vec![0xa5; (length - 4096) as usize], 4096).unwrap();

    let message = json!({ "message": "list my tasks" });
    let completion =
        json!({ "model": "toolroom", "messages": [{ "role": "user", "content": "list my tasks" }] });
    let told = [
        server.post("/api/v1/tools/list-tasks/call", "", &json!({ "params": {} })),
        server.post("/api/v1/tools/create-task/call", "", &create),
        server.post("/api/v1/chat", "", &message),
        server.post("/v1/chat/completions", "", &completion),
        server.get("/api/v1/approvals", ""),
    ];
    for answer in &told {
        assert_eq!(answer.status, 503, "{answer:?}");
        let text = answer.json.to_string();
        assert!(text.contains("service_unavailable"), "{answer:?}");
        assert!(!text.contains("malformed") && !text.contains("toolroom.db"), "{answer:?}");
    }
    // Nor can a key be checked that the server does not know yet, and the call is told why.
    let bearer = format!("Authorization: Bearer {}\r\n", key(&TestHome::new(), &["*"]));
    let answer = server.post("/api/v1/tools/list-tasks/call", &bearer, &json!({ "params": {} }));
    let message = answer.json["error"]["message"].as_str().unwrap();
    assert!(message.contains("damaged"), "{answer:?}");
    let ready = server.get("/readyz", "");
    assert_eq!((ready.status, &ready.json["checks"]["store"]["ok"]), (503, &json!(false)), "{ready:?}");
    let reason = ready.json["checks"]["store"]["reason"].as_str().unwrap();
    assert!(reason.contains("damaged"), "{reason}");
}
