//! Profiles that the home's owner makes in `toolroom.toml` and `profiles.json`, as clients see them.

use std::fs;

use serde_json::{Value, json};

use crate::documents::page;
use crate::test_home::{Served, TestHome, until};

const DESK: &str = r#"
[profiles.desk]
description = "What the desk needs"
tools = ["create-task", "list-*"]
tags = ["discovery"]
without = ["call-tool"]
[profiles.desk.rename]
"create-task" = "note_down"
"#;

fn home(settings: &str) -> TestHome {
    let home = TestHome::new();
    assert_eq!(home.run(&["init"]).code, 0);
    fs::write(home.home().join("toolroom.toml"), settings).unwrap();
    home
}

/// The result of a request of the newest revision.
fn mcp(served: &Served, profile: &str, method: &str, params: Value) -> Value {
    served.mcp(profile, "", method, params)["result"].clone()
}

/// The data of a plain answer.
fn data(answer: &Value) -> Value {
    serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap()
}

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn a_profile_picks_by_name_and_tag_leaves_out_and_renames() {
    let home = home(DESK);
    let served = home.serve();
    let listed = mcp(&served, "desk", "tools/list", json!({}));
    assert_eq!(names(&listed), ["describe-tool", "list-tasks", "note_down", "search-tools"]);

    let arguments = json!({ "title": "Order paper" });
    let made = mcp(&served, "desk", "tools/call", json!({ "name": "note_down", "arguments": arguments }));
    assert_eq!(data(&made)["task"]["title"], "Order paper", "{made}");
    let suggested: Vec<&Value> = made["_meta"]["dev.toolroom/agentHints"]["suggestedNextActions"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|action| &action["action"])
        .collect();
    let known = |name: &&&Value| {
        ["list-tasks", "note_down", "search-tools", "describe-tool"].map(Value::from).contains(name)
    };
    assert!(suggested.iter().all(|name| known(&name)), "only what the profile has: {suggested:?}");

    let own_name = json!({ "name": "create-task", "arguments": { "title": "a" } });
    let left_out = json!({ "name": "call-tool", "arguments": { "name": "get-status" } });
    for call in [own_name, left_out] {
        let refused = served.mcp("desk", "", "tools/call", call);
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}

#[test]
fn the_profile_that_the_page_on_mcp_shows_is_served() {
    let page = page("docs/mcp.md");
    let settings = page.split("```toml").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let home = home(settings);
    let listed = mcp(&home.serve(), "desk", "tools/list", json!({}));
    let names = names(&listed);
    assert!(names.contains(&"note_down") && names.contains(&"list-tasks"), "{names:?}");
    assert!(!names.contains(&"create-task"), "{names:?}");
}

#[test]
fn a_search_under_a_profile_finds_what_the_profile_has_under_its_names() {
    let home = home(DESK);
    let served = home.serve();
    let query = json!({ "name": "search-tools", "arguments": { "query": "add a task to my list" } });
    let found = data(&mcp(&served, "desk", "tools/call", query))["tools"].clone();
    assert_eq!(found[0]["name"], "note_down", "{found}");
    let others = found.as_array().unwrap().iter().any(|tool| tool["name"] == "delete-task");
    assert!(!others, "{found}");
    let contract = json!({ "name": "describe-tool", "arguments": { "name": "note_down" } });
    let shown = mcp(&served, "desk", "tools/call", contract);
    assert_eq!(data(&shown)["tool"]["name"], "note_down", "{shown}");
}

#[test]
fn a_profile_can_show_a_search_in_place_of_a_long_list() {
    let home = home(
        "[profiles.default]\nshow = \"search\"\n[profiles.few]\ntags = [\"tasks\"]\nshow = \"search\"\nresults = \"full\"\n",
    );
    let served = home.serve();
    for profile in ["default", "few"] {
        let listed = mcp(&served, profile, "tools/list", json!({}));
        let mut names = names(&listed);
        names.sort_unstable();
        assert_eq!(names, ["call-tool", "describe-tool", "search-tools"], "{profile}");
        let functions = served.get(&format!("/api/v1/profiles/{profile}/functions"), "").json;
        assert_eq!(functions.as_array().unwrap().len(), 3, "{functions}");
        let call = json!({ "name": "create-task", "params": { "title": "Found" } });
        let made = mcp(&served, profile, "tools/call", json!({ "name": "call-tool", "arguments": call }));
        assert_eq!(made["structuredContent"]["data"]["task"]["title"], "Found", "{made}");
    }
    let outside = json!({ "name": "call-tool", "arguments": { "name": "get-status" } });
    let refused = mcp(&served, "few", "tools/call", outside);
    assert_eq!(refused["structuredContent"]["error"]["code"], "tool_not_found", "{refused}");
}

#[test]
fn deletions_on_a_built_in_profile_can_be_made_to_wait_for_approval() {
    let home = home("[profiles.assistant]\nrequires_approval = true\n");
    let served = home.serve();
    let call = |name: &str, arguments: &Value| {
        served.post(&format!("/api/v1/profiles/assistant/functions/{name}"), "", arguments).json
    };
    let made = call("add_task", &json!({ "title": "Keep me" }));
    let waiting = call("delete_task", &json!({ "task_id": made["task"]["id"] }));
    assert_eq!(waiting["success"], false, "{waiting}");
    let left = call("list_tasks", &json!({}));
    assert!(left.to_string().contains("Keep me"), "{left}");
}

#[test]
fn a_profile_that_makes_no_sense_halts_with_the_remedy() {
    let cases = [
        ("[profiles.a]\n", "picks no tools", "tools = ["),
        ("[profiles.\"a b\"]\ntags = [\"x\"]\n", "not a name for a profile", "letters, digits"),
        ("[profiles.assistant]\ntags = [\"x\"]\n", "built-in profile", "another name"),
        ("[profiles.assistant]\nshow = \"search\"\n", "fixed list", "Remove the line"),
        (
            "[profiles.a]\ntags = [\"x\"]\nrename = { b = \"c\", d = \"c\" }\n",
            "both called 'c'",
            "a different name",
        ),
        (
            "[profiles.a]\ntools = [\"get-task\", \"list-tasks\"]\nrename = { get-task = \"list-tasks\" }\n",
            "'get-task' and 'list-tasks' would both be called 'list-tasks'",
            "a different name",
        ),
        (
            "[profiles.a]\ntags = [\"x\"]\nrename = { b = \"c d\" }\n",
            "not a name for a tool",
            "letters, digits",
        ),
        ("[profiles.a]\ntags = [\"x\"]\nsource = []\n", "unknown field `source`", "Fix that line"),
    ];
    for (settings, wrong, remedy) in cases {
        let done = home(settings).run(&["tools", "list"]);
        assert_eq!(done.code, 1, "{settings}: {done:?}");
        assert!(done.err.contains(wrong) && done.err.contains(remedy), "{settings}: {done:?}");
    }
}

#[test]
fn profiles_json_is_read_at_the_start_and_edits_of_it_are_in_force_at_once() {
    let home = home(DESK);
    let file = home.home().join("profiles.json");
    fs::write(&file, json!({ "profiles": { "reader": { "tools": ["list-tasks"] } } }).to_string()).unwrap();
    let served = home.serve();
    let listed = |profile: &str| -> Option<Vec<String>> {
        let list = mcp(&served, profile, "tools/list", json!({}));
        list.get("tools").map(|_| names(&list).into_iter().map(str::to_owned).collect())
    };
    assert_eq!(listed("reader").unwrap(), ["list-tasks"]);
    assert!(listed("desk").is_some(), "those of toolroom.toml stay");

    let edited = json!({ "profiles": {
        "reader": { "tools": ["list-tasks", "get-task"], "rename": { "get-task": "look" } },
        "writer": { "tools": ["create-task"], "requires_approval": false },
    } });
    fs::write(&file, edited.to_string()).unwrap();
    until("the edit is in force", || (listed("writer")? == ["create-task"]).then_some(()));
    assert_eq!(listed("reader").unwrap(), ["list-tasks", "look"]);

    for bad in [
        r#"{"profiles": {"reader": {"tool": ["list-tasks"]}}}"#,
        r#"{"profiles": {"reader": {}}}"#,
        r#"{"profiles": {"desk": {"tools": ["list-tasks"]}}}"#,
        r#"{"profiles": {"default": {"tools": ["list-tasks"]}}}"#,
        r#"{"profiles": {"twice": {"tools": ["list-tasks"]}, "twice": {"tools": ["delete-task"]}}}"#,
        r#"{"profiles": "#,
    ] {
        fs::write(&file, bad).unwrap();
        until("a bad edit is told", || {
            let reason = home.ready().json["checks"]["profiles"]["reason"].as_str()?.to_owned();
            reason.contains("profiles.json:1:").then_some(())
        });
        assert_eq!(listed("writer").unwrap(), ["create-task"], "what was read before is in force");
        fs::write(&file, edited.to_string()).unwrap();
        until("it is well again", || (home.ready().json["checks"]["profiles"]["ok"] == true).then_some(()));
    }
    fs::remove_file(&file).unwrap();
    until("without the file its profiles are gone", || listed("reader").is_none().then_some(()));
    assert!(listed("desk").is_some() && listed("default").is_some());
}

#[test]
fn a_rename_onto_another_tool_of_the_profile_is_refused_and_the_profiles_from_before_stay() {
    let home = home("");
    let file = home.home().join("profiles.json");
    let good = json!({ "tools": ["list-tasks"] });
    fs::write(&file, json!({ "profiles": { "reader": good } }).to_string()).unwrap();
    let served = home.serve();
    let rename = json!({ "get-task": "list-tasks" });
    for picks in [
        json!({ "tools": ["get-task", "list-tasks"] }),
        json!({ "tools": ["*"] }),
        json!({ "tags": ["tasks"] }),
    ] {
        let mut bad = picks.clone();
        bad["rename"] = rename.clone();
        fs::write(&file, json!({ "profiles": { "reader": good, "bad": bad } }).to_string()).unwrap();
        until("it is told", || {
            let reason = home.ready().json["checks"]["profiles"]["reason"].as_str()?.to_owned();
            let told = "'get-task' and 'list-tasks' would both be called 'list-tasks'";
            (reason.contains(told) && reason.contains("profiles.bad")).then_some(())
        });
        assert!(mcp(&served, "bad", "tools/list", json!({})).is_null(), "{picks}");
        assert_eq!(names(&mcp(&served, "reader", "tools/list", json!({}))), ["list-tasks"], "{picks}");
        // Two tools that change names, or one that makes room, are no clash.
        let mut well = picks.clone();
        well["rename"] = json!({ "get-task": "list-tasks", "list-tasks": "get-task" });
        fs::write(&file, json!({ "profiles": { "reader": good, "well": well } }).to_string()).unwrap();
        until("it is in force", || {
            (home.ready().json["checks"]["profiles"]["ok"] == true).then_some(())?;
            mcp(&served, "well", "tools/list", json!({})).get("tools").map(|_| ())
        });
    }
}

#[test]
fn a_profiles_json_that_makes_no_sense_halts_the_start_with_its_line() {
    let home = home("");
    fs::write(home.home().join("profiles.json"), "{\"profiles\": {\n  \"mine\": {\"tools\": []}\n}}")
        .unwrap();
    let run = home.run(&["tools", "list"]);
    assert!(run.code != 0 && run.err.contains("profiles.json:2:"), "{run:?}");
    assert!(run.err.contains("picks no tools"), "{run:?}");
}
