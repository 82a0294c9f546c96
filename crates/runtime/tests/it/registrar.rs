//! Changes of `tools.json` while the server runs: through the queue, and by hand.

use std::fs;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::{Value, json};
use toolroom_contract::ErrorCode;
use toolroom_contract::entry::EntryLimits;
use toolroom_runtime::registrar::{Builtin, RealDisk};

use crate::room::{data, error};
use crate::script_room::{ScriptRoom, entry, refusal, registration, render, until};
use crate::tools::query;

const HELLO: &str = "def run(params, context):\n    return {'hello': 'world'}\n";

#[tokio::test]
async fn a_registered_tool_is_on_the_disk_in_the_catalogue_and_told_to_subscribers_when_it_is_answered() {
    let room = ScriptRoom::new(&[], json!([]));
    let who = room.room.owner().await;
    let mut changes = room.room.runtime.registry.changes();
    changes.mark_unchanged();

    let new = registration(entry("hello", "hello.py", json!({})), Some(HELLO));
    let tool = room.registrar.add(new.clone()).await.unwrap();
    assert_eq!((tool.name(), &*tool.version), ("hello", "1.0.0"));
    assert!(changes.has_changed().unwrap());
    assert_eq!(room.names_on_disk(), ["hello"]);
    assert_eq!(fs::read_to_string(room.tools().join("hello.py")).unwrap(), HELLO);
    assert_eq!(data(&room.room.call(&who, "hello", json!({})).await), &json!({ "hello": "world" }));
    let again = refusal(room.registrar.add(new).await, ErrorCode::AlreadyExists);
    assert!(again.message.contains("Update it instead"), "{}", again.message);

    let next = HELLO.replace("world", "again");
    let more = json!({ "description": "Says hello again.", "version": "1.1.0" });
    let update = registration(entry("hello", "hello.py", more), Some(&next));
    let (tool, created) = room.registrar.put(update).await.unwrap();
    assert!(!created && tool.definition().description == "Says hello again.");
    assert_eq!(data(&room.room.call(&who, "hello", json!({})).await), &json!({ "hello": "again" }));
    let (_, created) =
        room.registrar.put(registration(entry("more", "hello.py", json!({})), None)).await.unwrap();
    assert!(created);
    assert_eq!(room.names_on_disk(), ["hello", "more"]);

    room.registrar.remove("hello").await.unwrap();
    assert_eq!(room.names_on_disk(), ["more"]);
    error(&room.room.call(&who, "hello", json!({})).await, ErrorCode::ToolNotFound);
    refusal(room.registrar.remove("hello").await, ErrorCode::NotFound);
    assert_eq!(room.files(), ["hello.py", "tools.json"], "the script stays, and nothing unfinished");
}

#[tokio::test]
async fn what_is_not_sound_is_refused_with_its_field_and_changes_nothing() {
    let room = ScriptRoom::new(&[], json!([entry("kept", "kept.py", json!({}))]));
    let (text, version) = (room.text(), room.version());
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
            refusal(room.registrar.put(registration(bad.clone(), script)).await, ErrorCode::InvalidInput);
        assert_eq!(refused.details[0].pointer, pointer, "{bad}: {refused:?}");
    }
    for native in ["get-native", "call-tool"] {
        let taken = registration(entry(native, "x.py", json!({})), None);
        refusal(room.registrar.put(taken).await, ErrorCode::AlreadyExists);
        refusal(room.registrar.remove(native).await, ErrorCode::NotFound);
    }
    assert_eq!((room.text(), room.version()), (text, version));
    assert_eq!(room.files(), ["tools.json"]);
}

#[tokio::test]
async fn entries_that_are_not_changed_keep_their_text_byte_for_byte() {
    let odd = r#"{"description":"Odd.",   "name" : "odd",
          "config": {"script_path": "odd.py"}, "timeout": 1.50 }"#;
    let file = format!("{{ \"tools\": [ {odd},\n{} ]}}", entry("other", "o.py", json!({})));
    let room = ScriptRoom::open(&[], &file, Vec::new(), Arc::new(RealDisk)).unwrap();
    room.registrar.add(registration(entry("new", "n.py", json!({})), None)).await.unwrap();
    room.registrar.remove("other").await.unwrap();
    let text = room.text();
    assert!(text.contains(odd), "{text}");
    assert_eq!(room.names_on_disk(), ["odd", "new"]);
    room.registrar.add(registration(entry("newer", "n.py", json!({})), None)).await.unwrap();
    assert!(room.text().starts_with(text.trim_end_matches("\n  ]\n}\n")), "what was there is not reshaped");
}

fn takes(version: &str, properties: Value) -> Value {
    let schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    entry("ship-box", "ship.py", json!({ "version": version, "input_schema": schema }))
}

#[tokio::test]
async fn a_breaking_change_is_refused_from_1_0_0_on_and_says_what_would_do() {
    let both = json!({ "to": { "type": "string" }, "by": { "type": "string" } });
    let one = json!({ "to": { "type": "string" } });
    let room = ScriptRoom::new(&[], json!([takes("0.9.0", both.clone())]));
    let put = async |entry: Value| room.registrar.put(registration(entry, None)).await;
    put(takes("0.10.0", one.clone())).await.unwrap();
    put(takes("1.0.0", both)).await.unwrap();
    let text = room.text();
    let refused = refusal(put(takes("2.0.0", one.clone())).await, ErrorCode::BreakingChange);
    assert!(refused.details[0].pointer.starts_with("/parameters"), "{refused:?}");
    assert!(refused.message.contains("'ship-box-v2'") && refused.message.contains("deprecated"), "{refused}");
    assert_eq!(room.text(), text);
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
    let room = ScriptRoom::new(&[], first.clone());
    let _watch = room.registrar.watch();
    let edit = |text: &str| fs::write(room.file(), text).unwrap();

    edit(&render(&json!([entry("one", "one.py", json!({})), entry("two", "two.py", json!({}))])));
    until("the edit is taken up", || room.has("two")).await;
    assert_eq!(room.registrar.trouble(), None);

    for (bad, told) in [
        (
            "{\n  \"tools\": [\n    {\"name\": 7}\n  ]\n}\n".to_owned(),
            ["tools.json:3:", "'tools[0].name'", "Mend that line"],
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
        let says =
            || room.registrar.trouble().is_some_and(|trouble| told.iter().all(|part| trouble.contains(part)));
        until(told[1], says).await;
        assert!(room.has("one") && room.has("two"));
        // Nor does a change through the queue wipe out what somebody is working on.
        let new = registration(entry("new", "n.py", json!({})), None);
        let refused = refusal(room.registrar.add(new).await, ErrorCode::ServiceUnavailable);
        assert!(refused.message.contains("Mend it first"), "{}", refused.message);
        assert_eq!(room.text(), bad);
    }
    fs::remove_file(room.file()).unwrap();
    until("the loss is told", || {
        room.registrar.trouble().is_some_and(|told| told.contains("Put the file back"))
    })
    .await;

    // In place of the old one, as editors do.
    fs::write(room.tools().join("edited"), render(&json!([entry("three", "3.py", json!({}))]))).unwrap();
    fs::rename(room.tools().join("edited"), room.file()).unwrap();
    until("the good edit is taken up", || room.has("three")).await;
    assert!(!room.has("one") && !room.has("two"));
    until("the trouble is over", || room.registrar.trouble().is_none()).await;
}

#[tokio::test]
async fn a_change_through_the_queue_takes_up_an_edit_first_and_is_not_taken_for_one() {
    let room = ScriptRoom::new(&[], json!([]));
    let _watch = room.registrar.watch();
    let before = room.version();
    room.registrar.add(registration(entry("one", "1.py", json!({})), None)).await.unwrap();
    fs::write(
        room.file(),
        render(&json!([entry("one", "1.py", json!({})), entry("two", "2.py", json!({}))])),
    )
    .unwrap();
    // Whether the watch or the queue sees the edit first, it is one change, and nothing is lost.
    room.registrar.add(registration(entry("three", "3.py", json!({})), None)).await.unwrap();
    assert_eq!(room.names_on_disk(), ["one", "two", "three"]);
    assert!(room.has("two"));
    fs::write(room.file(), render(&json!([entry("last", "l.py", json!({}))]))).unwrap();
    until("the last edit is taken up", || room.has("last")).await;
    assert_eq!(room.version(), before + 4, "two changes and two edits, each once");
}

#[tokio::test]
async fn start_halts_on_an_unsound_entry_with_file_line_field_and_remedy() {
    let start = |file: &str| ScriptRoom::open(&[], file, Vec::new(), Arc::new(RealDisk)).err().unwrap();
    for (more, field, said) in [
        (json!({ "config": { "script_path": "/bin/sh" } }), "tools[1].config.script_path", "must stay in"),
        (json!({ "timeout": 4000 }), "tools[1].timeout", "at most 3600"),
        (json!({ "name": "search-web" }), "tools[1].name", "kept for the built-in tool"),
        (json!({ "name": "get-native" }), "tools[1].name", "not in tools.json"),
        (json!({ "name": "first" }), "tools[1].name", "already"),
    ] {
        let file = render(&json!([entry("first", "1.py", json!({})), entry("second", "2.py", more)]));
        let problem = start(&file);
        assert_eq!(problem.field, field);
        assert!(problem.message.contains(said), "{problem}");
        assert!(problem.remedy.contains("Mend that entry"), "{problem:?}");
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
    let room = ScriptRoom::new(&[], json!([entry("old", "o.py", deprecated.clone())]));
    let mut update = entry("old", "o.py", deprecated);
    update["description"] = json!("Another text.");
    room.registrar.put(registration(update, None)).await.unwrap();
}

#[tokio::test]
async fn a_change_whose_caller_has_left_is_carried_to_its_end() {
    let room = ScriptRoom::new(&[], json!([]));
    let new = registration(entry("left", "l.py", json!({})), Some(HELLO));
    assert!(room.registrar.add(new).now_or_never().is_none());
    assert_eq!(room.registrar.entries().await[0].name, "left");
    assert_eq!(room.names_on_disk(), ["left"]);
    assert!(room.has("left"));
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
    let room = ScriptRoom::open(&[], &file, vec![builtin], Arc::new(RealDisk)).unwrap();
    let tool = room.room.runtime.registry.get("search-web").unwrap();
    assert_eq!((tool.definition().timeout, tool.policy.timeout.as_secs()), (Some(9.0), 9));
    assert!(tool.definition().description.starts_with("Does what a test needs."));
    let who = room.room.owner().await;
    assert_eq!(data(&room.room.call(&who, "search-web", json!({})).await), &json!({ "memory": 1 << 30 }));

    let opened = built_in(json!({ "permissions": [] }));
    let refused = refusal(room.registrar.put(registration(opened, None)).await, ErrorCode::InvalidInput);
    assert_eq!(refused.details[0].pointer, "/permissions");
    room.registrar.put(registration(built_in(json!({ "timeout": 3 })), None)).await.unwrap();
    assert_eq!(room.room.runtime.registry.get("search-web").unwrap().policy.timeout.as_secs(), 3);
    room.registrar.remove("web_search").await.unwrap();
    assert!(!room.has("search-web"));
}

#[tokio::test]
async fn a_removed_tool_ends_its_warm_workers() {
    let py = "import os\ndef run(params, context):\n    return {'pid': os.getpid()}\n";
    let room = ScriptRoom::new(&[("pid.py", py)], json!([entry("pid", "pid.py", json!({}))]));
    let who = room.room.owner().await;
    let pid = async || data(&room.room.call(&who, "pid", json!({})).await)["pid"].to_string();
    let first = pid().await;
    assert_eq!(first, pid().await);
    room.registrar.remove("pid").await.unwrap();
    until("its worker has ended", || !crate::script_room::runs(&first)).await;
}
