//! Lists: filters, orders, pages and fields.

use serde_json::{Value, json};
use toolroom_contract::ids::UserId;
use toolroom_contract::{ToolContext, User};

use crate::test_tools::{TestTools, first_detail, on_both};

async fn titles(tools: &TestTools, params: Value) -> Vec<String> {
    let list = tools.call("list-tasks", params).await;
    list["tasks"].as_array().unwrap().iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

async fn four_tasks(tools: &TestTools) {
    for task in [
        json!({ "title": "b low", "priority": "low", "due": "2026-11-20", "tags": ["home"] }),
        json!({ "title": "A high", "priority": "high", "due": "2026-11-18T15:00:00+01:00" }),
        json!({ "title": "c 100%", "description": "Über alles", "tags": ["home", "work"] }),
        json!({ "title": "d done", "status": "completed", "due": "2026-11-21" }),
    ] {
        tools.call("create-task", task).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_let_through_what_they_say() {
    on_both(|tools| async move {
        four_tasks(&tools).await;
        for (params, expected) in [
            (json!({}), vec!["d done", "c 100%", "A high", "b low"]),
            (json!({ "status": "pending" }), vec!["c 100%", "A high", "b low"]),
            (json!({ "status": "completed" }), vec!["d done"]),
            (json!({ "priority": "high" }), vec!["A high"]),
            (json!({ "tag": "home" }), vec!["c 100%", "b low"]),
            (json!({ "text": "ÜBER" }), vec!["c 100%"]),
            (json!({ "text": "0%" }), vec!["c 100%"]),
            (json!({ "text": "_" }), vec![]),
            (json!({ "dueFrom": "2026-11-20" }), vec!["d done", "b low"]),
            (json!({ "dueTo": "2026-11-20" }), vec!["A high", "b low"]),
            (json!({ "dueFrom": "wednesday", "dueTo": "friday" }), vec!["A high", "b low"]),
            (json!({ "dueTo": "2026-11-18T14:00:00Z" }), vec!["A high"]),
            (json!({ "dueTo": "2026-11-18T13:59:59Z" }), vec![]),
            (json!({ "dueTo": "2026-11-20T12:00:00+01:00" }), vec!["A high"]),
            (json!({ "dueTo": "2026-11-20T23:59:59+01:00" }), vec!["A high", "b low"]),
            (json!({ "dueFrom": "2026-11-18T14:00:01Z" }), vec!["d done", "b low"]),
        ] {
            assert_eq!(titles(&tools, params.clone()).await, expected, "{params}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_have_sensible_directions() {
    on_both(|tools| async move {
        four_tasks(&tools).await;
        for (params, expected) in [
            (json!({ "sortBy": "title" }), vec!["A high", "b low", "c 100%", "d done"]),
            (json!({ "sortBy": "title", "sortOrder": "desc" }), vec!["d done", "c 100%", "b low", "A high"]),
            (json!({ "sortBy": "due" }), vec!["A high", "b low", "d done", "c 100%"]),
            (json!({ "sortBy": "due", "sortOrder": "desc" }), vec!["d done", "b low", "A high", "c 100%"]),
            (json!({ "sortBy": "priority" }), vec!["A high", "d done", "c 100%", "b low"]),
            (json!({ "sortOrder": "asc" }), vec!["b low", "A high", "c 100%", "d done"]),
        ] {
            assert_eq!(titles(&tools, params.clone()).await, expected, "{params}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_join_to_the_whole_in_every_order() {
    on_both(|tools| async move {
        for number in 0..25 {
            let due = format!("2026-12-{:02}", number % 5 + 1);
            tools.call("create-task", json!({ "title": format!("task {}", number % 7), "due": due })).await;
        }
        assert_eq!(titles(&tools, json!({})).await.len(), 20);
        for sort in ["createdAt", "updatedAt", "due", "priority", "title"] {
            let whole = tools.call("list-tasks", json!({ "whole": true, "sortBy": sort })).await;
            assert_eq!((whole["tasks"].as_array().unwrap().len(), &whole["nextCursor"]), (25, &Value::Null));
            let mut joined = Vec::new();
            let mut params = json!({ "sortBy": sort, "limit": 4 });
            loop {
                let answer = tools.answer("list-tasks", params.clone()).await.unwrap();
                assert_eq!(answer.data["total"], 25);
                joined.extend(answer.data["tasks"].as_array().unwrap().clone());
                let Some(next) = answer.hints.next.iter().find(|action| action.action == "list-tasks") else {
                    break;
                };
                assert_eq!(next.data.as_ref().unwrap()["cursor"], answer.data["nextCursor"]);
                params = json!(next.data);
            }
            assert_eq!(json!(joined), whole["tasks"], "{sort}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_fields_asked_for_are_answered_and_always_the_id() {
    on_both(|tools| async move {
        let id = tools.create("A").await;
        let list = tools.call("list-tasks", json!({ "fields": ["title"] })).await;
        assert_eq!(list["tasks"], json!([{ "taskId": id, "title": "A" }]));
        let one = tools.call("get-task", json!({ "taskId": id, "fields": [] })).await;
        assert_eq!(one["task"], json!({ "taskId": id }));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_does_not_belong_here_is_refused() {
    on_both(|tools| async move {
        four_tasks(&tools).await;
        let page = tools.call("list-tasks", json!({ "limit": 1 })).await;
        let cursor = page["nextCursor"].as_str().unwrap();
        for params in [
            json!({ "cursor": "junk" }),
            json!({ "cursor": "title:asc:1:\u{0}" }),
            json!({ "cursor": cursor, "sortBy": "title" }),
        ] {
            assert_eq!(first_detail(&tools.refused("list-tasks", params).await).0, "/cursor");
        }
        for limit in [0, 101] {
            assert_eq!(
                first_detail(&tools.refused("list-tasks", json!({ "limit": limit })).await).0,
                "/limit"
            );
            let unchecked = tools.answer_unchecked("list-tasks", json!({ "limit": limit })).await;
            assert_eq!(first_detail(&unchecked.unwrap_err()).0, "/limit");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn someone_who_does_not_exist_yet_has_no_tasks() {
    on_both(|tools| async move {
        tools.create("A").await;
        let user = Some(User { id: UserId(0), key: "nobody".into() });
        let nobody = TestTools { context: ToolContext { user, ..tools.context.clone() }, ..tools.clone() };
        assert_eq!(nobody.call("list-tasks", json!({})).await["total"], 0);
        assert_eq!(nobody.call("find-tasks", json!({ "query": "A" })).await["matchType"], "none");
        nobody.refused("create-task", json!({ "title": "A" })).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_cache_compares_has_its_dates_resolved_in_the_zone_of_the_caller() {
    on_both(|tools| async move {
        let handler = &tools.tools["list-tasks"].handler;
        let compared =
            |context: &ToolContext, due: &str| handler.resolve(&json!({ "dueTo": due }), context).unwrap();
        let here = &tools.context;
        assert_eq!(compared(here, "tomorrow"), compared(here, "2026-11-16"));
        let mut later = here.clone();
        later.timestamp = "2026-11-16T09:00:00Z".parse().unwrap();
        assert_ne!(compared(here, "tomorrow"), compared(&later, "tomorrow"));
        let mut elsewhere = here.clone();
        elsewhere.time_zone = jiff::tz::TimeZone::get("Asia/Tokyo").unwrap();
        assert_ne!(compared(here, "2026-11-16"), compared(&elsewhere, "2026-11-16"));
    })
    .await;
}
