//! Hostile and extreme input: stored and given back equal, or refused by name with nothing written.

use serde_json::{Value, json};

use crate::test_tools::{first_detail, on_both};

#[tokio::test(flavor = "multi_thread")]
async fn odd_texts_are_given_back_equal() {
    on_both(|tools| async move {
        for text in [
            "\u{202E}desrever",
            "👩‍👩‍👧‍👦 family",
            "e\u{301} and é",
            "'; DROP TABLE tasks; --",
            "=cmd|' /C calc'!A0",
            "__proto__",
            "<script>alert(1)</script>",
            "%_!\\",
            "\u{FEFF}bom",
            "𝕬",
            "\\u0000 as text",
        ] {
            let params = json!({ "title": text, "description": format!("{text}\n\t{text}"), "tags": [text] });
            let made = tools.call("create-task", params).await["task"].clone();
            assert_eq!((&made["title"], &made["tags"]), (&json!(text), &json!([text])));
            let read = tools.call("get-task", json!({ "taskId": made["taskId"] })).await;
            assert_eq!(read["task"], made);
            let found = tools.call("list-tasks", json!({ "text": text, "tag": text })).await;
            assert_eq!(found["total"], 1, "{text}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_count_characters_after_trimming() {
    on_both(|tools| async move {
        let padded = format!("  {}  ", "😀".repeat(255));
        let params = json!({ "title": padded, "description": "ä".repeat(2000), "tags": ["ö".repeat(50)] });
        let made = tools.call("create-task", params).await;
        assert_eq!(made["task"]["title"], "😀".repeat(255));
    })
    .await;
}

fn bad_fields() -> Vec<(Value, &'static str)> {
    vec![
        (json!({ "title": "" }), "/title"),
        (json!({ "title": " \n\t " }), "/title"),
        (json!({ "title": "x".repeat(256) }), "/title"),
        (json!({ "title": "x".repeat(1 << 20) }), "/title"),
        (json!({ "title": "nul\u{0}byte" }), "/title"),
        (json!({ "title": "two\u{b}lines" }), "/title"),
        (json!({ "title": "c1\u{85}x" }), "/title"),
        (json!({ "title": "x", "description": "x".repeat(2001) }), "/description"),
        (json!({ "title": "x", "description": "a\u{0}b" }), "/description"),
        (json!({ "title": "x", "description": "a\u{1b}[31mb" }), "/description"),
        (json!({ "title": "x", "tags": [""] }), "/tags/0"),
        (json!({ "title": "x", "tags": ["ok", "x".repeat(51)] }), "/tags/1"),
        (json!({ "title": "x", "tags": ["a\u{0}"] }), "/tags/0"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_fields_are_refused_by_name_and_nothing_is_written() {
    on_both(|tools| async move {
        for (params, pointer) in bad_fields() {
            assert_eq!(first_detail(&tools.refused("create-task", params.clone()).await).0, pointer);
            let error = tools.answer_unchecked("create-task", params.clone()).await.unwrap_err();
            assert_eq!(first_detail(&error).0, pointer);
        }
        let many: Vec<String> = (0..21).map(|n| n.to_string()).collect();
        let shape = [
            (json!({}), "/title"),
            (json!({ "title": 5 }), "/title"),
            (json!({ "title": "x", "colour": "red" }), "/colour"),
            (json!({ "title": "x", "priority": "urgent" }), "/priority"),
            (json!({ "title": "x", "tags": many }), "/tags"),
        ];
        for (params, pointer) in shape {
            assert_eq!(first_detail(&tools.refused("create-task", params).await).0, pointer);
        }
        assert_eq!(tools.total().await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_refuses_the_same_and_leaves_the_task() {
    on_both(|tools| async move {
        let id = tools.create("A").await;
        for (mut params, pointer) in bad_fields() {
            params["taskId"] = json!(id);
            assert_eq!(first_detail(&tools.refused("update-task", params).await).0, pointer);
        }
        assert_eq!(tools.call("get-task", json!({ "taskId": id })).await["task"]["version"], 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_that_no_task_can_have_are_refused_with_the_limit() {
    on_both(|tools| async move {
        for id in [
            json!(0),
            json!(-1),
            json!(9_007_199_254_740_992_i64),
            json!(u64::MAX),
            json!(1.5),
            json!("1"),
            json!(1e300),
        ] {
            for tool in ["get-task", "update-task", "complete-task", "delete-task", "restore-task"] {
                let error = tools.refused(tool, json!({ "taskId": id })).await;
                assert_eq!(first_detail(&error).0, "/taskId", "{tool} {id}");
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_with_control_characters_are_refused_and_words_with_them_find_nothing_odd() {
    on_both(|tools| async move {
        tools.create("A").await;
        for field in ["tag", "text"] {
            let error = tools.refused("list-tasks", json!({ field: "a\u{0}b" })).await;
            assert_eq!(first_detail(&error).0, format!("/{field}"));
        }
        assert_eq!(tools.call("find-tasks", json!({ "query": "\u{0}\u{1}" })).await["matchType"], "none");
        tools.refused("find-tasks", json!({ "query": "   " })).await;
    })
    .await;
}
