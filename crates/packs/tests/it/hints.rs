//! What an agent is told next to the data.

use serde_json::json;
use toolroom_contract::hints::WarningKind;

use crate::test_tools::on_both;

#[tokio::test(flavor = "multi_thread")]
async fn an_open_task_of_the_same_title_is_warned_of() {
    on_both(|tools| async move {
        let first = tools.create("Buy milk").await;
        let second = tools.answer("create-task", json!({ "title": "buy MILK!" })).await.unwrap();
        let warning = &second.hints.warnings[0];
        assert_eq!((warning.kind, &warning.related_ids), (WarningKind::Duplicate, &vec![first.to_string()]));
        let other = tools.create("Pay rent").await;
        let renamed =
            tools.answer("update-task", json!({ "taskId": other, "title": "Buy milk" })).await.unwrap();
        assert_eq!(renamed.hints.warnings[0].related_ids.len(), 2);
        for id in [first, other, second.data["task"]["taskId"].as_i64().unwrap()] {
            tools.call("complete-task", json!({ "taskId": id })).await;
        }
        let alone = tools.answer("create-task", json!({ "title": "Buy milk" })).await.unwrap();
        assert!(alone.hints.warnings.is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_most_overdue_open_task_comes_first() {
    on_both(|tools| async move {
        for (title, due) in
            [("late", "2026-11-13"), ("later", "2026-11-14T08:00:00Z"), ("today", "2026-11-15")]
        {
            let made = tools.answer("create-task", json!({ "title": title, "due": due })).await.unwrap();
            assert_eq!(made.hints.warnings.len(), usize::from(title != "today"), "{title}");
        }
        let done = json!({ "title": "done", "due": "2020-01-01", "status": "completed" });
        tools.call("create-task", done).await;
        let list = tools.answer("list-tasks", json!({ "fields": ["title"] })).await.unwrap();
        let labels: Vec<&str> = list.hints.related.iter().map(|resource| resource.label.as_str()).collect();
        assert_eq!(labels, ["late", "later"]);
        let next = &list.hints.next[0];
        assert_eq!(
            (next.action.as_str(), &next.data.as_ref().unwrap()["taskId"]),
            ("update-task", &json!(1))
        );
        let one = tools.answer("get-task", json!({ "taskId": 1 })).await.unwrap();
        assert_eq!(one.hints.next[0].action, "update-task");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_carries_its_evidence_and_the_likely_next_step() {
    on_both(|tools| async move {
        let id = tools.create("Buy milk").await;
        let single = tools.answer("find-tasks", json!({ "query": "buy milk" })).await.unwrap();
        assert_eq!(single.hints.matched, Some(1.0));
        let next = &single.hints.next[0];
        assert_eq!(
            (next.action.as_str(), &next.data.as_ref().unwrap()["taskId"]),
            ("complete-task", &json!(id))
        );
        tools.create("Drink milk").await;
        let several = tools.answer("find-tasks", json!({ "query": "milk" })).await.unwrap();
        assert!(several.hints.context_needed[0].contains("which of the 2 tasks"));
        let none = tools.answer("find-tasks", json!({ "query": "zebra" })).await.unwrap();
        assert_eq!((none.hints.matched, none.hints.next[0].action.as_str()), (Some(0.0), "list-tasks"));
    })
    .await;
}
