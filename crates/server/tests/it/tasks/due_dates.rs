//! Due dates across the profiles: what cannot be expressed is converted in the user's zone, never bent.

use serde_json::json;

use super::databases::on_both;
use super::profile_client::ProfileClient;

#[tokio::test]
async fn a_civil_date_and_an_instant_stay_what_they_were() {
    on_both(|server| async move {
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        let zone = server.ask("PUT", "/api/v1/me").key(&ada.key).body(json!({ "timezone": "Asia/Tokyo" }));
        assert_eq!(zone.send().await.status, 200);
        let tasks = ada.at("todo_tasks");
        tasks.ask("add_task", json!({ "user_id": "ada", "title": "Day", "due_date": "2031-01-30" })).await;
        ada.ask("add_task", json!({ "title": "Moment", "due_date": "2031-01-30T20:00:00Z" })).await;
        let canonical = ada.call("list-tasks", json!({ "sortBy": "title" })).await.1;
        assert_eq!(canonical["data"]["tasks"][0]["due"], "2031-01-30");
        assert_eq!(canonical["data"]["tasks"][1]["due"], "2031-01-30T20:00:00Z");
        let as_moments = ada.ask("list_tasks", json!({})).await;
        assert_eq!(as_moments["tasks"][1]["due_date"], "2031-01-30T23:59:59+09:00");
        assert_eq!(as_moments["tasks"][0]["due_date"], "2031-01-30T20:00:00Z");
        let as_days = tasks.ask("list_tasks", json!({ "user_id": "ada" })).await;
        assert_eq!(as_days["data"]["tasks"][1]["due_date"], "2031-01-30");
        assert_eq!(as_days["data"]["tasks"][0]["due_date"], "2031-01-31", "in Tokyo it is the day after");
    })
    .await;
}

#[tokio::test]
async fn todo_tasks_takes_dates_only_as_published() {
    on_both(|server| async move {
        let ada = ProfileClient::new(&server, "todo_tasks", "ada").await;
        for date in [
            "",
            "tomorrow",
            "2031-1-30",
            "30.01.2031",
            "2031-02-30",
            "2031-01-30T00:00:00Z",
            "20310130",
            "10000-01-01",
            "0000-01-01",
            "1969-12-31",
            "-2031-01-01",
            "２０３１-01-30",
        ] {
            let params = json!({ "user_id": "ada", "title": "A", "due_date": date });
            let answer = ada.ask("add_task", params).await;
            assert_eq!(answer["error"]["code"], "invalid_date", "{date}: {answer}");
            assert_eq!(answer["error"]["details"], json!({ "field": "due_date" }));
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(
                message.contains("YYYY-MM-DD") && message.contains("1970") && message.contains("9999"),
                "{message}"
            );
        }
        assert_eq!(ada.ask("list_tasks", json!({ "user_id": "ada" })).await["data"]["total"], 0);
        for date in ["1970-01-01", "2028-02-29", "9999-12-31"] {
            let params = json!({ "user_id": "ada", "title": "A", "due_date": date });
            assert_eq!(ada.ask("add_task", params).await["data"]["due_date"], date);
        }
    })
    .await;
}

#[tokio::test]
async fn assistant_takes_date_times_with_an_offset_only() {
    on_both(|server| async move {
        let ada = ProfileClient::new(&server, "assistant", "ada").await;
        for moment in [
            "",
            "tomorrow",
            "2031-01-30",
            "2031-01-30T10:00:00",
            "2031-02-30T10:00:00Z",
            "2031-01-30T25:00:00Z",
            "99999-01-01T00:00:00Z",
            "9999-12-31T23:59:59Z",
            "0001-01-01T00:00:00Z",
            "1969-12-31T23:59:59Z",
        ] {
            let answer = ada.ask("add_task", json!({ "title": "A", "due_date": moment })).await;
            assert_eq!(answer["code"], "VALIDATION_ERROR", "{moment}: {answer}");
            let error = answer["error"].as_str().unwrap();
            assert!(
                error.contains("due_date") && error.contains("1970") && error.contains("9999"),
                "{error}"
            );
        }
        assert_eq!(ada.ask("list_tasks", json!({})).await["count"], 0);
        for (given, shown) in [
            ("2031-01-30T10:00:00+09:00", "2031-01-30T01:00:00Z"),
            ("2031-01-30T10:00:00.5Z", "2031-01-30T10:00:00.5Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
            ("9999-12-30T22:00:00Z", "9999-12-30T22:00:00Z"),
        ] {
            let made = ada.ask("add_task", json!({ "title": "A", "due_date": given })).await;
            assert_eq!(made["task"]["due_date"], shown, "{made}");
        }
    })
    .await;
}
