//! Recorded calls made again: what answers differently, what is refused, what is slower.

use serde_json::{Value, json};

use crate::test_home::TestHome;

fn script(body: &str) -> String {
    format!(
        "from typing import Annotated\nfrom toolroom import Le, Secret, tool, ToolError\n@tool(category=\"query\")\n{body}"
    )
}

const FIRST: &str = "def tell_price(item: str, count: int = 1, pin: Annotated[str, Secret()] = \"\") -> dict:\n    \
     \"\"\"Tells a price. Use it for tests. Returns the price.\"\"\"\n    \
     if item == 'none':\n        raise ToolError('not_found', 'No such item')\n    \
     return {'price': 2 * count, 'item': item}\n";

fn outcomes(report: &Value) -> Vec<String> {
    report["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["outcome"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn promise_recorded_queries_are_made_again_and_a_draft_shows_what_answers_differently() {
    let home = TestHome::new();
    let file = home.file("tell_price.py", &script(FIRST));
    assert_eq!(home.did(&["tools", "add", &file]).code, 0);
    for params in [json!({ "item": "tea" }), json!({ "item": "tea", "count": 3 }), json!({ "item": "none" })]
    {
        home.calls("tell_price", params);
    }
    home.calls("tell_price", json!({ "item": "tea", "pin": "1234" }));
    let same = home.did(&["replay", "tell_price", "--json"]);
    assert_eq!(same.code, 0, "{same:?}");
    let same: Value = serde_json::from_str(&same.out).unwrap();
    assert_eq!((outcomes(&same), &same["skipped"]), (vec!["same".to_owned(); 3], &json!(1)));
    // A draft asks for fewer, costs more, and knows what the other did not.
    let draft = FIRST
        .replace("count: int", "count: Annotated[int, Le(2)]")
        .replace("2 * count", "3")
        .replace("raise ToolError('not_found', 'No such item')", "pass");
    std::fs::create_dir(home.path("draft")).unwrap();
    let draft = home.file("draft/tell_price.py", &script(&draft));
    let done = home.did(&["replay", "tell_price", "--draft", &draft]);
    assert_eq!(done.code, 1, "{done:?}");
    for words in [
        "/price was 2, is 3",
        "now refused",
        "invalid_input: /count",
        "now works",
        "1 skipped",
        "1 now refused, 1 different, 1 now works",
    ] {
        assert!(done.out.contains(words), "no {words:?}: {}", done.out);
    }
    // Nothing of that is registered, and replays are not replayed.
    assert_eq!(home.calls("tell_price", json!({ "item": "tea" }))["data"]["price"], 2);
    let again = home.did(&["replay", "tell_price", "--json"]);
    assert_eq!(outcomes(&serde_json::from_str(&again.out).unwrap()).len(), 4);
    let published = home.did(&["tools", "publish", "tell_price"]);
    assert!(published.code == 0 && published.err.contains("toolroom replay tell_price"), "{published:?}");
}

#[test]
fn promise_recorded_changes_are_tried_as_dry_runs_and_change_nothing() {
    let home = TestHome::new();
    for title in ["a", "b"] {
        assert!(home.calls("create-task", json!({ "title": title }))["error"].is_null());
    }
    let done = home.did(&["replay", "create-task", "--since", "1h"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("2 calls of create-task tried as dry runs: no difference"), "{done:?}");
    assert_eq!(home.calls("list-tasks", json!({}))["data"]["tasks"].as_array().unwrap().len(), 2);
    let unknown = home.did(&["replay", "no-such-tool"]);
    assert!(unknown.code == 1 && unknown.err.contains("unknown tool"), "{unknown:?}");
}
