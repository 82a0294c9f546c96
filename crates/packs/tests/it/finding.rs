//! Finding by words: the verdicts, and the index right after every write.

use serde_json::{Value, json};
use toolroom_packs::tasks::TaskSettings;

use crate::test_tools::{TestTools, on_both, on_both_with};

async fn found(tools: &TestTools, params: Value) -> (String, Vec<String>) {
    let data = tools.call("find-tasks", params).await;
    let matches = data["matches"].as_array().unwrap();
    let titles = matches.iter().map(|found| found["task"]["title"].as_str().unwrap().to_owned()).collect();
    (data["matchType"].as_str().unwrap().to_owned(), titles)
}

async fn by(tools: &TestTools, query: &str) -> (String, Vec<String>) {
    found(tools, json!({ "query": query })).await
}

fn one(title: &str) -> (String, Vec<String>) {
    ("single".to_owned(), vec![title.to_owned()])
}

fn none() -> (String, Vec<String>) {
    ("none".to_owned(), Vec::new())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_published_scores_come_with_the_whole_task() {
    on_both(|tools| async move {
        tools.create("Milk delivery subscription").await;
        tools.call("create-task", json!({ "title": "Buy milk from store", "priority": "high" })).await;
        tools.create("Pay rent").await;
        let data = tools.call("find-tasks", json!({ "query": " milk " })).await;
        assert_eq!(data["matchType"], "multiple");
        assert_eq!(
            (&data["matches"][0]["confidence"], &data["matches"][1]["confidence"]),
            (&json!(0.87), &json!(0.78))
        );
        assert_eq!(data["matches"][0]["task"]["priority"], "high");
        assert_eq!(by(&tools, "pay rent").await, one("Pay rent"));
        assert_eq!(by(&tools, "zebra").await, none());
        assert_eq!(
            found(&tools, json!({ "query": "milk", "threshold": 0.8 })).await,
            one("Buy milk from store")
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_sees_every_write_that_was_answered_before() {
    on_both(|tools| async move {
        assert_eq!(by(&tools, "milk").await, none());
        let id = tools.create("Buy milk").await;
        assert_eq!(by(&tools, "milk").await, one("Buy milk"));
        tools.call("update-task", json!({ "taskId": id, "title": "Buy bread" })).await;
        assert_eq!(by(&tools, "milk").await, none());
        assert_eq!(by(&tools, "bread").await, one("Buy bread"));
        tools.call("delete-task", json!({ "taskId": id })).await;
        assert_eq!(by(&tools, "bread").await, none());
        tools.call("restore-task", json!({ "taskId": id })).await;
        assert_eq!(by(&tools, "bread").await, one("Buy bread"));
        let operations = json!([{ "op": "update", "taskId": id, "title": "Buy eggs" }, { "op": "create", "title": "Feed cat" }]);
        tools.call("batch-tasks", json!({ "operations": operations })).await;
        assert_eq!((by(&tools, "eggs").await, by(&tools, "cat").await), (one("Buy eggs"), one("Feed cat")));
        assert_eq!(by(&tools, "bread").await, none());
        let other = tools.for_user("bob").await;
        assert_eq!(by(&other, "eggs").await, none());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_fails_leaves_the_index_alone() {
    on_both(|tools| async move {
        let id = tools.create("Buy milk").await;
        assert_eq!(by(&tools, "milk").await, one("Buy milk"));
        tools.refused("update-task", json!({ "taskId": id, "title": "Buy bread", "expectedVersion": 9 })).await;
        let operations = json!([{ "op": "update", "taskId": id, "title": "Buy eggs" }, { "op": "complete", "taskId": 999 }]);
        tools.refused("batch-tasks", json!({ "operations": operations })).await;
        assert_eq!(by(&tools, "milk").await, one("Buy milk"));
        assert_eq!(by(&tools, "eggs").await, none());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_narrows_the_search_even_past_an_exact_title() {
    on_both(|tools| async move {
        let done = tools.create("Call mom").await;
        tools.call("complete-task", json!({ "taskId": done })).await;
        tools.create("Call mom back").await;
        assert_eq!(by(&tools, "call mom").await, one("Call mom"));
        assert_eq!(
            found(&tools, json!({ "query": "call mom", "status": "pending" })).await,
            one("Call mom back")
        );
        assert_eq!(
            found(&tools, json!({ "query": "call mom", "status": "completed" })).await,
            one("Call mom")
        );
        assert_eq!(found(&tools, json!({ "query": "back", "status": "completed" })).await, none());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn at_most_fifty_matches_are_shown() {
    on_both(|tools| async move {
        let operations: Vec<Value> =
            (0..60).map(|n| json!({ "op": "create", "title": format!("milk {n}") })).collect();
        tools.call("batch-tasks", json!({ "operations": operations })).await;
        let answer = tools.answer("find-tasks", json!({ "query": "milk" })).await.unwrap();
        assert_eq!(answer.data["matches"].as_array().unwrap().len(), 50);
        assert!(answer.hints.complete.unwrap() < 1.0);
        assert_eq!(found(&tools, json!({ "query": "milk", "status": "pending" })).await.1.len(), 50);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_titles_than_the_index_holds_are_still_found() {
    let settings = TaskSettings { max_titles: 3, ..TaskSettings::default() };
    on_both_with(settings, |tools| async move {
        for title in ["one apple", "two pears", "three plums", "four figs", "five dates"] {
            tools.create(title).await;
        }
        assert_eq!(by(&tools, "figs").await, one("four figs"));
        tools.create("six limes").await;
        assert_eq!(by(&tools, "limes").await, one("six limes"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn titles_changed_by_many_at_once_end_as_the_store_has_them() {
    on_both(|tools| async move {
        let id = tools.create("start").await;
        by(&tools, "start").await;
        let rename = |n: usize| {
            let tools = tools.clone();
            async move {
                tools.call("update-task", json!({ "taskId": id, "title": format!("title{n}") })).await;
                by(&tools, "title").await;
            }
        };
        let all: Vec<_> = (0..40).map(|n| tokio::spawn(rename(n))).collect();
        for one in all {
            one.await.unwrap();
        }
        let task = tools.call("get-task", json!({ "taskId": id })).await["task"].clone();
        let title = task["title"].as_str().unwrap();
        let data = tools.call("find-tasks", json!({ "query": title })).await;
        assert_eq!((&data["matches"][0]["task"], &data["matches"][0]["confidence"]), (&task, &json!(1.0)));
    })
    .await;
}
