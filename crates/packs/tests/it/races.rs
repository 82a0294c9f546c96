//! Many at once: versions that no update skips, keys that work once.

use std::sync::atomic::Ordering;

use serde_json::json;
use toolroom_contract::ErrorCode;

use crate::test_tools::{TestTools, on_both};

/// Of 25 versioned updates, how many succeeded; the others must be conflicts.
async fn versioned_updates(tools: TestTools, id: i64, caller: usize) -> i64 {
    let mut successes = 0;
    let mut version = 1;
    for step in 0..25 {
        let title = format!("by {caller} at {step}");
        let params = json!({ "taskId": id, "title": title, "expectedVersion": version });
        version = match tools.answer("update-task", params).await {
            Ok(answer) => {
                successes += 1;
                answer.data["task"]["version"].as_i64().unwrap()
            }
            Err(error) => {
                assert_eq!(error.code, ErrorCode::VersionConflict, "{error}");
                error.data.unwrap()["currentVersion"].as_i64().unwrap()
            }
        };
    }
    successes
}

#[tokio::test(flavor = "multi_thread")]
async fn successes_of_versioned_updates_equal_the_versions_made() {
    on_both(|tools| async move {
        let id = tools.create("start").await;
        let all: Vec<_> =
            (0..32).map(|caller| tokio::spawn(versioned_updates(tools.clone(), id, caller))).collect();
        let mut successes = 0;
        for one in all {
            successes += one.await.unwrap();
        }
        let task = tools.call("get-task", json!({ "taskId": id })).await["task"].clone();
        assert_eq!(task["version"], successes + 1);
        let found = tools.call("find-tasks", json!({ "query": task["title"] })).await;
        assert_eq!(found["matches"][0]["confidence"], 1.0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_added_by_many_at_once_are_all_there() {
    on_both(|tools| async move {
        let id = tools.create("T").await;
        let add = |n: usize| {
            let tools = tools.clone();
            async move { tools.call("update-task", json!({ "taskId": id, "addTags": [format!("t{n}")] })).await }
        };
        let all: Vec<_> = (0..20).map(|n| tokio::spawn(add(n))).collect();
        for one in all {
            one.await.unwrap();
        }
        let task = tools.call("get-task", json!({ "taskId": id })).await["task"].clone();
        assert_eq!(task["tags"].as_array().unwrap().len(), 20);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_creates_with_one_key_make_one_task_and_one_answer() {
    on_both(|tools| async move {
        let create = || {
            let tools = tools.with_key("k1", "body");
            tokio::spawn(
                async move { tools.answer("create-task", json!({ "title": "Once" })).await.unwrap() },
            )
        };
        let all: Vec<_> = (0..100).map(|_| create()).collect();
        let mut answers = Vec::new();
        for one in all {
            answers.push(one.await.unwrap());
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        assert_eq!(tools.total().await, 1);
        assert_eq!(tools.commits.load(Ordering::Relaxed), 1);
        assert_eq!(tools.call("find-tasks", json!({ "query": "once" })).await["matchType"], "single");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_used_with_another_body_conflicts_and_changes_nothing() {
    on_both(|tools| async move {
        tools.with_key("k1", "one").call("create-task", json!({ "title": "First" })).await;
        let error = tools.with_key("k1", "two").refused("create-task", json!({ "title": "Second" })).await;
        assert_eq!(error.code, ErrorCode::IdempotencyConflict);
        assert_eq!(tools.total().await, 1);
        let bob = tools.for_user("bob").await;
        bob.with_key("k1", "two").call("create-task", json!({ "title": "Second" })).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_gives_the_first_answer_even_where_the_effect_could_not_be_repeated() {
    on_both(|tools| async move {
        let id = tools.create("A").await;
        for (key, tool, params) in [
            ("u", "update-task", json!({ "taskId": id, "title": "B", "expectedVersion": 1 })),
            ("c", "complete-task", json!({ "taskId": id, "expectedVersion": 2 })),
            ("b", "batch-tasks", json!({ "operations": [{ "op": "update", "taskId": id, "title": "C", "expectedVersion": 3 }] })),
            ("d", "delete-task", json!({ "taskId": id })),
            ("r", "restore-task", json!({ "taskId": id })),
        ] {
            let keyed = tools.with_key(key, "body");
            let first = keyed.answer(tool, params.clone()).await.unwrap();
            assert_eq!(keyed.answer(tool, params).await.unwrap(), first, "{tool}");
        }
        assert_eq!(tools.call("get-task", json!({ "taskId": id })).await["task"]["version"], 6);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_refused_leaves_its_key_free() {
    on_both(|tools| async move {
        let keyed = tools.with_key("k1", "body");
        keyed.refused("complete-task", json!({ "taskId": 1 })).await;
        let id = tools.create("A").await;
        keyed.call("complete-task", json!({ "taskId": id })).await;
    })
    .await;
}
