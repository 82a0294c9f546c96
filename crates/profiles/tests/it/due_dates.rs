//! A profile that cannot express a stored due date converts it in the user's zone.

use serde_json::{Value, json};

use crate::published::{client, task};

fn shown_by_todo_tasks(due: &str, zone: &str) -> Value {
    let answer = client("todo_tasks", "add_task")
        .in_zone(zone)
        .answer(json!({}), json!({"task": task(json!({"due": due}))}));
    serde_json::from_str::<Value>(&answer).unwrap()["data"]["due_date"].clone()
}

fn shown_by_assistant(due: &str, zone: &str) -> Value {
    let answer = client("assistant", "add_task")
        .in_zone(zone)
        .answer(json!({}), json!({"task": task(json!({"due": due}))}));
    serde_json::from_str::<Value>(&answer).unwrap()["task"]["due_date"].clone()
}

#[test]
fn todo_tasks_shows_an_instant_as_its_date_in_the_zone() {
    assert_eq!(shown_by_todo_tasks("2026-11-20T23:30:00Z", "UTC"), "2026-11-20");
    assert_eq!(shown_by_todo_tasks("2026-11-20T23:30:00Z", "Europe/Berlin"), "2026-11-21");
    assert_eq!(shown_by_todo_tasks("2026-11-20T03:00:00Z", "America/New_York"), "2026-11-19");
    assert_eq!(shown_by_todo_tasks("2026-11-20", "Pacific/Auckland"), "2026-11-20");
}

#[test]
fn assistant_shows_a_date_as_its_last_second_in_the_zone() {
    assert_eq!(shown_by_assistant("2026-01-28", "UTC"), "2026-01-28T23:59:59Z");
    assert_eq!(shown_by_assistant("2026-01-28", "Europe/Berlin"), "2026-01-28T23:59:59+01:00");
    assert_eq!(shown_by_assistant("2026-07-28", "Europe/Berlin"), "2026-07-28T23:59:59+02:00");
    assert_eq!(shown_by_assistant("2026-07-28", "Asia/Kolkata"), "2026-07-28T23:59:59+05:30");
}

#[test]
fn assistant_shows_an_instant_in_utc() {
    assert_eq!(shown_by_assistant("2026-11-20T15:00:00Z", "Europe/Berlin"), "2026-11-20T15:00:00Z");
    assert_eq!(shown_by_assistant("2026-11-20T15:00:00.75Z", "UTC"), "2026-11-20T15:00:00.75Z");
}

#[test]
fn the_ends_of_the_calendar_have_a_form_too() {
    assert_eq!(shown_by_assistant("9999-12-31", "Pacific/Honolulu"), "9999-12-31T23:59:59Z");
    let ancient = shown_by_assistant("1800-01-01", "Europe/Berlin");
    assert!(ancient.as_str().unwrap().ends_with('Z'), "{ancient}");
}
