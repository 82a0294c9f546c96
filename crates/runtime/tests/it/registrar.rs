//! Changes of `tools.json` while the server runs: through the queue, and by hand.

use std::fs;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::{Value, json};
use toolroom_contract::ErrorCode;
use toolroom_contract::entry::EntryLimits;
use toolroom_runtime::registrar::{Builtin, RealDisk};

use crate::test_runtime::{data, error};
use crate::test_scripts::{TestScripts, entry, refusal, registration, render, until};
use crate::tools::query;

const HELLO: &str = "def run(params, context):\n    return {'hello': 'world'}\n";

#[tokio::test]
async fn a_registered_tool_is_on_the_disk_in_the_catalogue_and_told_to_subscribers_when_it_is_answered() {
    let scripts = TestScripts::new(&[], json!([]));
    let who = scripts.runtime.owner().await;
    let mut changes = scripts.runtime.runtime.registry.changes();
    changes.mark_unchanged();

    let new = registration(entry("hello", "hello.py", json!({})), Some(HELLO));
    let tool = scripts.registrar.add(new.clone()).await.unwrap();
    assert_eq!((tool.name(), &*tool.version), ("hello", "0.1.0"));
    assert!(changes.has_changed().unwrap());
    assert_eq!(scripts.names_on_disk(), ["hello"]);
    assert_eq!(fs::read_to_string(scripts.tools().join("hello.py")).unwrap(), HELLO);
    assert_eq!(data(&scripts.runtime.call(&who, "hello", json!({})).await), &json!({ "hello": "world" }));
    let again = refusal(scripts.registrar.add(new).await, ErrorCode::AlreadyExists);
    assert!(again.message.contains("Update it instead"), "{}", again.message);

    let next = HELLO.replace("world", "again");
    let more = json!({ "description": "Says hello again.", "version": "1.1.0" });
    let update = registration(entry("hello", "hello.py", more), Some(&next));
    let (tool, created) = scripts.registrar.put(update).await.unwrap();
    assert!(!created && tool.definition().description == "Says hello again.");
    assert_eq!(data(&scripts.runtime.call(&who, "hello", json!({})).await), &json!({ "hello": "again" }));
    let (_, created) =
        scripts.registrar.put(registration(entry("more", "hello.py", json!({})), None)).await.unwrap();
    assert!(created);
    assert_eq!(scripts.names_on_disk(), ["hello", "more"]);

    scripts.registrar.remove("hello").await.unwrap();
    assert_eq!(scripts.names_on_disk(), ["more"]);
    error(&scripts.runtime.call(&who, "hello", json!({})).await, ErrorCode::ToolNotFound);
    refusal(scripts.registrar.remove("hello").await, ErrorCode::NotFound);
    assert_eq!(scripts.files(), ["hello.py", "tools.json"], "the script stays, and nothing unfinished");
}

#[tokio::test]
async fn what_is_not_sound_is_refused_with_its_field_and_changes_nothing() {
    let scripts = TestScripts::new(&[], json!([entry("kept", "kept.py", json!({}))]));
    let (text, version) = (scripts.text(), scripts.version());
    let path = |path: &str| entry("new", path, json!({}));
    for (bad, script, pointer) in [
        (path("/etc/x.py"), None, "/config/script_path"),
        (path("../x.py"), None, "/config/script_path"),
        (path("a/../../x.py"), Some(HELLO), "/config/script_path"),
        (path(".hidden.py"), None, "/config/script_path"),
        (path("tools.json"), Some(HELLO), "/config/script_path"),
        (path(""), None, "/config/script_path"),
        (path("kept.py"), Some(HELLO), "/config/script_path"),
        (path("new.py"), Some("  "), "/script"),
        (entry("../new", "x.py", json!({})), None, "/name"),
        (entry("n", "x.py", json!({ "input_schema": { "type": "nothing" } })), None, "/input_schema"),
        (entry("n", "x.py", json!({ "output_schema": { "type": 7 } })), None, "/output_schema"),
        (entry("n", "x.py", json!({ "timeout": 0 })), None, "/timeout"),
        (entry("n", "x.py", json!({ "cacheable": true, "cacheTTL": 5 })), None, "/cacheable"),
        (entry("n", "x.sh", json!({ "config": { "entrypoint": "run" } })), None, "/config/entrypoint"),
        (entry("n", "x.py", json!({ "config": { "entrypoint": "a b" } })), None, "/config/entrypoint"),
        (
            entry("n", "x.py", json!({ "config": { "limits": { "output": 1 } } })),
            None,
            "/config/limits/output",
        ),
        (entry("n", "x.py", json!({ "config": { "env": { "A=B": "c" } } })), None, "/config/env"),
        (entry("execute-code", "x.py", json!({})), None, "/name"),
        (entry("web_search", "x.py", json!({})), None, "/name"),
        (json!({ "name": "no-such", "description": "", "type": "builtin" }), None, "/name"),
    ] {
        let refused =
            refusal(scripts.registrar.put(registration(bad.clone(), script)).await, ErrorCode::InvalidInput);
        assert_eq!(refused.details[0].pointer, pointer, "{bad}: {refused:?}");
    }
    for native in ["get-native", "call-tool"] {
        let taken = registration(entry(native, "x.py", json!({})), None);
        refusal(scripts.registrar.put(taken).await, ErrorCode::AlreadyExists);
        refusal(scripts.registrar.remove(native).await, ErrorCode::NotFound);
    }
    assert_eq!((scripts.text(), scripts.version()), (text, version));
    assert_eq!(scripts.files(), ["tools.json"]);
}

#[tokio::test]
async fn entries_that_are_not_changed_keep_their_text_byte_for_byte() {
    let odd = r#"{"description":"Odd.",   "name" : "odd",
          "config": {"script_path": "odd.py"}, "timeout": 1.50 }"#;
    let file = format!("{{ \"tools\": [ {odd},\n{} ]}}", entry("other", "o.py", json!({})));
    let scripts = TestScripts::open(&[], &file, Vec::new(), Arc::new(RealDisk)).unwrap();
    scripts.registrar.add(registration(entry("new", "n.py", json!({})), None)).await.unwrap();
    scripts.registrar.remove("other").await.unwrap();
    let text = scripts.text();
    assert!(text.contains(odd), "{text}");
    assert_eq!(scripts.names_on_disk(), ["odd", "new"]);
    scripts.registrar.add(registration(entry("newer", "n.py", json!({})), None)).await.unwrap();
    assert!(
        scripts.text().starts_with(text.trim_end_matches("\n  ]\n}\n")),
        "what was there is not reshaped"
    );
}

fn takes(version: &str, properties: Value) -> Value {
    let schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    entry("ship-box", "ship.py", json!({ "version": version, "input_schema": schema }))
}

#[tokio::test]
async fn a_breaking_change_is_refused_from_1_0_0_on_and_says_what_would_do() {
    let both = json!({ "to": { "type": "string" }, "by": { "type": "string" } });
    let one = json!({ "to": { "type": "string" } });
    let scripts = TestScripts::new(&[], json!([takes("0.9.0", both.clone())]));
    let put = async |entry: Value| scripts.registrar.put(registration(entry, None)).await;
    put(takes("0.10.0", one.clone())).await.unwrap();
    put(takes("1.0.0", both)).await.unwrap();
    let text = scripts.text();
    let refused = refusal(put(takes("2.0.0", one.clone())).await, ErrorCode::BreakingChange);
    assert!(refused.details[0].pointer.starts_with("/parameters"), "{refused:?}");
    assert!(refused.message.contains("'ship-box-v2'") && refused.message.contains("deprecated"), "{refused}");
    assert_eq!(scripts.text(), text);
    // As told: a new name beside the old, which is on its way out.
    let mut next = takes("2.0.0", one);
    next["name"] = json!("ship-box-v2");
    put(next).await.unwrap();

    let deprecated = |removal: &str| {
        let both = json!({ "to": { "type": "string" }, "by": { "type": "string" } });
        let mut old = takes("1.1.0", both);
        old["deprecated"] = json!({ "since": "1.1.0", "replacement": "ship-box-v2", "removalDate": removal });
        old
    };
    let soon = refusal(put(deprecated("2020-01-01")).await, ErrorCode::InvalidInput);
    assert_eq!(soon.details[0].pointer, "/deprecated");
    put(deprecated("2099-01-01")).await.unwrap();
}

#[tokio::test]
async fn an_edit_by_hand_is_taken_up_and_a_bad_one_keeps_the_old_tools_and_says_so() {
    let first = json!([entry("one", "one.py", json!({}))]);
    let scripts = TestScripts::new(&[], first.clone());
    let _watch = scripts.registrar.watch();
    let edit = |text: &str| fs::write(scripts.file(), text).unwrap();

    let one = entry("one", "one.py", json!({ "version": "1.0.0" }));
    edit(&render(&json!([one, entry("two", "two.py", json!({}))])));
    until("the edit is taken up", || scripts.has("two")).await;
    assert_eq!(scripts.registrar.trouble(), None);

    for (bad, told) in [
        (
            "{\n  \"tools\": [\n    {\"name\": 7}\n  ]\n}\n".to_owned(),
            ["tools.json:3:", "'tools[0].name'", "Fix that line"],
        ),
        (
            render(&json!([entry("one", "../one.py", json!({}))])),
            ["tools.json:", "'tools[0].config.script_path'", "'one'"],
        ),
        (
            render(&json!([entry("call-tool", "one.py", json!({}))])),
            ["tools.json:", "'tools[0].name'", "not in tools.json"],
        ),
        (
            render(&json!([entry("one", "a", json!({})), entry("one", "b", json!({}))])),
            ["tools.json:", "'tools[1].name'", "already"],
        ),
        (
            render(&json!([entry("one", "one.py", json!({ "permissions": ["one:call", "more:call"] }))])),
            ["tools.json:", "'tools[0].permissions'", "'one-v2'"],
        ),
    ] {
        edit(&bad);
        let says = || {
            scripts.registrar.trouble().is_some_and(|trouble| told.iter().all(|part| trouble.contains(part)))
        };
        until(told[1], says).await;
        assert!(scripts.has("one") && scripts.has("two"));
        // Nor does a change through the queue wipe out what somebody is working on.
        let new = registration(entry("new", "n.py", json!({})), None);
        let refused = refusal(scripts.registrar.add(new).await, ErrorCode::ServiceUnavailable);
        assert!(refused.message.contains("Fix it first"), "{}", refused.message);
        assert_eq!(scripts.text(), bad);
    }
    fs::remove_file(scripts.file()).unwrap();
    until("the loss is told", || {
        scripts.registrar.trouble().is_some_and(|told| told.contains("Restore the file"))
    })
    .await;

    // In place of the old one, as editors do.
    fs::write(scripts.tools().join("edited"), render(&json!([entry("three", "3.py", json!({}))]))).unwrap();
    fs::rename(scripts.tools().join("edited"), scripts.file()).unwrap();
    until("the good edit is taken up", || scripts.has("three")).await;
    assert!(!scripts.has("one") && !scripts.has("two"));
    until("the trouble is over", || scripts.registrar.trouble().is_none()).await;
}

#[tokio::test]
async fn a_change_through_the_queue_takes_up_an_edit_first_and_is_not_taken_for_one() {
    let scripts = TestScripts::new(&[], json!([]));
    let _watch = scripts.registrar.watch();
    let before = scripts.version();
    scripts.registrar.add(registration(entry("one", "1.py", json!({})), None)).await.unwrap();
    fs::write(
        scripts.file(),
        render(&json!([entry("one", "1.py", json!({})), entry("two", "2.py", json!({}))])),
    )
    .unwrap();
    // Whether the watch or the queue sees the edit first, it is one change, and nothing is lost.
    scripts.registrar.add(registration(entry("three", "3.py", json!({})), None)).await.unwrap();
    assert_eq!(scripts.names_on_disk(), ["one", "two", "three"]);
    assert!(scripts.has("two"));
    fs::write(scripts.file(), render(&json!([entry("last", "l.py", json!({}))]))).unwrap();
    until("the last edit is taken up", || scripts.has("last")).await;
    assert_eq!(scripts.version(), before + 4, "two changes and two edits, each once");
}

#[tokio::test]
async fn start_halts_on_an_unsound_entry_with_file_line_field_and_remedy() {
    let start = |file: &str| TestScripts::open(&[], file, Vec::new(), Arc::new(RealDisk)).err().unwrap();
    for (more, field, said) in [
        (json!({ "config": { "script_path": "/bin/sh" } }), "tools[1].config.script_path", "must stay in"),
        (json!({ "timeout": 4000 }), "tools[1].timeout", "at most 3600"),
        (json!({ "name": "search-web" }), "tools[1].name", "reserved for the built-in tool"),
        (json!({ "name": "get-native" }), "tools[1].name", "not in tools.json"),
        (json!({ "name": "first" }), "tools[1].name", "already"),
    ] {
        let file = render(&json!([entry("first", "1.py", json!({})), entry("second", "2.py", more)]));
        let problem = start(&file);
        assert_eq!(problem.field, field);
        assert!(problem.message.contains(said), "{problem}");
        assert!(problem.remedy.contains("Fix that entry"), "{problem:?}");
        let line = file.lines().nth(problem.line - 1).unwrap();
        let key = field.rsplit('.').next().unwrap();
        assert!(line.contains(key) && problem.line > 9, "line {} is {line}", problem.line);
    }
    for file in ["", "{", "[]", "{}", "{\"tools\": {}}", "{\"tools\": []} x", "{\"tools\": [], \"more\": 1}"]
    {
        let problem = start(file);
        assert!(problem.line > 0 && problem.remedy.contains("{\"tools\": []}"), "{file}: {problem:?}");
    }
}

#[tokio::test]
async fn a_removal_date_that_has_come_near_does_not_keep_the_tool_from_being_served_or_updated() {
    let deprecated =
        json!({ "deprecated": { "since": "1.0.0", "replacement": "b", "removalDate": "2020-01-01" } });
    let scripts = TestScripts::new(&[], json!([entry("old", "o.py", deprecated.clone())]));
    let mut update = entry("old", "o.py", deprecated);
    update["description"] = json!("Another text.");
    scripts.registrar.put(registration(update, None)).await.unwrap();
}

#[tokio::test]
async fn a_change_whose_caller_has_left_is_carried_to_its_end() {
    let scripts = TestScripts::new(&[], json!([]));
    let new = registration(entry("left", "l.py", json!({})), Some(HELLO));
    assert!(scripts.registrar.add(new).now_or_never().is_none());
    assert_eq!(scripts.registrar.entries().await[0].name, "left");
    assert_eq!(scripts.names_on_disk(), ["left"]);
    assert!(scripts.has("left"));
}

#[tokio::test]
async fn a_built_in_tool_is_there_if_an_entry_says_so_under_its_own_contract() {
    let handler = |limits: &EntryLimits| {
        let memory = limits.memory;
        let tool = query("search-web")
            .runs(move |_, _| async move { crate::tools::done(json!({ "memory": memory })) });
        match tool.build().executor {
            toolroom_runtime::catalogue::Executor::Native(handler) => handler,
            _ => unreachable!(),
        }
    };
    let builtin = Builtin {
        definition: query("search-web").needs("web:search").definition,
        handler: Box::new(handler),
    };
    let built_in = |more: Value| {
        let mut entry = json!({ "name": "web_search", "description": "Any words.", "type": "builtin" });
        entry.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        entry
    };
    let file =
        render(&json!([built_in(json!({ "timeout": 9, "config": { "limits": { "memory": 1 << 30 } } }))]));
    let scripts = TestScripts::open(&[], &file, vec![builtin], Arc::new(RealDisk)).unwrap();
    let tool = scripts.runtime.runtime.registry.get("search-web").unwrap();
    assert_eq!((tool.definition().timeout, tool.policy.timeout.as_secs()), (Some(9.0), 9));
    assert!(tool.definition().description.starts_with("Does what a test needs."));
    let who = scripts.runtime.owner().await;
    assert_eq!(
        data(&scripts.runtime.call(&who, "search-web", json!({})).await),
        &json!({ "memory": 1 << 30 })
    );

    let opened = built_in(json!({ "permissions": [] }));
    let refused = refusal(scripts.registrar.put(registration(opened, None)).await, ErrorCode::InvalidInput);
    assert_eq!(refused.details[0].pointer, "/permissions");
    scripts.registrar.put(registration(built_in(json!({ "timeout": 3 })), None)).await.unwrap();
    assert_eq!(scripts.runtime.runtime.registry.get("search-web").unwrap().policy.timeout.as_secs(), 3);
    scripts.registrar.remove("web_search").await.unwrap();
    assert!(!scripts.has("search-web"));
}

#[tokio::test]
async fn a_removed_tool_ends_its_warm_workers() {
    let py = "import os\ndef run(params, context):\n    return {'pid': os.getpid()}\n";
    let scripts = TestScripts::new(&[("pid.py", py)], json!([entry("pid", "pid.py", json!({}))]));
    let who = scripts.runtime.owner().await;
    let pid = async || data(&scripts.runtime.call(&who, "pid", json!({})).await)["pid"].to_string();
    let first = pid().await;
    assert_eq!(first, pid().await);
    scripts.registrar.remove("pid").await.unwrap();
    until("its worker has ended", || !crate::test_scripts::runs(&first)).await;
}
