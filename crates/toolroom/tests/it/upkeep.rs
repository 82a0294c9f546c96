//! What a running server removes for good, by a clock that may be wrong.

use rusqlite::Connection;
use serde_json::json;

use crate::test_home::{Served, TestHome, until};

const DAY: i64 = 86_400 * 1_000_000;

fn database(home: &TestHome) -> Connection {
    Connection::open(home.home().join("toolroom.db")).unwrap()
}

fn noted(home: &TestHome) -> String {
    if !home.home().join("toolroom.db").exists() {
        return String::new();
    }
    let sql = "SELECT value FROM settings WHERE key = 'upkeep_clock'";
    database(home).query_row(sql, [], |row| row.get(0)).unwrap_or_default()
}

fn there(home: &TestHome) -> i64 {
    database(home).query_row("SELECT count(*) FROM tasks", [], |row| row.get(0)).unwrap()
}

/// A server whose first round of upkeep is done.
fn served(home: &TestHome) -> Served {
    let before = noted(home);
    let server = home.serve();
    until("a round of upkeep", || (noted(home) != before).then_some(()));
    server
}

/// Ageing all that is stored by so many days is the same as setting the clock ahead.
fn age(home: &TestHome, days: i64, with_rounds: bool) {
    let database = database(home);
    database.execute("UPDATE tasks SET deleted_at = deleted_at - ?1", [days * DAY]).unwrap();
    database.execute("UPDATE idempotency SET created_at = created_at - ?1", [days * DAY]).unwrap();
    if with_rounds {
        let now: jiff::Timestamp = noted(home).rsplit(' ').next().unwrap().parse().unwrap();
        let then = now - jiff::SignedDuration::from_hours(24 * days);
        let sql = "UPDATE settings SET value = ?1 WHERE key = 'upkeep_clock'";
        database.execute(sql, [format!("{then} {then} {then}")]).unwrap();
    }
}

#[test]
fn promise_a_clock_that_steps_forty_days_ahead_removes_nothing_for_good() {
    let home = TestHome::new();
    let server = served(&home);
    let made = server.post(
        "/api/v1/tools/create-task/call",
        "Idempotency-Key: once\r\n",
        &json!({ "params": { "title": "Old" } }),
    );
    let id = made.json["data"]["task"]["taskId"].clone();
    let gone = server.post("/api/v1/profiles/assistant/functions/delete_task", "", &json!({ "task_id": id }));
    assert_eq!(gone.json["success"], true, "{gone:?}");
    drop(server);

    age(&home, 40, true);
    drop(served(&home));
    assert_eq!(there(&home), 1, "the step is not believed");
    // The clock is set right again.
    age(&home, -40, false);
    let server = served(&home);
    let back = server.post("/api/v1/tools/restore-task/call", "", &json!({ "params": { "taskId": id } }));
    assert_eq!(back.status, 200, "{back:?}");
    let again = server.post(
        "/api/v1/tools/create-task/call",
        "Idempotency-Key: once\r\n",
        &json!({ "params": { "title": "Old" } }),
    );
    assert_eq!(again.json["metadata"]["replayed"], true, "{again:?}");
    let gone = server.post("/api/v1/profiles/assistant/functions/delete_task", "", &json!({ "task_id": id }));
    assert_eq!(gone.json["success"], true, "{gone:?}");
    drop(server);

    // Time that rounds of upkeep bear out counts.
    let sql = "UPDATE settings SET value = ?1 WHERE key = 'upkeep_clock'";
    let now = noted(&home).rsplit(' ').next().unwrap().to_owned();
    database(&home).execute(sql, [format!("{now} {now} {now}")]).unwrap();
    age(&home, 40, false);
    let _server = home.serve();
    until("the task is removed for good", || (there(&home) == 0).then_some(()));
}
