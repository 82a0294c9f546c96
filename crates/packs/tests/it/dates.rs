//! Due dates: civil dates stay dates, phrases are resolved in the user's zone and said back.

use serde_json::{Value, json};

use crate::test_tools::{first_detail, on_both};

#[tokio::test(flavor = "multi_thread")]
async fn dates_instants_and_phrases_are_stored_and_said_back() {
    on_both(|tools| async move {
        for (given, due, echo) in [
            ("2026-11-20", "2026-11-20", "Friday 2026-11-20"),
            (
                "2026-11-20T15:00:00+01:00",
                "2026-11-20T14:00:00Z",
                "Friday 2026-11-20 15:00 (Europe/Berlin, UTC+01:00)",
            ),
            ("tomorrow", "2026-11-16", "Monday 2026-11-16"),
            ("next friday 3pm", "2026-11-20T14:00:00Z", "Friday 2026-11-20 15:00 (Europe/Berlin, UTC+01:00)"),
        ] {
            let made = tools.answer("create-task", json!({ "title": "T", "due": given })).await.unwrap();
            assert_eq!(
                (&made.data["task"]["due"], &made.data["dueEcho"]),
                (&json!(due), &json!(echo)),
                "{given}"
            );
            let assumed =
                made.hints.assumptions.iter().any(|text| text.contains(echo) && text.contains(given));
            assert_eq!(assumed, given.chars().any(|c| c.is_ascii_lowercase()), "{given}");
            let id = &made.data["task"]["taskId"];
            let moved = tools.call("update-task", json!({ "taskId": id, "due": given })).await;
            assert_eq!((&moved["changed"], &moved["dueEcho"]), (&json!([]), &json!(echo)));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_wholly_understood_is_refused_with_the_field_and_an_example() {
    on_both(|tools| async move {
        let id = tools.create("T").await;
        for due in ["", "soonish", "tomorrow or so", "2026-02-30", "9999999-01-01", "0001-01-01", "5/6"] {
            for (tool, params) in [
                ("create-task", json!({ "title": "T", "due": due })),
                ("update-task", json!({ "taskId": id, "due": due })),
            ] {
                let error = tools.refused(tool, params).await;
                assert_eq!(first_detail(&error).0, "/due", "{due}");
                assert!(error.details[0].example.is_some());
            }
        }
        for field in ["dueFrom", "dueTo"] {
            let error = tools.refused("list-tasks", json!({ field: "soonish" })).await;
            assert_eq!(first_detail(&error).0, format!("/{field}"));
        }
        assert_eq!(tools.total().await, 1);
        assert_eq!(tools.call("get-task", json!({ "taskId": id })).await["task"]["due"], Value::Null);
    })
    .await;
}
